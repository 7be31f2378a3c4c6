"""The results as a Markdown page."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.lanes import Experiment, Lane, Ratio, Result, Sample
from benchmarks.trees import Tree

TITLES = {
    "cold": "Cold: everything is read anew",
    "unchanged": "Nothing has changed",
    "edited": "One file has changed",
    "imported": "One file has changed, and imports something else",
    "touched": "All files have new times, and their old contents",
    "growth": "Growth: the time for each file",
    "siblings": "Many siblings in one contract, with as many modules as there are in few siblings",
    "contracts": "Many small contracts, cold",
    "contracts, warm": "Many small contracts, nothing has changed",
    "contracts, edited": "Many small contracts, one file has changed and imports something else",
    "broken": "Many violations, all of them printed",
    "allowances": "Many allowances, beside the same code with nothing to allow",
    "start": "Commands that check nothing",
}


def page(head: Sequence[str], trees: Sequence[Tree], results: Sequence[Result], runs: int) -> str:
    """Return the page."""
    lines = [
        "# Benchmarks",
        "",
        *head,
        f"- Runs: {runs} of each command, in turn; told are the median and, in brackets, the least and most",
        "",
        *_trees(trees),
        *_wrong(results),
    ]
    for scenario, title in TITLES.items():
        found = [result for result in results if result.experiment.scenario == scenario]
        if found:
            lines += [f"## {title}", "", *_lanes(found), "", *_ratios(found), ""]
    return "\n".join(lines)


def problems(results: Sequence[Result]) -> list[str]:
    """Return what was wrong with any run, each thing once."""
    return sorted(
        {
            f"{result.experiment.scenario} {result.experiment.tree}: {name}: {sample.wrong}"
            for result in results
            for name, samples in result.samples.items()
            for sample in samples
            if sample.wrong
        }
    )


def _wrong(results: Sequence[Result]) -> list[str]:
    found = problems(results)
    return ["## These runs do not count", "", *(f"- {each}" for each in found), ""] if found else []


def _trees(trees: Sequence[Tree]) -> list[str]:
    if not trees:
        return []
    rows = []
    for tree in trees:
        code = tree.code()
        size = sum(path.stat().st_size for path in code) / 1e6
        rows.append(f"| {tree.name} | {len(code):,} | {size:.0f} | {', '.join(tree.releases)} |")
    return ["| tree | Python files | MB of them | releases |", "|---|---|---|---|", *rows, ""]


def _lanes(results: Sequence[Result]) -> list[str]:
    rows = [
        _lane(result.experiment, lane, result.samples[lane.name])
        for result in results
        for lane in result.experiment.lanes
    ]
    heads = "| tree | files | command | seconds | processor seconds | peak MB |"
    return [heads, "|---|---|---|---|---|---|", *rows]


def _lane(experiment: Experiment, lane: Lane, samples: Sequence[Sample]) -> str:
    if any(sample.timed_out for sample in samples):
        times = [f"> {max(sample.wall for sample in samples):.0f}", "", ""]
    else:
        times = [
            spread([sample.wall for sample in samples]),
            spread([sample.cpu for sample in samples]),
            f"{statistics.median(sample.peak for sample in samples):.0f}",
        ]
    return f"| {experiment.tree} | {_files(lane)} | {lane.name} | {' | '.join(times)} |"


def _files(lane: Lane) -> str:
    return f"{lane.files:,}" if lane.files else ""


def _ratios(results: Sequence[Result]) -> list[str]:
    rows = [_ratio(result, ratio) for result in results for ratio in result.experiment.ratios]
    return ["| tree | what | of | ratio | goal | |", "|---|---|---|---|---|---|", *rows]


def _ratio(result: Result, ratio: Ratio) -> str:
    what = {"wall": "seconds", "peak": "peak memory", "per file": "seconds for each file"}[ratio.measure]
    values = result.ratios(ratio)
    bound = "< " if result.is_bound(ratio) else ""
    goal = verdict = ""
    if ratio.limit is not None:
        goal = f"≤ {ratio.limit}"
        verdict = "met" if statistics.median(values) <= ratio.limit else "missed"
    over_under = f"{ratio.over} / {ratio.under}"
    return (
        f"| {result.experiment.tree} | {what} | {over_under} | {bound}{spread(values)} | {goal} | {verdict} |"
    )


def spread(values: Sequence[float]) -> str:
    """Return the median of some numbers, with the smallest and the largest."""
    median = statistics.median(values)
    if len(values) == 1:
        return _number(median)
    return f"{_number(median)} ({_number(min(values))} to {_number(max(values))})"


def _number(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}" if value < 1 else f"{value:.2f}"  # noqa: PLR2004
