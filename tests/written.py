"""Where the statement of an import begins, which is what other tools give as its line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layerguard.imports.statements import Statement, find_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layerguard.code import Code

_FROM = re.compile(r"(?<!\w)from(?!\w)")
_IMPORT = re.compile(r"(?<!\w)import(?!\w)")


def statements(code: Code) -> Iterator[tuple[Statement, int]]:
    """Yield each statement with the offset of its `from` or `import`."""
    masked = code.masked
    for statement in (each for each in find_statements(code) if not each.repeated):
        # A line join is blank in the masked text, so both stand on one line there.
        start = masked.rfind("\n", 0, statement.offset) + 1
        word = _IMPORT if statement.names is None else _FROM
        yield statement, [match.start() for match in word.finditer(masked, start, statement.offset)][-1]
