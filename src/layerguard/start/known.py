"""Finds the outcome of a check that was made before, where nothing has changed since."""

from __future__ import annotations

import os

from layerguard import __version__
from layerguard.snapshots import Glance
from layerguard.verdicts import FOLDER, VARIABLE, Verdict, find_verdict, key_of, place_of, seal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from layerguard.asked import Asked


def find_outcome(asked: Asked, glance: Glance) -> Verdict | None:
    """Return the outcome of the same check, if it is still good; None wherever that is not certain."""
    try:
        here = os.getcwd()  # noqa: PTH109 - no pathlib here
    except OSError:
        return None
    base, show_allowed = asked.values.get("base"), "show_allowed" in asked.flags
    key = key_of(here, asked.paths, asked.contracts, base, show_allowed)
    for folder in _folders(here, asked.values.get("cache_dir")):
        cache = f"{folder}{os.sep}{__version__}"
        try:
            with open(place_of(cache, key), "rb") as file:  # noqa: PTH123 - the same
                return find_verdict(file.read(), key, seal_of(cache), glance)
        except (OSError, ValueError, IndexError):  # not there, damaged, or of another making
            continue
    return None


def _folders(here: str, cache_dir: str | None) -> Iterator[str]:
    """Yield where the cache may be."""
    named = cache_dir or os.environ.get(VARIABLE)
    if named:
        yield os.path.abspath(named)  # noqa: PTH100 - no pathlib here
        return
    folder = here
    while True:
        yield f"{folder}{os.sep}{FOLDER}"
        above = os.path.dirname(folder)  # noqa: PTH120 - no pathlib here
        if above == folder:
            return
        folder = above
