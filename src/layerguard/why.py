"""The answer to `layerguard why`: by which chains of imports one module comes to another."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from typing import Literal

import msgspec

from layerguard.config import load_config
from layerguard.config.pattern_syntax import find_fault_in_name
from layerguard.errors import UserError
from layerguard.graph import Graph, parents, within
from layerguard.hits import hits, run_parents
from layerguard.model import Import, Location, Reach
from layerguard.patterns import Patterns
from layerguard.reading import Progress, read_imports
from layerguard.reporters.base import plain, what_loads
from layerguard.sources import read_tree
from layerguard.tables import quoted, suggest

_GOAL = ""
"""Where every chain ends; no module is called so."""
_SHOWN = 5
"""How many modules of one name are listed."""


class Link(msgspec.Struct, frozen=True):
    """One link of a chain at its place; with `named`, the module is loaded as a parent package of that."""

    importer: str
    imported: str
    place: Location
    named: str = ""
    mark: str = ""


class Links(msgspec.Struct, frozen=True):
    """What leads from module to module; of several links for one pair, the first by place."""

    after: dict[str, dict[str, Link]]
    before: dict[str, list[str]]

    def add(self, link: Link) -> None:
        """Keep a link, unless the pair has one."""
        links = self.after.setdefault(link.importer, {})
        if link.imported not in links:
            links[link.imported] = link
            self.before.setdefault(link.imported, []).append(link.importer)


class Answer(msgspec.Struct, frozen=True):
    """The chains found, shortest first; where there is none, `reason` has the lines that say why."""

    chains: tuple[tuple[Link, ...], ...]
    reason: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The answer as it is printed: one link a line, an empty line between chains."""
        if not self.chains:
            return "".join(f"{plain(line)}\n" for line in self.reason)
        return "\n".join("".join(f"{_line(link)}\n" for link in chain) for chain in self.chains)


def why(
    root: Path | str,
    importer: str,
    imported: str,
    *,
    reach: Reach = "transitive",
    number: int = 1,
    progress: Progress | None = None,
) -> Answer:
    """Find the `number` shortest chains from a module to another, in the project that holds `root`.

    Both may be packages: a chain leads from any module in the one to any in the other. What is imported may
    be external, or a name in a module. Of chains of one length the first by the names of their modules come
    first. Raises UserError when the names are none, or the project cannot be read.
    """
    for name in (importer, imported):
        fault, hint = find_fault_in_name(name)
        if fault:
            raise UserError(f"'{name}' {fault}.", hint)
    if importer == imported:
        raise UserError(f"'{importer}' is both the importer and the imported module.")
    config = load_config(Path(root))
    tree = read_tree(config.root, config.source_roots, config.exclude, config.path)
    reading = read_imports(tree, config.registries, {"import", "dynamic"}, progress=progress)
    graph = Graph(tree.modules, reading.imports)
    chains = tuple(islice(find_chains(graph, importer, imported, reach), number))
    return Answer(chains, () if chains else tuple(_reason(graph, importer, imported, reach)))


def find_chains(graph: Graph, importer: str, imported: str, reach: Reach) -> Iterator[tuple[Link, ...]]:
    """Yield every chain without repetition, shortest first; with `direct`, every import, by place.

    A chain leaves the importer at its first link and enters what is imported at its last. Where one of the
    two lies in the other, only the rest of the larger one is meant by it.
    """
    starts, ends = _inside(importer, imported), _inside(imported, importer)
    target = Patterns([imported])
    if reach == "direct":
        for found in graph.imports:
            for link in _naming(found, target, graph):
                if starts(link.importer) and ends(link.imported):
                    yield (link,)
        return
    begins = sorted(filter(starts, graph.modules))
    links = Links({}, {})
    for link in _all_links(graph, target, reach, begins):
        # An import that names what is looked for is one chain, whatever parents in it run besides.
        twice = link.named and ends(link.named) and ends(link.imported)
        within_one = ends(link.importer) or starts(link.imported) or link.importer == link.imported
        if not (twice or within_one):
            links.add(link)
            if ends(link.imported):
                links.add(Link(link.imported, _GOAL, link.place))
    for path in shortest_paths(links.after, links.before, begins, _GOAL):
        yield tuple(links.after[one][other] for one, other in pairwise(path[:-1]))


def _all_links(graph: Graph, target: Patterns, reach: Reach, begins: Iterable[str]) -> Iterator[Link]:
    """Yield the links that count, by place, then those from the first modules to their own parents."""
    for found in graph.imports:
        if reach == "load" and found.when != "load":
            continue
        yield from _naming(found, target, graph)
        yield _link(found, found.imported, found.location, found.imported)
        if reach == "load":
            yield from (
                _link(found, each, found.location, found.imported)
                for each in run_parents(found.importer, found.imported)
            )
    if reach == "load":
        for name in begins:
            yield from (Link(name, parent, graph.place(name), name) for parent in parents(name))


