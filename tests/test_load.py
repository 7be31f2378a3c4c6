"""What `reach = "load"` predicts against what a fresh interpreter loads of real packages."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from projects import run, write

from layerguard.contracts.forbidden import Forbidden
from layerguard.contracts.independence import Independence
from layerguard.contracts.layers import Layers
from layerguard.contracts.protected import Protected
from layerguard.graph import Graph, parents, within
from layerguard.reading import read_imports
from layerguard.sources import read_tree

if TYPE_CHECKING:
    from pathlib import Path

    from layerguard.model import Violation

FILES = {
    "app": "app/__init__.py",
    "app.a": "app/a/__init__.py",
    "app.a.m": "app/a/m.py",
    "app.a.n": "app/a/n.py",
    "app.b": "app/b/__init__.py",
    "app.b.u": "app/b/u/__init__.py",
    "app.b.u.deep": "app/b/u/deep.py",
    "app.bare.x": "app/bare/x.py",
    "app.bare.y": "app/bare/y.py",
    "app.c": "app/c.py",
    "app.free": "app/free.py",
    "other": "other/__init__.py",
    "other.z": "other/z.py",
}
PACKAGES = {name for name, path in FILES.items() if path.endswith("__init__.py")}
EVERY = sorted({*FILES, "app.bare"})

LOADS = """\
import importlib, json, sys
names = json.loads(sys.argv[2])
sys.path.insert(0, sys.argv[1])
found = {}
for name in names:
    for each in [each for each in sys.modules if each.partition(".")[0] in {"app", "other"}]:
        del sys.modules[each]
    importlib.import_module(name)
    found[name] = sorted(each for each in sys.modules if each.partition(".")[0] in {"app", "other"})
