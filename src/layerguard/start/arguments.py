"""The words of `layerguard check`, read without loading the command line.

Only for a run that is done before: what is not read here, the command line reads, and complains of.
"""

from __future__ import annotations

from layerguard.surroundings import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    "--show-allowed": "show_allowed",
    "--strict-contracts": "strict_contracts",
}


class Asked:
    """What a run of `layerguard check` is to do."""

    def __init__(self) -> None:
        """Begin with the defaults."""
        self.paths: list[str] = []
        self.contracts: list[str] = []
        self.values: dict[str, str] = {}
        self.flags: set[str] = set()


def read_arguments(words: Sequence[str]) -> Asked | None:
    """Read the words behind `check`; None where the command line has to."""
    asked = Asked()
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            asked.paths.append(word)
        elif word in FLAGS:
            asked.flags.add(FLAGS[word])
        elif not _read_value(asked, word, rest):
            return None
    asks_for_unknown = asked.values.get("output_format", "full") not in FORMATS
    return None if asks_for_unknown else asked


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
