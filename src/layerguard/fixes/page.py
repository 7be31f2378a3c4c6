"""Mends one file: gives each place to the fixer of its form, and applies the edits to the bytes."""

from __future__ import annotations

import codecs
import io
import tokenize
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from layerguard.code import Code
from layerguard.code.decoding import Unreadable, decode
from layerguard.contracts.removed import Removed
from layerguard.fixes.base import Edit, Place, Project, Refusal, offset, rewrite, shifted
from layerguard.fixes.literals import fix_literal
from layerguard.fixes.mentions import fix_mention
from layerguard.fixes.modules import fix_modules
from layerguard.imports.syntax import find_fault
from layerguard.model import Location, Violation
from layerguard.sources import Source

_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class Left(msgspec.Struct, frozen=True):
    """A place that was not fixed, and why."""

    location: Location
    reason: str


class Mended(msgspec.Struct, frozen=True):
    """One file before and after: `fixed` tells of each fixed place whether an allowance tolerated it."""

    path: str
    file: Path
    old: bytes
    new: bytes
    fixed: dict[Location, bool]
    left: tuple[Left, ...]


class _Text(msgspec.Struct, frozen=True):
    """The text of a file as its places count in it, and how it gets back to bytes."""

    raw: str
    encode: Callable[[str], bytes]
    columns: Callable[[str, int], int]
    """Gives the offset in a line at which a column (from 1) is."""


def mend(
    path: str,
    file: Path,
    violations: Sequence[Violation],
    contracts: Mapping[str, Removed],
    *,
    source: Source | None,
    project: Project,
) -> Mended:
    """Fix what can be fixed in one file; nothing is written.

    `violations` are those of `contracts` in it, `source` is set for Python code.
    """
    data = file.read_bytes()
    places: dict[Location, list[Violation]] = {}
    for violation in sorted(violations, key=lambda each: each.order):
        places.setdefault(violation.location, []).append(violation)
    # What was removed without a new name is for the report alone.
    places = {
        location: found
        for location, found in places.items()
        if any(contracts[each.contract].moved(each.imported) for each in found)
    }
    allowed = {location: any(each.allowed for each in found) for location, found in places.items()}
    try:
        text = _read_code(data) if source else _read_text(data)
        plain = _plain(text.raw)
        marked = [_place(plain, text.columns, found, contracts) for found in places.values()]
        new, fixed, left = _fixed(text, marked, source, project)
    except Refusal as refusal:
        return Mended(path, file, data, data, {}, tuple(Left(each, refusal.reason) for each in places))
    left = sorted(left, key=lambda each: each.location)
    return Mended(path, file, data, new, {each: allowed[each] for each in fixed}, tuple(left))


def _fixed(
    text: _Text, places: Sequence[Place], source: Source | None, project: Project
) -> tuple[bytes, list[Location], list[Left]]:
    """Return the new bytes, what was fixed, and what was not.

    Strings and mentions come first: their lines stay, and the edits of a statement may move a comment.
    """
    fixed: list[Location] = []
    left: list[Left] = []
    edits: list[Edit] = []
    plain = _plain(text.raw)
    code = Code(plain) if source else None
    for place in places:
        if place.via == "import":
            continue
        fixer = fix_mention(plain, place, project)
        if place.via != "text" and code:
            fixer = fix_literal(code, place, project)
        try:
            edits += list(fixer)
            fixed.append(place.location)
        except Refusal as refusal:
            left.append(Left(place.location, refusal.reason))
    raw = rewrite(text.raw, edits)
    imports = [
        msgspec.structs.replace(place, start=shifted(place.start, edits), end=shifted(place.end, edits))
        for place in places
        if place.via == "import"
    ]
    if source and imports:
        statements, reasons = fix_modules(Code(_plain(raw)), imports, source, project)
        fixed += [location for location, reason in reasons.items() if not reason]
        left += [Left(location, reason) for location, reason in reasons.items() if reason]
        raw = rewrite(raw, statements)
    if source and fixed and find_fault(_plain(raw)):
        raise Refusal("the result would be no Python")
    try:
        return text.encode(raw), fixed, left
    except UnicodeEncodeError:
        raise Refusal("the file's encoding cannot hold the new name") from None


def _place(
    text: str,
    columns: Callable[[str, int], int],
    violations: Sequence[Violation],
    contracts: Mapping[str, Removed],
) -> Place:
    """Return the place that violations at one location are about; `text` has its line ends made plain."""
    first = violations[0]
    place = first.location

    def at(line: int, column: int) -> int:
        start = offset(text, line, 1)
        return start + columns(text[start:].partition("\n")[0], column)

    return Place(
        place,
        first.via or "text",
        first.imported,
        tuple(contracts[each.contract] for each in violations if each.imported == first.imported),
        at(place.line, place.column),
        at(place.end_line, place.end_column),
    )


def _read_code(data: bytes) -> _Text:
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        raw = data.decode(encoding)
        known = decode(data) == _plain(raw) and raw.encode(encoding) == data
    except (SyntaxError, ValueError, LookupError, Unreadable):
        known = False
        encoding = raw = ""
    if not known:
        raise Refusal("the file's encoding does not give the same bytes back")
    return _Text(raw, lambda text: text.encode(encoding), lambda _, column: column - 1)


def _read_text(data: bytes) -> _Text:
    mark = data[:2]
    if mark in _UTF16:
        encoding = _UTF16[mark]
        raw = data[2:].decode(encoding, "surrogatepass") if len(data) % 2 == 0 else ""
        if mark + raw.encode(encoding, "surrogatepass") != data:
            raise Refusal("the file's encoding does not give the same bytes back")
        return _Text(
            raw, lambda text: mark + text.encode(encoding, "surrogatepass"), lambda _, column: column - 1
        )
    # A mark at the beginning is no character of the first line.
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    raw = data[len(bom) :].decode("utf-8", "surrogateescape")
    return _Text(raw, lambda text: bom + text.encode("utf-8", "surrogateescape"), _column)


def _column(line: str, column: int) -> int:
    """Return the offset of a column in a line that may hold bytes which are no UTF-8.

    Those count as the finder of mentions counts them: as U+FFFD, one for each broken sequence.
    """
    if line.isascii():
        return column - 1
    return max(
        at
        for at in range(len(line) + 1)
        if len(line[:at].encode("utf-8", "surrogateescape").decode("utf-8", "replace")) == column - 1
    )


def _plain(raw: str) -> str:
    return raw.replace("\r\n", "\n").replace("\r", "\n") if "\r" in raw else raw
