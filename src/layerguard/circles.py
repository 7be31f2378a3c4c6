"""Circles in a directed graph: where they are, and which edges to cut so that none is left.

A graph is a mapping from each node to its successors; nodes are names, and every result is in
an order that depends on the names alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Edge = tuple[str, str]

_EXACT = 12
"""Up to this many nodes the best cut is found by trying all (2^n steps), beyond it by a heuristic."""


def components(roots: Iterable[str], successors: Callable[[str], Iterable[str]]) -> list[list[str]]:
    """Return the strongly connected components reached from the roots, successors before predecessors.

    Tarjan's algorithm without recursion, so that a chain of a hundred thousand modules is no problem.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    found: list[list[str]] = []
    for root in roots:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        waiting.add(root)
        work = [(root, iter(successors(root)))]
        while work:
            node, rest = work[-1]
            for after in rest:
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    waiting.add(after)
                    work.append((after, iter(successors(after))))
                    break
                if after in waiting:
                    low[node] = min(low[node], index[after])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    group = [stack.pop()]
                    while group[-1] != node:
                        group.append(stack.pop())
                    waiting.difference_update(group)
                    found.append(group)
    return found


def in_circles(edges: Iterable[Edge]) -> dict[str, int]:
    """Return, for each node that lies in a circle, the number of the group of circles it lies in.

    An edge lies in a circle exactly when both its nodes have the same number.
    """
    successors = _successors(edges)
    found = components(sorted(successors), lambda node: successors.get(node, ()))
    groups = [group for group in found if len(group) > 1]
    return {node: number for number, group in enumerate(groups) for node in group}


def shortest_path(start: str, end: str, edges: Iterable[Edge]) -> list[str]:
    """Return the nodes of the shortest path, the first by names among equals; empty when there is none."""
    successors = _successors(edges)
    before: dict[str, str] = {start: ""}
    level = [start]
    while level and end not in before:
        found: list[str] = []
        for node in level:
            for after in successors.get(node, ()):
                if after not in before:
                    before[after] = node
                    found.append(after)
        level = found
    path = [end] if end in before else []
    while path and before[path[-1]]:
        path.append(before[path[-1]])
    return path[::-1]


def breakers(weights: Mapping[Edge, int]) -> list[Edge]:
    """Return edges whose removal leaves no circle, of little weight together; sorted.

    The least possible weight where at most 12 nodes hang together in circles, close to it beyond that.
    No edge is superfluous: put back, each would close a circle.
    """
    groups: dict[int, set[str]] = {}
    for node, number in in_circles(sorted(weights)).items():
        groups.setdefault(number, set()).add(node)
    cut: list[Edge] = []
    for group in groups.values():
        inner = {edge: weight for edge, weight in weights.items() if group.issuperset(edge)}
        nodes = sorted(group)
        order = _best_order(nodes, inner) if len(nodes) <= _EXACT else _good_order(nodes, inner)
        rank = {node: place for place, node in enumerate(order)}
        backward = [edge for edge in inner if rank[edge[0]] > rank[edge[1]]]
        kept = set(inner) - set(backward)
        for edge in sorted(backward, key=lambda each: (-inner[each], each)):
            if shortest_path(edge[1], edge[0], kept):
                cut.append(edge)
            else:
                kept.add(edge)
    return sorted(cut)


def _successors(edges: Iterable[Edge]) -> dict[str, list[str]]:
    successors: dict[str, list[str]] = {}
    for before, after in sorted(edges):
        successors.setdefault(before, []).append(after)
    return successors


def _best_order(nodes: list[str], weights: Mapping[Edge, int]) -> list[str]:
    """Order the nodes so that the edges that point backward weigh least, by dynamic programming over sets."""
    count = len(nodes)
    # cost[i][j]: what it costs to place i while j stands before it, which is the edge from i back to j.
    cost = [[weights.get((nodes[i], nodes[j]), 0) for j in range(count)] for i in range(count)]
    best: list[tuple[int, int]] = [(0, -1)] * (1 << count)
    for placed in range(1, 1 << count):
        best[placed] = min(
            (best[placed ^ (1 << i)][0] + sum(cost[i][j] for j in range(count) if placed >> j & 1), i)
            for i in range(count)
            if placed >> i & 1
        )
    order: list[str] = []
    placed = (1 << count) - 1
    while placed:
        last = best[placed][1]
        order.append(nodes[last])
        placed ^= 1 << last
    return order[::-1]


def _good_order(nodes: list[str], weights: Mapping[Edge, int]) -> list[str]:
    """Order many nodes with the heuristic of Eades, Lin and Smyth (1993), by weights.

    Sinks go last, sources first, otherwise the node that sends most more than it receives goes first.
    """
    leaving: dict[str, dict[str, int]] = {node: {} for node in nodes}
    entering: dict[str, dict[str, int]] = {node: {} for node in nodes}
    for (before, after), weight in weights.items():
        leaving[before][after] = weight
        entering[after][before] = weight
    first: list[str] = []
    last: list[str] = []
    left = dict.fromkeys(nodes)
    while left:
        sink = next((node for node in left if not leaving[node]), None)
        if sink is not None:
            node = sink
            last.append(node)
        else:
            node = min(
                left,
                key=lambda each: (
                    bool(entering[each]),
                    sum(entering[each].values()) - sum(leaving[each].values()),
                    each,
                ),
            )
            first.append(node)
        del left[node]
        for after in leaving.pop(node):
            del entering[after][node]
        for before in entering.pop(node):
            del leaving[before][node]
    return first + last[::-1]
