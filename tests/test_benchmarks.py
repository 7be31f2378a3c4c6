"""The benchmarks measure what they say: the same contracts, runs that count, ratios within a round."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.configs import LAYERGUARD, for_layerguard, write
from benchmarks.corpora import CORPORA
from benchmarks.goals import LIMITS, limit
from benchmarks.lanes import Experiment, Lane, Ratio, Result, Sample
from benchmarks.measuring import measure, read_verdict
from benchmarks.page import TITLES, page, problems
from benchmarks.trees import Contract, Tree
from layerguard import check
from layerguard.config import load_config

CONTRACTS = [
    Contract("l", "layers", {"layers": ["app.a", "app.b"]}),
    Contract("f", "forbidden", {"sources": ["app.b"], "targets": ["app.a"]}),
    Contract("i", "independence", {"modules": ["app.a", "app.c"]}),
]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "app").mkdir()
    for name in ("__init__", "a", "b", "c"):
        (tmp_path / f"app/{name}.py").write_text("")
    return Tree("made", tmp_path, ["app"], ["app==1"])


def test_the_contracts_are_those_that_layerguard_reads(tree: Tree) -> None:
    write(tree, CONTRACTS)
    config = load_config(tree.folder)
    assert [(each.id, each.kind, each.reach) for each in config.contracts] == [
        (each.id, each.kind, "transitive") for each in CONTRACTS
    ]
    assert not check(tree.folder).failed
    (tree.folder / "app/b.py").write_text("import app.a\n")
    assert {each.contract for each in check(tree.folder).violations} == {"l", "f"}


def test_a_configuration_that_stays_is_not_written_again(tree: Tree) -> None:
    write(tree, CONTRACTS)
    before = (tree.folder / LAYERGUARD).stat().st_mtime_ns
    write(tree, CONTRACTS)
    assert (tree.folder / LAYERGUARD).stat().st_mtime_ns == before
    write(tree, CONTRACTS[:1])
    assert (tree.folder / LAYERGUARD).read_text() == for_layerguard(CONTRACTS[:1])


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ("All 3 contracts kept, 0 allowed. 5 of 5 files, 7 imports.", (3, 0)),
        ("Found 9 violations: 1 of 3 contracts broken, 0 allowed. 5 of 5 files, 7 imports.", (2, 1)),
        ("Contracts: 2 kept, 1 broken.", (2, 1)),
        ("something else", None),
    ],
)
def test_verdicts_are_read_from_what_is_told(told: str, verdict: tuple[int, int] | None) -> None:
    assert read_verdict(told) == verdict


def _experiment(*lanes: Lane, ratios: tuple[Ratio, ...] = ()) -> Experiment:
    return Experiment("cold", "made", lanes, ratios)


def test_runs_in_turn_and_each_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"

    def lane(name: str, text: str, status: int = 0, verdict: tuple[int, int] | None = None) -> Lane:
        code = f"open({str(log)!r}, 'a').write('{name} '); print({text!r}); raise SystemExit({status})"
        return Lane(name, [sys.executable, "-c", code], tmp_path, verdict=verdict)

    one = lane("one", "Contracts: 2 kept, 0 broken.", verdict=(2, 0))
    two = lane("two", "Contracts: 1 kept, 1 broken.", verdict=(2, 0))
    three = lane("three", "", status=3)
    result = measure(_experiment(one, two, three), 2, timeout=60)
    assert log.read_text().split() == ["one", "two", "three"] * 2
    assert [sample.wrong for sample in result.samples["one"]] == ["", ""]
    assert all(sample.wall > 0 and sample.peak > 1 for sample in result.samples["one"])
    assert problems([result]) == [
        "cold made: three: exit status 3 instead of 0: ",
        "cold made: two: kept and broken contracts: (1, 1) instead of (2, 0)",
    ]
    assert "cold made: two" in capsys.readouterr().err


def test_ratios_are_taken_within_a_round_and_held_against_their_goals() -> None:
    lanes = [Lane("layerguard", [], Path(), files=10), Lane("other", [], Path(), files=20)]
    ratio, per_file = Ratio("layerguard", "other", limit=0.5), Ratio("layerguard", "other", "per file")
    samples = {
        "layerguard": [Sample(1, 1, 30), Sample(2, 2, 30), Sample(9, 9, 30)],
        "other": [Sample(4, 4, 60), Sample(4, 4, 60)],
    }
    result = Result(_experiment(*lanes, ratios=(ratio, per_file)), samples)
    assert result.ratios(ratio) == [0.25, 0.5]
    assert result.ratios(per_file) == [0.5, 1.0]
    assert result.ratios(Ratio("layerguard", "other", "peak")) == [0.5, 0.5]
    told = page(["- Date: today"], [], [result], 3)
    assert "| made | seconds | layerguard / other | 0.375 (0.25 to 0.5) | ≤ 0.5 | met |" in told


def test_goals_are_of_scenarios_and_trees_that_there_are() -> None:
    trees = {*CORPORA, "made", "none", "django, many contracts"}
    for scenario, tree, _, _ in LIMITS:
        assert scenario in TITLES
        assert tree in trees
    assert limit("cold", "homeassistant", "lint-imports", "wall") == 0.8
    assert limit("cold", "homeassistant", "nothing", "wall") is None
