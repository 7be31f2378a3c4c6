"""What fixes change, as a unified diff that `git apply` and `patch -p1` take."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from difflib import diff_bytes, unified_diff

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def unified(path: str, old: bytes, new: bytes) -> str:
    """Return the diff of one file, with surrogates for the bytes that are no UTF-8."""
    if old.startswith(_UTF16):
        return f"Binary files a/{path} and b/{path} differ\n"
    lines = diff_bytes(
        unified_diff, _lines(old), _lines(new), f"a/{path}".encode(), f"b/{path}".encode(), lineterm=b"\n"
    )
    return b"".join(_ended(lines)).decode("utf-8", "surrogateescape")


def _lines(data: bytes) -> list[bytes]:
    *whole, last = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([last] if last else [])


def _ended(lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
