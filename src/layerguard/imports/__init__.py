"""The ways to name a module, and the function that looks for all of them in one file.

What is found in a file depends on its bytes alone, so it can be cached and be made in other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from layerguard.code import Code
from layerguard.code.blocks import Around, Blocks
from layerguard.code.decoding import Unreadable, decode
from layerguard.imports.base import Fault, Findings, Page, Span, WrittenImport
from layerguard.imports.dynamic import find_dynamic, loads_dynamically
from layerguard.imports.statements import Statement, find_statements, margin_end
from layerguard.imports.strings import find_strings
from layerguard.imports.syntax import find_fault
from layerguard.imports.typing_names import typing_names

FINDERS: dict[str, Callable[[Page], Iterable[WrittenImport]]] = {
    "dynamic": find_dynamic,
    "string": find_strings,
}
"""The finders beside the statements, by the `via` of what they find. Each leaves what one before it found."""


def find_imports(data: bytes, via: Collection[str]) -> Findings:
    """Find what the bytes of a Python file name, by those ways of FINDERS that are in `via`."""
    try:
        text = decode(data)
    except Unreadable as error:
        return Findings(fault=Fault(error.line, error.column, error.reason))
    return find_in_text(text, via)


def find_in_text(text: str, via: Collection[str]) -> Findings:
    """Find the same in the text of a Python file, whose lines end with LF."""
    fault = find_fault(text)
    if fault:
        return Findings(fault=fault)
    return Findings(tuple(_find(text, via)))


def _find(text: str, via: Collection[str]) -> Iterator[WrittenImport]:
    code, statements = _statements(text, via)
    blocks = Blocks(code, typing_names(code, statements))
    page = Page(code, statements, blocks)
    found: list[WrittenImport] = [
        _placed(blocks, statement) for statement in statements if not statement.repeated
    ]
    taken: set[Span] = set()
    for way, finder in FINDERS.items():
        # A literal that a dynamic load takes is no string besides, even where dynamic loads do not count.
        if way in via or (way == "dynamic" and "string" in via):
            news = [item for item in finder(page) if item.span not in taken]
            taken.update(item.span for item in news)
            found += news if way in via else ()
    found.sort(key=lambda item: (item.span.line, item.span.column))
    return iter(found)


def _statements(text: str, via: Collection[str]) -> tuple[Code, tuple[Statement, ...]]:
    """Return the import statements of a file and its code, of which no more is masked than is needed.

    In most files all imports stand at the margin, near the top: what comes after them need not be looked at.
    """
    if "string" in via or ("dynamic" in via and loads_dynamically(text)):
        code = Code(text)
    else:
        end = margin_end(text)
        code = Code(text, end if end >= 0 else len(text))
        if end >= 0 and code.masked.count("(") != code.masked.count(")"):
            code = Code(text, len(text))
    return code, tuple(find_statements(code))


def _placed(blocks: Blocks, statement: Statement) -> WrittenImport:
    if statement.at_margin and not statement.lazy:
        # It stands at module level: no need to read the blocks.
        return WrittenImport(
            statement.module, statement.span, "import", "load", "", statement.taken, statement.bound
        )
    if statement.at_margin:
        around = Around()
    elif statement.begins >= 0:
        around = blocks.around_line(statement.begins)
    else:
        around = blocks.around(statement.offset)
    when = around.when
    return WrittenImport(
        statement.module,
        statement.span,
        "import",
        "deferred" if statement.lazy and when == "load" else when,
        around.scope,
        statement.taken,
        statement.bound,
        around.guarded,
    )
