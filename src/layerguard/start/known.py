"""Finds the outcome of a check that was made before, where nothing has changed since."""

from __future__ import annotations

import os

from layerguard import __version__
from layerguard.snapshots import Glance, are_same, texts_of
from layerguard.verdicts import (
    FOLDER,
    LINKED,
    VARIABLE,
    YOUNG,
    Verdict,
    find_entry,
    key_of,
    place_of,
    seal_of,
    verdict_of,
)

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
            return _find(cache, key, glance)
        except (OSError, ValueError, IndexError):  # not there, damaged, or of another making
            continue
    return None


def _find(cache: str, key: str, glance: Glance) -> Verdict | None:
    """Return what a cache has; raise ValueError, IndexError or OSError where it cannot be read."""
    place = place_of(cache, key)
    with open(place, "rb") as file:  # noqa: PTH123 - no pathlib here
        entry = find_entry(file.read(), key, seal_of(cache))
    if entry is None:
        return None
    numbers = glance.take(texts_of(entry["paths"]))
    if are_same(numbers, entry["numbers"]) and not _are_unsure(entry["flags"]):
        return verdict_of(entry)
    from layerguard.standing import find_standing  # noqa: PLC0415 - heavier, and only for what has changed

    return find_standing(entry, glance, cache, os.path.basename(place))  # noqa: PTH119 - the same


def _are_unsure(flags: memoryview) -> bool:
    """Tell whether some source has to be read to know whether it is the same."""
    return any(flag & (YOUNG | LINKED) for flag in set(flags))


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
