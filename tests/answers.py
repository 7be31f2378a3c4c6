"""What the program answers without click, held to what click answers, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from spec import call

from layerguard import cli, start

if TYPE_CHECKING:
    from collections.abc import Sequence

Ended = tuple[int, str, str]
"""Status, standard output and standard error."""


def answered(words: Sequence[str]) -> Ended | None:
    """Return how a command ends, where click is not asked."""
    given: list[int | None] = []
    _, out, err = call(lambda: given.append(start._answer(words)), list(words))
    [status] = given
    if status is None:
        assert (out, err) == ("", ""), "click would answer too"
        return None
    return status, out, err


def agrees(words: Sequence[str] = (), **environment: str) -> bool:
    """Hold an answer to that of click; tell whether there is one."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        found = answered(words)
        if found is not None:
            assert found == call(cli.main, list(words)), (words, environment)
    return found is not None
