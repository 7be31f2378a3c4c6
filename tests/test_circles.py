from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from layerguard.circles import Edge, breakers, components, in_circles, shortest_path

if TYPE_CHECKING:
    from collections.abc import Iterator

EDGES = st.dictionaries(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")).filter(lambda edge: edge[0] != edge[1]),
    st.integers(1, 4),
    max_size=14,
)


def test_components_come_successors_first() -> None:
    after = {"a": "b", "b": "cd", "c": "b", "d": ""}
    assert [sorted(group) for group in components("a", lambda node: after[node])] == [
        ["d"],
        ["b", "c"],
        ["a"],
    ]


def test_a_long_chain_needs_no_recursion() -> None:
    def after(node: str) -> Iterator[str]:
        if int(node) < 50_000:
            yield str(int(node) + 1)

    assert len(components(["0"], after)) == 50_001


def test_an_edge_between_two_circles_lies_in_none() -> None:
    groups = in_circles([("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "c"), ("d", "e")])
    assert sorted(groups) == ["a", "b", "c", "d"]
    assert groups["a"] == groups["b"] != groups["c"] == groups["d"]


def test_shortest_path() -> None:
    edges = [("a", "c"), ("c", "d"), ("a", "b"), ("b", "d"), ("d", "e"), ("a", "x")]
    assert shortest_path("a", "e", edges) == ["a", "b", "d", "e"]
    assert shortest_path("e", "a", edges) == []


def test_the_lightest_edge_is_cut() -> None:
    assert breakers({("a", "b"): 3, ("b", "a"): 1}) == [("b", "a")]
    assert breakers({("a", "b"): 1, ("b", "a"): 3}) == [("a", "b")]
    shared = {("a", "b"): 3, ("b", "c"): 2, ("c", "a"): 2, ("b", "d"): 2, ("d", "a"): 2}
    assert breakers(shared) == [("a", "b")]
    assert breakers({("a", "b"): 1, ("b", "c"): 1}) == []


@settings(deadline=None)
@given(EDGES)
def test_cuts_are_minimal(weights: dict[Edge, int]) -> None:
    least = min(
        sum(weight for (a, b), weight in weights.items() if order.index(a) > order.index(b))
        for order in permutations("abcde")
    )
    cut = breakers(weights)
    assert sum(weights[edge] for edge in cut) == least
    assert not in_circles(set(weights) - set(cut))
    assert cut == breakers(dict(reversed(weights.items())))


@settings(deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 19), st.integers(0, 19))
        .filter(lambda edge: edge[0] != edge[1])
        .map(lambda edge: (f"n{edge[0]:02}", f"n{edge[1]:02}")),
        st.integers(1, 4),
        min_size=30,
        max_size=80,
    )
)
def test_large_cuts_leave_no_circle_and_nothing_superfluous(weights: dict[Edge, int]) -> None:
    cut = breakers(weights)
    left = set(weights) - set(cut)
    assert not in_circles(left)
    assert all(in_circles(left | {edge}) for edge in cut)
    assert cut == breakers(dict(reversed(weights.items())))
