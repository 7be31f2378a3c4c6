"""Mentions of modules in text: as a dotted path (`app.old.util`) or as a path of a file (`app/old.py`).

They are found in bytes, so that a file of any size and encoding can be read. What stands before and after a
name must be no part of a longer one.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Collection, Iterable, Iterator
from mmap import mmap

import msgspec

from layerguard.blocks import Blocks
from layerguard.code import Code, Unreadable, decode
from layerguard.imports.base import Span

Text = bytes | mmap

_BEFORE = r"(?:(?<![\w./\\-])|(?<=\\[nrt]))"
"""No part of a longer name stands before one. In a notebook a line may begin behind a written `\\n`."""
_SUFFIXES = "cfg|conf|css|csv|db|html|ini|ipynb|js|json|lock|log|md|rst|sh|sql|svg|toml|ts|txt|xml|ya?ml"
"""What stands behind the dot in the name of a file of another kind."""
_PIECE = 1 << 16
"""How many bytes of a text are looked at at once where its lines are counted."""


class Mention(msgspec.Struct, frozen=True):
    """A module named in a text: its whole dotted name, its place, whether it is written as a path."""

    module: str
    span: Span
    is_path: bool


class Mentions:
    """The names that are looked for, ready to be found in any text."""

    def __init__(self, names: Collection[str], source_roots: Collection[str]) -> None:
        """Look for these modules and what is in them.

        `source_roots` are the folders below which a module's file may be named, relative to the project root.
        """
        self.names = tuple(sorted(names))
        roots = "|".join(re.escape(root) + "/" for root in sorted(source_roots, reverse=True) if root)
        dotted = _any(name for name in names if "." in name)
        words = _any(name for name in names if "." not in name)
        paths = _any(name.replace(".", "/") for name in names if "." in name)
        inside = r"(?:/[\w-]+(?![\w-]))*"
        file = r"\.pyi?(?![\w-])|/(?!\w)"
        # Behind a path stands its suffix, a slash, or nothing that would make it another path. A single word
        # may be any word: it must be a path without doubt, have more behind a dot, or stand in an import.
        pattern = (
            rf"{_BEFORE}(?:\./|(?<!~)/)?(?:(?:{roots})?)"
            rf"(?P<path>(?:{paths}){inside}(?:{file}|(?![\w-]|\.\w))|(?:{words}){inside}(?:{file}))"
            rf"|{_BEFORE}(?P<dotted>(?:{dotted})(?:\.[A-Za-z_]\w*)*(?![\w-])"
            rf"|(?:{words})(?!\.(?:{_SUFFIXES})(?![\w.-]))(?:\.[A-Za-z_]\w*)+(?![\w-])"
            rf"|(?<=import )(?:{words})(?=[ \t]*(?:as[ \t]|[,;#\r\n`\"'\\)]|\Z))"
            rf"|(?<=from )(?:{words})(?=[ \t]+import(?!\w))"
            rf"|(?:(?<=`)|(?<=:: )|(?<=-m ))(?:{words})(?![\w-]))"
        )
        self._regex = re.compile(pattern.encode("utf-8", "surrogateescape")) if names else None

    def find(self, text: Text) -> Iterator[Mention]:
        """Yield each mention in a text, in order; its column counts characters, not bytes."""
        if self._regex is None:
            return
        # The mark at the beginning of a file is no character of its first line.
        line, column, done = 1, 0 if text[:3] == codecs.BOM_UTF8 else 1, 0
        for start, found, is_path in self._search(text):
            line, column = _advance(text, done, start, line, column)
            done = start
            span = Span(line, column, line, column + len(found))
            yield Mention(_module(found) if is_path else found, span, is_path)

    def find_in_code(self, data: bytes) -> Iterator[Mention]:
        """Yield each mention in the comments and docstrings of a Python file, in order."""
        if self._regex is None or not self._regex.search(data):
            return
        try:
            code = Code(decode(data))
        except Unreadable:
            return
        blocks = Blocks(code, ())
        prose = [*code.comments]
        prose += [
            (token.body, token.close) for token in code.strings.values() if blocks.stands_alone(token.start)
        ]
        for begin, end in sorted(prose):
            part = code.text[begin:end].encode("utf-8", "surrogatepass")
            for at, found, is_path in self._search(part):
                start = begin + len(part[:at].decode("utf-8", "surrogatepass"))
                span = Span(*code.place(start), *code.place(start + len(found)))
                yield Mention(_module(found) if is_path else found, span, is_path)

    def _search(self, text: Text) -> Iterator[tuple[int, str, bool]]:
        if self._regex is None:
            return
        for match in self._regex.finditer(text):
            kind = "path" if match["path"] else "dotted"
            yield match.start(kind), match[kind].decode("utf-8", "replace"), kind == "path"


def _any(names: Iterable[str]) -> str:
    """Return a pattern for any of the names, the longest first; for none of them one that matches nothing."""
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name))) or "(?!)"


def _advance(text: Text, start: int, stop: int, line: int, column: int) -> tuple[int, int]:
    """Return the line and column of the offset `stop`, from those of `start`; read in pieces of even size."""
    decode_utf8 = codecs.getincrementaldecoder("utf-8")("replace")
    decoder = io.IncrementalNewlineDecoder(decode_utf8, translate=True)
    for at in range(start, stop, _PIECE):
        end = min(at + _PIECE, stop)
        piece = decoder.decode(text[at:end], final=end == stop)
        line += piece.count("\n")
        last = piece.rfind("\n")
        column = column + len(piece) if last < 0 else len(piece) - last
    return line, column


def _module(path: str) -> str:
    path = path.rstrip("/")
    for suffix in (".pyi", ".py"):
        path = path.removesuffix(suffix)
    return path.removesuffix("/__init__").replace("/", ".")
