"""`layerguard why`: chains as places, held against plain enumeration of every path."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from graphs import graph, imports
from hypothesis import given, settings
from hypothesis import strategies as st
from projects import run, write

from layerguard.errors import UserError
from layerguard.graph import within
from layerguard.why import Answer, find_chains, shortest_paths, why

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from layerguard.model import Reach

CONFIG = '[[contract]]\nid = "x"\nkind = "existing"\npackages = ["app"]\n'
FILES = {
    "layerguard.toml": CONFIG,
    "app/__init__.py": "",
    "app/a/__init__.py": "",
    "app/a/m.py": "import os\n\nfrom app.b import (\n    u,\n)\nfrom app import c\n",
    "app/b/__init__.py": "import torch.nn\n",
    "app/b/u.py": "def f():\n    import app.d\n",
    "app/c.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import app.d\n",
    "app/d.py": "import importlib\nimportlib.import_module('app.e')\n",
    "app/e.py": "from hub import HfApi\n",
    "lib/codec.py": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


def _ask(project: Path, words: str) -> Answer:
    """Ask as the command line does: `IMPORTER IMPORTED [--reach R] [--all N]`."""
    importer, imported, *options = words.split()
    given: dict[str, str] = dict(zip(options[::2], options[1::2], strict=True))
    reach: Reach = given.get("--reach", "transitive")  # type: ignore[assignment]
    return why(project, importer, imported, reach=reach, number=int(given.get("--all", "1")))


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("app.a.m app.b.u", ["app/a/m.py:4:5: app.a.m imports app.b.u"]),
        (
            "app.a app.d",
            [
                "app/a/m.py:4:5: app.a.m imports app.b.u",
                "app/b/u.py:2:12: app.b.u imports app.d (deferred)",
            ],
        ),
        (
            "app.a app.d --all 5",
            [
                "app/a/m.py:4:5: app.a.m imports app.b.u",
                "app/b/u.py:2:12: app.b.u imports app.d (deferred)",
                "",
                "app/a/m.py:6:17: app.a.m imports app.c",
                "app/c.py:3:12: app.c imports app.d (typing)",
            ],
        ),
        ("app.d app.e", ["app/d.py:2:25: app.d imports app.e (dynamic)"]),
        ("app.d hub", ["app/d.py:2:25: app.d imports app.e (dynamic)", "app/e.py:1:6: app.e imports hub"]),
        ("app.e hub.HfApi", ["app/e.py:1:17: app.e imports hub.HfApi"]),
        ("app torch", ["app/b/__init__.py:1:8: app.b imports torch.nn"]),
        (
            "app.a.m torch --reach load",
            [
                "app/a/m.py:4:5: app.a.m imports app.b.u, which loads app.b as parent of app.b.u",
                "app/b/__init__.py:1:8: app.b imports torch.nn",
            ],
        ),
        (
            "app.b.u torch --reach load",
            [
                "app/b/u.py:1:1: app.b.u loads app.b as parent of app.b.u",
                "app/b/__init__.py:1:8: app.b imports torch.nn",
            ],
        ),
        ("app.a.m os --reach direct", ["app/a/m.py:1:8: app.a.m imports os"]),
        ("app app.c", ["app/a/m.py:6:17: app.a.m imports app.c"]),
        ("app.a.m app", ["app/a/m.py:4:5: app.a.m imports app.b.u"]),
    ],
)
def test_a_chain_as_places(project: Path, words: str, lines: list[str]) -> None:
    answer = _ask(project, words)
    assert answer.text.splitlines() == lines
    assert answer.chains


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("app.e app.a", ["no chain: 'app.e' never leads to 'app.a'."]),
        (
            "app.a.m app.d --reach load",
            ["no chain: 'app.a.m' does not load 'app.d'.", "There is one with --reach transitive."],
        ),
        (
            "app.a app.e --reach direct",
            ["no chain: 'app.a' does not import 'app.e'.", "There is one with --reach transitive."],
        ),
        (
            "app.a app.codec",
            [
                "no chain: 'app.a' never leads to 'app.codec'.",
                "The project has no module 'app.codec'. Modules of that name: 'lib.codec'.",
            ],
        ),
        (
            "app.aa torch",
            [
                "no chain: 'app.aa' never leads to 'torch'.",
                "The project has no module 'app.aa'. Did you mean 'app.a'?",
            ],
        ),
        (
            "app.c numpy",
            ["no chain: 'app.c' never leads to 'numpy'.", "Nothing in the project imports 'numpy'."],
        ),
    ],
)
def test_without_a_chain_it_says_what_is_known(project: Path, words: str, lines: list[str]) -> None:
    answer = _ask(project, words)
    assert answer.text.splitlines() == lines
    assert not answer.chains


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (
            "app.a.m torch --reach load --all 2",
            0,
            """\
