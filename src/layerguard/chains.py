"""Chains of imports: which sources reach an import that enters a forbidden place, and how.

Sources are units (members, layers, source packages), each with a bit. One pass over the strongly
connected components tells for every module which units reach it, however many there are; a
shortest chain is looked for only where one is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layerguard.circles import components
from layerguard.graph import parents
from layerguard.hits import Hit, run_parents
from layerguard.index import Links
from layerguard.model import Import, Location, Module, Reach, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from layerguard.selection import Selection

_FEW = 8
"""Up to this many sets of sources are followed one by one."""
_MANY = 8
"""For so many sets of sources it is kept how far they are away; from others chains are searched backward."""
_START = -1
"""What links a source to its own parents in place of an import's number."""


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
        self._links = looked.links
        if reach == "load":
            self._links = Links({importer: dict(links) for importer, links in self._links.after.items()})
            self._link_parents(self._links.after, starts)
        self.after = self._links.after

    @staticmethod
    def _link_parents(after: dict[str, dict[str, int]], starts: Iterable[str]) -> None:
        for importer, links in after.items():
            above = {importer, *parents(importer)}
            for imported, number in list(links.items()):
                for parent in parents(imported):
                    if parent not in above and number < links.get(parent, number + 1):
                        links[parent] = number
        for start in starts:
            links = after.setdefault(start, {})
            for parent in parents(start):
                links.setdefault(parent, _START)

    @property
    def before(self) -> dict[str, list[str]]:
        """The modules that link to each one."""
        return self._links.before

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
        self._distances: dict[tuple[int, frozenset[str]], list[set[str]]] = {}
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

    def chain(self, node: str, mask: int, avoid: Collection[str] = ()) -> tuple[Step, ...]:
        """Return the shortest chain to a module from a source that has one of the bits in `mask`.

        Of several, the first by the names of its modules; empty when the module is such a source itself.
        No module of the chain is among `avoid`.
        """
        levels = self._levels(node, mask, avoid)
        current = min(each for each in levels[0] if self._own.get(each, 0) & mask)
        steps: list[Step] = []
        for level in levels[1:]:
            last = current
            current = min((self._web.after[last].keys() & level) - self._closed)
            steps.append(self._web.step(last, current))
        return tuple(steps)

    def _levels(self, node: str, mask: int, avoid: Collection[str]) -> list[set[str]]:
        """Return what the shortest chains to a module go through: the sources, the next modules, and so on.

        The first level may hold other modules besides.
        """
        key = (mask, frozenset(avoid))
        if self._own.get(node, 0) & mask:
            return [{node}]
        if key not in self._distances:
            if len(self._distances) >= _MANY:
                return self._levels_from(node, mask, avoid)
            self._distances[key] = self._distances_from(mask, avoid)
        distances = self._distances[key]
        number = next(number for number, level in enumerate(distances) if node in level)
        levels = [{node}]
        for before in reversed(distances[:number]):
            nearer = levels[-1]
            levels.append({each for each in before if not nearer.isdisjoint(self._web.after.get(each, ()))})
        return levels[::-1]

    def _levels_from(self, node: str, mask: int, avoid: Collection[str]) -> list[set[str]]:
        """Return the levels by a search backward from the module, which ends at the nearest source."""
        seen = {node}
        levels = [{node}]
        while not any(self._own.get(each, 0) & mask for each in levels[-1]):
            befores = (self._web.before.get(each, ()) for each in levels[-1] if each not in self._closed)
            level = {each for some in befores for each in some} - seen
            level.difference_update(avoid)
            seen |= level
            levels.append(level)
        # Only what leads on to the module by a shortest chain is of use.
        return levels[::-1]

    def _distances_from(self, mask: int, avoid: Collection[str]) -> list[set[str]]:
        """Return the modules by how far they are from the nearest source with one of the bits in `mask`."""
        levels = [{node for node, bits in self._own.items() if bits & mask}.difference(avoid)]
        seen = set(levels[0])
        while levels[-1]:
            further = {each for node in levels[-1] for each in self._web.after.get(node, ())}
            levels.append(further.difference(seen, self._closed, avoid))
            seen |= levels[-1]
        return levels

    def arrival(self, found: Import, hit: Hit, mask: int, avoid: Collection[str] = ()) -> Arrival | None:
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
    packages: Mapping[str, int] | None = None,
) -> Iterator[Arrival]:
    """Yield the imports that enter one unit from another that must not reach it.

    `packages` has the units' numbers by their packages, where each unit is all that is in one, less the units
    in it.
    `unit_of` gives the number of the unit that holds a module, `banned[number]` the bits of the units
    that must not reach it. A chain leads from unit to unit through modules of no unit: it is not
    followed through a third one, whose own imports are judged for themselves.
    """
    if reach == "transitive" and packages and len(packages) <= _MANY and _is_kept(looked, packages, banned):
        return
    reached = None if reach == "direct" else _reached(looked, reach, unit_of, modules)

    def banned_for(name: str) -> int:
        """Return the bits of the units that must not reach what is loaded with a name."""
        unit = unit_of(name)
        bits = 0 if unit is None else banned[unit]
        return bits if reach != "load" else bits | _any_bits(map(unit_of, parents(name)), banned)

    def reaching(importer: str) -> int:
        """Return the bits of the units that reach an importer, or the one that it is in."""
        if reached is not None:
            return reached.units(importer)
        unit = unit_of(importer)
        return 0 if unit is None else 1 << unit

    for number, importer, imported in looked.entering(banned_for, reaching):
        for loaded in (imported, *(run_parents(importer, imported) if reach == "load" else ())):
            target = unit_of(loaded)
            if target is None or not reaching(importer) & banned[target]:
                continue
            found = looked.made(number)
            if reached is None:
                yield Arrival(found, imported, found.location)
                break
            hit = Hit("", imported, found.location, loaded)
            if arrival := reached.arrival(found, hit, banned[target]):
                yield arrival
                break


def _any_bits(units: Iterable[int | None], banned: Sequence[int]) -> int:
    bits = 0
    for unit in units:
        bits |= 0 if unit is None else banned[unit]
    return bits


def _reached(
    looked: Selection, reach: Reach, unit_of: Callable[[str], int | None], modules: Mapping[str, Module]
) -> Reached:
    links = looked.links
    names = {*modules, *links.after, *links.before}
    own = {name: 1 << unit for name in names if (unit := unit_of(name)) is not None}
    return Reached(Web(looked, reach, own, modules), own, own)


def _is_kept(looked: Selection, packages: Mapping[str, int], banned: Sequence[int]) -> bool:
    """Tell whether no unit reaches one that it must not reach, with sets of numbers alone."""
    units: dict[int, int] = {}
    unit_of: dict[str, int] = {}
    for package in sorted(packages, key=len):  # what is in two of them belongs to the longer one
        units.update(dict.fromkeys(looked.numbers_within(package), packages[package]))
        unit_of.update(dict.fromkeys(looked.importers_within(package), packages[package]))
    members: dict[int, list[str]] = {}
    for importer, unit in unit_of.items():
        members.setdefault(unit, []).append(importer)
    for source, importers in members.items():
        illegal = {number for number, unit in units.items() if banned[unit] >> source & 1}
        if illegal and any(not illegal.isdisjoint(found) for found in looked.reached_from(importers, units)):
            return False
    return True
