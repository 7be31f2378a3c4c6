"""Mentions of modules in text: as a dotted path (`app.old.util`) or as a path of a file (`app/old.py`).

They are found in bytes, so that a file of any size and encoding can be read. What stands before and after a
name must be no part of a longer one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from mmap import mmap

import msgspec

from layerguard.blocks import Blocks
from layerguard.code import Code, Unreadable, decode
from layerguard.imports.base import Span

Text = bytes | mmap


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
        dotted = "|".join(re.escape(name) for name in self._longest_first())
        paths = "|".join(re.escape(name.replace(".", "/")) for name in self._longest_first())
        # Behind a path stands its suffix, a slash, or nothing that would make it another path.
        pattern = (
            rf"(?<![\w./\\-])(?:\./|/)?(?:(?:{roots})?)(?P<path>(?:{paths})"
            rf"(?:/[\w-]+(?![\w-]))*(?:\.pyi?(?![\w-])|/(?![\w])|(?![\w-]|\.\w)))"
            rf"|(?<![\w./\\-])(?P<dotted>(?:{dotted})(?:\.[A-Za-z_]\w*)*)(?![\w-])"
        )
        self._regex = re.compile(pattern.encode("utf-8", "surrogateescape")) if names else None

    def _longest_first(self) -> list[str]:
        return sorted(self.names, key=lambda name: (-len(name), name))

    def find(self, text: Text) -> Iterator[Mention]:
        """Yield each mention in a text, in order; its column counts characters, not bytes."""
        if self._regex is None:
            return
        line, counted = 1, 0
        for start, found, is_path in self._search(text):
            line += text[counted:start].count(b"\n")
            counted = start
            line_start = text.rfind(b"\n", 0, start) + 1
            column = len(text[line_start:start].decode("utf-8", "replace")) + 1
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


def _module(path: str) -> str:
    path = path.rstrip("/")
    for suffix in (".pyi", ".py"):
        path = path.removesuffix(suffix)
    return path.removesuffix("/__init__").replace("/", ".")
