"""The expressions that mean typing.TYPE_CHECKING in a file."""

from __future__ import annotations

from collections.abc import Iterable

from layerguard.code import Code
from layerguard.code.aliases import with_aliases
from layerguard.imports.base import WrittenImport
from layerguard.regex import regex

_TYPING = frozenset({"typing", "typing_extensions"})
CONSTANT = "TYPE_CHECKING"
"""The name of what is true for type checkers alone."""
ALIAS = regex(rf"=[^\n]*{CONSTANT}|{CONSTANT}[^\n]*=")
"""A line that may give it another name, or a value."""
_SET = regex(rf"{CONSTANT}[ \t]*(?::[^=\n]*)?=(?!=)([^\n]*)")


def typing_names(code: Code, statements: Iterable[WrittenImport]) -> frozenset[str]:
    """Return the expressions that mean typing.TYPE_CHECKING in a file.

    The bare name means it too where the file sets it to False itself, as type checkers
    have it; not where it comes from another module than typing.
    """
    if CONSTANT not in code.text:
        return frozenset()
    names = {CONSTANT}
    for statement in statements:
        if isinstance(statement.taken, str) and CONSTANT not in statement.taken:
            continue
        if statement.names is None:
            if statement.module in _TYPING:
                names.add(f"{statement.bound}.{CONSTANT}")
        elif statement.module in _TYPING:
            names.update(name.bound for name in statement.names if name.name == CONSTANT)
        elif any(name.bound == CONSTANT for name in statement.names):
            names.discard(CONSTANT)
    names = set(with_aliases(code.masked, dict.fromkeys(names, "")))
    own = [
        match[1].rpartition("=")[2].strip()
        for match in _SET.finditer(code.masked)
        if not code.masked[code.masked.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
    ]
    if any(value not in {*names, "False", "0"} for value in own):
        names.discard(CONSTANT)
    return frozenset(names)
