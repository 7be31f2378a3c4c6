"""What holds for every kind: its table row, its documentation, its common options."""

from __future__ import annotations

import re
import tomllib

import msgspec
import pytest
from graphs import graph, imports, modules

from layerguard.contracts import KINDS, Contract
from layerguard.contracts.base import allowance_key, empty_packages
from layerguard.contracts.forbidden import Forbidden
from layerguard.contracts.layers import Layers
from layerguard.graph import Graph
from layerguard.model import CODES, Reach

COMMON = {field.encode_name for field in msgspec.structs.fields(Contract)}


def test_the_kinds_are_those_of_the_codes() -> None:
    assert {kind: made.code for kind, made in KINDS.items()} == {
        title: code for code, title in CODES.items() if code.startswith("LG1")
    }
    for kind, made in KINDS.items():
        assert made.kind == kind
        assert made.__module__ == f"layerguard.contracts.{kind}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_docstring_is_the_documentation(kind: str) -> None:
    made = KINDS[kind]
    text = made.__doc__ or ""
    assert re.match(r"[A-Z][^\n]+\.\n\n", text), "the first line is the promise as one sentence"
    example = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert example
    (contract,) = tomllib.loads(re.sub(r"(?m)^    ", "", example[1]))["contract"]
    assert contract.pop("kind") == kind
    assert not list(msgspec.convert(contract, made).problems())
    assert f"# {made.code}" in text.partition("This breaks it")[2].partition("The cure: ")[0]
    options = text.partition("Options:\n")[2]
    own = [f.encode_name for f in msgspec.structs.fields(made) if f.encode_name not in COMMON]
    named = re.findall(r"(?m)^ *- `([a-z-]+)`", options)
    assert [name for name in named if name != "reach"] == own
    assert ("reach" in named) == (len(made.reaches) > 1)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_keys_are_refused(kind: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.convert({"id": "x", "nonsense": 1}, KINDS[kind])


@pytest.mark.parametrize("reach", ["direct", "transitive", "load"])
def test_a_contract_looks_at_via_when_and_importers(reach: Reach) -> None:
    found = [
        imports("app.a", "heavy", line=1),
        imports("app.a", "heavy", line=2, when="deferred", scope="f"),
        imports("app.a", "heavy", line=3, when="typing"),
        imports("app.a", "heavy", line=4, via="string"),
        imports("app.a", "heavy", line=5, via="dynamic"),
        imports("app.b", "heavy", line=6),
    ]
    small = graph("app.a app.b", *found)
    options = {"id": "x", "sources": ("app",), "targets": ("heavy",), "reach": reach}

    def lines(**more: object) -> list[int]:
        contract = Forbidden(**{**options, **more})  # type: ignore[arg-type]
        return sorted(v.location.line for v in contract.check(small, frozenset()))

    every = [1, 5, 6] if reach == "load" else [1, 2, 3, 5, 6]
    assert lines() == every
    assert lines(exclude_importers=("app.b", "app.a:f")) == [line for line in every if line not in {2, 6}]
    assert lines(when=("load",)) == [1, 5, 6]
    assert lines(via=("string",)) == ([] if reach == "load" else [4])
    assert lines(via=("dynamic",)) == [5]


def test_a_violation_carries_what_the_contract_says() -> None:
    contract = Forbidden(
        id="x", sources=("a",), targets=("b",), because="So.", hint="Do.", severity="warning"
    )
    (violation,) = contract.check(graph("a", "a -> b"), frozenset())
    assert (violation.contract, violation.because, violation.hint, violation.severity) == (
        "x",
        "So.",
        "Do.",
        "warning",
    )
    assert violation.message == "a imports b"


def test_the_identity_of_an_import() -> None:
    assert allowance_key(imports("a", "b"), "b") == "a -> b"
    assert allowance_key(imports("a", "b", scope="C.f", when="deferred"), "b.x") == "a:C.f -> b.x"
    assert allowance_key(imports("a", "b", when="typing"), "b") == "a -> b (typing)"
    assert allowance_key(imports("a", "b", when="typing", via="dynamic"), "b") == "a -> b (dynamic)"
    assert allowance_key(imports("a", "b", scope="f", via="string"), "b") == "a:f -> b (string)"
    assert allowance_key(imports("docs/a.md", "b", via="text"), "b") == "docs/a.md -> b"


def test_an_external_pattern_may_match_nothing_beside_one_that_does() -> None:
    made = Graph(modules("app", "app.a"), ())
    assert list(empty_packages(made, ["app.a", "ext.lib", "app.zip", "!ext.free", "!app.free"])) == [
        "app.zip",
        "!app.free",
    ]
    assert list(empty_packages(made, ["ap.a", "!ext.free"])) == ["ap.a", "!ext.free"]
    layers = Layers(id="x", layers=("app.a", "app.hi", "(app.opt)", "ext.lib"))
    assert list(layers.empty_patterns(made)) == ["app.hi"]
    assert list(Layers(id="x", layers=("ap.a | ap.b",)).empty_patterns(made)) == ["ap.a", "ap.b"]
