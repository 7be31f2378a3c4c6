"""The README and the other pages do what they say: every block of commands in them is run.

A `sh` block of the README is for a fresh checkout, and needs the package index: it runs only when
LAYERGUARD_NETWORK is set, as `.ci/run` does. A `console` block runs in a folder with the files that its page
named up to there. What a page does not show stands in it as `<!-- run: COMMAND -->`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from generated_docs import PROJECT, common_keys, documents, made_anew

from layerguard.model import CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

# Read before the fixture in conftest.py takes such variables away.
needs_network = pytest.mark.skipif(
    not os.environ.get("LAYERGUARD_NETWORK"), reason="needs the package index: set LAYERGUARD_NETWORK"
)

_README = (PROJECT / "README.md").read_text(encoding="utf-8")
_BLOCK = re.compile(
    r"(?:^`(?P<path>[^`\n]+)`:\n\n)?^```(?P<language>.*)\n(?P<body>(?:.*\n)*?)```$"
    r"|^<!-- run: (?P<unseen>.+) -->$",
    re.MULTILINE,
)
_COMMAND = re.compile(r"^\$ (?P<line>.+)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
_SECONDS = re.compile(r"\b\d+\.\d+s")
_COMMIT = re.compile(r"\b[0-9a-f]{7}\b")
_NO_PART_OF_A_CHECKOUT = shutil.ignore_patterns(
    ".git", ".venv", ".hypothesis", ".coverage*", "*_cache", "__pycache__", "build", "dist"
)


class Block(NamedTuple):
    path: str
    language: str
    body: str
    unseen: str = ""


def _blocks(text: str) -> list[Block]:
    return [Block(*match) for match in _BLOCK.findall(text)]


_BLOCKS = _blocks(_README)
_MAIN_JOB, _TESTS = (block.body for block in _BLOCKS if block.language == "sh")


def _run(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=os.environ | environment,
        check=False,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if "\n" in command else subprocess.STDOUT,
    )


def _shown(text: str) -> str:
    """Return output without what differs from run to run, and without blank lines at its end."""
    return _COMMIT.sub("0000000", _SECONDS.sub("0.00s", text)).rstrip()


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_no_block_is_left_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    blocks = [block for block in _blocks(text) if not block.unseen]
    assert len(blocks) * 2 == len(re.findall(r"(?m)^ *```", text))
    for block in blocks:
        if path.name == "README.md":
            assert block.path or block.language in {"sh", "text", "console", "yaml"}, block.body
        if block.language == "console":
            assert "".join(match[0] for match in _COMMAND.finditer(block.body)) == block.body


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_the_examples_print_what_is_shown(path: Path, tmp_path: Path) -> None:
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTEST_ADDOPTS": "-p no:cacheprovider --color=no",
        "COLUMNS": "80",
        "GIT_AUTHOR_DATE": "2027-03-01T12:00:00Z",
        "GIT_COMMITTER_DATE": "2027-03-01T12:00:00Z",
    }
    blocks, ran = _blocks(path.read_text(encoding="utf-8")), 0
    for block in blocks:
        if block.path:
            file = tmp_path / block.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
        elif block.unseen:
            done = _run(block.unseen, tmp_path, **environment)
            assert done.returncode == 0, done.stdout
        elif block.language == "console":
            for match in _COMMAND.finditer(block.body):
                done = _run(match["line"], tmp_path, **environment)
                assert _shown(done.stdout) == _shown(match["output"]), match["line"]
                ran += 1
    assert ran == sum(block.body.count("\n$ ") + 1 for block in blocks if block.language == "console")
    assert ran > 0 or path.name != "README.md"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this project as git would clone it."""
    folder = tmp_path_factory.mktemp("clone") / "layerguard"
    shutil.copytree(PROJECT, folder, ignore=_NO_PART_OF_A_CHECKOUT)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "A commit, as in a clone"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@needs_network
def test_the_main_job_runs_in_a_fresh_checkout(checkout: Path) -> None:
    (shown,) = (block.body for block in _BLOCKS if block.language == "text")
    done = _run(_MAIN_JOB, checkout)
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith(shown), done.stdout[-2000:]


@needs_network
def test_the_tests_can_be_run_in_a_fresh_checkout(checkout: Path) -> None:
    """The tests are only collected here: `.ci/run` runs all of them, by the same command."""
    done = _run(_TESTS, checkout, PYTEST_ADDOPTS="--collect-only -q --color=no")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "test_readme.py::test_the_main_job_runs_in_a_fresh_checkout" in done.stdout


def test_ci_runs_the_test_command() -> None:
    script = (PROJECT / ".ci" / "run").read_text(encoding="utf-8")
    for part in _TESTS.strip().split(" && "):
        assert part.replace("install -q", "install --quiet --disable-pip-version-check") in script


def test_the_hooks_that_are_shown_exist() -> None:
    hooks = (PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    offered = set(re.findall(r"(?m)^- id: (.+)$", hooks))
    assert offered == {"layerguard-check", "layerguard-ratchet"}
    for text in (_README, (PROJECT / "docs" / "ci.md").read_text(encoding="utf-8")):
        assert set(re.findall(r"(?m)^ +- id: (.+)$", text)) == offered


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_the_made_parts_are_up_to_date(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == made_anew(text), "run `python tests/generated_docs.py`"


def test_every_key_of_a_contract_is_documented() -> None:
    page = (PROJECT / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"(?m)^\| `([a-z-]+)` \| `?([^|`]*)`? \|", page))
    assert rows.pop("kind") == "required"
    assert rows.pop("id") == "required"
    assert rows.pop("via") == "by kind"
    assert rows == {key: default for key, default in common_keys() if key not in {"id", "via"}}


def _links() -> Iterator[tuple[Path, str]]:
    for path in documents():
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
            yield path, target


def test_links_lead_somewhere() -> None:
    for path, target in _links():
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.is_file(), f"{path.name}: {target}"
        headings = re.findall(r"(?m)^#+ (.+)$", file.read_text(encoding="utf-8"))
        assert not anchor or anchor in {each.lower().replace(" ", "-") for each in headings}, target


def test_every_code_is_documented() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in documents())
    for code in CODES:
        assert code in pages
