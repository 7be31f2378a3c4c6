"""What was found in files before, by the digest of their bytes, and what came of it by their names.

Two files of the cache: findings, which depend on the bytes of one file alone, and outlines (see
`Resolver.outline`), which depend on the modules of the project too. A file whose numbers are as they were is
not read again, one whose bytes are known is not parsed again.
"""

from __future__ import annotations

from array import array
from binascii import crc32
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from itertools import accumulate, pairwise

import msgspec

from layerguard.cache import Cache, written_by
from layerguard.imports.syntax import parser_size
from layerguard.index import Columns
from layerguard.snapshots import WIDTH, bytes_of, joined, texts_of
from layerguard.sources import Problem, Tree
from layerguard.watching import Watch

SIZE = 16
"""The bytes of a digest."""
_NUMBERS = WIDTH * 8
"""The bytes of a file's numbers."""
_FEW = 64
"""Up to this many findings are looked up one by one."""
_SPARE = 2
"""How many times larger than needed the findings may grow before those of older files are forgotten."""

_rest = msgspec.msgpack.Decoder(tuple[list[int], list[int], dict[int, list[Problem]]])


class Outline(msgspec.Struct, frozen=True, gc=False):
    """What a file imports, as `Resolver.outline` gives it; with a `fault` nothing could be found in it.

    One that is not `sure` depends on more than the file's bytes and the names of the modules.
    """

    names: Sequence[str]
    kinds: bytes
    problems: Sequence[Problem] = ()
    fault: bool = False
    sure: bool = True


class Outlines(msgspec.Struct, frozen=True):
    """The outlines of all sources, by their numbers: columns, and what is to be said of a few of them."""

    columns: Columns
    problems: dict[int, list[Problem]]
    faults: frozenset[int]
    unsure: frozenset[int]

    def replaced(self, news: Mapping[int, Outline]) -> Outlines:
        """Return the same with these outlines in place of others."""
        if not news:
            return self
        columns = self.columns.replaced({number: (each.names, each.kinds) for number, each in news.items()})
        problems = {number: found for number, found in self.problems.items() if number not in news}
        problems |= {number: list(each.problems) for number, each in news.items() if each.problems}
        faults = self.faults - news.keys() | {number for number, each in news.items() if each.fault}
        unsure = self.unsure - news.keys() | {number for number, each in news.items() if not each.sure}
        return Outlines(columns, problems, frozenset(faults), frozenset(unsure))


def no_outlines(count: int) -> Outlines:
    """Return the outlines of so many files of which nothing is known."""
    return Outlines(Columns([], array("I", bytes(4 * count)), array("I"), b""), {}, frozenset(), frozenset())


def digest_of(data: bytes) -> bytes:
    """Return the digest by which the bytes of a file are known."""
    return blake2b(data, digest_size=SIZE).digest()


