"""What the cache keeps of files by the digest of their bytes, as it stands there."""

from __future__ import annotations

import sys
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, pairwise

from layerguard.snapshots import WIDTH, bytes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from layerguard.snapshots import Buffer

SIZE = 16
"""The bytes of a digest."""
NO_NUMBERS = [-2] * WIDTH
"""Numbers that no file has: it is to be read again."""
_FEW = 64
"""Up to this many findings are looked up one by one."""


def digest_of(data: bytes) -> bytes:
    """Return the digest by which the bytes of a file are known.

    That is a part of SHA-256, for which processors have instructions: half the time of BLAKE2.
    """
    return sha256(data).digest()[:SIZE]


class Store:
    """The findings of earlier runs as they stand in the cache: digests, lengths, and what was found."""

    def __init__(self, parts: Sequence[memoryview] | None) -> None:
        """Keep the parts of the file of the cache; None for a store that is empty."""
        self._digests, self._lengths, self._found = parts or (memoryview(b""),) * 3
        self._looked = 0

    @property
    def count(self) -> int:
        """The number of files whose findings are known."""
        return len(self._digests) // SIZE

    def find(self, digest: bytes) -> bytes | None:
        """Return what was found in the bytes with this digest, as msgpack; None where it is not known."""
        self._looked += 1
        if self._looked > _FEW:
            return self.every.get(digest)
        # For a few of them there is no need to take all apart.
        place = self._bytes.find(digest) if len(digest) == SIZE else -1
        while place >= 0 and place % SIZE:
            place = self._bytes.find(digest, place + 1)
        if place < 0:
            return None
        return bytes(self._found[self._ends[place // SIZE] : self._ends[place // SIZE + 1]])

    def only(self, digests: Collection[bytes]) -> Store:
        """Return those with the digests."""
        return Store(
            [
                memoryview(part)
                for part in Store(None).with_more({d: f for d, f in self.every.items() if d in digests})
            ]
        )

    def with_more(self, news: Mapping[bytes, bytes]) -> list[bytes]:
        """Return the parts with more findings, by digest."""
        lengths = b"".join([len(found).to_bytes(4, sys.byteorder) for found in news.values()])
        return [
            b"".join([self._digests, *news]),
            b"".join([self._lengths, lengths]),
            b"".join([self._found, *news.values()]),
        ]

    @cached_property
    def _bytes(self) -> bytes:
        return bytes(self._digests)

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *accumulate(self._lengths.cast("I"))]

    @cached_property
    def every(self) -> dict[bytes, bytes]:
        """What was found, by digest."""
        digests = (self._bytes[start : start + SIZE] for start in range(0, len(self._bytes), SIZE))
        return {
            digest: bytes(self._found[start:end])
            for digest, (start, end) in zip(digests, pairwise(self._ends), strict=True)
        }


def renumbered(
    parts: Sequence[memoryview],
    paths: bytes,
    numbers: Sequence[int],
    digests: bytes,
    unsure: Collection[int],
) -> Sequence[Buffer]:
    """Return the parts of a file of outlines (see `memory`) with newer numbers of its sources.

    `numbers` are those of the files at `paths`, which had these `digests` then; of the sources in `unsure`
    they say nothing. Where the outlines are of other paths, their parts stay as they are.
    """
    context, its_paths, _, its_digests, *rest = parts
    if its_paths != paths:
        return parts
    news = list(numbers)
    for number in range(len(digests) // SIZE):
        place = slice(number * SIZE, (number + 1) * SIZE)
        if number in unsure or its_digests[place] != digests[place]:
            news[number * WIDTH : (number + 1) * WIDTH] = NO_NUMBERS
    return [context, its_paths, bytes_of(news), its_digests, *rest]
