"""Chooses contracts that a tree keeps, by one fixed rule, so that every tool has the same question to answer.

Kept ones, because printing is measured elsewhere. The chains come from grimp, the graph behind import-linter;
that layerguard comes to the same verdict is what the benchmarks check in every run.
"""

from __future__ import annotations

import collections
import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import grimp

from benchmarks.trees import Contract, Tree

_CANDIDATES = 3000
_DEPTH = 4
_MOST = 0.99
_LAYERS = 4
_TARGETS = 3
_MEMBERS = 6

Chain = Callable[[str, str], bool]
"""Whether there is a chain of imports from the first package to the second."""


def choose(tree: Tree, work: Path) -> list[Contract]:
    """Return one contract of each kind; what was chosen for these releases is kept in the working folder."""
    saved = work / "contracts" / f"{tree.folder.name}.json"
    rule = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    if saved.exists():
        known = json.loads(saved.read_text())
        if known["releases"] == tree.releases and known["rule"] == rule:
            return [Contract(**each) for each in known["contracts"]]
    chosen = _choose(tree)
    saved.parent.mkdir(exist_ok=True)
    plain = [{"id": each.id, "kind": each.kind, "options": each.options} for each in chosen]
    saved.write_text(json.dumps({"releases": tree.releases, "rule": rule, "contracts": plain}, indent=1))
    return chosen


def pairs(tree: Tree, number: int) -> list[Contract]:
    """Return that many small contracts: one package that does not come to another, each pair once."""
    units = _units(tree, number)
    chain = _chains(tree)
    found = [
        (source, target)
        for source in units
        for target in units
        if _apart(source, [target]) and not chain(source, target)
    ]
    if len(found) < number:
        raise ValueError(f"{tree.name}: only {len(found)} pairs of packages without a chain")
    return [
        Contract(f"pair-{place}", "forbidden", {"sources": [source], "targets": [target]})
        for place, (source, target) in enumerate(found[:number])
    ]


def _choose(tree: Tree) -> list[Contract]:
    units = _units(tree, _CANDIDATES)
    chain = _chains(tree)
    source, targets = _forbidden(units, chain)
    return [
        Contract("layers", "layers", {"layers": _layers(units, chain)}),
        Contract("forbidden", "forbidden", {"sources": [source], "targets": targets}),
        Contract("independence", "independence", {"modules": _independent(units, chain)}),
    ]


def _units(tree: Tree, number: int) -> list[str]:
    """Return the modules with the most files in them, the largest first; those of one size by name.

    So packages come before modules that are one file. In some trees all packages hang together, and only such
    modules are without chains. A package with nearly all files is left out: it leaves no room for another.
    """
    files = collections.Counter[str]()
    code = tree.code()
    for path in code:
        parts = path.relative_to(tree.folder).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        least = 1 if len(tree.roots) > 1 else 2
        files.update(".".join(parts[:depth]) for depth in range(least, min(len(parts), _DEPTH) + 1))
    fit = [name for name in files if files[name] <= _MOST * len(code)]
    return sorted(fit, key=lambda name: (-files[name], name))[:number]


def _chains(tree: Tree) -> Chain:
    # grimp looks for packages where Python would, so the tree has to come first for a while.
    sys.path.insert(0, str(tree.folder))
    importlib.invalidate_caches()
    try:
        graph = grimp.build_graph(*tree.roots, include_external_packages=False, cache_dir=None)
    finally:
        sys.path.remove(str(tree.folder))
    known: dict[tuple[str, str], bool] = {}

    def chain(importer: str, imported: str) -> bool:
        pair = (importer, imported)
        if pair not in known:
            known[pair] = graph.chain_exists(importer, imported, as_packages=True)
        return known[pair]

    return chain


def _layers(units: Sequence[str], chain: Chain) -> list[str]:
    """Return layers, high to low: each candidate stands as high as it can."""
    layers: list[str] = []
    for unit in units:
        if len(layers) == _LAYERS or not _apart(unit, layers):
            continue
        for place in range(len(layers) + 1):
            fits_above = not any(chain(lower, unit) for lower in layers[place:])
            if fits_above and not any(chain(unit, higher) for higher in layers[:place]):
                layers.insert(place, unit)
                break
    return _enough(layers, "layers")


def _forbidden(units: Sequence[str], chain: Chain) -> tuple[str, list[str]]:
    """Return the largest source, with the largest targets that it does not come to."""
    for source in units:
        targets: list[str] = []
        for target in units:
            if _apart(target, [source, *targets]) and not chain(source, target):
                targets.append(target)
        if targets:
            return source, targets[:_TARGETS]
    raise ValueError("no pair of packages without a chain")


def _independent(units: Sequence[str], chain: Chain) -> list[str]:
    members: list[str] = []
    for unit in units:
        if _apart(unit, members) and not any(chain(unit, each) or chain(each, unit) for each in members):
            members.append(unit)
    return _enough(members[:_MEMBERS], "independence")


def _apart(unit: str, others: Sequence[str]) -> bool:
    return not any(f"{unit}.".startswith(f"{each}.") or f"{each}.".startswith(f"{unit}.") for each in others)


def _enough(members: list[str], kind: str) -> list[str]:
    if len(members) < 2:  # noqa: PLR2004 - one package alone is no contract
        raise ValueError(f"no packages for a contract of the kind {kind}")
    return members
