"""The command: `python -m benchmarks`, from the root of the checkout."""

from __future__ import annotations

import argparse
import fcntl
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import blowups, choosing, configs, corpora, machine, page, scenarios
from benchmarks.lanes import Experiment, Result
from benchmarks.measuring import measure
from benchmarks.scenarios import Tools
from benchmarks.trees import Tree

_ON_TREES = {
    "cold": scenarios.cold,
    "unchanged": scenarios.unchanged,
    "edited": scenarios.edited,
    "imported": scenarios.imported,
    "touched": scenarios.touched,
}
_OTHERS = ("growth", "siblings", "contracts", "broken", "allowances", "start")
_CORPORA = ("django", "transformers", "homeassistant", "namespace", "twelve")
_MANY_CONTRACTS = ("django, many contracts", "homeassistant, many contracts")
_GROWTH = ("transformers", "twelve")


def main() -> int:
    """Measure, print the page, and return 1 when any run was not what it should be."""
    options = _parser().parse_args()
    work = Path(options.work).resolve()
    (work / "wheels").mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:
        # A second run would install the tools anew under the first one, and slow it down.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _measure(options, work)


def _measure(options: argparse.Namespace, work: Path) -> int:
    small: bool = options.small
    wanted = options.corpus or (["django"] if small else list(_CORPORA))
    asked = options.scenario or [*_ON_TREES, *_OTHERS]
    tools = machine.install(work)
    trees = {
        name: _tree(work, name, git=options.git)
        for name in wanted
        if set(asked) & set(_ON_TREES) or ("growth" in asked and name in _GROWTH)
    }
    experiments = _experiments(tools, work, trees, asked, small=small, git=options.git)
    results = [measure(each, 1 if small else options.runs, options.timeout) for each in experiments]
    return _report(options.output, tools, list(trees.values()), results, 1 if small else options.runs)


def _experiments(
    tools: Tools, work: Path, trees: dict[str, Tree], asked: list[str], *, small: bool, git: bool
) -> Iterator[Experiment]:
    for scenario, make in _ON_TREES.items():
        if scenario in asked:
            yield from (make(tools, tree) for tree in trees.values())
    if "growth" in asked and set(_GROWTH) <= set(trees):
        yield scenarios.growth(tools, *(trees[name] for name in _GROWTH))
    for made in (blowups.siblings, blowups.broken, blowups.allowances):
        if made.__name__ in asked:
            yield made(tools, work, small=small)
    if "contracts" in asked:
        number = 20 if small else 200
        for name in _MANY_CONTRACTS:
            if small and name != _MANY_CONTRACTS[0]:
                continue
            tree = corpora.make(work, name)
            configs.write(tree, choosing.pairs(tree, number))
            corpora.set_git(tree, wanted=git)
            yield from blowups.contracts(tools, tree, number)
    if "start" in asked:
        yield scenarios.start(tools, work)


def _tree(work: Path, name: str, *, git: bool) -> Tree:
    tree = corpora.make(work, name)
    configs.write(tree, choosing.choose(tree, work))
    corpora.set_git(tree, wanted=git)
    return tree


def _report(output: str | None, tools: Tools, trees: list[Tree], results: list[Result], runs: int) -> int:
    text = page.page(machine.head(tools), trees, results, runs)
    print(text)
    if output:
        Path(output).write_text(text)
    wrong = page.problems(results)
    for each in wrong:
        print(f"wrong: {each}", file=sys.stderr)
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure layerguard beside others."
    )
    parser.add_argument(
        "--work", default="build/benchmarks", help="the working folder (default: %(default)s)"
    )
    parser.add_argument("--corpus", action="append", choices=_CORPORA, help="only this tree (repeatable)")
    parser.add_argument(
        "--scenario", action="append", choices=[*_ON_TREES, *_OTHERS], help="only this scenario (repeatable)"
    )
    parser.add_argument(
        "--runs", type=int, default=5, help="rounds of each experiment (default: %(default)s)"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=600,
        help="seconds after which a command is stopped (default: %(default)s)",
    )
    parser.add_argument("--git", action="store_true", help="make every tree of real code a git repository")
    parser.add_argument("--small", action="store_true", help="one run of everything on django, for CI")
    parser.add_argument("--output", help="write the page into this file too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
