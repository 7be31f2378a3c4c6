"""What was found in files before, by the digest of their bytes, and what came of it by their names.

Two files of the cache: findings, which depend on the bytes of one file alone, and outlines (see
`Resolver.outline`), which depend on the modules of the project too. A file whose numbers are as they were is
not read again, one whose bytes are known is not parsed again.
"""

from __future__ import annotations

from array import array
from binascii import crc32
from collections.abc import Collection, Mapping, Sequence
from functools import cache

import msgspec

from layerguard.cache import Cache, written_by
from layerguard.imports.syntax import parser_size
from layerguard.index import Columns
from layerguard.snapshots import WIDTH, bytes_of, joined, texts_of
from layerguard.sources import Problem, Tree
from layerguard.stores import NO_NUMBERS, SIZE, Store, digest_of
from layerguard.verdicts import LINKED, OPENED, YOUNG
from layerguard.watching import Watch

_NUMBERS = WIDTH * 8
"""The bytes of a file's numbers."""
_FEW = 64
"""So many findings are kept besides, where not all are loaded."""
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


class Memory:
    """What earlier runs have found; `watch` has the numbers of the tree's sources, first, in their order."""

    def __init__(
        self, cache: Cache, tree: Tree, watch: Watch, via: Collection[str], outside: Collection[str]
    ) -> None:
        """Load what is kept of this project.

        `via` and `outside` are what is looked for (see `read_imports`).
        """
        self._cache = cache
        self._tree = tree
        self._places = [source.place for source in tree.sources]
        self._watch = watch
        self._findings_kind = f"findings {scanner()} {' '.join(sorted(via))}"
        self._outlines_kind = f"outlines {scanner()} {' '.join(sorted(via))}"
        self._context = _context(tree, outside)
        self.digests: list[bytes] = [b""] * len(self._places)
        """The digests of the sources, as far as they are known."""
        self.recent: dict[bytes, bytes] = {}
        """Findings by digest that are new, and too few to be worth the file of all."""
        self._old: list[bytes] = []
        self._loaded: Store | None = None
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
        self._loaded = Store(self._cache.read(_name(self._findings_kind), self._findings_kind))

    def findings(self, digest: bytes) -> bytes | None:
        """Return what was found before in the bytes with this digest, as msgpack, if that is loaded."""
        return self._loaded.find(digest) if self._loaded else None

    @property
    def flags(self) -> bytes | None:
        """What a verdict has to know of each source (see `verdicts`); None where that is not known."""
        flags = bytearray(len(self._places))
        for number, place in enumerate(self._places):
            if place in self._watch.young:
                if not self.digests[number]:
                    return None
                flags[number] = LINKED if place in self._watch.linked else YOUNG
            if place in self._tree.opened:
                flags[number] |= OPENED
        return bytes(flags)

    @property
    def kept_digests(self) -> bytes:
        """The digests of all sources, one behind the other; zeros where one is not known."""
        return b"".join([digest or bytes(SIZE) for digest in self.digests])

    @property
    def stores(self) -> list[str]:
        """The names and the kinds of the files of the cache where the outlines and the findings are."""
        return [each for kind in (self._outlines_kind, self._findings_kind) for each in (_name(kind), kind)]

    def keep(self, outlines: Outlines, news: Mapping[bytes, bytes]) -> None:
        """Keep the outlines of all sources, and new findings by their digests."""
        if news and self._loaded:
            self._write_findings(self._loaded, news)
        elif len(news) <= _FEW:
            self.recent = dict(news)
        self._write_outlines(outlines)

    def _write_findings(self, kept: Store, news: Mapping[bytes, bytes]) -> None:
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
                numbers[number * WIDTH : (number + 1) * WIDTH] = NO_NUMBERS
        parts = [
            self._context,
            joined(self._places),
            bytes_of(numbers),
            self.kept_digests,
            joined(columns.names),
            columns.counts.tobytes(),
            columns.imported.tobytes(),
            columns.kinds,
            msgspec.msgpack.encode((sorted(outlines.faults), sorted(outlines.unsure), outlines.problems)),
        ]
        self._cache.write_parts(_name(self._outlines_kind), self._outlines_kind, parts)


def _array(part: memoryview) -> array[int]:
    found = array("I")
    found.frombytes(part)
    return found


def _name(kind: str) -> str:
    return f"{kind.partition(' ')[0]}-{crc32(kind.encode()):08x}"


def _context(tree: Tree, outside: Collection[str]) -> bytes:
    """Return a digest of all but its bytes, and where it is, that the outline of a file depends on."""
    named = [(source.path, source.module, source.is_package) for source in tree.sources]
    parts = (named, [*tree.modules.values()], sorted(tree.siblings), sorted(outside))
    return digest_of(msgspec.msgpack.encode(parts))


@cache
def scanner() -> str:
    """Return what tells one version of all that reads imports from another."""
    return f"{written_by('imports/*.py', 'code/*.py', 'index.py', 'memory.py', 'resolve.py')}-{parser_size()}"
