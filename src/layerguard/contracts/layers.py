"""The `layers` contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec

from layerguard.chains import between
from layerguard.contracts.base import Contract, empty_packages
from layerguard.contracts.seeds import Ground, Seed, Target
from layerguard.graph import Graph, within
from layerguard.model import Reach, Violation
from layerguard.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_FEW = 3


class Element(msgspec.Struct, frozen=True):
    """One module pattern of a layer: the layer's number from the top, and what its siblings mean to it."""

    pattern: str
    layer: int
    independent: bool
    optional: bool


class Layers(Contract, frozen=True, kw_only=True):
    """A lower layer imports no higher one.

    Layers stand from high to low; any layer may import every lower one. A module belongs to the deepest
    layer that holds it, and modules of no layer are free.

    ```toml
    [[contract]]
    id = "house"
    kind = "layers"
    layers = ["shop.web : shop.cli", "shop.orders | shop.stock", "(shop.extra)", "shop.db"]
    ```

    This breaks it:

    ```python
    # shop/db.py
    from shop.stock import rules  # LG101
    ```

    The cure: move what the lower layer needs down to it, or let the higher layer hand it over.

    Options:

    - `layers`: patterns of modules, high to low. `"a | b"` are independent siblings in one layer: neither
      imports the other. `"a : b"` are free siblings. `"(a)"` is optional: it need not exist.
    - `containers` (default none): patterns of packages, in each of which the layers are looked for; the
      names in `layers` are then relative to them.
    - `exhaustive` (default false): with true, every child of a container must be in a layer.
    - `exhaustive-ignores` (default none): patterns, relative to the container, of children that need not.
    - `reach` (default `"direct"`): `"transitive"` follows chains of imports from layer to layer through
      modules of no layer, `"load"` what importing a layer really loads. Each import that enters a higher
      layer is told once, with the shortest chain to it.
    """

    kind: ClassVar[str] = "layers"
    code: ClassVar[str] = "LG101"
    reaches: ClassVar[tuple[Reach, ...]] = ("direct", "transitive", "load")

    layers: tuple[str, ...]
    containers: tuple[str, ...] = ()
    exhaustive: bool = False
    exhaustive_ignores: tuple[str, ...] = ()

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:  # noqa: ARG002
        """Yield every import that enters a layer from below or from a sibling, and stray children."""
        looked = self.looked_at(graph)
        elements = _elements(self.layers)
        banned = _banned(elements)
        seen: set[tuple[int, str]] = set()
        for container in self._containers(graph):
            units = Units(elements, container)
            for arrival in between(looked, self.reach, units.find, banned, graph.modules, units.packages):
                # Nested containers may tell of one import twice.
                key = (id(arrival.found), arrival.imported)
                if key not in seen:
                    seen.add(key)
                    yield self.arrived(arrival)
            if self.exhaustive and container:
                yield from self._strays(graph, container, units)

    def plants(self, ground: Ground) -> Iterator[Seed]:
        """Yield for each layer an import of the nearest one that it must not import, and of the farthest."""
        elements = _elements(self.layers)
        banned = _banned(elements)
        for container in self._containers(ground.graph)[:_FEW]:
            units = Units(elements, container)
            homes, goals = _homes(ground.sources, units, self.heeds), _homes(ground.graph.modules, units)
            for number, goal in goals.items():
                new = ground.fresh(goal)
                if number not in homes and units.find(new) == number and self.heeds(new):
                    homes[number] = new
            for number, home in sorted(homes.items(), reverse=True):
                above = [goal for other, goal in sorted(goals.items()) if banned[other] >> number & 1]
                for goal in dict.fromkeys((*above[-1:], *above[:1])):
                    yield Seed(home, Target(goal))

    @property
    def promises(self) -> frozenset[tuple[str, str]]:
        """Which layer must not import which, by their patterns."""
        elements = _elements(self.layers)
        return frozenset(
            (source.pattern, target.pattern)
            for target, bits in zip(elements, _banned(elements), strict=True)
            for number, source in enumerate(elements)
            if bits >> number & 1
        )

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield mixed siblings, empty and repeated layers, and options that need others."""
        names: list[str] = []
        for layer in self.layers:
            if "|" in layer and ":" in layer:
                yield "layers", f"'{layer}' mixes independent siblings ('|') and free ones (':')"
            for element in _elements((layer,)):
                if not element.pattern:
                    yield "layers", f"'{layer}' has an empty name"
                elif element.pattern.startswith("!"):
                    yield "layers", f"'{element.pattern}': a layer takes nothing away"
                elif element.pattern in names:
                    yield "layers", f"'{element.pattern}' stands in it twice"
                names.append(element.pattern)
        if not self.layers:
            yield "layers", "names no layer"
        if self.exhaustive and not self.containers:
            yield "exhaustive", "needs 'containers'"
        if self.exhaustive_ignores and not self.exhaustive:
            yield "exhaustive-ignores", "needs 'exhaustive'"

    @property
    def looked_at_packages(self) -> tuple[str, ...]:
        """The patterns of the containers, or of the layers."""
        return self.containers or tuple(
            element.pattern for element in _elements(self.layers) if not element.optional
        )

    def empty_patterns(self, graph: Graph) -> Iterator[str]:
        """Yield containers and layers that match no module; each container needs every layer not optional."""
        yield from empty_packages(graph, self.containers)
        containers = self._containers(graph)
        elements = _elements(self.layers)
        if not self.containers:
            empty = set(empty_packages(graph, [element.pattern for element in elements]))
            yield from (each.pattern for each in elements if each.pattern in empty and not each.optional)
        for element in elements if self.containers else ():
            absent = [each for each in containers if not graph.matches(_join(each, element.pattern))]
            if element.optional or not absent:
                continue
            if len(absent) == len(containers):
                yield element.pattern
            else:
                yield from (_join(each, element.pattern) for each in absent)
        for pattern in self.exhaustive_ignores:
            text = pattern.removeprefix("!")
            if containers and not any(graph.matches(_join(each, text)) for each in containers):
                yield pattern
        yield from super().empty_patterns(graph)

    def _containers(self, graph: Graph) -> list[str]:
        return Patterns(self.containers).members(graph.modules) if self.containers else [""]

    def _strays(self, graph: Graph, container: str, units: Units) -> Iterator[Violation]:
        ignores = Patterns(
            f"!{_join(container, each[1:])}" if each.startswith("!") else _join(container, each)
            for each in self.exhaustive_ignores
        )
        waiting = list(graph.children(container))
        while waiting:
            child = waiting.pop()
            if units.find(child) is not None or child in ignores:
                continue
            # A layer of several components lies deeper than a child: its neighbours there are asked instead.
            if any(within(name, child) and units.find(name) is not None for name in graph.modules):
                waiting.extend(graph.children(child))
                continue
            yield Violation(
                code=self.code,
                message=f"'{child}' is in no layer of '{container}'",
                location=graph.place(child),
                contract=self.id,
                severity=self.severity,
                importer=child,
                because=self.because,
                hint=self.hint,
            )


class Units:
    """Tells to which element of the layers a module belongs, within one container."""

    def __init__(self, elements: Sequence[Element], container: str) -> None:
        """Compile the patterns, relative to the container."""
        texts = [_join(container, element.pattern) for element in elements]
        self._patterns = [Patterns([text]) for text in texts]
        self._found: dict[str, int | None] = {}
        # Where each pattern has a fixed depth, a name is in what its parent is in, if no pattern matches it.
        self._by_parents = not any("**" in text for text in texts)
        self._literal = {text: number for number, text in reversed([*enumerate(texts)]) if "*" not in text}
        self._wild = [
            (number, Patterns([text], as_packages=False)) for number, text in enumerate(texts) if "*" in text
        ]

    @property
    def packages(self) -> dict[str, int] | None:
        """The numbers of the elements by their packages, where each is one."""
        return None if self._wild else self._literal

    def find(self, name: str) -> int | None:
        """Return the number of the element that holds a module: the deepest, of several the first."""
        found: int | None = self._found.get(name, -1)
        if found == -1:
            found = self._by_depth(name) if self._by_parents else self._by_length(name)
            self._found[name] = found
        return found

    def _by_depth(self, name: str) -> int | None:
        each = name
        while each:
            numbers = [number for number, pattern in self._wild if each in pattern]
            if each in self._literal:
                numbers.append(self._literal[each])
            if numbers:
                return min(numbers)
            each = each.rpartition(".")[0]
            if each in self._found:
                return self._found[each]
        return None

    def _by_length(self, name: str) -> int | None:
        best: tuple[int, int] | None = None
        for number, pattern in enumerate(self._patterns):
            package = pattern.find(name)
            if package is not None and (best is None or len(package) > best[0]):
                best = (len(package), number)
        return None if best is None else best[1]


def _homes(names: Iterable[str], units: Units, wanted: Callable[[str], bool] | None = None) -> dict[int, str]:
    """Return for each element the first of the names that belongs to it."""
    found: dict[int, str] = {}
    for name in names:
        number = units.find(name)
        if number is not None and number not in found and (wanted is None or wanted(name)):
            found[number] = name
    return found


def _elements(layers: Sequence[str]) -> list[Element]:
    found: list[Element] = []
    for number, layer in enumerate(layers):
        free = ":" in layer
        for raw in layer.split(":" if free else "|"):
            text = raw.strip()
            optional = text.startswith("(") and text.endswith(")")
            pattern = text[1:-1].strip() if optional else text
            found.append(Element(pattern, number, independent=not free, optional=optional))
    return found


def _banned(elements: Sequence[Element]) -> list[int]:
    """Return for each element the bits of those that must not reach it: lower ones, independent siblings."""
    return [
        sum(
            1 << number
            for number, source in enumerate(elements)
            if source.layer > target.layer
            or (source.layer == target.layer and source.independent and source is not target)
        )
        for target in elements
    ]


def _join(container: str, name: str) -> str:
    return f"{container}.{name}" if container else name
