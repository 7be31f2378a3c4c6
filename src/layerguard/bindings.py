"""Whether a module can be seen not to bind a name."""

from __future__ import annotations

from collections.abc import Iterator

from layerguard.code import Code
from layerguard.code.blocks import Blocks
from layerguard.code.decoding import Unreadable, decode
from layerguard.imports.statements import find_statements
from layerguard.regex import regex

_UNSEEN = regex(
    r"(?<![\w.])(?:__getattr__|globals|vars|exec|setattr)(?!\w)|\.\s*__dict__(?!\w)|sys\s*\.\s*modules(?!\w)"
)
_DEFINITION = regex(r"(?:async[ \t\f]+)?(?:def|class)[ \t\f]+(\w+)")
_IMPORT = regex(r"(?<!\w)(?:from(?!\w)[\w. \t\f]*)?import(?!\w)[ \t\f]*(?:\([^)]*\)|[^\n;]*)")
_WORD_OR_BRACKET = regex(r"[(\[{]|[)\]}]|(?<![\w.])(\w+)[ \t\f]*(=(?!=))?")
_ANY_WORD = regex(r"\w+")
_GLOBAL = regex(r"(?<!\w)global[ \t\f]+([\w, \t\f]+)")


def bound_names(data: bytes) -> frozenset[str] | None:
    """Return the names that a module may bind; None when that cannot be seen.

    Every word at module level counts, unless it stands behind a dot or names an argument of a call: that is
    more than what is bound, so that only a sure no is a no. A star import, a module's `__getattr__` and the
    ways to write into a namespace make it unseen.
    """
    try:
        code = Code(decode(data))
    except Unreadable:
        return None
    if _UNSEEN.search(code.masked):
        return None
    blocks = Blocks(code, ())
    names: set[str] = set()
    for statement in find_statements(code):
        if statement.at_margin or not blocks.around(statement.offset).scope:
            names.update([statement.bound] if statement.names is None else (n.bound for n in statement.names))
    if "*" in names:
        return None
    for match in _GLOBAL.finditer(code.masked):
        names.update(match[1].replace(",", " ").split())
    for line in blocks.module_lines():
        names.update(_words(_IMPORT.sub("", line)))
    return frozenset(names)


def spoken_names(data: bytes) -> frozenset[str] | None:
    """Return the names that a string may take from a module: those it binds, or any word of its text.

    What `__getattr__` gives stands in the module somewhere, be it in a table of strings. None where a star
    import brings names that do not stand there.
    """
    bound = bound_names(data)
    if bound is not None:
        return bound
    try:
        code = Code(decode(data))
    except Unreadable:
        return None
    if any(name.name == "*" for statement in find_statements(code) for name in statement.names or ()):
        return None
    return frozenset(_ANY_WORD.findall(code.text))


def _words(line: str) -> Iterator[str]:
    """Yield the words of a logical line that may be bound there; of a definition its name alone."""
    definition = _DEFINITION.match(line)
    if definition:
        yield definition[1]
        return
    depth = 0
    for match in _WORD_OR_BRACKET.finditer(line):
        if match[1]:
            if not (match[2] and depth):
                yield match[1]
        else:
            depth += 1 if match[0] in "([{" else -1
