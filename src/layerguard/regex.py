"""Regular expressions that are compiled when they are first used: one run needs few of them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "split")


class _Later:
    def __init__(self, pattern: Any, flags: int) -> None:  # noqa: ANN401 - a text or bytes
        self._written = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a compiled pattern has by that name
        pattern, flags = self._written
        compiled: Any = re.compile(pattern, flags)
        # Found in the instance from now on, which takes no longer than in the pattern itself.
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what behaves like a compiled pattern; a fault in the pattern is raised when it is first used."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))
