"""Chains of imports: which sources reach an import that enters a forbidden place, and how.

Sources are units (members, layers, source packages), each with a bit. One pass over the strongly
connected components tells for every module which units reach it, however many there are; a
shortest chain is looked for only where one is shown.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from layerguard.circles import components
from layerguard.graph import parents
from layerguard.model import Import, Location, Module, Reach, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    from layerguard.index import Selection
    from layerguard.patterns import Patterns

_FEW = 8
"""Up to this many sets of sources are followed one by one."""
_START = -1
"""What links a source to its own parents in place of an import's number."""


class Hit(msgspec.Struct, frozen=True):
    """What an import means by a pattern.

    `unit` is the package (or name) by which it is meant, `imported` what the import names, at
    `location`; `loaded` is the same, or the parent package that is meant and runs first.
    """

    unit: str
    imported: str
    location: Location
    loaded: str


class Arrival(msgspec.Struct, frozen=True):
    """An import that enters a forbidden place; with `reach` direct, without chain and units.

    `units` has the bits of the units that reach it.
    """

    found: Import
    imported: str
    location: Location
    chain: tuple[Step, ...] = ()
    units: int = 0


def step_of(found: Import, loaded: str, place: Location, imported: str = "") -> Step:
    """Return the link from an import to what it loads: to what it names, or to a parent package of that.

    `imported` is what the import names where that is a name of its module.
    """
    named = imported or found.imported
    if loaded == named:
        return Step(found.importer, loaded, place.path, place.line)
    return Step(found.importer, loaded, place.path, place.line, as_parent=True, named=named)


def run_parents(importer: str, imported: str) -> list[str]:
    """Return the packages that an import may run on its way to what it names, highest first.

    Those that hold the importer have run already.
    """
    own = {importer, *parents(importer)}
    return [name for name in parents(imported) if name not in own]


def hits(
    found: Import, patterns: Patterns, modules: Container[str] = (), reach: Reach = "direct"
) -> list[Hit]:
    """Return what an import means by the patterns: the module, or else each name; with `load` parents too.

    A pattern with wildcards means modules. What is taken from one of the project's `modules` and is none
    itself is only a name, so that such a pattern does not mean it; of an external module that is not known.
    """
    unit = patterns.find(found.imported)
    if unit is not None:
        result = [Hit(unit, found.imported, found.location, found.imported)]
    else:
        names = ((f"{found.imported}.{each.name}", each) for each in found.names if each.name != "*")
        result = [
            Hit(unit, text, name.location, text)
            for text, name in names
            if (unit := patterns.find(text)) is not None
            and (unit in patterns.texts or found.imported not in modules)
        ]
    if reach == "load":
        result += [
            Hit(unit, found.imported, found.location, parent)
            for parent in run_parents(found.importer, found.imported)
            if (unit := patterns.find(parent)) is not None
        ]
    return result


def may_hit(
    patterns: Patterns, modules: Container[str] = (), reach: Reach = "direct"
) -> Callable[[str], bool]:
    """Return the question whether an import of a module can mean anything by the patterns (see `hits`)."""
    literal = tuple(text for text in patterns.texts if "*" not in text)

    def may(imported: str) -> bool:
        if patterns.find(imported) is not None or any(text.startswith(f"{imported}.") for text in literal):
            return True
        if len(literal) < len(patterns.texts) and imported not in modules:
            return True
        return reach == "load" and any(patterns.find(each) is not None for each in parents(imported))

    return may


class Web:
    """The links between modules that one contract looks at; of several for one pair, the first by place.

    `after` has what each module links to, with the number of the import.
    """

    def __init__(
        self, looked: Selection, reach: Reach, starts: Iterable[str], modules: Mapping[str, Module]
    ) -> None:
        """Link importers to what they import.

        With `load` also to each parent package that an import runs, and from each of `starts` to its
        own parents, which run before it does.
        """
        self._looked = looked
        self._modules = modules
        self.after = looked.links()
        if reach == "load":
            self._link_parents(starts)

    def _link_parents(self, starts: Iterable[str]) -> None:
        for importer, links in self.after.items():
            above = {importer, *parents(importer)}
            own = dict(links)
            # Links stand in the order of their places, so that the first way to a parent is the one kept.
            for imported, number in own.items():
                for parent in parents(imported):
                    if parent not in above and number < links.get(parent, number + 1):
                        links[parent] = number
        for start in starts:
            links = self.after.setdefault(start, {})
            for parent in parents(start):
                links.setdefault(parent, _START)

    @cached_property
    def before(self) -> dict[str, list[str]]:
        """The modules that link to each one."""
        before: dict[str, list[str]] = {}
        for importer, links in self.after.items():
            for imported in links:
                before.setdefault(imported, []).append(importer)
        return before

    def step(self, importer: str, imported: str) -> Step:
        """Return the link from one module to another."""
        number = self.after[importer][imported]
        if number == _START:
            path = self._modules[importer].path if importer in self._modules else ""
            return Step(importer, imported, path, 1, as_parent=True, named=importer)
        found = self._looked.made(number)
        return step_of(found, imported, found.location)


