"""The `removed` contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from layerguard.contracts.base import Contract
from layerguard.graph import Graph, parents
from layerguard.model import Import, Location, Via, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        for found in self.looked_at(graph):
            old = self._old(found.imported)
            if old:
                yield self._named(found, old, found.imported, found.location)
                continue
            for name in found.names:
                target = f"{found.imported}.{name.name}"
                old = self._old(target) if name.name != "*" else ""
                if old:
                    yield self._named(found, old, target, name.location)

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield old names with wildcards: which of them a new name belongs to could not be told."""
        for old in self.modules:
            if not all(part.isidentifier() for part in old.split(".")):
                yield "modules", f"'{old}' is not the dotted name of a module"

    def _old(self, name: str) -> str:
        """Return the most specific old name that covers a name, or nothing."""
        return next((each for each in (name, *reversed(parents(name))) if each in self.modules), "")

    def _named(self, found: Import, old: str, target: str, location: Location) -> Violation:
        verb = "names" if found.via in {"string", "text"} else "imports"
        new = self.modules[old]
        now = f"now {new}{target[len(old) :]}" if new else "which was removed"
        message = f"{found.importer} {verb} {target}, {now}"
        return self.violation(found, imported=target, location=location, message=message)
