"""What files looked like at one moment, and whether they still do; and the form of the cache's files.

The numbers that the system keeps of a file tell whether it may have changed: its time of modification, its
size, its inode, and the time at which one of these was last written, which no program can set. Loaded by
every command before anything else, so that it imports nothing that takes time.
"""

from __future__ import annotations

import os
from binascii import crc32
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Buffer = bytes | bytearray | memoryview

SEAL = ".gitignore"
"""The file in the folder of a cache by which it is known as the one that was written here."""
WIDTH = 4
"""How many numbers there are of each file."""
_ABSENT = (-1, -1, -1, -1)
_WRITTEN = 3 if os.name == "posix" else 0
"""Which of the numbers tells when a file was last written; a program may set the other one."""
_MOST = (1 << 63) - 1
"""What is kept of an inode: some file systems have more bits."""
_HEAD = b"layerguard cache 1\n"


def numbers_of(paths: Iterable[str]) -> list[int]:
    """Return the four numbers of each path: of a link its own; of what is not there, or out of reach, -1."""
    lstat = os.lstat
    numbers: list[int] = []
    for path in paths:
        try:
            found = lstat(path)
        except (OSError, ValueError):
            numbers += _ABSENT
        else:
            numbers += (found.st_mtime_ns, found.st_size, found.st_ino & _MOST, found.st_ctime_ns)
    return numbers


def bytes_of(numbers: Sequence[int]) -> bytes:
    """Return numbers as they are kept, in 64 bits each."""
    if len(numbers) > WIDTH:
        from array import array  # noqa: PLC0415 - it loads `collections`, which takes longer than all else here

        return array("q", numbers).tobytes()
    data = bytearray(8 * len(numbers))
    view = memoryview(data).cast("q")
    for place, number in enumerate(numbers):
        view[place] = number
    return bytes(data)


def are_same(numbers: Sequence[int], kept: memoryview) -> bool:
    """Tell whether numbers are those that these bytes were made of."""
    return kept.cast("q").tolist() == numbers


class Glance:
    """The numbers of paths, as one run saw them last.

    To take older ones is safe: what has changed since has other numbers, now and later.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._paths: list[str] = []
        self.numbers: list[int] = []
        """The numbers that were taken last."""
        self.since = 0.0
        """When that began, by the clock `time.monotonic`."""

    def take(self, paths: list[str]) -> list[int]:
        """Return the numbers that paths have now, and remember them."""
        self.since = monotonic()
        self._paths, self.numbers = paths, numbers_of(paths)
        return self.numbers

    def numbers_of(self, paths: list[str]) -> list[int]:
        """Return the numbers of paths, those that are remembered as they were then."""
        if paths == self._paths:
            return self.numbers
        places = {path: place for place, path in enumerate(self._paths)}
        found: list[int] = []
        news = iter(numbers_of([path for path in paths if path not in places]))
        for path in paths:
            place = places.get(path)
            if place is None:
                found.extend(next(news) for _ in range(WIDTH))
            else:
                found += self.numbers[place * WIDTH : (place + 1) * WIDTH]
        return found


def are_young(numbers: Sequence[int], moment: int) -> list[int]:
    """Return which files (by their place) were written at or after a moment.

    That is in ns, by the file system's clock. Such a file may change once more without a change of its
    numbers: the racy rule of git's index.
    """
    return [place for place, time in enumerate(numbers[_WRITTEN::WIDTH]) if time >= moment]


def pack(kind: str, parts: Sequence[Buffer]) -> bytes:
    """Return the bytes of a cache file; `kind` says what it holds, down to the versions that matter."""
    lengths = " ".join(str(len(part)) for part in parts)
    body = b"".join([f"{kind}\n{lengths}\n".encode("utf-8", "surrogateescape"), *parts])
    return b"%s%08x\n%s" % (_HEAD, crc32(body), body)


def unpack(data: bytes, kind: str) -> list[memoryview] | None:
    """Return the parts of a cache file; None for one of another kind.

    Raises ValueError for a file that is damaged.
    """
    start = len(_HEAD) + 9
    body = memoryview(data)[start:]
    if not data.startswith(_HEAD) or data[start - 9 : start] != b"%08x\n" % crc32(body):
        raise ValueError("damaged")
    name_end = data.find(b"\n", start)
    lengths_end = data.find(b"\n", name_end + 1)
    if data[start:name_end] != kind.encode("utf-8", "surrogateescape"):
        return None
    parts, done = [], lengths_end + 1
    for length in map(int, data[name_end + 1 : lengths_end].split()):
        parts.append(memoryview(data)[done : done + length])
        done += length
    return parts


def text_of(part: memoryview) -> str:
    """Return the text in a part of a cache file."""
    return str(part, "utf-8", "surrogateescape")


def texts_of(part: memoryview) -> list[str]:
    """Return the texts in a part, each of which ends with NUL."""
    return str(part, "utf-8", "surrogateescape").split("\0")[:-1]


def pairs_of(part: memoryview) -> dict[str, str]:
    """Return the texts in a part as pairs."""
    texts = texts_of(part)
    return dict(zip(texts[::2], texts[1::2], strict=True))


def joined(texts: Iterable[str]) -> bytes:
    """Return texts, none of which holds a NUL, as `texts_of` reads them."""
    return "".join([f"{text}\0" for text in texts]).encode("utf-8", "surrogateescape")
