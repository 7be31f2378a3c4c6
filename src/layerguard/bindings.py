"""Whether a package's `__init__.py` can be seen not to bind a name."""

from __future__ import annotations

import re

from layerguard.code import Code, Unreadable, decode
from layerguard.imports.statements import find_statements

_DYNAMIC = re.compile(
    r"(?<![\w.])(?:__getattr__|globals|vars|exec|setattr)(?!\w)|\.\s*__dict__(?!\w)|sys\s*\.\s*modules(?!\w)"
)
_WORD = re.compile(r"(?<![\w.])\w+")


def bound_names(data: bytes) -> frozenset[str] | None:
    """Return the names that a module may bind; None when that cannot be seen.

    Every word of its code counts as bound, unless it stands behind a dot or is only the source of an import:
    that is more than what is bound, so that only a sure no is a no. A star import, a module's `__getattr__`
    and the ways to write into a namespace make it unseen.
    """
    try:
        code = Code(decode(data))
    except Unreadable:
        return None
    if _DYNAMIC.search(code.masked):
        return None
    names: set[str] = set()
    masked = code.masked
    for statement in find_statements(code):
        if statement.names is None:
            names.add(statement.bound)
        else:
            names.update(name.bound for name in statement.names)
    if "*" in names:
        return None
    for line in _without_imports(masked):
        names.update(_WORD.findall(line))
    return frozenset(names)


_STATEMENT = re.compile(r"(?<!\w)(?:from[ \t\f]*[\w. \t\f]+)?import(?!\w)[ \t\f]*(?:\([^)]*\)|[^\n;]*)")


def _without_imports(masked: str) -> list[str]:
    return _STATEMENT.split(masked)
