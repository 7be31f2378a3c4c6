"""Each violation with its source line, its reason and its cure; the format for people."""

from __future__ import annotations

import unicodedata
from itertools import accumulate

from layerguard.model import Report, Violation
from layerguard.reporters.base import details, heading, paint, plain, shade, summary_line

_TAB = "    "
_LONGEST = 120
"""A source line of more characters than this is cut."""
_BEFORE = 40
"""How many characters stay before the place when a line is cut."""


def render(report: Report, *, colour: bool = False) -> str:
    """Return the violations as ruff shows them, with a blank line between them, then the summary line."""
    blocks = [_block(violation, colour=colour) for violation in report.violations]
    return "\n\n".join([*blocks, summary_line(report)]) + "\n"


def _block(violation: Violation, *, colour: bool) -> str:
    number = str(violation.location.line)
    margin = " " * len(number)
    bar, equals = (paint(sign, "1;34", colour=colour) for sign in "|=")
    lines = [heading(violation, colour=colour)]
    if violation.excerpt.strip():
        source, indent, carets = _frame(violation)
        lines += [
            f"{margin} {bar}",
            f"{paint(number, '1;34', colour=colour)} {bar} {source}",
            f"{margin} {bar} {indent}{paint(carets, shade(violation), colour=colour)}",
        ]
    for first, *rest in details(violation):
        lines.append(f"{margin} {equals} {first}")
        lines += [f"{margin}   {line}".rstrip() for line in rest]
    return "\n".join(lines)


def _frame(violation: Violation) -> tuple[str, str, str]:
    """Return the source line as it is shown, and the blanks and the carets of the line below it."""
    place = violation.location
    text = violation.excerpt.rstrip()
    start = min(place.column - 1, len(text))
    end = place.end_column - 1 if place.end_line == place.line else len(text)
    first, last, before, after = 0, len(text), "", ""
    if len(text) > _LONGEST:
        first = max(0, min(start - _BEFORE, len(text) - _LONGEST))
        last = first + _LONGEST
        before, after = "…" * (first > 0), "…" * (last < len(text))
    shown = text[first:last]
    if shown.isascii() and shown.isprintable():  # each character takes one column
        left = start - first + len(before)
        carets = max(start, min(end, last)) - start
        return before + shown + after, " " * left, "^" * max(1, carets)
    cells = [_TAB if character == "\t" else plain(character) for character in shown]
    edges = list(accumulate((_width(cell) for cell in cells), initial=len(before)))
    left = edges[start - first]
    right = edges[max(start, min(end, last)) - first]
    return before + "".join(cells) + after, " " * left, "^" * max(1, right - left)


def _width(cell: str) -> int:
    """Return how many columns of a terminal one shown character (or tab) takes."""
    if cell.isascii():
        return len(cell)
    if unicodedata.category(cell) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1
