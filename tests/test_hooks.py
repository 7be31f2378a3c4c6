"""The hooks and the action, run for real: pre-commit and the action's own script, in fresh clones.

These tests need the package index: they run only when LAYERGUARD_NETWORK is set, as `.ci/run` does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from projects import BROKEN, allow, write

PROJECT = Path(__file__).parent.parent

# Read before the fixture in conftest.py takes such variables away.
pytestmark = pytest.mark.skipif(
    not os.environ.get("LAYERGUARD_NETWORK"), reason="needs the package index: set LAYERGUARD_NETWORK"
)

_NO_PART_OF_A_CHECKOUT = shutil.ignore_patterns(
    ".git", ".venv", ".hypothesis", ".coverage*", "*_cache", "__pycache__", "build", "dist"
)
_ALLOWANCES = "contracts/allowances.toml"
_HOOKS = """\
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: layerguard-ratchet
      - id: layerguard-check
"""


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, encoding="utf-8"
    ).stdout.strip()


def _commit_all(folder: Path) -> str:
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "All")
    return _git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the programs of an environment that has pre-commit, and with it PyYAML."""
    folder = tmp_path_factory.mktemp("scratch")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([programs / "python", "-m", "pip", "install", "-q", "pre-commit"], check=True)
    return programs


@pytest.fixture
def layerguard(tmp_path: Path) -> Path:
    """Return a repository with this project in it, as others fetch it."""
    folder = tmp_path / "layerguard"
    shutil.copytree(PROJECT, folder, ignore=_NO_PART_OF_A_CHECKOUT)
    _commit_all(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path, layerguard: Path) -> Path:
    """Return a repository with one allowed violation, one stale allowance, and the hooks."""
    hooks = _HOOKS.format(repository=layerguard, revision=_git(layerguard, "rev-parse", "HEAD"))
    stale = {
        _ALLOWANCES: allow("app.a -> app.b", "app.b -> app.a"),
        ".pre-commit-config.yaml": hooks,
        ".gitignore": "__pycache__/\n",
    }
    folder = write(tmp_path / "project", BROKEN | stale)
    _commit_all(folder)
    return folder


def _clone(project: Path, name: str) -> Path:
    _git(project.parent, "clone", "-q", str(project), name)
    return project.parent / name


def test_the_hooks_in_a_fresh_clone(scratch: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRE_COMMIT_HOME", str(project.parent / "hooks"))

    def run(folder: Path, **environment: str) -> tuple[int, str, str]:
        """Run all hooks; return the exit status, how they ended in their order, and all that was printed."""
        done = subprocess.run(
            [scratch / "pre-commit", "run", "--all-files", "--color=never"],
            cwd=folder,
            env=os.environ | environment,
            check=False,
            capture_output=True,
            encoding="utf-8",
        )
        printed = done.stdout + done.stderr
        ends = " ".join(re.findall(r"^layerguard (?:ratchet|check)\.+(\w+)$", printed, re.MULTILINE))
        return done.returncode, ends, printed

    clone = _clone(project, "clone")
    status, ends, printed = run(clone)
    assert (status, ends) == (1, "Failed Passed"), printed
    assert "- files were modified by this hook" in printed
    assert "removed 1, moved 0, kept 1" in printed
    assert (clone / _ALLOWANCES).read_text() == allow("app.a -> app.b")

    _git(clone, "commit", "-q", "-a", "-m", "Shrink")
    assert run(clone)[:2] == (0, "Passed Passed")

    (clone / _ALLOWANCES).unlink()
    _git(clone, "commit", "-q", "-a", "-m", "Allow nothing")
    status, ends, printed = run(clone)
    assert (status, ends) == (1, "Passed Failed"), printed
    assert "app/a.py:3:8: LG103 [ab]" in printed

    in_ci = _clone(project, "in-ci")
    status, ends, printed = run(in_ci, CI="true")
    assert (status, ends) == (1, "Failed Failed"), printed
    assert f"note: nothing was written to {_ALLOWANCES}, because this is a CI system (CI is set)." in printed
    assert "LG201" in printed
    assert _git(in_ci, "status", "--porcelain") == ""


def _yaml(scratch: Path, text: str) -> Any:  # noqa: ANN401
    """Read YAML with the scratch environment's PyYAML: the project itself has no use for one."""
    program = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"
    done = subprocess.run(
        [scratch / "python", "-c", program], input=text, check=True, capture_output=True, encoding="utf-8"
    )
    return json.loads(done.stdout)


def test_the_action(scratch: Path, layerguard: Path, tmp_path: Path) -> None:
    action = _yaml(scratch, (layerguard / "action.yml").read_text())
    assert (action["name"], action["runs"]["using"]) == ("layerguard", "composite")
    assert {name: value["default"] for name, value in action["inputs"].items()} == {
        "args": "",
        "working-directory": ".",
    }
    (step,) = action["runs"]["steps"]
    assert step["env"] == {"LAYERGUARD_ARGUMENTS": "${{ inputs.args }}"}
    folder = write(tmp_path / "project", BROKEN)

    def run(arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the step as GitHub runs a step whose shell is bash."""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=folder,
            env=os.environ
            | {
                "RUNNER_TEMP": str(tmp_path / "a folder"),
                "GITHUB_ACTION_PATH": str(layerguard),
                "LAYERGUARD_ARGUMENTS": arguments,
            },
            check=False,
            capture_output=True,
            encoding="utf-8",
        )

    done = run("--output-format concise")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("app/a.py:3:8: LG103 [ab]")
    assert _git(layerguard, "status", "--porcelain") == ""
    assert run("").returncode == 1
    assert run("--exit-zero\n--output-format\nconcise\n").returncode == 0
    done = run("--contract $(touch${IFS}here) * ; touch there")
    assert done.returncode == 2
    assert not {"here", "there"} & {each.name for each in folder.iterdir()}


def test_the_stages_that_are_shown(scratch: Path, layerguard: Path) -> None:
    """They are YAML, use the action's inputs by their names, and pass options that exist."""
    page = (layerguard / "docs" / "ci.md").read_text()
    blocks = [
        _yaml(scratch, block) for block in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    ]
    workflow, gitlab, azure = blocks[1], blocks[3], blocks[4]
    steps = workflow["jobs"]["layerguard"]["steps"]
    assert steps[0]["with"] == {"fetch-depth": 0}
    action = _yaml(scratch, (layerguard / "action.yml").read_text())
    assert set(steps[-1]["with"]) <= set(action["inputs"])
    assert gitlab["layerguard"]["variables"] == {"GIT_DEPTH": "0"}
    assert azure["steps"][0] == {"checkout": "self", "fetchDepth": 0}
    shown = [steps[-1]["with"]["args"], *gitlab["layerguard"]["script"], azure["steps"][-1]["script"]]
    helped = subprocess.run(
        [sys.executable, "-m", "layerguard", "check", "--help"],
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    for option in re.findall(r"--[a-z-]+", " ".join(shown)):
        assert option in helped, option
