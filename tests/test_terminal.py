from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from projects import AB, write

CLEAN = {
    "layerguard.toml": AB,
    "app/__init__.py": "",
    "app/a/__init__.py": "",
    "app/b/__init__.py": "import app.a\n",
}


def run(folder: Path, redirected: str) -> subprocess.CompletedProcess[str]:
    """Run a check with its output redirected as a shell does it."""
    command = f"exec '{sys.executable}' -m layerguard check --output-format concise {redirected}"
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)


def test_without_standard_error_the_status_is_that_of_the_check(tmp_path: Path) -> None:
    done = run(write(tmp_path, CLEAN), "2>&-")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("app/b/__init__.py:1:8: LG103 [ab] app.b imports app.a\n")
    write(tmp_path, {"app/b/__init__.py": ""})
    assert run(tmp_path, "2>&-").returncode == 0


@pytest.mark.parametrize(
    ("redirected", "message"),
    [
        (">&-", "error: standard output is closed."),
        pytest.param(
            ">/dev/full",
            "error: standard output cannot be written: No space left on device.",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full"),
        ),
    ],
)
def test_a_report_that_cannot_be_told_is_no_verdict(tmp_path: Path, redirected: str, message: str) -> None:
    done = run(write(tmp_path, CLEAN), redirected)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()
    assert "Traceback" not in done.stderr
