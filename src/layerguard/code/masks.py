"""Masks a text in which only import statements are looked for: faster, since less has to be known."""

from __future__ import annotations

import re

from layerguard.regex import regex

PIECE = (
    r"#[^\n]*+"
    r'|"""(?:[^"\\]++|\\.|"(?!""))*+"""'
    r"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'(?:[^'\\\n]++|\\.)*+'"
    # A quote that its line does not close: an f-string's, with a field that goes over lines (PEP 701).
    # Alternatives that begin with a character each: so the engine skips to the next of these.
    "|\"|'"
)
"""A string or a comment, as far as that can be seen without looking into it."""
_TOKENS = regex(f"({PIECE})", re.DOTALL)
_FORMATTED = regex(r"(?<!\w)(?:[fFtT][rR]?|[rR][fFtT])\Z")
_MARK = regex(r"[\"'#\\]")


def mask_head(text: str, until: int) -> str | None:
    """Return what comes before an offset, masked; None where it holds more than comments and plain strings.

    Most files begin with a docstring, comments and imports.
    """
    pieces: list[str] = []
    done = 0
    while found := _MARK.search(text, done, until):
        start, mark = found.start(), found[0]
        if mark == "#":
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            filler = " "
        else:
            quotes = mark * 3 if text.startswith(mark * 3, start) else mark
            close = text.find(quotes, start + len(quotes))
            end = close + len(quotes) if close >= 0 else -1
            is_plain = mark != "\\" and end > start and text.find("\\", start, end) < 0
            if not is_plain or text[start - 1 : start].isalnum():
                return None
            if len(quotes) == 1 and text.find("\n", start, end) >= 0:
                return None
            filler = '"'
        pieces += (text[done:start], filler * (end - start))
        done = end
    pieces.append(text[done:until])
    return "".join(pieces)


def mask_roughly(text: str, until: int) -> str | None:
    """Return what comes before an offset, f-strings masked as a whole; None where one is not seen through."""
    parts = _TOKENS.split(text[:until] if until < len(text) else text)
    strings = parts[1::2]
    for number, piece in enumerate(strings):
        if "{" in piece and piece[0] != "#" and _FORMATTED.search(parts[2 * number]):
            # A quote in a field might be taken for the end; where there is none, braces come in pairs.
            other = "'" if piece[0] == '"' else '"'
            fields = piece.replace("{{", "").replace("}}", "")
            if other in piece or fields.count("{") != fields.count("}"):
                return None
        elif len(piece) == 1 and piece in "\"'":
            return None
    parts[1::2] = [('"' if piece[0] != "#" else " ") * len(piece) for piece in strings]
    return "".join(parts).replace("\\\n", "  ")
