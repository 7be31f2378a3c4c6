from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from layerguard.config.declarations import Registry
from layerguard.errors import UserError
from layerguard.reading import Reading, binder, read_imports
from layerguard.sources import Tree, read_tree

if TYPE_CHECKING:
    from pathlib import Path


def _tree(root: Path, **files: str | bytes) -> Tree:
    """Make modules: `_` stands for `/` in their names, a last one for `/__init__`."""
    for name, text in files.items():
        path = root / (f"{name[:-1]}/__init__.py" if name.endswith("_") else f"{name.replace('_', '/')}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_tree(root, ["."], [])


def _told(reading: Reading) -> list[tuple[str, int, int, str, str]]:
    return [(i.location.path, i.location.line, i.location.column, i.imported, i.via) for i in reading.imports]


def test_imports_of_every_file_in_the_order_of_the_files(tmp_path: Path) -> None:
    tree = _tree(tmp_path, b="import c\n", a="__import__('b')\nfrom b import x\n")
    assert _told(read_imports(tree, (), {"import"})) == [
        ("a.py", 2, 6, "b", "import"),
        ("b.py", 1, 8, "c", "import"),
    ]
    assert _told(read_imports(tree, (), {"import", "dynamic"})) == [
        ("a.py", 1, 12, "b", "dynamic"),
        ("a.py", 2, 6, "b", "import"),
        ("b.py", 1, 8, "c", "import"),
    ]


def test_a_file_that_cannot_be_analysed_hides_nothing_else(tmp_path: Path) -> None:
    tree = _tree(tmp_path, a="import b\nx = = 1\n", b="import c\n", c=b"x = '\xff'\n", d=b"\0")
    (tmp_path / "e.py").write_text("import a\n")
    reading = read_imports(tree, (), ())
    assert _told(reading) == [("b.py", 1, 8, "c", "import")]
    assert [(p.path, p.line, p.column) for p in reading.problems] == [
        ("a.py", 2, 5),
        ("c.py", 1, 6),
        ("d.py", 1, 1),
    ]
    assert reading.unread == {"a.py", "c.py", "d.py"}


def test_a_file_that_went_away_or_may_not_be_read(tmp_path: Path) -> None:
    tree = _tree(tmp_path, a="import b\n", b="")
    (tmp_path / "a.py").unlink()
    (problem,) = read_imports(tree, (), ()).problems
    assert (problem.path, problem.line, problem.column) == ("a.py", 1, 1)
    assert problem.reason == f"the file cannot be read: {os.strerror(2)}"


def test_a_relative_import_above_the_top_is_told_and_the_file_counts(tmp_path: Path) -> None:
    tree = _tree(tmp_path, app_="", app_m="from ... import x\nimport os\n")
    reading = read_imports(tree, (), ())
    assert [(p.path, p.line, p.column) for p in reading.problems] == [("app/m.py", 1, 6)]
    assert reading.unread == frozenset()
    assert _told(reading) == [("app/m.py", 2, 8, "os", "import")]


def test_progress_is_told(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    read_imports(_tree(tmp_path, a="", b="x ="), (), (), progress=lambda *call: calls.append(call))
    assert calls == [(0, 2), (2, 2)]


def test_registries_count_as_dynamic_imports_where_those_count(tmp_path: Path) -> None:
    tree = _tree(tmp_path, app_="", app_r="T = ['x']\n", app_x="")
    registry = Registry("app.r", "T", "app.{0}")
    reading = read_imports(tree, [registry], {"dynamic"})
    assert _told(reading) == [("app/r.py", 1, 6, "app.x", "dynamic")]
    assert reading.imports[0].importer == "app.r"
    assert tuple(read_imports(tree, [registry], {"import"}).imports) == ()


@pytest.mark.parametrize(
    ("registry", "message", "hint"),
    [
        (
            Registry("app.rr", "T", "app.{0}"),
            "registry 'T' of 'app.rr': the project has no such module.",
            "app.r",
        ),
        (
            Registry("app.r", "TABEL", "app.{0}"),
            "registry 'TABEL' of 'app.r': app/r.py has no table 'TABEL'.",
            "TABLE",
        ),
        (
            Registry("app.r", "TABLE", "app.{1}"),
            (
                "registry 'TABLE' of 'app.r': "
                "app/r.py has a row at line 1, column 10 that does not fill 'app.{1}'."
            ),
            "",
        ),
    ],
)
def test_a_registry_that_cannot_be_read(registry: Registry, message: str, hint: str, tmp_path: Path) -> None:
    tree = _tree(tmp_path, app_="", app_r="TABLE = ['x']\n")
    with pytest.raises(UserError) as caught:
        read_imports(tree, [registry], {"dynamic"})
    assert str(caught.value) == message
    assert hint in caught.value.hint


def test_a_registry_in_a_file_that_is_no_text_is_told_once(tmp_path: Path) -> None:
    tree = _tree(tmp_path, app_="", app_r=b"T = ['\xff']\n")
    reading = read_imports(tree, [Registry("app.r", "T", "app.{0}")], {"dynamic"})
    assert [problem.path for problem in reading.problems] == ["app/r.py"]


def test_whether_a_module_binds_a_name(tmp_path: Path) -> None:
    tree = _tree(tmp_path, app_="from app.x import here\n", star_="from app import *\n", app_x="y = 1\n")
    binds = binder(tree)
    assert binds("app", "here")
    assert not binds("app", "gone")
    assert not binds("app", "gone.here")
    assert binds("app", "here.gone")
    assert binds("star", "gone")
    assert binds("unknown", "gone")
    assert not binds("app.x", "gone")
    (tmp_path / "star/__init__.py").unlink()
    assert binder(tree)("star", "gone")
