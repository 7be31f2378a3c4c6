"""The scenarios in which a number is large: of siblings, contracts, violations, allowances."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks import configs
from benchmarks.goals import limit
from benchmarks.lanes import Experiment, Lane, Ratio
from benchmarks.scenarios import Tools, against, editing
from benchmarks.trees import Contract, Tree

_GOAL = "made"
_SMALL = "made, a tenth"
_STEPS = (1, 7, 31)
"""What the trees are called that are made: a goal is for the full size."""


def siblings(tools: Tools, work: Path, *, small: bool) -> Experiment:
    """Put the same number of modules once into few siblings that are to be independent, once into many."""
    few, many, modules, shared = (5, 100, 400, 100) if small else (50, 1000, 4000, 1000)
    trees = [_siblings(work, number, modules // number, shared) for number in (few, many)]
    names = ("few siblings", "many siblings")
    lanes = [
        make(tools, tree, f"{tool}, {name}", (1, 0))
        for make in (_layerguard, _lint_imports)
        for tool in [make.__name__.removeprefix("_").replace("_", "-")]
        for tree, name in zip(trees, names, strict=True)
    ]
    ratios = [
        Ratio(
            "layerguard, many siblings", under, "wall", limit("siblings", _name(small=small), under, "wall")
        )
        for under in ("layerguard, few siblings", "lint-imports, many siblings")
    ]
    return Experiment(
        "siblings",
        _name(small=small),
        lanes,
        [*ratios, Ratio("lint-imports, many siblings", "lint-imports, few siblings")],
    )


def broken(tools: Tools, work: Path, *, small: bool) -> Experiment:
    """Let siblings import each other in many pairs, all of which are printed."""
    number, each = (50, 6) if small else (500, 60)
    names = [f"app.s{place:04}" for place in range(number)]
    code = {
        f"app/s{place:04}/a.py": "".join(
            f"import app.s{(place + step) % number:04}.b\n" for step in range(1, each + 1)
        )
        for place in range(number)
    }
    code |= {f"app/s{place:04}/b.py": "" for place in range(number)}
    tree = _made(work, f"broken-{number}", code)
    configs.write(tree, [Contract("siblings", "independence", {"modules": names})])
    lanes = [
        _layerguard(tools, tree, "layerguard", (0, 1)),
        _layerguard(tools, tree, "layerguard, concise", (0, 1), "--output-format", "concise"),
        _lint_imports(tools, tree, "lint-imports", (0, 1)),
    ]
    ratios = [
        Ratio(lane.name, "lint-imports", "wall", limit("broken", _name(small=small), "lint-imports", "wall"))
        for lane in lanes[:2]
    ]
    return Experiment("broken", _name(small=small), lanes, ratios)


def allowances(tools: Tools, work: Path, *, small: bool) -> Experiment:
    """Check the same code for a contract that all its imports break, and may, and for one that it keeps."""
    number = 500 if small else 5000
    each = 10
    imports = {
        f"app.a.m{place:04}": [f"app.b.m{place:04}.n{step}" for step in range(each)]
        for place in range(number // each)
    }
    code = {
        f"{name.replace('.', '/')}.py": "".join(f"import {one}\n" for one in them)
        for name, them in imports.items()
    }
    code |= {f"{one.replace('.', '/')}.py": "" for them in imports.values() for one in them}
    entries = [f'"{name} -> {one}" = {{}}' for name, them in imports.items() for one in them]
    lanes = []
    for name, source, target, listed in (
        ("layerguard", "app.a", "app.b", entries),
        ("layerguard, nothing to allow", "app.b", "app.a", []),
    ):
        tree = _made(work, f"allowances-{number}-{len(listed)}", code)
        contract = Contract("apart", "forbidden", {"sources": [source], "targets": [target]}, reach="direct")
        configs.write(tree, [contract])
        if listed:
            path = tree.folder / "contracts/allowances.toml"
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(["version = 1", "", "[allow.apart]", *listed, ""]))
        lanes.append(_layerguard(tools, tree, name, (1, 0)))
    return Experiment(
        "allowances",
        _name(small=small),
        lanes,
        against("allowances", _name(small=small), [lanes[1].name], ["wall"]),
    )


def contracts(tools: Tools, tree: Tree, number: int) -> list[Experiment]:
    """Check many small contracts on real code: cold, unchanged, and with an import more or less."""
    edit, restore = editing(tree, tree.roots[0])
    return [
        Experiment(
            scenario,
            tree.name,
            [
                _layerguard(tools, tree, "layerguard", (number, 0), cached=warm),
                _lint_imports(tools, tree, "lint-imports", (number, 0), cached=warm),
            ],
            against(scenario, tree.name, ["lint-imports"], ["wall"]),
            warm=warm,
            before=edit if edits else None,
            after=restore if edits else None,
        )
        for scenario, warm, edits in (
            ("contracts", False, False),
            ("contracts, warm", True, False),
            ("contracts, edited", True, True),
        )
    ]


def _siblings(work: Path, number: int, modules: int, shared: int) -> Tree:
    """Make siblings with so many modules each, which import each other and the base that all siblings share.

    The base has modules that import each other too, as the core of an application has: every sibling comes to
    most of them, so that a search from each sibling to each other one takes long.
    """
    names = [f"app.s{place:04}" for place in range(number)]
    code = {
        f"app/base/b{place:04}.py": "".join(
            f"from app.base import b{place + step:04}\n" for step in _STEPS if place + step < shared
        )
        for place in range(shared)
    }
    for start, name in enumerate(names):
        # The `__init__` is one of the modules.
        for place in range(modules - 1):
            base = (start * 7 + place * 13) % shared
            neighbour = f"from {name} import m{place - 1:03}\n" if place else ""
            path = f"{name.replace('.', '/')}/m{place:03}.py"
            code[path] = f"from app.base import b{base:04}\n{neighbour}"
    tree = _made(work, f"siblings-{number}-{modules}-{shared}", code)
    configs.write(tree, [Contract("siblings", "independence", {"modules": names})])
    return tree


def _name(*, small: bool) -> str:
    return _SMALL if small else _GOAL


def _made(work: Path, name: str, code: dict[str, str]) -> Tree:
    """Write a package `app` with these files, and an `__init__.py` in every folder."""
    tree = Tree(name, work / "trees" / name, ["app"])
    done = work / "trees" / f"{name}.done"
    if not done.exists():
        shutil.rmtree(tree.folder, ignore_errors=True)
        folders = {str(above) for path in code for above in Path(path).parents if above.name}
        for path, text in (code | {f"{folder}/__init__.py": "" for folder in folders}).items():
            (tree.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (tree.folder / path).write_text(text)
        done.touch()
    return tree


def _layerguard(
    tools: Tools, tree: Tree, name: str, verdict: tuple[int, int], *words: str, cached: bool = False
) -> Lane:
    command = tools.command("layerguard", "check", *_uncached(cached=cached), *words)
    return Lane(name, command, tree.folder, len(tree.code()), int(verdict[1] > 0), verdict)


def _lint_imports(
    tools: Tools, tree: Tree, name: str, verdict: tuple[int, int], *, cached: bool = False
) -> Lane:
    command = tools.command("lint-imports", *_uncached(cached=cached))
    return Lane(name, command, tree.folder, len(tree.code()), int(verdict[1] > 0), verdict)


def _uncached(*, cached: bool) -> Sequence[str]:
    return () if cached else ("--no-cache",)
