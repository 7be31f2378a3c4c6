"""On generated graphs the verdicts equal those of import-linter's own contract classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from graphs import graph
from hypothesis import given, settings
from hypothesis import strategies as st
from importlinter import configuration
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract

from layerguard.contracts import KINDS
from layerguard.graph import Graph, within

if TYPE_CHECKING:
    from importlinter.domain.contract import Contract as TheirContract

NAMES = ("app.a.x", "app.a.y", "app.b.x.p", "app.b.y", "app.c", "app.d.q", "app.e", "app.f", "ext")
MODULES = (*graph(" ".join(NAMES[:-1])).modules, "ext")
PACKAGES = [name for name in MODULES if name not in {"app", "ext"}]

EDGES = st.lists(
    st.sampled_from([(a, b) for a in MODULES[:-1] for b in MODULES if a != b]), max_size=14, unique=True
)
SOME = st.lists(st.sampled_from(PACKAGES), min_size=1, max_size=4, unique=True)


@pytest.fixture(autouse=True, scope="module")
def _configured() -> None:
    configuration.configure()


def _made(edges: list[tuple[str, str]]) -> Graph:
    return graph(" ".join(NAMES[:-1]), *(f"{importer} -> {imported}" for importer, imported in edges))


def _theirs(kind: type[TheirContract], made: Graph, **options: Any) -> bool:  # noqa: ANN401
    session = {"root_packages": ["app"], "include_external_packages": True}
    contract = kind("theirs", session, options)
    return bool(contract.check(made.grimp, verbose=False).kept)


def _ours(kind: str, made: Graph, **options: Any) -> bool:  # noqa: ANN401
    contract = KINDS[kind](id="ours", **options)
    assert list(contract.problems()) == []
    return not list(contract.check(made, frozenset()))


def _apart(names: list[str]) -> list[str]:
    """Keep those that do not lie in one another: import-linter refuses or skips the others."""
    kept: list[str] = []
    for name in names:
        if not any(within(name, other) or within(other, name) for other in kept):
            kept.append(name)
    return kept


@settings(deadline=None, max_examples=300)
@given(EDGES, SOME)
def test_independence(edges: list[tuple[str, str]], members: list[str]) -> None:
    made, members = _made(edges), _apart(members)
    ours = _ours("independence", made, modules=tuple(members), reach="transitive", allow_container=True)
    assert ours == _theirs(IndependenceContract, made, modules=members)


@settings(deadline=None, max_examples=300)
@given(EDGES, SOME, st.lists(st.sampled_from([*PACKAGES, "ext"]), min_size=1, max_size=3), st.booleans())
def test_forbidden(
    edges: list[tuple[str, str]],
    sources: list[str],
    targets: list[str],
    as_packages: bool,
) -> None:
    made, sources = _made(edges), _apart(sources)
    targets = [
        target
        for target in _apart(targets)
        if not any(within(target, source) or within(source, target) for source in sources)
    ]
    if not targets or ("ext" in targets and "ext" not in made.grimp.modules):
        return
    for indirect, reach in ((True, "transitive"), (False, "direct")):
        ours = _ours(
            "forbidden",
            made,
            sources=tuple(sources),
            targets=tuple(targets),
            reach=reach,
            as_packages=as_packages,
        )
        theirs = _theirs(
            ForbiddenContract,
            made,
            source_modules=sources,
            forbidden_modules=targets,
            as_packages=str(as_packages),
            allow_indirect_imports=str(not indirect),
        )
        assert ours == theirs


@settings(deadline=None, max_examples=300)
@given(EDGES, SOME, SOME)
def test_protected(edges: list[tuple[str, str]], protected: list[str], importers: list[str]) -> None:
    made, protected = _made(edges), _apart(protected)
    ours = _ours("protected", made, modules=tuple(protected), importers=tuple(importers), reach="transitive")
    assert ours == _theirs(ProtectedContract, made, protected_modules=protected, allowed_importers=importers)


@settings(deadline=None, max_examples=300)
@given(EDGES, SOME, st.lists(st.sampled_from([None, " | ", " : "]), min_size=4, max_size=4))
def test_layers(edges: list[tuple[str, str]], names: list[str], marks: list[str | None]) -> None:
    made, layers = _made(edges), [""]
    for name, mark in zip(_apart(names), marks, strict=False):
        last = layers[-1]
        if last and mark and {" | ": ":", " : ": "|"}[mark] not in last:
            layers[-1] = f"{last}{mark}{name}"
        else:
            layers.append(name)
    del layers[0]
    assert _ours("layers", made, layers=tuple(layers), reach="transitive") == _theirs(
        LayersContract, made, layers=layers
    )


@settings(deadline=None, max_examples=200)
@given(EDGES, st.booleans())
def test_layers_in_containers(edges: list[tuple[str, str]], exhaustive: bool) -> None:
    made = _made(edges)
    options: dict[str, Any] = {"layers": ["y", "(p) : (q)", "x"], "containers": ["app.a", "app.b"]}
    ours = _ours("layers", made, reach="transitive", exhaustive=exhaustive, **options)
    assert ours == _theirs(LayersContract, made, exhaustive=str(exhaustive), **options)


@settings(deadline=None, max_examples=300)
@given(EDGES, st.sampled_from(["app", "app.b"]))
def test_acyclic(edges: list[tuple[str, str]], package: str) -> None:
    made = _made(edges)
    assert _ours("acyclic", made, packages=(package,)) == _theirs(
        AcyclicSiblingsContract, made, ancestors=[package]
    )
