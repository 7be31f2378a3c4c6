"""The `removed` contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from layerguard.contracts.base import Contract, verb
from layerguard.contracts.seeds import Ground, Seed, Target
from layerguard.graph import Graph, parents
from layerguard.model import Import, Location, Via, Violation

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_LOGS = frozenset({"changelog", "change_log", "changes", "history", "news", "newsfragments", "releases"})
_LOG_SUFFIXES = frozenset({"", ".adoc", ".html", ".md", ".rst", ".txt"})


def is_change_log(path: str) -> bool:
    """Tell whether a file tells of the past, where old names are right (`CHANGELOG.md`, `changes/1.rst`)."""
    file = PurePosixPath(path)
    stems = {part.partition(".")[0].lower().replace("-", "_") for part in file.parts}
    return file.suffix.lower() in _LOG_SUFFIXES and not stems.isdisjoint(_LOGS)


class Removed(Contract, frozen=True, kw_only=True):
    """Nothing names the old modules any more.

    An old name covers its submodules and the names in it, and the new name is shown with the same tail:
    with `"app.old" = "app.new"`, an import of `app.old.util` is told to be `app.new.util` now. Everything
    counts: imports, dynamic loads, strings such as the targets of `mock.patch`, mentions in text files. An
    old module that still exists, or exists again, is LG302.

    ```toml
    [[contract]]
    id = "old-is-gone"
    kind = "removed"
    modules = { "app.old" = "app.new", "app.dead" = "" }
    ```

    This breaks it:

    ```python
    # tests/test_use.py
    from app.old import x  # LG107
    ```

    The cure: use the new name; where there is none, delete what needs the old one.

    Options:

    - `modules`: a table from the old name of a module to its new name, or to `""` where it has none.
    - `text` (default every tracked text file but change logs): gitignore patterns of the text files in
      which mentions count.
    """

    kind: ClassVar[str] = "removed"
    code: ClassVar[str] = "LG107"
    default_via: ClassVar[tuple[Via, ...]] = ("import", "dynamic", "string", "text")
    knows_unknown: ClassVar[bool] = True

    modules: dict[str, str]
    text: tuple[str, ...] | None = None

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:  # noqa: ARG002
        """Yield every old module that exists (LG302), and every import that names one."""
        for old in self.modules:
            if graph.exists(old):
                yield Violation(
                    code="LG302",
                    message=f"'{old}' was removed, but exists",
                    location=graph.place(old),
                    contract=self.id,
                    severity=self.severity,
                    because=self.because,
                    hint=self.hint,
                )
        texts = None if self.text is None else _specification(self.text)
        above = {parent for old in self.modules for parent in parents(old)}
        for found in self.looked_at(graph).naming(lambda name: name in above or self.covering(name)):
            if found.via == "text" and not _counts(found.importer, texts):
                continue
            covering = self.covering(found.imported)
            named = [(f"{found.imported}.{name.name}", name) for name in found.names if name.name != "*"]
            own = [(target, name) for target, name in named if self.covering(target) != covering]
            for target, name in own:
                yield self._named(found, self.covering(target), target, name.location)
            if covering and (len(own) < len(named) or not named):
                yield self._named(found, covering, found.imported, found.location)

    def plants(self, ground: Ground) -> Iterator[Seed]:
        """Yield imports of the old modules, and a mention of each in a text file."""
        home = ground.first(self.heeds)
        texts = None if self.text is None else _specification(self.text)
        page = next((path for path in ground.texts if _counts(path, texts) and self.heeds(path)), "")
        for old in self.modules:
            if home:
                yield Seed(home, Target(old), prose=texts is None)
            if page:
                yield Seed(page, Target(old), in_text=True)

    @property
    def targeted(self) -> set[str]:
        """The top-level names of the old modules."""
        return {old.partition(".")[0] for old in self.modules}

    @property
    def mentioned(self) -> set[str]:
        """The old modules."""
        return set(self.modules)

    @property
    def moves(self) -> dict[str, str]:
        """The table of old and new names."""
        return self.modules

    def covering(self, name: str) -> str:
        """Return the most specific old name that covers a name, or nothing."""
        return next((each for each in (name, *reversed(parents(name))) if each in self.modules), "")

    def moved(self, name: str) -> str:
        """Return the new name of what an old name covers, with the same tail; empty where it has none."""
        old = self.covering(name)
        return f"{self.modules[old]}{name[len(old) :]}" if old and self.modules[old] else ""

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield old names with wildcards: which of them a new name belongs to could not be told."""
        for old in self.modules:
            if not all(part.isidentifier() for part in old.split(".")):
                yield "modules", f"'{old}' is not the dotted name of a module"

    def _named(self, found: Import, old: str, target: str, location: Location) -> Violation:
        new = self.modules[old]
        now = f"now {new}{target[len(old) :]}" if new else "which was removed"
        message = f"{found.importer} {verb(found)} {target}, {now}"
        return self.violation(found, imported=target, location=location, message=message)


def _specification(patterns: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - heavy, and few contracts need it

    return GitIgnoreSpec.from_lines(patterns)


def _counts(path: str, texts: GitIgnoreSpec | None) -> bool:
    """Tell whether mentions in a file count: in what the patterns choose, else in all but change logs."""
    return not is_change_log(path) if texts is None else texts.match_file(path)
