"""The `forbidden` contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from layerguard.chains import Arrival, Reached, Web
from layerguard.contracts.base import Contract, empty_packages, empty_targets
from layerguard.contracts.seeds import Ground, Seed
from layerguard.graph import Graph, within
from layerguard.hits import Hit, above_names, hits, may_hit
from layerguard.model import Import, Reach, Violation
from layerguard.patterns import Patterns
from layerguard.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Found = tuple[Import, Hit]

_FEW = 8


class Forbidden(Contract, frozen=True, kw_only=True):
    """No source imports a target.

    Targets can be packages of the project, external packages with their whole dotted name, or names in
    a module (`huggingface_hub.HfApi`). Where a source and a target overlap, what lies in both is free:
    a target inside the source may import itself, and so may a source inside the target.

    ```toml
    [[contract]]
    id = "utils-below-helpers"
    kind = "forbidden"
    sources = ["app.*_utils"]
    targets = ["app.**.helpers"]
    ```

    This breaks it:

    ```python
    # app/image_utils.py
    from app.images.helpers import load  # LG102
    ```

    The cure: move what both need to where both may import it (here into `app.image_utils`), or hand it
    over as an argument.

    Options:

    - `sources`: patterns of the modules that must not import.
    - `targets`: patterns of the modules or names that must not be imported.
    - `as-packages` (default true): a pattern names a package with all that is in it. With false it means
      the modules alone: the way to say that a package's `__init__` imports nothing.
    - `reach` (default `"direct"`): `"transitive"` follows chains of imports from a source to a target,
      `"load"` what importing a source really loads. Each import that enters a target is told once, with
      the shortest chain to it.
    """

    kind: ClassVar[str] = "forbidden"
    code: ClassVar[str] = "LG102"
    reaches: ClassVar[tuple[Reach, ...]] = ("direct", "transitive", "load")

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    as_packages: bool = True

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:  # noqa: ARG002
        """Yield every import of a target that a source holds, or that a chain from a source ends with."""
        sources = Patterns(self.sources, as_packages=self.as_packages)
        targets = Patterns(self.targets, as_packages=self.as_packages)
        looked = self.looked_at(graph)
        if self.reach == "transitive" and _is_kept(
            looked, sources, targets, above_names(targets, graph.modules)
        ):
            return
        entering = looked.naming(may_hit(targets, graph.modules, self.reach))
        found = [(each, hit) for each in entering for hit in hits(each, targets, graph.modules, self.reach)]
        if self.reach == "direct":
            arrivals = _direct(found, sources)
        else:
            arrivals = self._chains(graph, looked, found, sources, targets)
        yield from map(self.arrived, arrivals)

    def plants(self, ground: Ground) -> Iterator[Seed]:
        """Yield imports by each source of some target, and of each target by some source."""
        sources = Patterns(self.sources, as_packages=self.as_packages)
        targets = Patterns(self.targets, as_packages=self.as_packages)

        def forbidden(importer: str, imported: str) -> bool:
            return not _is_own(importer, imported, str(sources.find(importer)), str(targets.find(imported)))

        importers = []
        for text in self.sources:
            if not text.startswith("!"):
                outside = ground.importer(
                    text, sources, lambda name: self.heeds(name) and name not in targets
                )
                importers.append(outside or ground.importer(text, sources, self.heeds))
        goals = list(ground.targets(targets))
        pairs = [
            (each, goal) for each in filter(None, importers) for goal in goals if forbidden(each, goal.whole)
        ]
        seen: set[str] = set()
        for importer, goal in pairs:
            if not {importer, goal.whole} <= seen:
                seen |= {importer, goal.whole}
                yield Seed(importer, goal)

    @property
    def targeted(self) -> set[str]:
        """The top-level names of the targets."""
        return {pattern.partition(".")[0] for pattern in self.targets}

    @property
    def looked_at_packages(self) -> tuple[str, ...]:
        """The patterns of the sources."""
        return self.sources

    def empty_patterns(self, graph: Graph) -> Iterator[str]:
        """Yield sources that match no module, and targets of the project that mean nothing."""
        yield from empty_packages(graph, self.sources)
        yield from empty_targets(graph, self.targets)
        yield from super().empty_patterns(graph)

    def _chains(
        self, graph: Graph, looked: Selection, found: list[Found], sources: Patterns, targets: Patterns
    ) -> Iterator[Arrival]:
        groups = _grouped({*graph.modules, *looked.links.after}, sources)
        bits = {source: 1 << number for number, source in enumerate(groups)}
        own = {name: bits[source] for source, names in groups.items() for name in names}
        web = Web(looked, self.reach, own, graph.modules)
        anyhow = Reached(web, own, ())
        by_target: dict[str, list[Found]] = {}
        for each, hit in found:
            if anyhow.units(each.importer):
                by_target.setdefault(hit.unit, []).append((each, hit))

        # With few sources, one path to each module says more than what the place leads to, and sooner.
        trees = [_tree(web, names) for names in groups.values()] if len(groups) <= _FEW else None
        best: dict[tuple[int, str], Arrival] = {}
        places = _grouped({*graph.modules, *web.after, *web.before}, targets) if by_target else {}
        position = {id(each): number for number, (each, _) in enumerate(found)}
        for target, entering in sorted(by_target.items()):
            place = places.get(target, set())
            # Chains do not pass through the place that they enter. That takes a search of its own, and
            # makes a difference only where the place leads back to an import that enters it.
            reached = anyhow
            importers = {each.importer for each, _ in entering} - place
            if (
                _leads_back(web, place, importers)
                if trees is None
                else _lead_through(trees, place, importers)
            ):
                reached = Reached(web, {name: mask for name, mask in own.items() if name not in place}, place)
            searches = [(reached, place, "")]
            # A source within the target reaches itself freely, so that each has a place of its own.
            for inner in sorted(place & groups.keys() - {target}):
                rest = {name for name in place if not within(name, inner)}
                starts = dict.fromkeys(sorted(groups[inner]), bits[inner])
                searches.append((Reached(web, starts, rest), rest, inner))
            for arrival in _arrivals(entering, searches):
                key = (position[id(arrival.found)], arrival.imported)
                best[key] = _joined(best.get(key), arrival)
        for key in sorted(best):
            yield best[key]


def _is_kept(looked: Selection, sources: Patterns, targets: Patterns, above: Iterable[str]) -> bool:
    """Tell whether nothing that the sources reach imports what may be a target, with sets of numbers.

    From the modules `above` names may be taken that are targets.
    """
    if sources.heads is None or targets.heads is None:
        return False
    wanted = set(looked.numbers_of(above)).union(*map(looked.numbers_within, targets.texts))
    importers = [name for package in sources.texts for name in looked.importers_within(package)]
    return not wanted or all(wanted.isdisjoint(found) for found in looked.reached_from(importers, ()))


def _grouped(names: Iterable[str], patterns: Patterns) -> dict[str, set[str]]:
    """Return the names that the patterns mean, by the package by which they are meant; sorted by package."""
    groups: dict[str, set[str]] = {}
    for name in names:
        package = patterns.find(name)
        if package is not None:
            groups.setdefault(package, set()).add(name)
    return dict(sorted(groups.items()))


def _arrivals(entering: list[Found], searches: list[tuple[Reached, set[str], str]]) -> Iterator[Arrival]:
    for search, closed, free in searches:
        for each, hit in entering:
            if each.importer in closed or (free and within(hit.loaded, free)):
                continue
            arrival = search.arrival(each, hit, -1, closed)
            if arrival is not None:
                yield arrival


def _direct(found: Iterable[Found], sources: Patterns) -> Iterator[Arrival]:
    for each, hit in found:
        source, target = sources.find(each.importer), hit.unit
        if source is not None and not _is_own(each.importer, hit.imported, source, target):
            yield Arrival(each, hit.imported, hit.location)


def _is_own(importer: str, imported: str, source: str, target: str) -> bool:
    """Tell whether an import stays in what a source and a target share."""
    return (within(target, source) and within(importer, target)) or (
        within(source, target) and within(imported, source)
    )


def _leads_back(web: Web, place: set[str], importers: set[str]) -> bool:
    """Tell whether chains from a place come to one of the importers outside of it."""
    seen = set(place)
    waiting = list(place)
    while waiting:
        for after in web.after.get(waiting.pop(), ()):
            if after not in seen:
                if after in importers:
                    return True
                seen.add(after)
                waiting.append(after)
    return False


def _tree(web: Web, starts: Iterable[str]) -> dict[str, str]:
    """Return every module that the starts reach, with the one before it on some path; a start has none."""
    before = dict.fromkeys(sorted(starts), "")
    waiting = list(before)
    for node in waiting:
        for after in web.after.get(node, ()):
            if after not in before:
                before[after] = node
                waiting.append(after)
    return before


def _lead_through(trees: list[dict[str, str]], place: set[str], importers: set[str]) -> bool:
    """Tell whether the path to one of the importers leads through a place, in one of the trees."""
    for tree in trees:
        for importer in importers:
            node = importer
            while node:
                if node in place:
                    return True
                node = tree.get(node, "")
    return False


def _joined(one: Arrival | None, other: Arrival) -> Arrival:
    """Join what two searches say of one import: the shorter chain, all the sources."""
    if one is None:
        return other

    def length(arrival: Arrival) -> tuple[int, list[str]]:
        return len(arrival.chain), [step.importer for step in arrival.chain]

    shorter = min(one, other, key=length)
    return Arrival(other.found, other.imported, other.location, shorter.chain, one.units | other.units)
