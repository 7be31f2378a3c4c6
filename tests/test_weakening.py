from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from layerguard.allowances.weakening import find_less_read, find_weaker
from layerguard.config import Config, load_config
from layerguard.contracts import KINDS, Contract

BASIC: dict[str, dict[str, object]] = {
    "layers": {"layers": ["a", "b", "c"], "containers": ["p", "q"], "exhaustive": True},
    "forbidden": {"sources": ["a", "b"], "targets": ["c", "d"]},
    "independence": {"modules": ["a", "b", "c"]},
    "protected": {"modules": ["a", "b"], "importers": ["c"]},
    "acyclic": {"packages": ["a", "b"]},
    "private": {"packages": ["a", "b"]},
    "existing": {"packages": ["a", "b"], "generated": ["g"]},
    "removed": {"modules": {"a": "b", "c": ""}},
}


def make(kind: str, **options: object) -> Contract:
    values = {key.replace("_", "-"): value for key, value in (BASIC[kind] | {"id": "x"} | options).items()}
    return msgspec.convert(values, KINDS[kind])


def weaker(kind: str, before: dict[str, object], now: dict[str, object]) -> list[str]:
    return [
        text.removeprefix("the contract 'x' ")
        for text in find_weaker({"x": make(kind, **before)}, {"x": make(kind, **now)})
    ]


@pytest.mark.parametrize(
    ("kind", "before", "now", "expected"),
    [
        ("layers", {}, {"layers": ["a", "c"]}, ["looks at less: 'b' may import 'a' now (and 1 more)."]),
        ("layers", {}, {"layers": ["b", "a", "c"]}, ["looks at less: 'b' may import 'a' now."]),
        ("layers", {}, {"containers": ["p"]}, ["looks at less: 'containers' has no 'q' any more."]),
        ("layers", {}, {"exhaustive": False}, ["has exhaustive = false now."]),
        (
            "layers",
            {},
            {"exhaustive_ignores": ["p.z"]},
            ["leaves out more: 'exhaustive-ignores' has 'p.z' now."],
        ),
        ("forbidden", {}, {"sources": ["a"]}, ["looks at less: 'sources' has no 'b' any more."]),
        ("forbidden", {}, {"targets": ["c", "d", "!d.x"]}, ["looks at less: 'targets' has '!d.x' now."]),
        ("forbidden", {}, {"as_packages": False}, ["has as-packages = false now."]),
        ("independence", {}, {"modules": ["a", "b"]}, ["looks at less: 'modules' has no 'c' any more."]),
        ("independence", {}, {"allow_container": True}, ["has allow-container = true now."]),
        ("protected", {}, {"importers": ["c", "d"]}, ["leaves out more: 'importers' has 'd' now."]),
        (
            "protected",
            {"importers": ["c", "!c.x"]},
            {"importers": ["c"]},
            ["leaves out more: 'importers' has no '!c.x' any more."],
        ),
        ("acyclic", {}, {"packages": ["b"]}, ["looks at less: 'packages' has no 'a' any more."]),
        ("acyclic", {}, {"depth": 2}, ["looks at less: 'depth' is 2 now."]),
        ("acyclic", {"depth": 3}, {"depth": 2}, ["looks at less: 'depth' is 2 now."]),
        ("private", {}, {"packages": ["a"]}, ["looks at less: 'packages' has no 'b' any more."]),
        ("existing", {}, {"generated": ["g", "h"]}, ["leaves out more: 'generated' has 'h' now."]),
        ("removed", {}, {"modules": {"a": "b"}}, ["looks at less: 'modules' has no 'c' any more."]),
        ("removed", {}, {"text": ["*.md"]}, ["looks at less: 'text' is no longer everything."]),
        (
            "removed",
            {"text": ["*.md", "*.rst"]},
            {"text": ["*.md"]},
            ["looks at less: 'text' has no '*.rst' any more."],
        ),
        (
            "removed",
            {},
            {"via": ["import"]},
            ["looks at less: 'via' has no 'dynamic', 'string', 'text' any more."],
        ),
        (
            "forbidden",
            {},
            {"when": ["load"]},
            ["looks at less: 'when' has no 'deferred', 'typing' any more."],
        ),
        ("forbidden", {}, {"severity": "warning"}, ["has severity = 'warning' now."]),
        ("forbidden", {"frozen": True}, {}, ["has frozen = false now."]),
        ("forbidden", {}, {"allow_empty": True}, ["has allow-empty = true now."]),
        (
            "forbidden",
            {},
            {"exclude_importers": ["t"]},
            ["leaves out more: 'exclude-importers' has 't' now."],
        ),
        (
            "forbidden",
            {"reach": "transitive"},
            {},
            ["looks at less: 'reach' was 'transitive' and is 'direct'."],
        ),
        (
            "forbidden",
            {"reach": "transitive"},
            {"reach": "load"},
            ["looks at less: 'reach' was 'transitive' and is 'load'."],
        ),
        ("forbidden", {"reach": "load"}, {}, ["looks at less: 'reach' was 'load' and is 'direct'."]),
        (
            "forbidden",
            {},
            {"sources": ["a"], "targets": ["c"], "severity": "warning"},
            [
                "has severity = 'warning' now.",
                "looks at less: 'sources' has no 'b' any more.",
                "looks at less: 'targets' has no 'd' any more.",
            ],
        ),
    ],
)
def test_what_is_weaker(
    kind: str, before: dict[str, object], now: dict[str, object], expected: list[str]
) -> None:
    assert weaker(kind, before, now) == expected
    assert weaker(kind, before, before) == weaker(kind, now, now) == []


