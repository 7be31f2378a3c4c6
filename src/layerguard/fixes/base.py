"""What every fix works with: the places to mend, the new names, and edits of a text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from layerguard.contracts.removed import Removed
from layerguard.graph import Graph
from layerguard.model import Location, Via
from layerguard.regex import regex
from layerguard.tables import quoted

_LINE_END = regex(r"\r\n?|\n")


class Refusal(Exception):  # noqa: N818 - no error: the place is left as it is
    """A place that has no one right answer. `reason` tells the user why, as a clause."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


class Edit(NamedTuple):
    r"""A stretch of a text, by offsets, and what shall stand there; line ends count as one `\n`."""

    start: int
    end: int
    text: str


class Place(msgspec.Struct, frozen=True):
    """A place that names something that was moved, with every contract that says so.

    `start` and `end` are offsets in the text of the file; `imported` is the whole name that is meant there.
    """

    location: Location
    via: Via
    imported: str
    contracts: tuple[Removed, ...]
    start: int
    end: int


class Project(msgspec.Struct, frozen=True):
    """What there is, to tell whether a new name exists.

    `files` are the paths of the project's files and `folders` those of the folders above them, `roots` the
    source roots, longest first.
    """

    graph: Graph
    files: frozenset[str]
    folders: frozenset[str]
    roots: tuple[str, ...]

    def demand(self, name: str, *, module: bool = False) -> None:
        """Raise Refusal where it can be seen that there is no such module, or name in a module.

        With `module` a name in a module is not enough. What is not of this project is taken to exist.
        """
        if not self.graph.owns(name):
            return
        holder = name
        while holder not in self.graph.modules:
            holder = holder.rpartition(".")[0]
        rest = name[len(holder) + 1 :]
        if not rest:
            return
        first = rest.partition(".")[0]
        if module or not self.graph.modules[holder].has_file or not self.graph.binds(holder, first):
            raise Refusal(f"'{name if module else f'{holder}.{first}'}' does not exist")

    def moved(self, contracts: Sequence[Removed], name: str, *, module: bool = False) -> str:
        """Return the new name of a name, empty where no contract has one.

        Raises Refusal where the contracts do not agree, and where there is no such thing (see `demand`).
        """
        news = {contract.moved(name): contract.id for contract in contracts if contract.covering(name)}
        if len(news) > 1:
            raise disagreement(contracts)
        new = next(iter(news), "")
        if new:
            self.demand(new, module=module)
        return new


def disagreement(contracts: Iterable[Removed]) -> Refusal:
    """Return the refusal of a place for which contracts have different new names."""
    ids = quoted(sorted(contract.id for contract in contracts))
    return Refusal(f"the contracts {ids} give different new names")


def old_and_new(place: Place, name: str) -> tuple[str, str]:
    """Return the old name that covers a name, as it stands in a contract's table, and its new name."""
    contract = next(each for each in place.contracts if each.covering(name))
    old = contract.covering(name)
    return old, contract.modules[old]


def refuse_split(place: Place, prefix: str) -> None:
    """Raise Refusal where what is built on a prefix (`app.old.` + x) may have moved to different places."""
    for contract in place.contracts:
        inner = next((each for each in contract.modules if each.startswith(f"{prefix}.")), "")
        if inner:
            raise Refusal(f"'{inner}' has moved elsewhere than the rest of '{prefix}'")


def offset(text: str, line: int, column: int) -> int:
    """Return the offset of a line and column, from 1, in a text whose lines end with line feeds."""
    return _line_starts(text)[line - 1] + column - 1


@lru_cache(maxsize=4)
def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def rewrite(raw: str, edits: Iterable[Edit]) -> str:
    r"""Apply edits, none of which overlap, to a text.

    The offsets of the edits count each line end as one character, and their `\n` becomes the line end that
    the text has there.
    """
    crlf = [match.start() - number for number, match in enumerate(re.finditer("\r\n", raw))]
    pieces, done = [], 0
    for edit in sorted(set(edits)):
        start = edit.start + bisect_left(crlf, edit.start)
        end = edit.end + bisect_left(crlf, edit.end)
        pieces += [raw[done:start], edit.text.replace("\n", _line_end(raw, start))]
        done = end
    return "".join([*pieces, raw[done:]])


def shifted(offset: int, edits: Iterable[Edit]) -> int:
    """Return where an offset outside the edits is after them."""
    return offset + sum(len(edit.text) - (edit.end - edit.start) for edit in set(edits) if edit.end <= offset)


def _line_end(raw: str, offset: int) -> str:
    found = _LINE_END.search(raw, offset) or _LINE_END.search(raw)
    return found[0] if found else "\n"
