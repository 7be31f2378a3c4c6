"""The `private` contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from layerguard.contracts.base import Contract, empty_packages
from layerguard.contracts.seeds import PLANTED, Ground, Seed, Target
from layerguard.graph import Graph, within
from layerguard.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layerguard.model import Violation


class Private(Contract, frozen=True, kw_only=True):
    """A module named '_x' is imported only from inside its parent package.

    A module is private when its name, or that of a package above it, begins with an underscore and is
    not of the form `__x__`. The parent package, and everything in it at any depth, may import it. Names
    that are no modules do not count.

    ```toml
    [[contract]]
    id = "private"
    kind = "private"
    packages = ["app"]
    ```

    This breaks it:

    ```python
    # app/stock/count.py
    from app.orders import _rules  # LG106
    ```

    The cure: let the parent package (here `app.orders`) offer what is needed, or rename the module.

    Options:

    - `packages`: patterns of the packages whose private modules are guarded; importers are looked at
      everywhere.
    """

    kind: ClassVar[str] = "private"
    code: ClassVar[str] = "LG106"

    packages: tuple[str, ...]

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:  # noqa: ARG002
        """Yield every import of a private module from outside its parent package."""
        packages = Patterns(self.packages)
        for found in self.looked_at(graph).naming(lambda name: "._" in name):
            parts = found.imported.split(".")
            for level, part in enumerate(parts):
                if level == 0 or not _is_private(part):
                    continue
                private, parent = ".".join(parts[: level + 1]), ".".join(parts[:level])
                if private in packages and not within(found.importer, parent):
                    yield self.violation(found)
                    break

    def plants(self, ground: Ground) -> Iterator[Seed]:
        """Yield in each package the import of a private module from outside its parent."""
        packages = Patterns(self.packages)
        for text in self.packages:
            if text.startswith("!"):
                continue
            meant = [name for name in ground.graph.modules if name in packages and name in Patterns([text])]
            hidden = (Target(name) for name in meant if "." in name and _is_private(name.rpartition(".")[2]))
            made_up = (Target(f"{name}._{PLANTED}", by_parent=False) for name in meant)
            goal = next((each for each in (*hidden, *made_up) if each.module in packages), None)
            if goal:
                parent = _first_private(goal.module).rpartition(".")[0]
                home = ground.first(
                    lambda name, parent=parent: not within(name, parent) and self.heeds(name)  # type: ignore[misc]
                )
                if home:
                    yield Seed(home, goal)

    @property
    def looked_at_packages(self) -> tuple[str, ...]:
        """The patterns of the packages."""
        return self.packages

    def empty_patterns(self, graph: Graph) -> Iterator[str]:
        """Yield the packages' patterns that match no module."""
        yield from empty_packages(graph, self.packages)
        yield from super().empty_patterns(graph)


def _first_private(name: str) -> str:
    """Return the highest private module that a private module lies in."""
    parts = name.split(".")
    level = next(level for level, part in enumerate(parts) if level and _is_private(part))
    return ".".join(parts[: level + 1])


def _is_private(part: str) -> bool:
    return part.startswith("_") and not (part.startswith("__") and part.endswith("__"))