@pytest.mark.parametrize(
    ("kind", "before", "now"),
    [
        ("layers", {}, {"layers": ["a", "b", "n", "c"]}),
        ("layers", {"exhaustive": False}, {"exhaustive": True}),
        ("forbidden", {}, {"because": "Another reason.", "hint": "Other words."}),
        ("forbidden", {}, {"sources": ["b", "a", "n"], "targets": ["d", "c", "n"]}),
        ("forbidden", {"targets": ["c", "!c.x"]}, {"targets": ["c"]}),
        ("forbidden", {}, {"frozen": True}),
        ("forbidden", {}, {"reach": "transitive"}),
        ("forbidden", {"severity": "warning"}, {}),
        ("forbidden", {}, {"via": ["import", "dynamic", "string"]}),
        ("protected", {}, {"importers": []}),
        ("protected", {}, {"importers": ["c", "!c.x"]}),
        ("acyclic", {"depth": 1}, {}),
        ("removed", {}, {"modules": {"a": "other", "c": "", "d": ""}}),
        ("removed", {"text": ["*.md"]}, {}),
    ],
)
def test_what_is_not(kind: str, before: dict[str, object], now: dict[str, object]) -> None:
    assert weaker(kind, before, now) == []


def test_gone_and_of_another_kind() -> None:
    before = {"b": make("private", id="b"), "a": make("acyclic", id="a"), "c": make("private", id="c")}
    now = {"b": make("acyclic", id="b"), "c": make("private", id="c"), "new": make("private", id="new")}
    assert list(find_weaker(before, now)) == [
        "the contract 'a' is gone.",
        "the contract 'b' was of kind 'private' and is of kind 'acyclic'.",
    ]


def config(root: Path, text: str) -> Config:
    (root / "layerguard.toml").write_text(
        f'{text}\n[[contract]]\nid = "x"\nkind = "private"\npackages = ["a"]\n', encoding="utf-8"
    )
    return load_config(root)


def test_less_is_read(tmp_path: Path) -> None:
    registry = '[[registry]]\nmodule = "a.b"\nname = "T"\ntemplate = "{0}"\n'
    before = config(tmp_path, f'exclude = ["old/", "!old/x.py"]\n{registry}')
    now = config(tmp_path, 'exclude = ["old/", "new/"]\nsource-roots = ["lib"]')
    assert list(find_less_read(before, now)) == [
        "less is analysed: 'exclude' is not what it was; see 'new/', '!old/x.py'.",
        "the modules have other names: 'source-roots' is not what it was.",
        "less is analysed: the registry 'a.b:T' is gone.",
    ]
    assert list(find_less_read(before, before)) == []
    assert list(find_less_read(before, config(tmp_path, registry))) == [
        "less is analysed: 'exclude' is not what it was; see '!old/x.py'."
    ]