app/a/m.py:4:5: app.a.m imports app.b.u, which loads app.b as parent of app.b.u
app/b/__init__.py:1:8: app.b imports torch.nn
""",
        ),
        ("app.e app.a", 1, "no chain: 'app.e' never leads to 'app.a'.\n"),
    ],
)
def test_as_a_command(project: Path, words: str, status: int, text: str) -> None:
    done = run(project, "why", *words.split())
    assert (done.returncode, done.stdout.decode(), done.stderr) == (status, text, b"")


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("app/a.py app.b", ["'app/a.py' is a path; modules are named with dots.", "Did you mean 'app.a'?"]),
        ("app.* app.b", ["'app.*' is a pattern; here one module is named.", ""]),
        ("app.b app.b", ["'app.b' is both the importer and the imported module.", ""]),
    ],
)
def test_what_is_no_question_is_refused(project: Path, words: str, lines: list[str]) -> None:
    with pytest.raises(UserError) as raised:
        _ask(project, words)
    assert raised.value.message == lines[0]
    assert [raised.value.hint] == lines[1:]


def test_a_direct_question_shows_every_import(tmp_path: Path) -> None:
    write(tmp_path, {"layerguard.toml": CONFIG, "app/a.py": "import app.b\nimport app.b\n", "app/b.py": ""})
    answer = why(tmp_path, "app.a", "app.b", reach="direct", number=3)
    assert [chain[0].place.line for chain in answer.chains] == [1, 2]


MODULES = ("app", "app.a", "app.a.x", "app.b", "app.b.y", "app.c", "app.d", "app.e")
PAIRS = [(a, b) for a in MODULES for b in MODULES if a != b]


def _walk(after: dict[str, set[str]], start: str, goals: set[str], closed: set[str]) -> Iterator[list[str]]:
    work = [[start]]
    while work:
        path = work.pop()
        for each in after.get(path[-1], ()):
            if each in goals:
                yield [*path, each]
            elif each not in path and each not in closed:
                work.append([*path, each])


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.sampled_from(PAIRS), max_size=20),
    st.sampled_from([pair for pair in PAIRS if not within(*pair) and not within(*reversed(pair))]),
)
def test_every_chain_is_found_shortest_first(pairs: list[tuple[str, str]], ends: tuple[str, str]) -> None:
    made = graph(" ".join(MODULES), *(f"{one} -> {other}" for one, other in pairs))
    after: dict[str, set[str]] = {}
    for one, other in pairs:
        after.setdefault(one, set()).add(other)
    starts = {name for name in MODULES if within(name, ends[0])}
    goals = {name for name in MODULES if within(name, ends[1])}
    expected = [tuple(path) for start in starts for path in _walk(after, start, goals, starts)]
    found = [
        (chain[0].importer, *(link.imported for link in chain))
        for chain in find_chains(made, *ends, "transitive")
    ]
    assert sorted(found) == sorted(expected)
    assert [len(path) for path in found] == sorted(len(path) for path in expected)
    assert found == sorted(found, key=lambda path: (len(path), path))
    for chain in find_chains(made, *ends, "transitive"):
        assert all(one.imported == other.importer for one, other in pairwise(chain))


def test_a_place_that_only_leads_back_costs_nothing() -> None:
    """Behind the one way to the goal lie 20 modules that all import each other: no path through them ends."""
    crowd = [f"m{number}" for number in range(20)]
    after = {"start": ["gate"], "gate": ["goal", *crowd]}
    after |= {one: [*(other for other in crowd if other != one), "gate"] for one in crowd}
    before: dict[str, list[str]] = {}
    for one, others in after.items():
        for other in others:
            before.setdefault(other, []).append(one)
    assert list(shortest_paths(after, before, ["start"], "goal")) == [("start", "gate", "goal")]


def test_names_and_what_is_loaded_lie_apart() -> None:
    made = graph("app.a hub", imports("app.a", "hub", "login", "HfApi", path="app/a.py"))
    (chain,) = find_chains(made, "app.a", "hub.HfApi", "transitive")
    assert [(link.imported, link.place.column) for link in chain] == [("hub.HfApi", 40)]
    assert list(find_chains(made, "app.a", "hub.download", "transitive")) == []
