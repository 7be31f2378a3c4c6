"""Reads the project's text files for mentions of modules."""

from __future__ import annotations

import mmap
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from layerguard import git
from layerguard.imports.mentions import Mention, Mentions, Text
from layerguard.index import Index
from layerguard.model import Import, Location
from layerguard.names import SOURCES, shown
from layerguard.regex import regex
from layerguard.sources import Tree

_SNIFFED = 8000
"""In how many of its first bytes a NUL makes a file a binary one; git's number."""
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OWN_TABLE = regex(rb"^[ \t]*\[\[?[ \t]*tool[ \t]*\.[ \t]*layerguard\b", re.MULTILINE)
_TABLE = regex(rb"^[ \t]*\[{1,2}[^\[\]\n]+\]{1,2}[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)


def with_mentions(imports: Index, root: Path, tree: Tree, mentions: Mentions, own: Collection[str]) -> Index:
    """Return the imports and, beside them, what the project's files mention; see `find_mentions`."""
    by_path: dict[str, list[Import]] = {}
    for found in find_mentions(root, tree, mentions, own):
        by_path.setdefault(found.location.path, []).append(found)
    for path, every in by_path.items():
        every.extend(imports.at(path))
    return imports.replaced(by_path)


def find_mentions(root: Path, tree: Tree, mentions: Mentions, own: Collection[str]) -> Iterator[Import]:
    """Yield what the project's text files, and the comments and docstrings of its Python files, mention.

    The importer of a mention is the path of its file. `own` are layerguard's own files, which are left out;
    of a `pyproject.toml` among them only its own tables are. Binary files and those that cannot be read are
    passed over.
    """
    untracked = git.list_untracked(root)
    for path in tree.files:
        if path in untracked and not path.endswith(SOURCES):
            continue  # a report that was written to a file, for instance
        if path in own and not path.endswith("pyproject.toml"):
            continue
        try:
            found = list(_in_file(root / path, mentions, whole=path not in own))
        except OSError:
            continue
        for each in found:
            place = Location(
                shown(path), each.span.line, each.span.column, each.span.end_line, each.span.end_column
            )
            yield Import(shown(path), "", each.module, "text", "load", place)


def _in_file(file: Path, mentions: Mentions, *, whole: bool) -> Iterator[Mention]:
    if file.name.endswith(SOURCES):
        yield from mentions.find_in_code(file.read_bytes())
        return
    with file.open("rb") as stream:
        head = stream.read(_SNIFFED)
        if head.startswith(_UTF16):
            yield from mentions.find((head + stream.read()).decode("utf-16", "replace").encode("utf-8"))
        elif head and b"\0" not in head:
            # Mapped, not read: a file may be larger than the memory.
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as text:
                for each in mentions.find(text):
                    if whole or not _in_own_table(text, each.span.line):
                        yield each


def _in_own_table(text: Text, line: int) -> bool:
    """Tell whether a line of a TOML file stands in one of layerguard's tables."""
    before = b"\n".join(bytes(text[:]).split(b"\n")[:line])
    tables = list(_TABLE.finditer(before))
    return bool(tables) and _OWN_TABLE.match(before, tables[-1].start()) is not None
