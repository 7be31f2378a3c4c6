"""What a shell is told that completes a command line."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from answers import agrees
from hypothesis import given, settings
from hypothesis import strategies as st

from layerguard import start
from layerguard.start.words import ARGUMENTS, COMMANDS, OPTIONS, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHELLS = ("bash", "zsh", "fish")
POOL = [
    *OPTIONS,
    *(word for names in OPTIONS.values() for name in names for word in name.split()),
    *("--", "-", "=", "x", "-x", "--output-format=", "--output-format=j"),
    *("--fix=1", "-h=", "-hx", "json", "0"),
    *("'a", '"a', "a\\", "é", "#", "\t", "\v", "\x1c", "\udc80"),
]
"""Words of lines that a shell may ask about."""
PLACES = ["", " ", "0", "1", "2", "3", "5", "-1", "²", "x", "j", "--", "'", "a\\", "é", "-h a"]
"""What may say where the cursor is."""


def shell_agrees(shell: str, line: Sequence[str], word: str) -> bool:
    """Hold what a shell is told of a line that ends with this word to click; tell whether it is told."""
    question = {start.ASKED_BY_SHELL: f"{shell}_complete"}
    if shell == "fish":
        return agrees(COMP_WORDS=" ".join(["layerguard", *line, word]), COMP_CWORD=word, **question)
    text = ("\n" if shell == "bash" else " ").join(["layerguard", *line, word])
    return agrees(COMP_WORDS=text, COMP_CWORD=str(len(line) + 1), **question)


def beginnings(text: str) -> Iterator[str]:
    """Yield all that a text begins with, from nothing to the whole."""
    return (text[:end] for end in range(len(text) + 1))


@pytest.mark.parametrize("shell", SHELLS)
def test_commands(shell: str) -> None:
    for command in (*COMMANDS, "merge-driver", "x", "-x"):
        for word in beginnings(command):
            assert shell_agrees(shell, [], word)


@pytest.mark.parametrize("shell", SHELLS)
def test_options(shell: str) -> None:
    for command, options in OPTIONS.items():
        line = [command] if command else []
        for word in {word for names in options for name in names.split() for word in beginnings(name)}:
            assert shell_agrees(shell, line, word)


@pytest.mark.parametrize("shell", SHELLS)
def test_options_behind_others(shell: str) -> None:
    for command, options in OPTIONS.items():
        for name in (name for names in options for name in names.split() if command):
            for value in (["v"], ["-v"], []) if name in VALUES[command] else ([],):
                for more in ([], ["x"], ["x", "-"], [name, *value]):
                    assert shell_agrees(shell, [command, name, *value, *more], "-")


@pytest.mark.parametrize("shell", SHELLS)
def test_values(shell: str) -> None:
    for command, options in VALUES.items():
        for name, kind in options.items():
            words = {word for choice in ["a/b", *kind.split()] for word in beginnings(choice)}
            for word in words:
                assert shell_agrees(shell, [command, name], word)
                assert shell_agrees(shell, [command, "x", name, "v", name], word)
                assert shell_agrees(shell, [command], f"{name}={word}")
                assert shell_agrees(shell, [command, name, "="], word)
            assert shell_agrees(shell, [command, name], "=")
            assert shell_agrees(shell, [command, f"{name}=v"], "-")


@pytest.mark.parametrize("shell", SHELLS)
def test_arguments(shell: str) -> None:
    for command, number, word in product(ARGUMENTS, range(5), ("", "a", "a/b", "a=b", "=", ".")):
        if command:
            assert shell_agrees(shell, [command, *["x"] * number], word)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(SHELLS), st.lists(st.sampled_from(POOL), max_size=5), st.sampled_from(PLACES))
def test_any_line(shell: str, words: list[str], current: str) -> None:
    line = " ".join(["layerguard", *words])
    question = {start.ASKED_BY_SHELL: f"{shell}_complete"}
    agrees(["check"], COMP_WORDS=line, COMP_CWORD=current, **question)
    agrees(COMP_WORDS=line, COMP_CWORD=words[-1] if words else "", **question)


def test_scripts() -> None:
    for shell in ("zsh", "fish"):
        assert agrees(["check"], **{start.ASKED_BY_SHELL: f"{shell}_source"})


@pytest.mark.parametrize(
    "line", ["chek", "--help", "--version check", "check --", "check --nope", "check --fix=1", "check -hx"]
)
def test_other_lines_are_left_to_click(line: str) -> None:
    for shell in SHELLS:
        assert not shell_agrees(shell, line.split(), "")


def test_other_words_are_left_to_click() -> None:
    for shell, word in product(SHELLS, ("--nope=", "--fix=", "'a", "a\\", "é")):
        assert not shell_agrees(shell, ["check"], word)
    assert not agrees(COMP_WORDS="layerguard ", COMP_CWORD=" ", **{start.ASKED_BY_SHELL: "fish_complete"})
    assert not agrees(COMP_WORDS="layerguard ", COMP_CWORD="-1", **{start.ASKED_BY_SHELL: "bash_complete"})


def test_other_questions_are_left_to_click() -> None:
    for question in ("bash_source", "x_source", "bash_x", "bash", "_", "x_complete", "tcsh_complete"):
        assert not agrees(COMP_WORDS="layerguard ", COMP_CWORD="1", **{start.ASKED_BY_SHELL: question})


def test_a_question_without_a_line_is_left_to_click() -> None:
    question = {start.ASKED_BY_SHELL: "bash_complete"}
    assert not agrees(**question)
    assert not agrees(COMP_WORDS="layerguard ", **question)
    assert not agrees(COMP_CWORD="1", **question)
