"""layerguard passes its own check; a planted import into a copy of it does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from layerguard import check

ROOT = Path(__file__).parent.parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("src", "tests", "contracts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "layerguard.toml", tmp_path)
    return tmp_path


def plant(root: Path, path: str, line: str) -> int:
    """Put a line at the end of a file, and return its number."""
    file = root / "src/layerguard" / path
    text = file.read_text()
    file.write_text(f"{text}{line}\n")
    return text.count("\n") + 1


def test_layerguard_keeps_its_own_contracts() -> None:
    report = check(ROOT)
    assert report.violations == ()
    assert {result.id for result in report.contracts} >= {"straight-line", "leaves"}
    assert (report.summary.broken, report.summary.allowed, report.summary.stale) == (0, 0, 0)
    assert report.summary.files == report.summary.analysed


def test_a_copy_of_it_is_as_clean(copy: Path) -> None:
    assert check(copy).violations == ()


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        (
            "model.py",
            "from layerguard.graph import Graph",
            (6, "LG101", "straight-line", "layerguard.graph"),
        ),
        ("graph.py", "from layerguard import config", (24, "LG101", "straight-line", "layerguard.config")),
        (
            "contracts/layers.py",
            "import layerguard.contracts.forbidden",
            (8, "LG103", "leaves", "layerguard.contracts.forbidden"),
        ),
        ("reporters/json.py", "from . import full", (15, "LG103", "leaves", "layerguard.reporters.full")),
    ],
)
def test_a_planted_import_is_found(
    copy: Path, path: str, line: str, expected: tuple[int, str, str, str]
) -> None:
    column, code, contract, imported = expected
    number = plant(copy, path, line)
    found = [
        (each.location.path, each.location.line, each.location.column, each.code, each.imported)
        for each in check(copy, paths=[f"src/layerguard/{path}"], contracts=[contract]).violations
    ]
    assert found == [(f"src/layerguard/{path}", number, column, code, imported)]


def test_a_module_of_no_layer_is_found(copy: Path) -> None:
    (copy / "src/layerguard/helpers.py").write_text("")
    [violation] = check(copy, paths=["src/layerguard/helpers.py"]).violations
    assert (violation.code, violation.message) == (
        "LG101",
        "'layerguard.helpers' is in no layer of 'layerguard'",
    )
    assert violation.location.path == "src/layerguard/helpers.py"
