"""The index of imports: its columns, what it makes when, and what a contract selects of it."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest
from graphs import graph, imports
from msgspec.structs import replace

from layerguard.contracts.forbidden import Forbidden
from layerguard.index import Index, Run, kind_number, kind_of, runs_of
from layerguard.model import Import
from layerguard.reading import read_imports
from layerguard.sources import read_tree

_ONE = imports("app.a", "app.b", path="app/a.py", line=3)
_TWO = replace(imports("app.a", "lib", path="app/a.py", line=1), when="typing")
_THREE = replace(imports("app.c", "app.b", path="app/c.py", line=2), via="string", unknown=True)


def test_the_order_is_that_of_the_places_and_a_number_stays() -> None:
    index = Index(runs_of([_THREE, _ONE, _TWO]))
    assert list(index) == [_TWO, _ONE, _THREE]
    assert [index[0], index[-1], index[1:]] == [_TWO, _THREE, [_ONE, _THREE]]
    assert len(index) == 3
    assert index[2] is index[2]
    with pytest.raises(IndexError):
        index[3]
    assert index.names == ["lib", "app.b"]
    assert index.imported.tolist() == [0, 1, 1]
    assert list(index.kinds) == [
        kind_number("import", "typing"),
        0,
        kind_number("string", "load", unknown=True),
    ]
    assert list(index.kinds) == [kind_of(each) for each in index]


def test_nothing_is_made_before_it_is_looked_at() -> None:
    made = []

    def make() -> list[Import]:
        made.append(1)
        return [_ONE]

    index = Index([Run("app/a.py", "app.a", ["app.b"], b"\0", make)])
    contract = Forbidden(id="x", sources=("app.a",), targets=("lib",), reach="transitive")
    looked = contract.looked_at(graph("app.a app.b", folders=["app"]))
    assert list(looked) == []
    assert not made
    assert index[0] is _ONE
    assert index[0] is _ONE
    assert made == [1]


def test_the_imports_of_a_path_can_be_replaced_or_added() -> None:
    index = Index(runs_of([_ONE, _THREE]))
    assert index.replaced({}) is index
    new = index.replaced({"app/a.py": [_TWO, _ONE], "app/b.py": [imports("app.b", "x", path="app/b.py")]})
    assert [(each.location.path, each.imported) for each in new] == [
        ("app/a.py", "lib"),
        ("app/a.py", "app.b"),
        ("app/b.py", "x"),
        ("app/c.py", "app.b"),
    ]
    assert new.at("app/a.py") == [_TWO, _ONE]
    assert new.at("app/z.py") == []


@pytest.mark.parametrize("package", ["email", "importlib", "unittest", "json"])
def test_the_outline_is_what_is_made(tmp_path: Path, package: str) -> None:
    home = Path(sysconfig.get_path("stdlib"), package)
    shutil.copytree(home, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    index = read_imports(read_tree(tmp_path, None, []), (), {"import", "dynamic", "string"}).imports
    assert len(index) > 10
    for start, run in zip(index.starts, index.runs, strict=True):
        made = run.make()
        assert [each.imported for each in made] == list(run.names), run.path
        assert bytes(map(kind_of, made)) == run.kinds
        assert all(index[start + number] == each for number, each in enumerate(made))
    places = [each.location for each in index]
    assert places == sorted(places)
