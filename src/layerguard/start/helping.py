"""Answers the questions for help and for the version without loading the command line.

The texts are kept for the widths that most terminals have; for another one the command line lays them out.
"""

from __future__ import annotations

import os
import sys

from layerguard import __version__
from layerguard.start.words import HELP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_USUAL = 80
_WIDEST = 100
"""From here on a help has the same lines, however wide the terminal is."""


def find_answer(words: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return the text that answers a command line, to be printed as it is; None where click has to."""
    if list(words) == ["--version"]:
        return f"layerguard {__version__}\n"
    *before, last = words
    if len(before) > 1 or "" in before or last not in {"-h", "--help"}:
        return None
    return HELP.get("".join(before), {}).get(min(_columns(environment), _WIDEST))


def _columns(environment: Mapping[str, str]) -> int:
    """Return how wide the terminal is, by the rule of `shutil.get_terminal_size`."""
    try:
        columns = int(environment.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns > 0:
        return columns
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _USUAL  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return _USUAL
