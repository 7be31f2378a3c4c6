"""Which files the project has, and what their modules are called.

Nothing is imported, and nothing outside the project root is looked at, but for the targets of links to files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from layerguard import git
from layerguard.errors import UserError
from layerguard.files import read_bytes
from layerguard.inventory import Inventory, take_inventory
from layerguard.model import Module
from layerguard.names import SOURCES, Names, find_roots, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Source(Struct, frozen=True, array_like=True, gc=False):
    """A Python file that is to be analysed.

    `path` is fit to be shown, relative to the root; `place` is where the bytes are, absolute.
    """

    path: str
    module: str
    is_package: bool
    place: str

    @property
    def file(self) -> Path:
        """Where the bytes are, absolute."""
        return Path(self.place)

    def read(self) -> bytes:
        """Return the bytes; raise OSError when they cannot be read.

        Whoever shows or compares what they hold, beyond what the file imports, takes `Tree.open`.
        """
        return read_bytes(self.place)


class Problem(Struct, frozen=True):
    """A file or folder that cannot be read (LG401)."""

    path: str
    line: int
    column: int
    reason: str


class Tree(Struct, frozen=True):
    """What a project consists of.

    - `sources`: every Python file that is to be analysed, sorted by path, each real file once;
    - `modules`: every module by name, those of excluded, stub-only, compiled and linked files too, and the
      folders above them;
    - `problems`: what was found and cannot be read;
    - `files`: every regular file that is not excluded, not only Python, sorted; as the system names them,
      so that they can be opened (`shown` makes such a path fit to be printed);
    - `siblings`: the folders that are no packages and hold Python files, by module name ("" for the folder
      of a source root): a script in one of them imports its neighbours by their bare names;
    - `roots`: the source roots, relative to the project root, which is "" and always one;
    - `noted`: what the user should be told on standard error;
    - `inventory`: how all this was found;
    - `opened`: the places of the sources in which more was looked at than what they import.
    """

    sources: tuple[Source, ...]
    modules: dict[str, Module]
    problems: tuple[Problem, ...]
    files: tuple[str, ...]
    siblings: frozenset[str]
    roots: frozenset[str]
    noted: tuple[str, ...]
    inventory: Inventory = field(default_factory=Inventory)
    opened: set[str] = field(default_factory=set)

    def open(self, source: Source) -> bytes:
        """Return the bytes of a source, and note that; raise OSError when they cannot be read."""
        self.opened.add(source.place)
        return source.read()

    def open_all(self) -> None:
        """Note that something was looked at for which any source may matter."""
        self.opened.update(source.place for source in self.sources)


def read_tree(
    root: Path, source_roots: Sequence[str] | None, exclude: Sequence[str], configuration: str = ""
) -> Tree:
    """Find the files of the project at `root` (absolute), and name its modules.

    `source_roots` are globs (None: the default rule), `exclude` are gitignore patterns. In a git checkout
    git says which files belong to the project, elsewhere a walk that leaves out what is usually not meant.
    Raises UserError when there is no Python file, when git refuses, or when a glob matches no folder, which
    names the file `configuration`.
    """
    found = take_inventory(root)
    everything = sorted([*found.regular, *found.links])
    where = f"{configuration}: 'source-roots'" if configuration else "'source-roots'"
    roots = find_roots(everything, source_roots, where)
    names = Names(sorted([*everything, *found.problems]) if found.problems else everything, roots)
    is_excluded = _matcher(exclude)
    kept = [path for path in everything if not is_excluded(path)] if exclude else everything
    problems = {path: why for path, why in found.problems.items() if not is_excluded(path)}
    code = [path for path in kept if path.endswith(SOURCES) and path in names.files]
    sources = [
        Source(path=shown(path), module=module, is_package=is_package, place=f"{root}/{path}")
        for path in _each_once(code, found.links)
        for module, is_package in [names.files[path]]
    ]
    if not sources and not problems:
        raise UserError(f"'{root}': there is no Python file in this folder or below it.", _hint(exclude))
    return Tree(
        sources=tuple(sources),
        modules=names.modules,
        problems=tuple(
            Problem(path=shown(path.rstrip("/")), line=1, column=1, reason=why)
            for path, why in sorted(problems.items())
        ),
        files=tuple(_each_once(kept, found.links)),
        siblings=names.siblings,
        roots=roots,
        noted=("git was not found: every file below the root was read, ignored ones too.",)
        if git.is_missing(root)
        else (),
        inventory=found,
    )


def _matcher(exclude: Sequence[str]) -> Callable[[str], bool]:
    """Return the question whether gitignore patterns match a path."""
    if not exclude:
        return lambda _: False
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - heavy, and few projects need it

    return GitIgnoreSpec.from_lines(exclude).match_file


def _hint(exclude: Sequence[str]) -> str:
    return "Is 'exclude' too wide?" if exclude else "Is this the project's root folder?"


def _each_once(paths: Iterable[str], links: dict[str, str]) -> list[str]:
    """Return the paths less the links to one that is there already, be it a file or an earlier link."""
    paths = list(paths)
    if not links:
        return paths
    seen = {path for path in paths if path not in links}
    once = []
    for path in paths:
        if path in links:
            if links[path] in seen:
                continue
            seen.add(links[path])
        once.append(path)
    return once
