"""The scenarios on real code."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.goals import limit
from benchmarks.lanes import Experiment, Lane, Measure, Ratio
from benchmarks.trees import Tree

KEPT = (3, 0)
"""Every real tree is checked for three contracts that it keeps; see choosing."""


class Tools:
    """The commands of the tools in one environment."""

    def __init__(self, scripts: Path) -> None:
        """Take the folder with the programs."""
        self.scripts = scripts

    def command(self, program: str, *words: str) -> list[str]:
        """Return the command line of a program."""
        return [str(self.scripts / program), *words]

    def layerguard(self, tree: Tree, *words: str, name: str = "layerguard") -> Lane:
        """Return a lane for a check by layerguard."""
        return self._lane(tree, name, KEPT, "layerguard", "check", *words)

    def lint_imports(self, tree: Tree, *words: str, name: str = "lint-imports") -> Lane:
        """Return a lane for a check by import-linter."""
        return self._lane(tree, name, KEPT, "lint-imports", *words)

    def tach(self, tree: Tree) -> Lane:
        """Return a lane for a check by tach, which has no cache for it."""
        return self._lane(tree, "tach", None, "tach", "check")

    def ruff(self, tree: Tree, *words: str) -> Lane:
        """Return a lane for ruff with the one rule that looks at what is imported."""
        return self._lane(tree, "ruff", None, "ruff", "check", "--select", "TID251", *words)

    def _lane(self, tree: Tree, name: str, verdict: tuple[int, int] | None, *words: str) -> Lane:
        return Lane(name, self.command(*words), tree.folder, files=len(tree.code()), verdict=verdict)


def against(
    scenario: str, tree: str, unders: Sequence[str], measures: Sequence[Measure] = ("wall", "peak")
) -> list[Ratio]:
    """Return the ratios of layerguard to others, with the goals that there are."""
    return [
        Ratio("layerguard", under, measure, limit(scenario, tree, under, measure))
        for measure in measures
        for under in unders
    ]


def cold(tools: Tools, tree: Tree) -> Experiment:
    """Read everything anew."""
    lanes = [
        tools.layerguard(tree, "--no-cache"),
        tools.lint_imports(tree, "--no-cache"),
        tools.tach(tree),
        tools.ruff(tree, "--no-cache"),
    ]
    return Experiment("cold", tree.name, lanes, against("cold", tree.name, [lane.name for lane in lanes[1:]]))


def unchanged(tools: Tools, tree: Tree) -> Experiment:
    """Leave everything as it is, with the caches there."""
    lanes = [tools.layerguard(tree), tools.lint_imports(tree), tools.ruff(tree)]
    ratios = against("unchanged", tree.name, [lane.name for lane in lanes[1:]])
    return Experiment("unchanged", tree.name, lanes, ratios, warm=True)


def edited(tools: Tools, tree: Tree) -> Experiment:
    """Give one file an import of the standard library before every round; at the end it is as it was."""
    edit, restore = editing(tree, "json")
    return _changing("edited", tools, tree, edit, restore)


def imported(tools: Tools, tree: Tree) -> Experiment:
    """Let one file import something of the project, and no longer, in turn: what imports what is another."""
    edit, restore = editing(tree, tree.roots[0])
    return _changing("imported", tools, tree, edit, restore)


def editing(tree: Tree, module: str) -> tuple[Callable[[int], None], Callable[[], None]]:
    """Return what gives one file an import of a module in every other round, and what takes it away again."""
    code = tree.code()
    path = code[len(code) // 2]
    text = path.read_bytes()
    separator = b"" if text.endswith(b"\n") else b"\n"

    def edit(each: int) -> None:
        line = f"import {module}  # edit {each}\n" if each % 2 == 0 else f"# edit {each}\n"
        path.write_bytes(text + separator + line.encode())

    def restore() -> None:
        path.write_bytes(text)

    return edit, restore


def touched(tools: Tools, tree: Tree) -> Experiment:
    """Give all files a new time before every round, as a fresh checkout does. Their contents stay."""
    code = tree.code()

    def touch(_each: int) -> None:
        now = time.time()
        for path in code:
            os.utime(path, (now, now))

    return _changing("touched", tools, tree, touch, None)


def _changing(
    scenario: str, tools: Tools, tree: Tree, before: Callable[[int], None], after: Callable[[], None] | None
) -> Experiment:
    # The last lane finds what the one before it has left in the cache: nothing has changed for it.
    lanes = [
        tools.layerguard(tree),
        tools.lint_imports(tree),
        tools.lint_imports(tree, name="lint-imports, unchanged"),
    ]
    ratios = against(scenario, tree.name, [lane.name for lane in lanes[1:]])
    return Experiment(scenario, tree.name, lanes, ratios, warm=True, before=before, after=after)


def growth(tools: Tools, small: Tree, large: Tree) -> Experiment:
    """Check trees of two sizes: the time for each file must not grow with their number."""
    lanes = [
        tools.layerguard(small, "--no-cache", name=f"layerguard, {small.name}"),
        tools.layerguard(large, "--no-cache", name=f"layerguard, {large.name}"),
        tools.lint_imports(small, "--no-cache", name=f"lint-imports, {small.name}"),
        tools.lint_imports(large, "--no-cache", name=f"lint-imports, {large.name}"),
    ]
    ratios = [
        Ratio(over.name, under.name, "per file", limit("growth", large.name, under.name, "per file"))
        for under, over in (lanes[:2], lanes[2:])
    ]
    return Experiment("growth", large.name, lanes, ratios)


def start(tools: Tools, work: Path) -> Experiment:
    """Run commands that check nothing."""
    bare = Lane("python -c pass", tools.command("python", "-c", "pass"), work)
    completion = {
        "_LAYERGUARD_COMPLETE": "bash_complete",
        "COMP_WORDS": "layerguard ch",
        "COMP_CWORD": "1",
    }
    lanes = [
        Lane("layerguard --help", tools.command("layerguard", "--help"), work),
        Lane("layerguard --version", tools.command("layerguard", "--version"), work),
        Lane("layerguard, completion", tools.command("layerguard"), work, environment=completion),
        bare,
    ]
    ratios = [
        Ratio(lane.name, bare.name, "wall", limit("start", "none", bare.name, "wall")) for lane in lanes[:3]
    ]
    return Experiment("start", "none", lanes, ratios, warm=True)
