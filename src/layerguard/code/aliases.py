"""Plain assignments that give an expression another name: `load = importlib.import_module`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from layerguard.regex import regex

_TARGET = regex(r"[ \t\f]*(\w+)[ \t]*(?::[^=\n]*)?\Z")


def with_aliases(masked: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return known expressions and what they mean, with the names that masked code assigns them to."""
    found = dict(known)
    for _ in range(2):  # an alias of an alias is as far as people go
        for match in _assigned(tuple(sorted(found))).finditer(masked):
            target = _TARGET.match(masked, masked.rfind("\n", 0, match.start()) + 1, match.start())
            if target:
                found[target[1]] = found[match[1]]
    return found


@lru_cache(maxsize=256)
def _assigned(values: Iterable[str]) -> re.Pattern[str]:
    # It begins with a literal character, which makes it several times as fast as one that begins with a line.
    alternatives = "|".join(map(re.escape, values))
    return re.compile(rf"=[ \t]*({alternatives})[ \t]*$", re.MULTILINE)
