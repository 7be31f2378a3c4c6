"""The `acyclic` contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from layerguard.circles import Edge, breakers, in_circles, shortest_path
from layerguard.contracts.base import Contract, allowance_key, empty_packages
from layerguard.contracts.seeds import Ground, Seed, Target
from layerguard.graph import Graph, parents, within
from layerguard.model import Import, Violation
from layerguard.patterns import Patterns
from layerguard.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

Edges = dict[Edge, list[Import]]
Numbers = dict[Edge, list[int]]


class Acyclic(Contract, frozen=True, kw_only=True):
    """The children of each package import each other in no circle.

    A child stands for all that is in it; the package's own `__init__` is no child. Told are the imports
    that are to go, as few as possible: without them no circle is left. Imports that the allowance file
    tolerates are taken out first, so that the choice does not change because of them.

    ```toml
    [[contract]]
    id = "no-circles"
    kind = "acyclic"
    packages = ["app"]
    ```

    This breaks it, when `app.stock` imports `app.orders` in more places than the other way round:

    ```python
    # app/orders/bad.py
    from app.stock import count  # LG105
    ```

    The cure: turn the import round by handing the thing over as an argument, or move what both children
    need into a third.

    Options:

    - `packages`: patterns of the packages that are looked at, with those in them.
    - `depth` (default all): how many levels below each package are looked at; 1 means its children only.
    """

    kind: ClassVar[str] = "acyclic"
    code: ClassVar[str] = "LG105"

    looks_at_one: ClassVar[bool] = False

    packages: tuple[str, ...]
    depth: int | None = None

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:
        """Yield imports that close circles: few that break every one, and the tolerated ones."""
        members = frozenset(Patterns(self.packages).members(graph.modules))
        looked = self.looked_at(graph)
        for _, edges in sorted(self._edges(graph, looked, members).items()):
            yield from self._circles(looked, edges, tolerated)

    def plants(self, ground: Ground) -> Iterator[Seed]:
        """Yield in each package an import that turns one round which is there, or two that close a circle."""
        patterns = Patterns(self.packages)
        members = patterns.members(ground.graph.modules)
        for text in self.packages:
            packages = [each for each in members if each in Patterns([text])]
            edges = self._edges(ground.graph, self.looked_at(ground.graph), frozenset(packages))
            seeds = (seed for _, each in sorted(edges.items()) for seed in self._reversed(ground, each))
            # New modules need no import that is there already.
            new = (
                Seed(ground.fresh(each), Target(f"{ground.fresh(each)}_too"), back=True) for each in packages
            )
            found = next((seed for seed in (*seeds, *new) if self.heeds(seed.importer)), None)
            if found:
                yield found

    def _reversed(self, ground: Ground, edges: Numbers) -> Iterator[Seed]:
        groups = in_circles(edges)
        for importer, imported in sorted(edges):
            inside = [name for name in ground.sources if within(name, imported) and self.heeds(name)]
            if inside and groups.get(importer, -1) != groups.get(imported, -2):
                yield Seed(inside[0], Target(importer))
                return

    def _edges(self, graph: Graph, looked: Selection, members: frozenset[str]) -> dict[str, Numbers]:
        """Return the numbers of the imports between the children of each package that is covered."""
        by_package: dict[str, Numbers] = {}
        covered: dict[str, bool] = {}
        for number, importer, imported in looked.ends(looked.numbers(graph.owns)):
            edge = _edge(importer, imported)
            package = edge[0].rpartition(".")[0]
            if package not in covered:
                covered[package] = package != "" and self._covers(members, package)
            if covered[package]:
                by_package.setdefault(package, {}).setdefault(edge, []).append(number)
        return by_package

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield a depth that looks at nothing."""
        if self.depth is not None and self.depth < 1:
            yield "depth", f"must be 1 or more, not {self.depth}"

    @property
    def looked_at_packages(self) -> tuple[str, ...]:
        """The patterns of the packages."""
        return self.packages

    def empty_patterns(self, graph: Graph) -> Iterator[str]:
        """Yield the packages' patterns that match no module."""
        yield from empty_packages(graph, self.packages)
        yield from super().empty_patterns(graph)

    def _covers(self, members: frozenset[str], package: str) -> bool:
        above = (package, *reversed(parents(package)))
        return any(each in members for each in above[: self.depth])

    def _circles(self, looked: Selection, edges: Numbers, tolerated: frozenset[str]) -> Iterator[Violation]:
        groups = in_circles(edges)
        circular: Edges = {
            edge: [looked.made(number) for number in places]
            for edge, places in edges.items()
            if edge[0] in groups and groups[edge[0]] == groups.get(edge[1])
        }
        rest: Edges = {}
        for edge, places in circular.items():
            marked = [(allowance_key(found, found.imported) in tolerated, found) for found in places]
            yield from self._closing([found for known, found in marked if known], edge, circular)
            unknown = [found for known, found in marked if not known]
            if unknown:
                rest[edge] = unknown
        for edge in breakers({edge: len(places) for edge, places in rest.items()}):
            yield from self._closing(rest[edge], edge, rest)

    def _closing(self, places: list[Import], edge: Edge, edges: Edges) -> Iterator[Violation]:
        if places:
            circle = " -> ".join([edge[0], *shortest_path(edge[1], edge[0], edges)])
            for found in places:
                message = f"{found.importer} imports {found.imported}, which closes the circle {circle}"
                yield self.violation(found, message=message)


def _edge(one: str, other: str) -> Edge:
    """Return the children of the package that holds both ends; empty where one end is that package."""
    importer, imported = one.split("."), other.split(".")
    shared = 0
    while shared < min(len(importer), len(imported)) and importer[shared] == imported[shared]:
        shared += 1
    if not shared or shared == len(importer) or shared == len(imported):
        return "", ""
    return ".".join(importer[: shared + 1]), ".".join(imported[: shared + 1])