def _naming(found: Import, target: Patterns, graph: Graph) -> Iterator[Link]:
    """Yield a link to what an import means by the target: the module, or names taken from one."""
    for hit in hits(found, target, graph.modules):
        yield _link(found, hit.imported, hit.location, hit.imported)


def shortest_paths(
    after: Mapping[str, Collection[str]],
    before: Mapping[str, Iterable[str]],
    starts: Iterable[str],
    goal: str,
) -> Iterator[tuple[str, ...]]:
    """Yield the paths without repetition from any start to the goal, by length, then by names.

    A best-first search: how far a node is from the goal is known beforehand, so that only paths are followed
    that lead there. Where one has come by nodes that may lie on its way on, the distance is counted anew
    without them; thus no time is lost in places that only lead back.
    """
    distance = _distances(before, goal, ())
    heap: list[tuple[int, tuple[str, ...], bool]]
    heap = [(distance[start], (start,), False) for start in sorted(set(starts)) if start in distance]
    heapq.heapify(heap)
    while heap:
        length, path, is_exact = heapq.heappop(heap)
        node = path[-1]
        if node == goal:
            yield path
            continue
        if not is_exact and any(distance[each] <= distance[node] for each in path[:-1]):
            rest = _distances(before, goal, path[:-1]).get(node)
            if rest is not None:
                heapq.heappush(heap, (len(path) - 1 + rest, path, True))
            continue
        for each in after.get(node, ()):
            if each in distance and each not in path:
                heapq.heappush(heap, (max(length, len(path) + distance[each]), (*path, each), False))


def _distances(before: Mapping[str, Iterable[str]], goal: str, avoid: Iterable[str]) -> dict[str, int]:
    """Return how many links each node is away from the goal, by ways around those to avoid."""
    closed = set(avoid)
    distance = {goal: 0}
    waiting = [goal]
    for node in waiting:
        for each in before.get(node, ()):
            if each not in distance and each not in closed:
                distance[each] = distance[node] + 1
                waiting.append(each)
    return distance


def _inside(package: str, other: str) -> Callable[[str], bool]:
    """Tell whether a name is in a package, less the other one where that is a part of it."""
    apart = within(other, package)
    return lambda name: within(name, package) and not (apart and within(name, other))


def _link(found: Import, loaded: str, place: Location, named: str) -> Link:
    marks: list[Literal["dynamic", "deferred", "typing"]] = []
    if found.via == "dynamic":
        marks.append("dynamic")
    if found.when != "load":
        marks.append(found.when)
    return Link(found.importer, loaded, place, named if named != loaded else "", ", ".join(marks))


def _line(link: Link) -> str:
    place = link.place
    what = what_loads(link.importer, link.imported, link.named)
    mark = f" ({link.mark})" if link.mark else ""
    return plain(f"{place.path}:{place.line}:{place.column}: {what}{mark}")


def _reason(graph: Graph, importer: str, imported: str, reach: Reach) -> Iterator[str]:
    """Yield the lines that say why there is no chain, as far as that can be told."""
    what = {"direct": "does not import", "transitive": "never leads to", "load": "does not load"}[reach]
    yield f"no chain: '{importer}' {what} '{imported}'."
    if importer not in graph.modules:
        yield f"The project has no module '{importer}'. {_alike(graph, importer)}".rstrip()
    if imported not in graph.modules and not graph.mentions(imported):
        whose = "The project has no module" if graph.owns(imported) else "Nothing in the project imports"
        yield f"{whose} '{imported}'. {_alike(graph, imported)}".rstrip()
    if importer in graph.modules:
        wider: tuple[Reach, ...] = ("load", "transitive") if reach == "direct" else ("transitive",)
        for other in wider if reach != "transitive" else ():
            if next(find_chains(graph, importer, imported, other), None):
                yield f"There is one with --reach {other}."
                break


def _alike(graph: Graph, name: str) -> str:
    """Say which modules have the same last name, or nearly the same name."""
    last = name.rpartition(".")[2]
    same = [each for each in graph.modules if each.rpartition(".")[2] == last and each != name]
    if same:
        more = f" and {len(same) - _SHOWN} more" if len(same) > _SHOWN else ""
        return f"Modules of that name: {quoted(same[:_SHOWN])}{more}."
    return suggest(name, graph.modules)
