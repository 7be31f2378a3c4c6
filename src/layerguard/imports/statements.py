"""Import statements in every form: `import a.b as c`, `from ..a import (b, c)`, `lazy import a`.

`import` is a keyword everywhere in Python, so outside strings and comments each one is a statement, whatever
the rest of the file looks like. That is why no parser is needed here, and why newer syntax does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

from layerguard.code import Code
from layerguard.imports.base import Span, WrittenImport, WrittenName
from layerguard.regex import regex

_IMPORT = regex(r"import(?!\w)")
_FROM = regex(r"(?:^|(?<=[\s;:]))(?:(lazy)[ \t\f]+)?from(?!\w)([ \t\f.\w]*)\Z")
_MARGIN = regex(r"(?:lazy[ \t\f]+)?(?:from|import)(?!\w)")
_BEGINNING = regex(r"(?:^|[;:])[ \t\f]*(?:lazy[ \t\f]+)?(?:from(?!\w)[ \t\f.\w]*)?\Z", re.MULTILINE)
"""What can stand in a line before the word `import` of a statement."""
_NEXT = regex(r"(?<!\\)\n(?=[^\s)\]}#])(?!(?:except|finally|else|elif)(?!\w))")
"""The end of a line behind which nothing belongs to the statement before."""
_LAZY = regex(r"(?:^|(?<=[\s;:]))lazy[ \t\f]*\Z")
_END = regex(r"[\n;]|\Z")
_MODULES = regex(r"(\w+(?:[ \t\f]*\.[ \t\f]*\w+)*)(?:[ \t\f]+as[ \t\f]+(\w+))?")
_NAMES = regex(r"(\*|\w+)(?:\s+as\s+(\w+))?")
_BLANK = regex(r"[ \t\f]+")
_USUAL = regex(
    r"([ \t]*)(?:from[ \t]+([\w.]+)[ \t]+import(?!\w)[ \t]*(\(?)"
    r"|import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?[ \t]*(?:\n|\Z))"
)
"""A statement that begins its line, in the forms that nearly all have."""


class Statement(WrittenImport, frozen=True, array_like=True, gc=False):
    """An import statement with the offset at which its module is written.

    `begins` is the offset of the statement itself, where it is known that it begins a line. `lazy` tells a
    statement of PEP 810, `at_margin` one that begins a line without any indentation; a `repeated` one names a
    module that stood in the same statement before, by another local name.
    """

    offset: int = 0
    lazy: bool = False
    at_margin: bool = False
    repeated: bool = False
    begins: int = -1


def find_statements(code: Code) -> Iterator[Statement]:
    """Yield each import statement, one per module that it names, in the order of the file.

    Of its surroundings only `lazy` is known; scope, time and guards are for the blocks to tell.
    """
    masked, text = code.masked, code.text
    for match in _IMPORT.finditer(masked):
        at = match.start()
        if at and (masked[at - 1] == "_" or masked[at - 1].isalnum()):
            continue
        line_start = text.rfind("\n", 0, at) + 1
        usual = _USUAL.match(masked, line_start)
        if usual and not text.startswith("\\", line_start - 2):
            statement = _usual(code, line_start, usual)
            if statement:
                yield statement
                continue
        line_start = masked.rfind("\n", 0, at) + 1
        before = masked[line_start:at]
        found = _FROM.search(before) if "from" in before else None
        if found:
            yield _from_import(code, line_start, found, match.end())
        else:
            lazy = bool(_LAZY.search(before))
            yield from _plain_imports(code, match.end(), lazy=lazy, at_margin=not before)


def part_with_imports(text: str) -> tuple[int, bool]:
    """Return an offset behind the last import statement of a file, and behind the blocks around it.

    Also whether every import statement stands at the margin. Strings are not seen: what looks like a
    statement in one counts too, so the offset may be farther than needed, and it may lie in a string or in
    brackets, which the caller has to see for himself. It is never too near otherwise.
    """
    end, at_margin = 0, True
    for match in _IMPORT.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        if text.startswith(("from ", "import "), line) or _MARGIN.match(text, line):
            end = match.end()
        elif _BEGINNING.search(text, line, match.start()) or text.startswith("\\", line - 2):
            end, at_margin = match.end(), False
    if not end:
        return 0, True
    line_end = text.find("\n", end)
    bracket = text.find("(", end, line_end) if line_end >= 0 else -1
    closed = text.find(")", bracket) if bracket >= 0 else line_end
    found = _NEXT.search(text, closed) if closed >= 0 else None
    return found.start() if found else len(text), at_margin


def _usual(code: Code, line_start: int, found: re.Match[str]) -> Statement | None:
    """Read a statement of one of the usual forms; None where it takes a closer look after all."""
    text = code.text
    indent, module, bracket, whole, bound = found.groups()
    start, end = found.span(2 if module else 4)
    if whole:
        stop = found.end(5 if bound else 4)
        taken = None
        bound = bound or whole.partition(".")[0]
    else:
        stop = code.masked.find(")" if bracket else "\n", found.end())
        if stop < 0:
            stop = len(code.masked)
        taken, bound = code.masked[end:stop], ""
    if text.find("\\", line_start, stop) >= 0 or not (text.isascii() or text[start:stop].isascii()):
        return None
    if taken and not bracket and ";" in taken:
        return None
    line = code.line(line_start)
    place = Span(line, start - line_start + 1, line, end - line_start + 1)
    return Statement(
        module or whole,
        place,
        "import",
        "load",
        "",
        taken,
        bound,
        offset=start,
        at_margin=not indent,
        begins=line_start + len(indent),
    )


def _from_import(code: Code, line_start: int, found: re.Match[str], after: int) -> Statement:
    masked, offset = code.masked, line_start + found.start(2)
    written = found[2]
    blank = len(written) - len(written.lstrip())
    start, end = offset + blank, offset + len(written.rstrip())
    names_start = after
    while masked[names_start : names_start + 1] in {" ", "\t", "\f"}:
        names_start += 1
    if masked[names_start : names_start + 1] == "(":
        names_end = masked.find(")", names_start)
        names_end = len(masked) if names_end < 0 else names_end
    else:
        names_end = _end(masked, names_start)
    names = tuple(
        WrittenName(
            _plain(match[1]),
            _plain(match[2] or match[1]),
            _span(code, match.start(1), match.end(1)),
        )
        for match in _NAMES.finditer(masked, names_start, names_end)
    )
    return Statement(
        _plain(_BLANK.sub("", written)),
        _span(code, start, end),
        taken=names,
        offset=start,
        lazy=bool(found[1]),
        at_margin=found.start() == 0,
    )


def _plain_imports(code: Code, after: int, *, lazy: bool, at_margin: bool) -> Iterator[Statement]:
    seen = set()
    for match in _MODULES.finditer(code.masked, after, _end(code.masked, after)):
        module = _plain(_BLANK.sub("", match[1]))
        repeated = module in seen
        seen.add(module)
        yield Statement(
            module,
            _span(code, match.start(1), match.end(1)),
            bound=_plain(match[2]) if match[2] else module.partition(".")[0],
            offset=match.start(1),
            lazy=lazy,
            at_margin=at_margin,
            repeated=repeated,
        )


def _end(masked: str, start: int) -> int:
    found = _END.search(masked, start)
    return found.start() if found else len(masked)


def _span(code: Code, start: int, end: int) -> Span:
    return Span(*code.place(start), *code.place(end))


def _plain(name: str) -> str:
    """Return an identifier as Python compares it (NFKC, section 2.3 of the language reference)."""
    return name if name.isascii() else normalize("NFKC", name)
