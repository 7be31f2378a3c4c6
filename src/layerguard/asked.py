"""What a run of `layerguard check` is asked for, and how that is read without loading the command line.

What is not read here, the command line reads, and complains of.
"""

from __future__ import annotations

import os

from layerguard.surroundings import FORMATS, IN_COLOUR, default_format
from layerguard.terminal import wants_colour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

VALUES = {
    "--base": "base",
    "--cache-dir": "cache_dir",
    "--contract": "contract",
    "--output-file": "output_file",
    "--output-format": "output_format",
}
"""The options that take a value, and what this is kept as."""
FLAGS = {
    "--exit-zero": "exit_zero",
    "--no-cache": "no_cache",
    "--show-allowed": "show_allowed",
    "--strict-contracts": "strict_contracts",
}


class Asked:
    """What a run of `layerguard check` is to do.

    `paths` and `contracts` limit it, `values` has the options that have one, `flags` those that have none.
    """

    def __init__(self) -> None:
        """Begin with the defaults."""
        self.paths: list[str] = []
        self.contracts: list[str] = []
        self.values: dict[str, str] = {}
        self.flags: set[str] = set()

    @classmethod
    def of(
        cls,
        paths: Iterable[str],
        contracts: Iterable[str],
        values: Mapping[str, str | None],
        flags: Mapping[str, bool],
    ) -> Asked:
        """Return what these options ask for."""
        asked = cls()
        asked.paths += paths
        asked.contracts += contracts
        asked.values = {name: value for name, value in values.items() if value is not None}
        asked.flags = {name for name, given in flags.items() if given}
        return asked

    @property
    def form(self) -> str:
        """The form in which the report is to be: a format, and whether it is in colour."""
        colour = IN_COLOUR if wants_colour(self.values.get("output_file")) else ""
        return (self.values.get("output_format") or default_format(os.environ)) + colour


def read_arguments(words: Sequence[str]) -> Asked | None:
    """Read the words behind `check`; None where the command line has to."""
    if os.name == "nt" and any(character in word for word in words for character in "*?[~$%"):
        return None  # on Windows the command line expands what no shell has
    asked = Asked()
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            asked.paths.append(word)
        elif word in FLAGS:
            asked.flags.add(FLAGS[word])
        elif not _read_value(asked, word, rest):
            return None
    return asked if _is_plain(asked.values) else None


def _is_plain(values: Mapping[str, str]) -> bool:
    """Tell whether the values are such that the command line would not complain of them."""
    output_file, cache_dir = values.get("output_file", ""), values.get("cache_dir", "")
    there = [path for path in (output_file, cache_dir) if os.path.lexists(path)]
    if not all(os.access(path, os.R_OK) for path in there):
        return False
    if os.path.isdir(output_file) or (cache_dir in there and not os.path.isdir(cache_dir)):  # noqa: PTH112 - no pathlib here
        return False
    return values.get("output_format", "full") in FORMATS


def _read_value(asked: Asked, word: str, rest: Iterator[str]) -> bool:
    name, equals, value = word.partition("=")
    if name not in VALUES:
        return False
    if not equals:
        value = next(rest, "-")
    if not value or value.startswith("-"):
        return False
    if name == "--contract":
        asked.contracts.append(value)
    else:
        asked.values[VALUES[name]] = value
    return True
