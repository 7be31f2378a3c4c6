"""What a check is asked for is read as click reads it, or left to click."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from layerguard.asked import FLAGS, VALUES, Asked, read_arguments
from layerguard.cli import check, cli
from layerguard.surroundings import FORMATS

_WORDS = st.one_of(
    st.sampled_from(
        [*VALUES, *FLAGS, "--fix", "--diff", "-h", "--", "-", "", "--no", "--base=", "--exit-zero=1"]
    ),
    st.sampled_from(["app", "app/a.py", "folder", "file", "main~1", *FORMATS, "-x"]),
    st.builds(
        "{}={}".format, st.sampled_from([*VALUES]), st.sampled_from(["x", "full", "folder", "file", "a=b"])
    ),
)


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").write_text("")


def _by_click(words: list[str]) -> dict[str, object] | None:
    top = cli.make_context("layerguard", ["check"])  # without it click keeps other options for help
    try:
        found = check.make_context("check", list(words), parent=top).params
    except (click.ClickException, click.exceptions.Exit):
        return None
    return found


def _as_click_has_it(asked: Asked) -> dict[str, object]:
    values = dict.fromkeys((*VALUES.values(),)) | asked.values
    del values["contract"]
    flags = {name: name in asked.flags for name in FLAGS.values()}
    return (
        {"paths": tuple(asked.paths), "contracts": tuple(asked.contracts), "fix": False, "diff": False}
        | values
        | flags
    )


@pytest.mark.usefixtures("_here")
@given(st.lists(_WORDS, max_size=5))
@example(["--output-file", "folder"])
@example(["--cache-dir", "file"])
@example(["--output-format", "pdf"])
@example(["--base", "--exit-zero"])
@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_read_is_what_click_reads(words: list[str]) -> None:
    asked = read_arguments(words)
    if asked is not None:
        assert _as_click_has_it(asked) == _by_click(words)


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["app", "--contract", "a", "--contract=b"],
        ["--output-format", "json", "--output-file", "file", "--cache-dir", "folder"],
        ["--no-cache", "--exit-zero", "--show-allowed", "--strict-contracts", "--base", "main"],
    ],
)
def test_plain_words_are_read(words: list[str]) -> None:
    assert read_arguments(words) is not None


def test_on_windows_what_would_be_expanded_is_left_to_click(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_arguments(["app/*.py"]) is not None
    monkeypatch.setattr(os, "name", "nt")
    assert read_arguments(["app/*.py"]) is None
    assert read_arguments(["app"]) is not None
