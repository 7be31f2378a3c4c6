"""What the outcome of a check depends on: the files, the folders and the state of git that it is made of.

Their numbers are taken before any of the files is read: what changes meanwhile has other numbers later.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path

import msgspec

from layerguard import git
from layerguard.config import OWN_FILE, SHARED_FILE, Config
from layerguard.inventory import Inventory
from layerguard.snapshots import Glance, are_young
from layerguard.sources import Tree
from layerguard.surroundings import find_git

_MOST_STEPS = 40
"""How many links the system follows."""
_MADE_OF = ("layerguard", "ast_serialize", "grimp", "importlinter", "msgspec", "pathspec", "tomli")


class Environment(Mapping[str, str]):
    """The environment, which remembers what it was asked for and what it answered."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Ask these variables."""
        self._variables = variables
        self.asked: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        """Return the value of a variable; raise KeyError for one that is not set."""
        self.asked[name] = self._variables.get(name)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        """Refuse: all that matters is asked for by name."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Refuse for the same reason."""
        raise NotImplementedError


class Layout(msgspec.Struct, frozen=True):
    """A tree, the paths whose numbers tell that it is still the same, and its sources that are links.

    All paths are absolute. `marks` and `indexes` tell whether a path is alike (see `likeness`).
    """

    tree: Tree
    paths: list[str]
    linked: list[str]
    marks: bytes
    indexes: dict[str, str]


class Watch(msgspec.Struct, frozen=True):
    """The watched paths, absolute, with their numbers.

    `young` are sources that may change while their numbers stay, the `linked` ones among them. One that is
    not `whole` lacks something that the outcome depends on; the sources are in it.
    """

    paths: list[str]
    numbers: list[int]
    young: frozenset[str]
    linked: frozenset[str]
    whole: bool


def take_numbers(
    here: Path,
    config: Config,
    tree: Tree,
    layout: Layout | None,
    further: Collection[str],
    glance: Glance,
    moment: int,
    *,
    texts: bool,
) -> Watch:
    """Take the numbers of all that a check depends on, the sources first.

    `here` is the folder from which the configuration was looked for; `layout` has the paths that the tree
    depends on, `further` are others, absolute; `texts` says whether text files are read. What was written at
    or after the `moment` cannot be relied on.
    """
    root = f"{config.root}/"
    paths = [source.place for source in tree.sources]
    sources = len(paths)
    contract_folders = _contract_folders(config)
    paths += [root + path for path in tree.files] if texts else []
    paths += layout.paths if layout else ()
    revisions = git.revision_files(config.root)
    paths += _with_targets(revisions or ())
    others = [*further, *(root + path for path in config.own_files), *_above(here, config.root)]
    paths += _with_targets([*others, *_programs(), *(contract_folders or ())])
    paths = list(dict.fromkeys(paths))
    numbers = glance.numbers_of(paths)
    young = are_young(numbers, moment)
    told = None not in (layout, contract_folders, revisions)
    whole = told and all(place < sources for place in young)
    # The numbers of a link are not those of the file that it leads to.
    linked = frozenset(layout.linked if layout else ())
    unsure = linked.union(paths[place] for place in young if place < sources)
    return Watch(paths, numbers, unsure, linked, whole)


def find_shaping(root: Path, inventory: Inventory, cache: str) -> list[str] | None:
    """Return the paths, absolute, that decide which files there are and what they are called.

    None where some of them cannot be told. What is in the folder `cache` does not matter.
    """
    state = _git(root, inventory, cache)
    if state is None:
        return None
    folders = [f"{root}/{folder}" if folder else str(root) for folder in inventory.folders]
    odd = (*inventory.links, *inventory.problems, *inventory.loose)
    return [*folders, *_with_targets([*(f"{root}/{path}".rstrip("/") for path in odd), *state])]


def _with_targets(paths: Iterable[str]) -> Iterator[str]:
    """Yield paths, and behind each that is a link the ones that it leads to, step by step."""
    for path in paths:
        yield path
        place = path
        for _ in range(_MOST_STEPS):
            try:
                target = os.readlink(place)  # noqa: PTH115 - a text
            except OSError:
                break
            place = os.path.join(os.path.dirname(place), target)  # noqa: PTH118, PTH120 - texts
            yield place


def _programs() -> list[str]:
    """Return git, and the folders in which another version of layerguard's parts would be installed."""
    files = {sys.modules[name].__file__ or "" for name in _MADE_OF if name in sys.modules}
    folders = {os.path.dirname(os.path.dirname(file)) for file in files}  # noqa: PTH120 - texts
    own = {module.__file__ or "" for name, module in sys.modules.items() if name.startswith("layerguard")}
    program = find_git(os.environ)
    return sorted({*folders, *own, program} - {""})


def _above(here: Path, root: Path) -> list[str]:
    """Return the files that would make another folder the project root."""
    folders = [here, *here.parents]
    between = folders[: folders.index(root) + 1] if root in folders else folders
    return [f"{folder}/{name}" for folder in between for name in (OWN_FILE, SHARED_FILE)]


def _contract_folders(config: Config) -> list[str] | None:
    """Return the folders in which another contract file may appear."""
    found: list[str] = []
    for pattern in config.contract_files:
        *folders, _ = pattern.split("/")
        level = [str(config.root)]
        for part in folders:
            if part == "**":
                return None
            found += level
            if has_magic(part):
                level = [path for each in level for path in _matching(each, part)]
            else:
                level = [f"{each}/{part}" for each in level]
        found += level
    return found


def _matching(folder: str, pattern: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - texts
    except OSError:
        return []
    return [f"{folder}/{name}" for name in names if fnmatchcase(name, pattern)]


def _git(root: Path, inventory: Inventory, cache: str) -> list[str] | None:
    found = git.state_files(root)
    if found is None or git.find_checkout(root) is None or git.is_missing(root):
        return found
    configuration = git.configuration_files(root)
    if configuration is None:
        return None
    found += configuration
    found += [f"{root}/{path}" for path in inventory.ignores]
    for checkout in inventory.checkouts:
        nested = git.state_files(root / checkout)
        configuration = git.configuration_files(root / checkout)
        if nested is None or configuration is None:
            return None
        found += nested + configuration
    if not inventory.in_git:
        return found
    strangers = _watched_strangers(root, inventory, cache)
    return None if strangers is None else found + strangers


def _watched_strangers(root: Path, inventory: Inventory, cache: str) -> list[str] | None:
    """Return the folders that hold nothing of the project yet and are not ignored: a file may come there."""
    found: list[str] = []
    level = inventory.strangers
    while level:
        ignored: set[str] = set()
        for checkout in ("", *inventory.checkouts):
            inside = [path for path in level if _home(path, inventory.checkouts) == checkout]
            start = f"{checkout}/" if checkout else ""
            told = git.list_ignored(root / checkout, [path.removeprefix(start) for path in inside])
            if told is None:
                return None
            ignored |= {start + path for path in told}
        next_level: list[str] = []
        for path in level:
            if path in ignored or f"{root}/{path}" == cache:
                continue
            found += [f"{root}/{path}", f"{root}/{path}/.gitignore", f"{root}/{path}/.git"]
            try:
                with os.scandir(root / path) as scan:
                    names = [entry.name for entry in scan if entry.is_dir(follow_symlinks=False)]
            except OSError:
                continue
            next_level += [f"{path}/{name}" for name in sorted(names) if name != ".git"]
        level = next_level
    return found


def _home(path: str, checkouts: Collection[str]) -> str:
    return max((each for each in checkouts if path.startswith(f"{each}/")), key=len, default="")