class Memory:
    """What earlier runs have found; `watch` has the numbers of the tree's sources, first, in their order."""

    def __init__(
        self, cache: Cache, tree: Tree, watch: Watch, via: Collection[str], outside: Collection[str]
    ) -> None:
        """Load what is kept of this project.

        `via` and `outside` are what is looked for (see `read_imports`).
        """
        self._cache = cache
        self._places = [source.place for source in tree.sources]
        self._watch = watch
        self._findings_kind = f"findings {scanner()} {' '.join(sorted(via))}"
        self._outlines_kind = f"outlines {scanner()} {' '.join(sorted(via))}"
        self._context = _context(tree, outside)
        self.digests: list[bytes] = [b""] * len(self._places)
        """The digests of the sources, as far as they are known."""
        self._old: list[bytes] = []
        self._loaded: _Kept | None = None
        self.outlines = self._load_outlines() or no_outlines(len(self._places))
        """The outlines of an earlier run, as far as they may still be good (see `knows`)."""

    @property
    def has_outlines(self) -> bool:
        """Whether there are outlines of an earlier run, of the same modules."""
        return bool(self._old)

    def knows(self, number: int, digest: bytes) -> bool:
        """Tell whether the outline of a source is known, if it has this digest."""
        return bool(digest and self._old) and self._old[number] == digest

    @property
    def is_loaded(self) -> bool:
        """Whether what was found before is at hand."""
        return self._loaded is not None

    def load(self) -> None:
        """Load what was found before."""
        self._loaded = _Kept(self._cache.read(_name(self._findings_kind), self._findings_kind))

    def findings(self, digest: bytes) -> bytes | None:
        """Return what was found before in the bytes with this digest, as msgpack, if that is loaded."""
        return self._loaded.find(digest) if self._loaded else None

    def digests_at(self, places: Collection[str]) -> dict[str, str]:
        """Return the digests of some sources, by place, as `verdicts` has them."""
        return {
            place: digest.hex()
            for place, digest in zip(self._places, self.digests, strict=True)
            if place in places
        }

    def keep(self, outlines: Outlines, news: Mapping[bytes, bytes]) -> None:
        """Keep the outlines of all sources, and new findings by their digests."""
        if news and self._loaded:
            self._write_findings(self._loaded, news)
        self._write_outlines(outlines)

    def _write_findings(self, kept: _Kept, news: Mapping[bytes, bytes]) -> None:
        if kept.count + len(news) > _SPARE * len(self.digests):
            kept = kept.only(set(self.digests))
        parts = kept.with_more(news)
        self._cache.write_parts(_name(self._findings_kind), self._findings_kind, parts)

    def _load_outlines(self) -> Outlines | None:
        parts = self._cache.read(_name(self._outlines_kind), self._outlines_kind)
        if parts is None:
            return None
        context, places, numbers, digests, *columns, rest = parts
        old = texts_of(places)
        now = bytes_of(self._watch.numbers[: len(self._places) * WIDTH])
        known = None if old == self._places else {place: number for number, place in enumerate(old)}
        was = [bytes(digests[start : start + SIZE]) for start in range(0, len(digests), SIZE)]
        if known is None and now == numbers:
            self.digests = list(was)
        else:
            for number, place in enumerate(self._places):
                before = number if known is None else known.get(place, -1)
                start, other = number * _NUMBERS, before * _NUMBERS
                if before >= 0 and now[start : start + _NUMBERS] == numbers[other : other + _NUMBERS]:
                    self.digests[number] = was[before]
        for place in self._watch.young:
            self.digests[self._places.index(place)] = b""
        if context != self._context or known is not None:
            return None
        names, counts, imported, kinds = columns
        faults, unsure, problems = _rest.decode(rest)
        self._old = was
        for number in unsure:
            self._old[number] = b""
        found = Columns(texts_of(names), _array(counts), _array(imported), bytes(kinds))
        return Outlines(found, problems, frozenset(faults), frozenset(unsure))

    def _write_outlines(self, outlines: Outlines) -> None:
        columns = outlines.columns
        numbers = self._watch.numbers[: len(self._places) * WIDTH]
        for number, place in enumerate(self._places):
            if place in self._watch.young or not self.digests[number]:
                # Numbers that no file has: this one is to be read again.
                numbers[number * WIDTH : (number + 1) * WIDTH] = [-2] * WIDTH
        parts = [
            self._context,
            joined(self._places),
            bytes_of(numbers),
            b"".join([digest or bytes(SIZE) for digest in self.digests]),
            joined(columns.names),
            columns.counts.tobytes(),
            columns.imported.tobytes(),
            columns.kinds,
            msgspec.msgpack.encode((sorted(outlines.faults), sorted(outlines.unsure), outlines.problems)),
        ]
        self._cache.write_parts(_name(self._outlines_kind), self._outlines_kind, parts)


class _Kept:
    """The findings of earlier runs as they stand in the cache: digests, lengths, and what was found."""

    def __init__(self, parts: Sequence[memoryview] | None) -> None:
        self._digests, self._lengths, self._found = parts or (memoryview(b""),) * 3
        self._looked = 0

    @property
    def count(self) -> int:
        return len(self._digests) // SIZE

    def find(self, digest: bytes) -> bytes | None:
        self._looked += 1
        if self._looked > _FEW:
            return self._every.get(digest)
        # For a few of them there is no need to take all apart.
        place = self._bytes.find(digest) if len(digest) == SIZE else -1
        while place >= 0 and place % SIZE:
            place = self._bytes.find(digest, place + 1)
        if place < 0:
            return None
        return bytes(self._found[self._ends[place // SIZE] : self._ends[place // SIZE + 1]])

    def only(self, digests: Collection[bytes]) -> _Kept:
        """Return those with the digests."""
        return _Kept(
            [
                memoryview(part)
                for part in _Kept(None).with_more({d: f for d, f in self._every.items() if d in digests})
            ]
        )

    def with_more(self, news: Mapping[bytes, bytes]) -> list[bytes]:
        """Return the parts with more findings, by digest."""
        lengths = array("I", map(len, news.values()))
        return [
            b"".join([self._digests, *news]),
            b"".join([self._lengths, lengths.tobytes()]),
            b"".join([self._found, *news.values()]),
        ]

    @cached_property
    def _bytes(self) -> bytes:
        return bytes(self._digests)

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *accumulate(self._lengths.cast("I"))]

    @cached_property
    def _every(self) -> dict[bytes, bytes]:
        digests = (self._bytes[start : start + SIZE] for start in range(0, len(self._bytes), SIZE))
        return {
            digest: bytes(self._found[start:end])
            for digest, (start, end) in zip(digests, pairwise(self._ends), strict=True)
        }


def _array(part: memoryview) -> array[int]:
    found = array("I")
    found.frombytes(part)
    return found


def _name(kind: str) -> str:
    return f"{kind.partition(' ')[0]}-{crc32(kind.encode()):08x}"


def _context(tree: Tree, outside: Collection[str]) -> bytes:
    """Return a digest of all but its bytes that the outline of a file depends on."""
    modules = tuple(tree.modules.values())
    parts = (tree.sources, modules, sorted(tree.siblings), sorted(outside))
    return digest_of(msgspec.msgpack.encode(parts))


@cache
def scanner() -> str:
    """Return what tells one version of all that reads imports from another."""
    return f"{written_by('imports/*.py', 'code/*.py', 'index.py', 'memory.py', 'resolve.py')}-{parser_size()}"
