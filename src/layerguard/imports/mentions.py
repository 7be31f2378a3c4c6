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

from layerguard.code import Code
from layerguard.code.blocks import Blocks
from layerguard.code.decoding import Unreadable, decode
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
        paths = dotted.replace(r"\.", "/")
        inside = r"(?:/[\w-]+(?![\w-]))*"
        file = r"\.pyi?(?![\w-])|/(?!\w)"
        self._name = _compile(_any(names).replace(r"\.", "[./]"))
        self._lead = _compile(rf"{_BEFORE}(?:\./|(?<!~)/)?(?:{roots})?\Z")
        self._reach = (
            max((len(root.encode("utf-8", "surrogateescape")) for root in source_roots), default=0) + 8
        )
        # Behind a path stands its suffix, a slash, or nothing that would make it another path. A single word
        # may be any word: it must be a path without doubt, have more behind a dot, or stand in an import.
        self._path = _compile(
            rf"(?:{paths}){inside}(?:{file}|(?![\w-]|\.\w))|(?:{words}){inside}(?:{file})",
        )
        self._dotted = _compile(
            rf"{_BEFORE}(?:(?:{dotted})(?:\.[A-Za-z_]\w*)*(?![\w-])"
            rf"|(?:{words})(?!\.(?:{_SUFFIXES})(?![\w.-]))(?:\.[A-Za-z_]\w*)+(?![\w-])"
            rf"|(?<=import )(?:{words})(?=[ \t]*(?:as[ \t]|[,;#\r\n`\"'\\)]|\Z))"
            rf"|(?<=from )(?:{words})(?=[ \t]+import(?!\w))"
            rf"|(?:(?<=`)|(?<=:: )|(?<=-m ))(?:{words})(?![\w-]))"
        )

    def find(self, text: Text) -> Iterator[Mention]:
        """Yield each mention in a text, in order; its column counts characters, not bytes."""
        # The mark at the beginning of a file is no character of its first line.
        line, column, done = 1, 0 if text[:3] == codecs.BOM_UTF8 else 1, 0
        for start, found, is_path in self._search(text):
            line, column = _advance(text, done, start, line, column)
            done = start
            span = Span(line, column, line, column + len(found))
            yield Mention(_module(found) if is_path else found, span, is_path)

    def find_in_code(self, data: bytes) -> Iterator[Mention]:
        """Yield each mention in the comments and docstrings of a Python file, in order."""
        if not self._name.search(data):
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
        """Yield each mention: its offset, what is written, whether that is a path.

        A name is looked for first, as that is fast in a large file; then what stands around it.
        """
        done = 0
        while name := self._name.search(text, done):
            start = name.start()
            is_path = self._lead.search(text[max(0, start - self._reach) : start]) is not None
            found = self._path.match(text, start) if is_path else None
            if found is None:
                is_path, found = False, self._dotted.match(text, start)
            done = found.end() if found else start + 1
            if found:
                yield start, found[0].decode("utf-8", "replace"), is_path


def _compile(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("utf-8", "surrogateescape"))


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
