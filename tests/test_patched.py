"""Every string that a test suite gives to `mock.patch` and its like is found by a `removed` contract.

Those of real packages are read only where a folder of unpacked source distributions is named:

    pip download --no-deps --no-binary :all: celery kombu botocore
    LAYERGUARD_SUITES=/somewhere pytest -m real -s
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest
from patch_oracle import Patched, patched_by_ast

from layerguard.code.decoding import Unreadable, decode
from layerguard.contracts.removed import Removed
from layerguard.graph import Graph
from layerguard.reading import read_imports
from layerguard.sources import read_tree

# Read at import: the fixture for every test takes away what begins with LAYERGUARD_.
_FOLDER = os.environ.get("LAYERGUARD_SUITES", "")

FORMS = """
import unittest
from unittest import mock
from unittest.mock import patch

BASE = "app.old"


@patch("app.old.one")
@mock.patch(
    "app.old.two", autospec=True,
)
class Test(unittest.TestCase):
    @patch.dict("app.old.TABLE", {"a": 1}, clear=True)
    @mock.patch.multiple("app.old.three", x=mock.DEFAULT)
    def test(self, *mocks):
        with patch("app.old.four"), patch(new=1, target="app.old.five") as five:
            self.patcher = mock.patch(
                "app.old."
                "six"
            ).start()
        with (
            patch("app.old.A.seven", side_effect=[lambda: "app.old"]),
            patch(f"app.old.{five}"),
            patch("app.old.%s" % five),
            patch("app.old." + five),
            patch("app.old.{}.x".format(five)),
        ):
            self.patching("app.old.eight", 0)


def test(monkeypatch, mocker):
    monkeypatch.setattr("app.old.nine", lambda: None, raising=False)
    monkeypatch.setattr(target="app.old.ten", name=1)
    monkeypatch.delattr(r"app.old.eleven")
    monkeypatch.setitem(x, "app.old.twelve", 1)
    mocker.patch(u"app.old.__init__.thirteen", return_value=(m := mocker.patch("app.old.fourteen")))
    patch(five.x), patch.object(five, "x.y"), patch(BASE + ".x"), setattr(five, "x", 1)
"""


def test_every_form(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(FORMS)
    patched, missed = compare(tmp_path)
    assert [each.target.removeprefix("app.old.") for _, each in patched] == [
        *("one", "two", "TABLE", "three", "four", "five", "six", "A.seven"),
        *("app.old", "app.old", "app.old", "app.old", "eight", "nine", "ten", "eleven"),
        *("__init__.thirteen", "fourteen"),
    ]
    assert missed == []


def test_with_the_module_still_there(tmp_path: Path) -> None:
    for path in ("app/__init__.py", "app/old/__init__.py", "app/old/__init__/thirteen.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / "test_x.py").write_text(FORMS)
    patched, missed = compare(tmp_path)
    assert (len(patched), missed) == (18, [])


@pytest.mark.real
@pytest.mark.skipif(
    not _FOLDER, reason="LAYERGUARD_SUITES names no folder with unpacked source distributions"
)
def test_real_suites(capsys: pytest.CaptureFixture[str]) -> None:
    suites = sorted(path for path in Path(_FOLDER).resolve().iterdir() if any(path.glob("pyproject.toml")))
    assert suites
    for suite in suites:
        patched, missed = compare(suite)
        with capsys.disabled():
            print(f"{suite.name}: {len(patched)} patched, {len(missed)} missed")  # noqa: T201 - a run by hand
        assert missed == []


def compare(root: Path) -> tuple[list[tuple[str, Patched]], list[tuple[str, Patched]]]:
    """Return the patched targets below a folder by path, and those that no `removed` contract finds."""
    tree = read_tree(root, None, [])
    patched = []
    for source in tree.sources:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = patched_by_ast(decode(source.file.read_bytes()))
            except (SyntaxError, Unreadable):
                continue
        patched += [(source.path, each) for each in found]
    contract = Removed(id="gone", modules={each.module: "" for _, each in patched})
    reading = read_imports(tree, (), {"dynamic", "string"}, contract.targeted)
    told = {
        (each.location.path, each.location.line, each.location.column)
        for each in contract.check(Graph(tree.modules, reading.imports), frozenset())
        if each.code == "LG107"
    }
    return patched, [(path, each) for path, each in patched if (path, each.line, each.column) not in told]
