"""Chains against plain enumeration of every path, and what importing really loads against a simulation."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING
from unittest.mock import patch

from graphs import chain, graph, imports
from hypothesis import given, settings
from hypothesis import strategies as st

from layerguard.contracts import forbidden
from layerguard.contracts.forbidden import Forbidden
from layerguard.contracts.independence import Independence
from layerguard.graph import Graph, parents, within
from layerguard.hits import hits, run_parents
from layerguard.model import Import, Step, Violation
from layerguard.patterns import Patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MODULES = ("app", "app.a", "app.a.x", "app.b", "app.b.y", "app.c", "app.d", "app.e", "app.e.z")
PAIRS = [(a, b) for a in MODULES for b in MODULES if a != b]
EDGES = st.lists(st.sampled_from(PAIRS), max_size=13)
WHENS = st.lists(
    st.tuples(st.sampled_from(PAIRS), st.sampled_from(["load", "load", "deferred"])), max_size=10
)
MEMBERS = ("app.a", "app.b", "app.e")

Found = dict[tuple[str, int], tuple[list[str], int]]


def _made(edges: list[tuple[str, str]]) -> Graph:
    return graph(" ".join(MODULES), *(f"{importer} -> {imported}" for importer, imported in edges))


def _paths(made: Graph, start: str, ends: Callable[[str], bool]) -> Iterator[list[str]]:
    """Yield every path without repetition from a module up to the first one that ends it."""
    work = [[start]]
    while work:
        path = work.pop()
        for after in {found.imported for found in made.imports if found.importer == path[-1]}:
            if ends(after):
                yield [*path, after]
            elif after not in path:
                work.append([*path, after])


def _entering(made: Graph, paths: list[tuple[str, list[str]]]) -> Found:
    """Return for each place that ends a path the first of the shortest paths and the number of units."""
    result: Found = {}
    for found in made.imports:
        here = [(unit, path) for unit, path in paths if path[-2:] == [found.importer, found.imported]]
        if here:
            best = min((len(path), path) for _, path in here)[1]
            result[found.importer, found.location.line] = (best, len({unit for unit, _ in here}))
    return result


def _shown(violations: Iterator[Violation]) -> Found:
    every = list(violations)
    shown = {(v.importer, v.location.line): (chain(v), v.sources) for v in every}
    assert len(shown) == len(every)
    for violation in every:
        assert violation.chain[-1].line == violation.location.line
        assert violation.chain[-1].path == violation.location.path
    return shown


@settings(deadline=None, max_examples=300)
@given(EDGES)
def test_chains_between_members(edges: list[tuple[str, str]]) -> None:
    def member(name: str) -> str | None:
        return next((each for each in MEMBERS if within(name, each)), None)

    made = _made(edges)
    paths = [
        (start, path)
        for module in MODULES
        if (start := member(module)) is not None
        for path in _paths(made, module, lambda name: member(name) is not None)
        if member(path[-1]) != start
    ]
    contract = Independence(id="x", modules=MEMBERS, reach="transitive", allow_container=True)
    assert _shown(contract.check(made, frozenset())) == _entering(made, paths)


@settings(deadline=None, max_examples=300)
@given(
    EDGES,
    st.lists(st.sampled_from(MODULES[1:]), min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from(MODULES[1:]), min_size=1, max_size=2, unique=True),
    st.sampled_from([0, 8]),
)
def test_chains_to_targets(
    edges: list[tuple[str, str]], sources: list[str], targets: list[str], few: int
) -> None:
    made = _made(edges)
    source, target = Patterns(sources), Patterns(targets)
    paths = [
        (unit, path)
        for module in MODULES
        if (unit := source.find(module)) is not None
        for goal in {target.find(name) for name in MODULES} - {None}
        for path in _paths(made, module, _place(unit, str(goal)))
        if not _place(unit, str(goal))(module)
    ]
    contract = Forbidden(id="x", sources=tuple(sources), targets=tuple(targets), reach="transitive")
    # With few sources a cheaper test tells whether a target needs a search of its own: both must be right.
    with patch.object(forbidden, "_FEW", few):
        assert _shown(contract.check(made, frozenset())) == _entering(made, paths)


def _place(source: str, target: str) -> Callable[[str], bool]:
    """Tell what a source must not reach: the target, less the source itself where that lies within it."""
    inside = within(source, target) and source != target
    return lambda name: within(name, target) and not (inside and within(name, source))


def _loaded(made: Graph, start: str) -> set[str]:
    """Return what importing a module loads, as Python does it: parents, the module, its imports."""
    loaded: set[str] = set()
    waiting = [start]
    while waiting:
        for name in (*parents(module := waiting.pop()), module):
            if name not in loaded:
                loaded.add(name)
                waiting += [f.imported for f in made.imports if f.importer == name and f.when == "load"]
    return loaded


@settings(deadline=None, max_examples=300)
@given(WHENS, st.sampled_from(MODULES[1:]), st.sampled_from(MODULES[1:]), st.booleans())
def test_load_is_what_python_loads(
    edges: list[tuple[tuple[str, str], str]],
    source: str,
    target: str,
    as_packages: bool,
) -> None:
    if within(target, source) or within(source, target):
        return
    found = [
        imports(importer, imported, line=line, when="load" if when == "load" else "deferred")
        for line, ((importer, imported), when) in enumerate(edges, 1)
    ]
    made = graph(" ".join(MODULES), *found)
    starts = [name for name in MODULES if (within(name, source) if as_packages else name == source)]
    loaded = {name for start in starts for name in _loaded(made, start)}
    broken = any(within(name, target) if as_packages else name == target for name in loaded)
    contract = Forbidden(id="x", sources=(source,), targets=(target,), reach="load", as_packages=as_packages)
    violations = list(contract.check(made, frozenset()))
    assert bool(violations) == broken
    assert len({v.location for v in violations}) == len(violations)
    for violation in violations:
        assert violation.when == "load"
        assert violation.chain[0].importer in starts


def test_load_enters_by_way_of_a_parent() -> None:
    made = graph("app.a.m app.b.u app.heavy.m", "app.a.m -> app.b.u", "app.b -> app.heavy.m")
    contract = Forbidden(id="light", sources=("app.a",), targets=("app.heavy",), reach="load")
    (violation,) = contract.check(made, frozenset())
    assert (violation.location.path, violation.location.line) == ("app/b/__init__.py", 1)
    assert (violation.importer, violation.imported) == ("app.b", "app.heavy.m")
    assert violation.chain == (
        Step("app.a.m", "app.b", "app/a/m.py", 1, as_parent=True, named="app.b.u"),
        Step("app.b", "app.heavy.m", "app/b/__init__.py", 1),
    )
    assert violation.sources == 1


def test_load_runs_the_parents_of_the_source() -> None:
    made = graph("app.a.m app.heavy", "app.a -> app.heavy")
    contract = Forbidden(id="light", sources=("app.a.m",), targets=("app.heavy",), reach="load")
    (violation,) = contract.check(made, frozenset())
    assert violation.chain == (
        Step("app.a.m", "app.a", "app/a/m.py", 1, as_parent=True, named="app.a.m"),
        Step("app.a", "app.heavy", "app/a/__init__.py", 1),
    )


def test_load_of_a_parent_alone_is_told_at_what_names_its_module() -> None:
    made = graph("app.a app.heavy.m", "app.a -> app.heavy.m")
    contract = Forbidden(id="x", sources=("app.a",), targets=("app.heavy",), reach="load", as_packages=False)
    (violation,) = contract.check(made, frozenset())
    assert violation.imported == "app.heavy.m"
    assert violation.key == "app.a -> app.heavy.m"
    step = Step("app.a", "app.heavy", "app/a.py", 1, as_parent=True, named="app.heavy.m")
    assert violation.chain == (step,)


def test_the_shortest_chain_between_members_leads_round_the_member_that_it_enters() -> None:
    made = graph(
        "app.a app.b app.m app.p app.q",
        *("app.a -> app.b", "app.b -> app.m", "app.m -> app.b"),
        *("app.a -> app.p", "app.p -> app.q", "app.q -> app.m"),
    )
    contract = Independence(id="x", modules=("app.a", "app.b"), reach="transitive")
    first, second = sorted(contract.check(made, frozenset()), key=lambda each: each.order)
    assert chain(first) == ["app.a", "app.b"]
    assert chain(second) == ["app.a", "app.p", "app.q", "app.m", "app.b"]


def test_an_import_that_loads_a_member_and_its_parent_is_told_once() -> None:
    made = graph("app.a app.b.x.y", "app.a -> app.b.x.y")
    contract = Independence(id="x", modules=("app.a", "app.b"), reach="load")
    (violation,) = contract.check(made, frozenset())
    assert chain(violation) == ["app.a", "app.b.x.y"]


def test_what_an_import_means_by_patterns() -> None:
    found = imports("app.x", "hub", "login", "HfApi", "*")
    patterns = Patterns(["hub.HfApi", "hub.login"])
    assert [(hit.unit, hit.imported, hit.location.column) for hit in hits(found, patterns)] == [
        ("hub.login", "hub.login", 30),
        ("hub.HfApi", "hub.HfApi", 40),
    ]
    assert [
        (hit.unit, hit.imported, hit.location.column) for hit in hits(found, Patterns(["hub", "hub.HfApi"]))
    ] == [("hub", "hub", 8)]
    assert hits(found, Patterns(["hub.download"])) == []
    assert hits(imports("app.x", "app.core", "LIMIT"), Patterns(["app.core.*"]), {"app.core"}) == []
    own = hits(imports("app.x", "app.core", "LIMIT"), Patterns(["app.core.LIMIT"]), {"app.core"})
    assert [hit.imported for hit in own] == ["app.core.LIMIT"]
    outside = hits(imports("app.x", "cloud", "storage"), Patterns(["cloud.*"]), {"app.core"})
    assert [hit.imported for hit in outside] == ["cloud.storage"]
    assert hits(imports("app.x", "hub", "*"), Patterns(["hub.*"])) == []
    deep = imports("app.x", "app.heavy.part.m")
    assert run_parents(deep.importer, deep.imported) == ["app.heavy", "app.heavy.part"]
    alone = Patterns(["app", "app.heavy"], as_packages=False)
    assert hits(deep, alone) == []
    assert [(hit.imported, hit.loaded) for hit in hits(deep, alone, reach="load")] == [
        ("app.heavy.part.m", "app.heavy")
    ]


def test_ten_thousand_modules_in_a_row_need_no_recursion() -> None:
    names = [f"app.m{number}" for number in range(10_000)]
    row: list[Import | str] = [f"{a} -> {b}" for a, b in pairwise(names)]
    contract = Forbidden(id="x", sources=("app.m0",), targets=("app.m9999",), reach="transitive")
    (violation,) = contract.check(graph(" ".join(names), *row), frozenset())
    assert len(violation.chain) == 9_999
    assert violation.importer == "app.m9998"
