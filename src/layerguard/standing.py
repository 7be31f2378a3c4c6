"""Tells whether an outcome stands, though some of the files it was made of have changed since.

It does where sources hold what they held, and have but new times, and where folders and git's index are
alike (see `likeness`). It does, too, where an edit changed nothing that the check had looked at: of most
files that is the modules that they import, and not where, so that most edits leave an outcome as it was.
"""

from __future__ import annotations

import os
from time import monotonic

from layerguard.files import read_bytes
from layerguard.likeness import are_alike
from layerguard.snapshots import (
    WIDTH,
    are_young,
    bytes_of,
    joined,
    numbers_of,
    pack,
    pairs_of,
    texts_of,
    unpack,
)
from layerguard.stores import SIZE, Store, digest_of, renumbered
from layerguard.verdicts import LINKED, OPENED, YOUNG, Verdict, packed, parts_of, verdict_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from layerguard.snapshots import Buffer, Glance

_MOST = 64
"""With more files that hold something else a check is made anew; so many new times are kept for it."""
_LATE = 2_000_000_000
"""By how many ns a file system's clock may be late."""


def find_standing(entry: Mapping[str, memoryview], glance: Glance, cache: str, name: str) -> Verdict | None:
    """Return the outcome of an entry (see `find_entry`) where it stands; None where that is not certain.

    `glance` has the numbers that its paths have now. The entry, which is the file `name` in the folder
    `cache`, is kept anew with them.
    """
    flags, digests, paths = bytes(entry["flags"]), bytes(entry["digests"]), texts_of(entry["paths"])
    before = entry["numbers"].cast("q").tolist()
    again = _to_read(before, glance.numbers, flags)
    news = None if again is None else _read(paths, again, flags, digests)
    if again is None or news is None:
        return None
    sources = len(flags)
    rest = slice(sources * WIDTH, None)
    alike = before[rest], glance.numbers[rest], bytes(entry["alike"]), pairs_of(entry["indexes"])
    if not are_alike(paths[sources:], *alike):
        return None
    stood: dict[str, Buffer] = dict(entry)
    verdict = verdict_of(entry)
    if news:
        weighed = _weigh(entry, news, cache, verdict)
        if weighed is None:
            return None
        verdict, stood["recent"] = weighed
        stood |= parts_of(verdict)
        for number, data in news.items():
            digests = digests[: number * SIZE] + digest_of(data) + digests[(number + 1) * SIZE :]
    try:
        _keep(stood, before, glance, flags, digests, cache, name)
        if len(again) > _MOST:
            _keep_times(entry, glance.numbers, flags, digests, cache)
    except (OSError, ValueError):
        pass  # where the cache cannot be written, or is damaged, it is for a full check to say so
    return verdict


def _read(
    paths: Sequence[str], again: Sequence[int], flags: bytes, digests: bytes
) -> dict[int, bytes] | None:
    """Return what the sources hold that are no longer the same; None where that may matter, or for many."""
    news: dict[int, bytes] = {}
    for number in again:
        try:
            data = read_bytes(paths[number])
        except OSError:
            return None
        if digest_of(data) != digests[number * SIZE : (number + 1) * SIZE]:
            if flags[number] & OPENED or len(news) == _MOST:
                return None
            news[number] = data
    return news