class Reached:
    """Which units reach each module.

    `own` gives the bits of the modules that are sources. Chains may begin at a `closed` module, but
    neither end at nor pass through it.
    """

    def __init__(self, web: Web, own: Mapping[str, int], closed: Collection[str]) -> None:
        """Propagate the bits along the links, component by component."""
        self._web = web
        self._own = own
        self._closed = frozenset(closed)
        bits: dict[str, int] = {}
        for node, mask in own.items():
            for begin in web.after.get(node, ()) if node in closed else (node,):
                if begin not in closed:
                    bits[begin] = bits.get(begin, 0) | mask
        if len(set(bits.values())) <= _FEW:
            self._bits = self._walked(bits)
            return
        for group in reversed(components(sorted(bits), self._open)):
            mask = 0
            for node in group:
                mask |= bits.get(node, 0)
            for node in group:
                bits[node] = mask
                for after in self._open(node):
                    bits[after] = bits.get(after, 0) | mask
        self._bits = bits

    def _walked(self, begins: Mapping[str, int]) -> dict[str, int]:
        """Propagate the bits from each of few sets of modules: sooner done than looking for components."""
        bits: dict[str, int] = {}
        after, closed = self._web.after, self._closed
        for mask in sorted(set(begins.values())):
            seen = {node for node, each in begins.items() if each == mask}
            waiting = sorted(seen)
            while waiting:
                for each in after.get(waiting.pop(), ()):
                    if each not in seen and each not in closed:
                        seen.add(each)
                        waiting.append(each)
            for node in seen:
                bits[node] = bits.get(node, 0) | mask
        return bits

    def _open(self, node: str) -> Iterable[str]:
        if not self._closed:
            return self._web.after.get(node, ())
        return [after for after in self._web.after.get(node, ()) if after not in self._closed]

    def units(self, node: str) -> int:
        """Return the bits of the units that reach a module, its own among them."""
        return self._own.get(node, 0) if node in self._closed else self._bits.get(node, 0)

    def chain(self, node: str, mask: int, avoid: Container[str] = ()) -> tuple[Step, ...]:
        """Return the shortest chain to a module from a source that has one of the bits in `mask`.

        Of several, the first by the names of its modules; empty when the module is such a source itself.
        No module of the chain is among `avoid`.
        """
        distance = {node: 0}
        level = [node]
        begins: list[str] = []
        while level:
            begins = [each for each in level if self._own.get(each, 0) & mask]
            if begins:
                break
            further: list[str] = []
            for each in level:
                if each in self._closed:
                    continue
                for before in self._web.before.get(each, ()):
                    if before not in distance and before not in avoid:
                        distance[before] = distance[each] + 1
                        further.append(before)
            level = further
        steps: list[Step] = []
        current = min(begins)
        while current != node:
            last, links = current, self._web.after[current]
            nearer = distance[current] - 1
            current = min(each for each in links if distance.get(each) == nearer and each not in self._closed)
            steps.append(self._web.step(last, current))
        return tuple(steps)

    def arrival(self, found: Import, hit: Hit, mask: int, avoid: Container[str] = ()) -> Arrival | None:
        """Tell of an import, if one of the units in `mask` reaches it: by which chain, and which units do."""
        reaching = self.units(found.importer) & mask
        if not reaching:
            return None
        last = step_of(found, hit.loaded, hit.location, hit.imported)
        chain = (*self.chain(found.importer, mask, avoid), last)
        return Arrival(found, hit.imported, hit.location, chain, reaching)


def between(
    looked: Selection,
    reach: Reach,
    unit_of: Callable[[str], int | None],
    banned: Sequence[int],
    modules: Mapping[str, Module],
) -> Iterator[Arrival]:
    """Yield the imports that enter one unit from another that must not reach it.

    `unit_of` gives the number of the unit that holds a module, `banned[number]` the bits of the units
    that must not reach it. A chain leads from unit to unit through modules of no unit: it is not
    followed through a third one, whose own imports are judged for themselves.
    """
    reached: Reached | None = None
    if reach != "direct":
        names = {*modules, *looked.names()}
        own = {name: 1 << unit for name in sorted(names) if (unit := unit_of(name)) is not None}
        reached = Reached(Web(looked, reach, own, modules), own, own)

    def is_held(name: str) -> bool:
        return unit_of(name) is not None or (
            reach == "load" and any(unit_of(parent) is not None for parent in parents(name))
        )

    def sources(importer: str) -> int:
        """Return the bits of the units that reach an importer, or the one that it is in."""
        if reached is not None:
            return reached.units(importer)
        unit = unit_of(importer)
        return 0 if unit is None else 1 << unit

    for number, importer, imported in looked.ends(looked.numbers(is_held)):
        for loaded in (imported, *(run_parents(importer, imported) if reach == "load" else ())):
            target = unit_of(loaded)
            if target is None or not sources(importer) & banned[target]:
                continue
            found = looked.made(number)
            if reached is None:
                yield Arrival(found, imported, found.location)
                break
            hit = Hit("", imported, found.location, loaded)
            if arrival := reached.arrival(found, hit, banned[target]):
                yield arrival
                break
