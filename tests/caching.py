"""Checks with a cache, and without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from clock import settle
from spec import call

from layerguard import __version__
from layerguard.start import main
from layerguard.verdicts import FOLDER

Said = tuple[int, str, str]
"""Status, standard output and standard error."""


class RefusedError(Exception):
    """A check was made."""


def refuse(*_: object, **__: object) -> object:
    raise RefusedError


def check(*words: str) -> Said:
    return call(main, ["check", *words])


def plain(*words: str) -> Said:
    return check(*words, "--no-cache")


def learn(*words: str) -> Said:
    """Check when all files are old enough to be relied on."""
    settle()
    return check(*words)


def knows(*words: str) -> bool:
    """Tell whether the answer is known without a check; it has to be right."""
    expected = plain(*words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("layerguard.run.check", refuse)
        try:
            said = check(*words)
        except RefusedError:
            return False
    assert said == expected
    return True


def cached(root: Path, name: str) -> Path:
    """The one file of the cache that begins with this name."""
    (file,) = (root / FOLDER / __version__).glob(f"{name}-*")
    return file