def _to_read(before: Sequence[int], numbers: Sequence[int], flags: bytes) -> list[int] | None:
    """Return the numbers of the sources that have to be read; None where too much has changed."""
    sources = len(flags) * WIDTH
    others = {place // WIDTH for place in range(sources) if before[place] != numbers[place]}
    others_in_size = {
        number for number in others if before[number * WIDTH + 1] != numbers[number * WIDTH + 1]
    }
    if len(others_in_size) > _MOST or any(flags[number] & OPENED for number in others_in_size):
        return None
    return sorted(others.union(number for number, flag in enumerate(flags) if flag & (YOUNG | LINKED)))


def _weigh(
    entry: Mapping[str, memoryview], news: Mapping[int, bytes], cache: str, verdict: Verdict
) -> tuple[Verdict, bytes] | None:
    """Return the outcome with the number of imports that there are now, and the findings that are new."""
    from layerguard.lean import load_msgspec  # noqa: PLC0415 - heavy, and only for edits

    load_msgspec()
    from layerguard.weighing import recounted, weigh  # noqa: PLC0415 - the same

    digests = bytes(entry["digests"])
    olds = {number: digests[number * SIZE : (number + 1) * SIZE] for number in news}
    known: dict[bytes, bytes] = {}
    for store in _stores(entry, cache):
        for old in olds.values():
            kept = None if old in known else store.find(old)
            if kept is not None:
                known[old] = kept
    if any(old not in known for old in olds.values()):
        return None
    pairs = [(known[olds[number]], data) for number, data in news.items()]
    weighed = weigh(pairs, texts_of(entry["ways"]), texts_of(entry["tops"]))
    if weighed is None:
        return None
    more, found = weighed
    recent = Store(unpack(bytes(entry["recent"]), "recent")).every
    recent = {digest: each for digest, each in recent.items() if digest not in known}
    recent |= zip(map(digest_of, news.values()), found, strict=True)
    return recounted(verdict, more) if more else verdict, bytes_of_recent(recent)


def bytes_of_recent(recent: Mapping[bytes, bytes]) -> bytes:
    """Return findings by digest as an entry has them."""
    return pack("recent", Store(None).with_more(recent))


def _stores(entry: Mapping[str, memoryview], cache: str) -> Iterator[Store]:
    """Yield where the findings of an earlier state of a file may be."""
    yield Store(unpack(bytes(entry["recent"]), "recent"))
    *_, name, kind = texts_of(entry["stores"])
    try:
        yield Store(unpack(read_bytes(f"{cache}{os.sep}{name}"), kind))
    except (OSError, ValueError):  # not there, or damaged
        return


def _keep(
    entry: dict[str, Buffer],
    before: Sequence[int],
    glance: Glance,
    flags: bytes,
    digests: bytes,
    cache: str,
    name: str,
) -> None:
    """Keep an entry with the numbers of now. Raises OSError."""

    def make(now: int) -> bytes:
        news, numbers = bytearray(flag & ~YOUNG for flag in flags), list(glance.numbers)
        late = _LATE + int((monotonic() - glance.since) * 1e9)
        for place in are_young(numbers, now - late):
            if place < len(flags):
                news[place] |= YOUNG
            else:  # what is no source is compared again, as long as it may change within a tick
                numbers[place * WIDTH : (place + 1) * WIDTH] = before[place * WIDTH : (place + 1) * WIDTH]
        return packed({**entry, "flags": news, "numbers": bytes_of(numbers), "digests": digests})

    _replace(f"{cache}{os.sep}{name}", make)


def _keep_times(
    entry: Mapping[str, memoryview], numbers: Sequence[int], flags: bytes, digests: bytes, cache: str
) -> None:
    """Let a check that is made anew know the files by their new times, too. Raises OSError, ValueError."""
    name, kind, *_ = texts_of(entry["stores"])
    place = f"{cache}{os.sep}{name}"
    parts = unpack(read_bytes(place), kind)
    if parts:
        paths = joined(texts_of(entry["paths"])[: len(flags)])
        unsure = {number for number, flag in enumerate(flags) if flag & (YOUNG | LINKED)}
        news = renumbered(parts, paths, numbers[: len(flags) * WIDTH], digests, unsure)
        _replace(place, lambda _now: pack(kind, news))


def _replace(place: str, make: Callable[[int], bytes]) -> None:
    """Write a file that is whole or not there; `make` gets the time now, by the clock of the file system."""
    temporary = f"{os.path.dirname(place)}{os.sep}.{os.urandom(8).hex()}.tmp"  # noqa: PTH120 - no pathlib here
    try:
        with open(temporary, "wb") as file:  # noqa: PTH123 - the same
            file.write(make(numbers_of([temporary])[0]))
        os.replace(temporary, place)  # noqa: PTH105 - the same
    except OSError:
        if os.path.exists(temporary):  # noqa: PTH110 - the same
            os.unlink(temporary)  # noqa: PTH108 - the same
        raise