print(json.dumps(found))
"""


def _relative(importer: str, target: str) -> str:
    """Return `from … import …` with the fewest dots, or nothing where the two share no package."""
    folder = (importer if importer in PACKAGES else importer.rpartition(".")[0]).split(".")
    parts = target.split(".")
    shared = 0
    while shared < min(len(folder), len(parts) - 1) and folder[shared] == parts[shared]:
        shared += 1
    if not shared:
        return ""
    dots = "." * (len(folder) - shared + 1)
    return f"from {dots}{'.'.join(parts[shared:-1])} import {parts[-1]}"


def _loading(importer: str, target: str) -> list[str]:
    parent, _, last = target.rpartition(".")
    forms = [
        f"import {target}",
        f"import {target} as other_name",
        f"from {parent} import {last}" if parent else f"import {last}",
        _relative(importer, target),
        f"class C:\n    import {target}",
        f"try:\n    import {target}\nexcept ImportError:\n    pass",
        f"if not TYPE_CHECKING:\n    import {target}",
        f"if TYPE_CHECKING:\n    pass\nelse:\n    import {target}",
        f"import importlib\nimportlib.import_module('{target}')",
        f"from importlib import import_module as load\nload(name='{target}')",
        f"__import__('{target}')",
    ]
    if target in FILES:
        forms += [f"from {target} import NAME", f"from {target} import *"]
    if parent and within(importer, parent) and importer != parent:
        dots = "." * (importer.count(".") - parent.count(".") + (importer in PACKAGES))
        forms.append(
            f"from importlib import import_module\nimport_module('{dots}{last}', package=__package__)"
        )
    return [form for form in forms if form]


def _not_loading(target: str) -> list[str]:
    return [
        f"if TYPE_CHECKING:\n    import {target}",
        f"import typing as t\nif t.TYPE_CHECKING and True:\n    from {target} import NAME",
        f"def late():\n    import {target}",
        f"def late():\n    import importlib\n    importlib.import_module('{target}')",
        f"class C:\n    def late(self):\n        from {target} import NAME",
        f"late = lambda: __import__('{target}')",
        f"text = '{target}'",
    ]


def _project(seed: int) -> dict[str, str]:
    chance = random.Random(seed)  # noqa: S311 - no secret
    files = dict.fromkeys(FILES.values(), "from typing import TYPE_CHECKING\nNAME = 1\n")
    for _ in range(chance.randint(2, 14)):
        importer, target = chance.choice(sorted(FILES)), chance.choice(EVERY)
        forms = _loading(importer, target) if chance.random() < 0.7 else _not_loading(target)
        files[FILES[importer]] += chance.choice(forms) + "\n"
    return files


def _loaded(root: Path) -> dict[str, set[str]]:
    """Return for each module what a fresh interpreter has loaded after importing it."""
    words = [sys.executable, "-I", "-S", "-B", "-c", LOADS, str(root), json.dumps(EVERY)]
    done = subprocess.run(words, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return {name: set(found) for name, found in json.loads(done.stdout).items()}


def _graph(root: Path) -> Graph:
    tree = read_tree(root, None, ())
    reading = read_imports(tree, (), {"import", "dynamic", "string"})
    assert reading.problems == ()
    return Graph(tree.modules, reading.imports)


def _check_chain(violation: Violation, graph: Graph, source: str, target: str) -> None:
    """Check that a chain is one: every link is an import that stands there and runs on load."""
    chain = violation.chain
    assert chain[0].importer == source
    assert chain[-1].imported == target
    assert all(one.imported == other.importer for one, other in pairwise(chain))
    standing = {
        (found.importer, found.imported, found.location.path, found.location.line)
        for found in graph.imports
        if found.when == "load" and found.via != "string"
    }
    for step in chain:
        named = step.named or step.imported
        if named != step.importer:
            assert (step.importer, named, step.path, step.line) in standing
        assert step.as_parent == bool(step.named)
        assert not step.named or step.imported in parents(step.named)


@pytest.mark.parametrize("seed", range(30))
def test_load_is_what_a_fresh_interpreter_loads(seed: int, tmp_path: Path) -> None:
    graph = _graph(write(tmp_path, _project(seed)))
    loaded = _loaded(tmp_path)
    for source in EVERY:
        predicted = {source, *parents(source)}
        for target in set(EVERY) - predicted:
            contract = Forbidden(
                id="x", sources=(source,), targets=(target,), reach="load", as_packages=False
            )
            violations = list(contract.check(graph, frozenset()))
            if violations:
                predicted.add(target)
            for violation in violations:
                _check_chain(violation, graph, source, target)
        assert predicted == loaded[source], source


def _load_each_other(loaded: dict[str, set[str]], importer: str, imported: str) -> bool:
    """Tell whether loading some module of one package loads some module of another."""
    return any(
        within(name, importer) and any(within(each, imported) for each in found)
        for name, found in loaded.items()
    )


@pytest.mark.parametrize("seed", range(40, 60))
def test_other_kinds_break_when_python_loads_what_they_forbid(seed: int, tmp_path: Path) -> None:
    graph = _graph(write(tmp_path, _project(seed)))
    loaded = _loaded(tmp_path)
    members = ("app.a", "app.b", "app.bare", "app.c", "other")
    pairs = [(one, other) for one in members for other in members if one != other]
    upwards = [(one, other) for one, other in pairs if members.index(one) > members.index(other)]

    independent = Independence(id="x", modules=members, reach="load", allow_container=True)
    broken = [pair for pair in pairs if _load_each_other(loaded, *pair)]
    assert bool(list(independent.check(graph, frozenset()))) == bool(broken)

    layers = Layers(id="x", layers=members, reach="load")
    broken = [pair for pair in upwards if _load_each_other(loaded, *pair)]
    assert bool(list(layers.check(graph, frozenset()))) == bool(broken)

    for member in members:
        protected = Protected(id="x", modules=(member,), importers=(), reach="load")
        outside = [name for name in EVERY if not within(name, member)]
        entered = any(within(each, member) for name in outside for each in loaded[name])
        assert bool(list(protected.check(graph, frozenset()))) == entered, member


LIGHT = """\
[[contract]]
id = "light"
kind = "forbidden"
sources = ["app.a"]
targets = ["heavy"]
reach = "load"
"""
PARENTS = {
    "app/__init__.py": "",
    "app/a/__init__.py": "",
    "app/a/m.py": "from app.b.u import thing\n",
    "app/b/__init__.py": "import heavy.core\n",
    "app/b/u.py": "thing = 1\n",
}


def test_the_chain_says_what_is_loaded_as_parent(tmp_path: Path) -> None:
    done = run(write(tmp_path, {"layerguard.toml": LIGHT, **PARENTS}), "check")
    assert done.returncode == 1
    assert done.stdout.decode().splitlines()[:6] == [
        "app/b/__init__.py:1:8: LG102 [light] app.b imports heavy.core",
        "  |",
        "1 | import heavy.core",
        "  |        ^^^^^^^^^^",
        "  = chain: app.a.m imports app.b.u, which loads app.b as parent of app.b.u (app/a/m.py:1)",
        "           app.b imports heavy.core (app/b/__init__.py:1)",
    ]


def test_the_chain_as_data_names_what_is_loaded_as_parent(tmp_path: Path) -> None:
    done = run(write(tmp_path, {"layerguard.toml": LIGHT, **PARENTS}), "check", "--output-format", "json")
    (violation,) = json.loads(done.stdout)["violations"]
    assert [(step["imported"], step["as_parent"], step["named"]) for step in violation["chain"]] == [
        ("app.b", True, "app.b.u"),
        ("heavy.core", False, None),
    ]


def test_protected_on_load_tells_of_a_parent_that_an_import_runs(tmp_path: Path) -> None:
    contract = """\
[[contract]]
id = "only"
kind = "protected"
modules = ["app.b", "!app.b.u"]
importers = []
reach = "load"
"""
    done = run(write(tmp_path, {"layerguard.toml": contract, **PARENTS}), "check")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "app/a/m.py:1:6: LG104 [only] app.a.m imports app.b.u"
    chain = "  = chain: app.a.m imports app.b.u, which loads app.b as parent of app.b.u (app/a/m.py:1)"
    assert chain in lines


@pytest.mark.parametrize(
    ("option", "status"),
    [
        ("", 1),
        ('via = ["dynamic"]', 0),
        ('via = ["import"]', 1),
        ('exclude-importers = ["app.b"]', 0),
        ('exclude-importers = ["app.free"]\nallow-empty = true', 1),
    ],
)
def test_chains_hold_what_the_contract_looks_at(option: str, status: int, tmp_path: Path) -> None:
    done = run(write(tmp_path, {"layerguard.toml": LIGHT + option, **PARENTS}), "check")
    assert done.returncode == status


@pytest.mark.parametrize("option", ['when = ["deferred", "typing"]', 'via = ["string"]'])
def test_a_load_contract_that_looks_at_nothing_is_refused(option: str, tmp_path: Path) -> None:
    done = run(write(tmp_path, {"layerguard.toml": LIGHT + option, **PARENTS}), "check")
    key = option.partition(" ")[0]
    wanted = "'load'" if key == "when" else "'import' or 'dynamic'"
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[0] == (
        f"error: layerguard.toml: contract 'light': '{key}' leaves out {wanted}, "
        'but with reach = "load" nothing else counts.'
    )
