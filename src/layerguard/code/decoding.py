"""The bytes of a Python file as text, decoded as Python does it (PEP 263)."""

from __future__ import annotations

import codecs

from layerguard.regex import regex

_COOKIE = regex(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = regex(rb"^[ \t\f]*(?:#|\r|\n|$)")


class Unreadable(Exception):  # noqa: N818 - the field says that a file is unreadable
    """A file that is no Python text: where, and why. Line and column count from 1."""

    def __init__(self, line: int, column: int, reason: str) -> None:
        """Keep the place and the reason."""
        super().__init__(reason)
        self.line = line
        self.column = column
        self.reason = reason


def decode(data: bytes) -> str:
    r"""Decode the bytes of a Python file as Python does (PEP 263), with every line end as `\n`.

    Raises Unreadable for NUL bytes, an unknown or contradictory encoding, and bytes that are none in it.
    """
    nul = data.find(b"\0")
    if nul >= 0:
        raise Unreadable(*_place(data, nul), "it holds NUL bytes, so it is no Python source")
    encoding = "utf-8"
    first, _, rest = data[:2000].partition(b"\n")
    cookie_line, match = 1, _COOKIE.match(first.removeprefix(codecs.BOM_UTF8))
    if not match and _NO_CODE.match(first.removeprefix(codecs.BOM_UTF8)):
        cookie_line, match = 2, _COOKIE.match(rest.partition(b"\n")[0])
    if match:
        encoding = match[1].decode("ascii", "replace")
        try:
            known = codecs.lookup(encoding).name
        except (LookupError, ValueError):
            raise Unreadable(cookie_line, 1, f"its encoding '{encoding}' is unknown") from None
        if data.startswith(codecs.BOM_UTF8) and known != "utf-8":
            raise Unreadable(cookie_line, 1, f"it starts with a UTF-8 mark, but says that it is '{encoding}'")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line, column = _place(data, error.start)
        raise Unreadable(line, column, f"it is not {encoding}: {error.reason}") from None
    except (LookupError, ValueError) as error:
        raise Unreadable(cookie_line, 1, f"its encoding '{encoding}' does not decode it: {error}") from None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _place(data: bytes, offset: int) -> tuple[int, int]:
    before = data[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[start:].decode("utf-8", "replace")) + 1
