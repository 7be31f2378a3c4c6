"""The `existing` contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from layerguard.contracts.base import Contract, empty_packages
from layerguard.contracts.seeds import Ground, Seed, Target
from layerguard.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layerguard.graph import Graph
    from layerguard.model import Import, Location, Violation


class Existing(Contract, frozen=True, kw_only=True):
    """Every import of the packages' modules names one that exists.

    Finds what a move or a deletion left behind. Compiled and stub-only modules exist; imports in a `try`
    that handles ImportError, and strings, do not count. `from app import gone` counts where
    `app/__init__.py` can be seen not to bind `gone`: it has no star import and no `__getattr__`.

    ```toml
    [[contract]]
    id = "existing"
    kind = "existing"
    packages = ["app"]
    ```

    This breaks it, when there is no `app/moved.py`:

    ```python
    # app/use.py
    from app.moved import x  # LG108
    ```

    The cure: import the module by the name that it has now, or delete the import.

    Options:

    - `packages`: patterns of the packages whose modules must exist when they are imported; importers are
      looked at everywhere.
    - `generated` (default none): patterns of modules that a build makes, and that need not exist.
    """

    kind: ClassVar[str] = "existing"
    code: ClassVar[str] = "LG108"

    packages: tuple[str, ...]
    generated: tuple[str, ...] = ()

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:  # noqa: ARG002
        """Yield every import of a module, or of a package's name, that is not there."""
        packages = Patterns(self.packages)
        generated = Patterns(self.generated)
        for found in self.looked_at(graph).naming(lambda name: _may_lack(graph, packages, name)):
            if found.guarded or found.imported in generated:
                continue
            if not graph.exists(found.imported):
                if found.imported in packages:
                    yield self._absent(found)
                continue
            if not _is_seen(graph, found.imported):
                continue
            for name in found.names:
                target = f"{found.imported}.{name.name}"
                special = name.name == "*" or (name.name.startswith("__") and name.name.endswith("__"))
                counts = not special and target in packages and target not in generated
                if counts and not graph.binds(found.imported, name.name):
                    yield self._absent(found, target, name.location)

    def plants(self, ground: Ground) -> Iterator[Seed]:
        """Yield for each pattern the import of a module that is not there."""
        packages, generated = Patterns(self.packages), Patterns(self.generated)
        home = ground.first(self.heeds)
        for text in self.packages:
            if text.startswith("!") or not home:
                continue
            for package in ground.graph.modules:
                goal = ground.fresh(package)
                if package in Patterns([text]) and goal in packages and goal not in generated:
                    yield Seed(home, Target(goal, by_parent=_can_miss(ground.graph, goal)))
                    break

    @property
    def looked_at_packages(self) -> tuple[str, ...]:
        """The patterns of the packages."""
        return self.packages

    def empty_patterns(self, graph: Graph) -> Iterator[str]:
        """Yield the packages' patterns that match no module; a generated module need not exist."""
        yield from empty_packages(graph, self.packages)
        yield from super().empty_patterns(graph)

    def _absent(self, found: Import, target: str = "", location: Location | None = None) -> Violation:
        message = f"{found.importer} imports {target or found.imported}, which does not exist"
        return self.violation(found, imported=target, location=location, message=message)


def _may_lack(graph: Graph, packages: Patterns, name: str) -> bool:
    """Tell whether an import of this name has to be looked at: absent, or a package."""
    return name in packages if not graph.exists(name) else _is_seen(graph, name)


def _is_seen(graph: Graph, module: str) -> bool:
    """Tell whether what a module binds can be seen in its `__init__.py`."""
    return graph.modules[module].is_package and graph.modules[module].has_file


def _can_miss(graph: Graph, target: str) -> bool:
    """Tell whether the package that would hold a module can be seen not to bind its name."""
    package, _, name = target.rpartition(".")
    return _is_seen(graph, package) and not graph.binds(package, name)
