"""The index of imports: its columns, what it makes when, and what a contract selects of it."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest
from graphs import imports, modules
from msgspec.structs import replace

from layerguard.contracts.forbidden import Forbidden
from layerguard.graph import Graph
from layerguard.index import Columns, Index, columns_of, kind_number, kind_of
from layerguard.model import Import
from layerguard.reading import read_imports
from layerguard.sources import read_tree

_ONE = imports("app.a", "app.b", path="app/a.py", line=3)
_TWO = replace(imports("app.a", "lib", path="app/a.py", line=1), when="typing")
_THREE = replace(imports("app.c", "app.b", path="app/c.py", line=2), via="string", unknown=True)


def test_the_order_is_that_of_the_places_and_a_number_stays() -> None:
    index = Index.of([_THREE, _ONE, _TWO])
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

    def make(number: int) -> list[Import]:
        made.append(number)
        return [[_ONE], [], [_THREE]][number]

    columns = columns_of([(["app.b"], b"\0"), ([], b""), (["app.b"], bytes([kind_of(_THREE)]))])
    index = Index(["app/a.py", "app/b.py", "app/c.py"], ["app.a", "app.b", "app.c"], columns, make)
    contract = Forbidden(id="x", sources=("app",), targets=("lib",), reach="transitive")
    project = Graph(modules("app.a", "app.b", "app.c"), index)
    assert list(contract.check(project, frozenset())) == []
    assert contract.looked_at(project).naming("lib".__eq__) == []
    assert not made
    assert index[0] is _ONE
    assert index[0] is _ONE
    assert made == [0]
    assert list(index) == [_ONE, _THREE]


def test_the_columns_of_some_files_can_be_replaced() -> None:
    files: dict[int, tuple[list[str], bytes]] = {0: (["a", "b"], b"\0\1"), 1: ([], b""), 2: (["b"], b"\2")}
    columns = columns_of(files.values())
    assert (columns.names, columns.counts.tolist(), columns.imported.tolist(), columns.kinds) == (
        ["a", "b"],
        [2, 0, 1],
        [0, 1, 1],
        b"\0\1\2",
    )
    assert columns.replaced({}) is columns
    for news in ({0: (["c"], b"\3")}, {1: (["b", "d"], b"\0\0"), 2: ([], b"")}, {2: (["a", "a"], b"\1\1")}):
        found, expected = columns.replaced(news), columns_of((files | news).values())
        assert _by_name(found) == _by_name(expected)


def _by_name(columns: Columns) -> tuple[list[str], list[int], bytes]:
    names = [columns.names[each] for each in columns.imported]
    return names, columns.counts.tolist(), columns.kinds


def test_the_imports_of_a_path_can_be_replaced_or_added() -> None:
    index = Index.of([_ONE, _THREE])
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
    for number, path in enumerate(index.paths):
        start, stop = index.starts[number], index.starts[number + 1]
        made = index.of_run(number)
        assert [each.imported for each in made] == [index.names[n] for n in index.imported[start:stop]], path
        assert bytes(map(kind_of, made)) == index.kinds[start:stop]
        assert all(index[start + place] is each for place, each in enumerate(made))
    places = [each.location for each in index]
    assert places == sorted(places)
