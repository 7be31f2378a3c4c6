"""The ways to name a module, and the function that looks for all of them in one file.

What is found in a file depends on its bytes alone, so it can be cached and be made in other processes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from layerguard.code import Code
from layerguard.code.blocks import Around, Blocks
from layerguard.code.decoding import Unreadable, decode
from layerguard.imports.base import Fault, Findings, Page, Span, WrittenImport
from layerguard.imports.dynamic import find_dynamic, loads_dynamically
from layerguard.imports.statements import Statement, find_statements, part_with_imports
from layerguard.imports.strings import find_strings
from layerguard.imports.syntax import find_fault
from layerguard.imports.typing_names import ALIAS, CONSTANT, typing_names

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


def _find(text: str, via: Collection[str]) -> list[WrittenImport]:
    # A literal that a dynamic load takes is no string besides, even where dynamic loads do not count.
    ways = [way for way in FINDERS if way in via or (way == "dynamic" and "string" in via)]
    if "dynamic" in ways and not loads_dynamically(text):
        ways.remove("dynamic")
    code = None if ways else _part_with_imports(text)
    code = Code(text) if code is None else code
    statements = tuple(find_statements(code))
    blocks = Blocks(code, typing_names(code, statements))
    found = [_placed(blocks, statement) for statement in statements if not statement.repeated]
    page = Page(code, statements, blocks)
    taken: set[Span] = set()
    for way in ways:
        news = [item for item in FINDERS[way](page) if item.span not in taken]
        taken.update(item.span for item in news)
        found += news if way in via else ()
    if ways:
        found.sort(key=lambda item: (item.span.line, item.span.column))
    return found


def _part_with_imports(text: str) -> Code | None:
    """Return the code of a file as far as its import statements go, where nothing after them matters.

    In most files they stand near the top: what comes after them need not be looked at.
    """
    end, at_margin = part_with_imports(text)
    if not at_margin and end < len(text) and _may_tell_typing(text, end):
        return None
    code = Code(text, end)
    brackets = [code.masked.count(each) for each in "()[]{}"]
    ends_in_code = at_margin or len(code.masked) == end
    return code if ends_in_code and brackets[::2] == brackets[1::2] else None


def _may_tell_typing(text: str, end: int) -> bool:
    """Tell whether what comes after an offset may give TYPE_CHECKING another name, or a value.

    Then a function above may ask for that.
    """
    return text.find(CONSTANT, end) >= 0 or (CONSTANT in text and ALIAS.search(text, 0, end) is not None)


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
