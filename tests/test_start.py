"""The help and the version, and what is loaded for an answer."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product

import generated_start
import pytest
from answers import agrees, answered
from hypothesis import given, settings
from hypothesis import strategies as st

from layerguard import start
from layerguard.start.words import OPTIONS

HELPS = ("-h", "--help")
LIGHT = {
    "__future__",
    "layerguard",
    "layerguard.errors",
    "layerguard.start",
    "layerguard.start.words",
    "layerguard.surroundings",
    "layerguard.terminal",
}
"""What may be loaded for every answer, beside what Python loads by itself."""


def test_the_words_are_those_of_click() -> None:
    assert generated_start.PLACE.read_text(encoding="utf-8") == generated_start.made_anew(), (
        "`python tests/generated_start.py` makes them anew"
    )


class TestHelp:
    @pytest.mark.parametrize("columns", ["80", "100", "101", "1000", " 80 ", "1_00"])
    def test_usual_widths(self, columns: str) -> None:
        for command, option in product(OPTIONS, HELPS):
            assert agrees([command, option] if command else [option], COLUMNS=columns)
        assert agrees(COLUMNS=columns)
        assert agrees(["--version"], COLUMNS=columns)

    @pytest.mark.parametrize("columns", ["1", "50", "79", "81", "99"])
    def test_unusual_widths_are_left_to_click(self, columns: str) -> None:
        assert not agrees(["--help"], COLUMNS=columns)
        assert not agrees(COLUMNS=columns)
        assert agrees(["--version"], COLUMNS=columns)

    @pytest.mark.parametrize("columns", ["", "0", "-3", "x"])
    @pytest.mark.parametrize("wide", [0, 80, 90, 120])
    def test_the_terminal_is_asked(self, monkeypatch: pytest.MonkeyPatch, columns: str, wide: int) -> None:
        with open(os.devnull, "w") as file:  # noqa: PTH123 - something that has a number
            monkeypatch.setattr("sys.__stdout__", file)
            monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((wide, 20)))
            assert agrees(["check", "--help"], COLUMNS=columns) == (wide != 90)

    def test_no_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("COLUMNS")
        with open(os.devnull, "w") as file:  # noqa: PTH123 - the same
            monkeypatch.setattr("sys.__stdout__", file)
            assert agrees(["check", "--help"])
        monkeypatch.setattr("sys.__stdout__", None)
        assert agrees(["check", "--help"])

    def test_without_words_it_is_a_mistake(self) -> None:
        ended = answered([])
        assert ended
        assert ended[:2] == (2, "")
        assert ended[2].startswith("Usage: layerguard [OPTIONS] COMMAND")

    @pytest.mark.parametrize(
        "words",
        [
            *("", " --help", "chek --help", "check check --help", "check --version", "check --fix -h"),
            *("--help --help", "-- --help", "--hel", "ratchet"),
        ],
    )
    def test_other_words_are_left_to_click(self, words: str) -> None:
        assert not agrees(words.split(" "))

    @settings(deadline=None)
    @given(
        st.lists(st.sampled_from([*OPTIONS, *HELPS, "--version", "--", "-", "--fix", "x", "é"]), max_size=2),
        st.sampled_from([*HELPS, "--version"]),
    )
    def test_any_words(self, before: list[str], last: str) -> None:
        agrees([*before, last])

    def test_no_standard_output(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdout", None)
        assert start._answer(["--help"]) is None


def loaded_by(code: str, *words: str, **environment: str) -> set[str]:
    """The modules that an interpreter has loaded once it has run this, beside those that it always has."""
    tell = "import atexit, sys; atexit.register(lambda: print('', *sys.modules, file=sys.stderr))"
    ended = [
        subprocess.run(
            [sys.executable, "-c", f"{tell}\n{each}", *words],
            env={**os.environ, **environment},
            capture_output=True,
            check=False,
            text=True,
        )
        for each in ("", code)
    ]
    always, loaded = (set(each.stderr.splitlines()[-1].split()) for each in ended)
    return loaded - always


MAIN = "from layerguard.start import main; main()"


@pytest.mark.parametrize("words", [["--help"], ["check", "-h"], ["--version"], []])
def test_help_loads_next_to_nothing(words: list[str]) -> None:
    assert loaded_by(MAIN, *words) <= LIGHT | {"layerguard.start.helping"}


@pytest.mark.parametrize("question", ["bash_complete", "zsh_complete", "fish_complete", "zsh_source"])
def test_completion_loads_next_to_nothing(question: str) -> None:
    line = {"COMP_WORDS": "layerguard check --output-format ", "COMP_CWORD": "3"}
    loaded = loaded_by(MAIN, **line, **{start.ASKED_BY_SHELL: question})
    assert loaded <= LIGHT | {"layerguard.start.completing"}


def test_msgspec_without_what_it_does_not_need() -> None:
    script = (
        "import sys\n"
        "from layerguard.lean import load_msgspec\n"
        "load_msgspec()\n"
        "assert 'msgspec' in sys.modules and 'inspect' not in sys.modules\n"
        "import typing_extensions\n"
        "load_msgspec()\n"
        "assert sys.modules['typing_extensions'] is typing_extensions\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
