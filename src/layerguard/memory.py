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
from pathlib import Path

import msgspec

from layerguard.cache import Cache
from layerguard.imports.syntax import parser_size
from layerguard.snapshots import WIDTH, joined, texts_of
from layerguard.sources import Problem, Tree
from layerguard.watching import Watch

SIZE = 16
"""The bytes of a digest."""
_NUMBERS = WIDTH * 8
"""The bytes of a file's numbers."""
_SPARE = 2
"""How many times larger than needed the findings may grow before those of older files are forgotten."""

_problems = msgspec.msgpack.Decoder(dict[int, list[Problem]])


class Outline(msgspec.Struct, frozen=True, gc=False):
    """What a file imports, as `Resolver.outline` gives it; with a `fault` nothing could be found in it."""

    names: Sequence[str]
    kinds: bytes
    problems: Sequence[Problem] = ()
    fault: bool = False


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
        self._outlines: dict[bytes, Outline] = {}
        self._load_outlines()

    def outline(self, number: int, digest: bytes) -> Outline | None:
        """Return what came of a source that has this digest, where it is known."""
        return self._outlines.get(number.to_bytes(4) + digest)

    def findings(self, digest: bytes) -> bytes | None:
        """Return what was found before in the bytes with this digest, as msgpack."""
        found = self._findings.get(digest)
        return None if found is None else bytes(found)

    def digests_at(self, places: Collection[str]) -> dict[str, str]:
        """Return the digests of some sources, by place, as `verdicts` has them."""
        return {
            place: digest.hex()
            for place, digest in zip(self._places, self.digests, strict=True)
            if place in places
        }

    def keep(self, outlines: Sequence[Outline], news: Mapping[bytes, bytes], sure: Collection[int]) -> None:
        """Keep the outlines of all sources, and new findings by their digests.

        Only the outlines in `sure` depend on nothing but the file itself and the names of the modules.
        """
        if news:
            self._write_findings(news)
        self._write_outlines(outlines, sure)

    @cached_property
    def _findings(self) -> dict[bytes, memoryview]:
        parts = self._cache.read(_name(self._findings_kind), self._findings_kind)
        if parts is None:
            return {}
        digests, lengths, blob = parts
        ends = [0, *accumulate(memoryview(lengths).cast("I"))]
        return {
            bytes(digests[number * SIZE : (number + 1) * SIZE]): blob[start:end]
            for number, (start, end) in enumerate(pairwise(ends))
        }

    def _write_findings(self, news: Mapping[bytes, bytes]) -> None:
        found: dict[bytes, bytes | memoryview] = {**self._findings, **news}
        current = set(self.digests)
        if len(found) > _SPARE * len(current):
            found = {digest: data for digest, data in found.items() if digest in current}
        lengths = array("I", map(len, found.values()))
        parts = [b"".join(found), lengths.tobytes(), b"".join(found.values())]
        self._cache.write_parts(_name(self._findings_kind), self._findings_kind, parts)

    def _load_outlines(self) -> None:
        parts = self._cache.read(_name(self._outlines_kind), self._outlines_kind)
        if parts is None:
            return
        context, places, numbers, digests, flags, names, counts, ids, kinds, problems = parts
        old = texts_of(places)
        known = {place: number for number, place in enumerate(old)} if old != self._places else None
        now = memoryview(self._watch.numbers).cast("B")
        young = self._watch.young
        same: list[tuple[int, int]] = []
        for number, place in enumerate(self._places):
            before = number if known is None else known.get(place, -1)
            if before >= 0 and place not in young:
                start, other = number * _NUMBERS, before * _NUMBERS
                if now[start : start + _NUMBERS] == numbers[other : other + _NUMBERS]:
                    self.digests[number] = bytes(digests[before * SIZE : (before + 1) * SIZE])
            same.append((number, before))
        if context != self._context:
            return
        every = texts_of(names)
        named = [every[each] for each in ids.cast("I")]
        ends = [0, *accumulate(counts.cast("I"))]
        faults = _problems.decode(problems)
        for number, before in same:
            if before < 0 or not flags[before] & _SURE:
                continue
            start, end = ends[before], ends[before + 1]
            key = number.to_bytes(4) + bytes(digests[before * SIZE : (before + 1) * SIZE])
            self._outlines[key] = Outline(
                named[start:end],
                bytes(kinds[start:end]),
                faults.get(before, ()),
                bool(flags[before] & _FAULT),
            )

    def _write_outlines(self, outlines: Sequence[Outline], sure: Collection[int]) -> None:
        ids: dict[str, int] = {}
        every = array("I", [ids.setdefault(name, len(ids)) for each in outlines for name in each.names])
        counts = array("I", [len(each.names) for each in outlines])
        flags = bytes(
            (_FAULT if each.fault else 0) | (_SURE if number in sure and self.digests[number] else 0)
            for number, each in enumerate(outlines)
        )
        count = len(self._places)
        numbers = array("q", self._watch.numbers[: count * WIDTH])
        for number, place in enumerate(self._places):
            if place in self._watch.young or not self.digests[number]:
                numbers[number * WIDTH : (number + 1) * WIDTH] = array("q", [-2] * WIDTH)
        problems = {number: list(each.problems) for number, each in enumerate(outlines) if each.problems}
        parts = [
            self._context,
            joined(self._places),
            numbers.tobytes(),
            b"".join(digest or bytes(SIZE) for digest in self.digests),
            flags,
            joined(ids),
            counts.tobytes(),
            every.tobytes(),
            b"".join([each.kinds for each in outlines]),
            msgspec.msgpack.encode(problems),
        ]
        self._cache.write_parts(_name(self._outlines_kind), self._outlines_kind, parts)


_FAULT, _SURE = 1, 2


def _name(kind: str) -> str:
    return f"{kind.partition(' ')[0]}-{crc32(kind.encode()):08x}"


def _context(tree: Tree, outside: Collection[str]) -> bytes:
    """Return a digest of all but its bytes that the outline of a file depends on."""
    parts = [f"{source.path}\0{source.module}\0{source.is_package}" for source in tree.sources]
    parts += [f"{each.name}\0{each.is_package}{each.has_file}" for each in tree.modules.values()]
    parts += sorted(f"\1{name}" for name in tree.siblings)
    parts += sorted(f"\2{name}" for name in outside)
    return digest_of("\n".join(parts).encode("utf-8", "surrogatepass"))


@cache
def scanner() -> str:
    """Return what tells one version of all that reads imports from another."""
    folder = Path(__file__).parent
    found = crc32(b"")
    for file in (
        *sorted(folder.glob("imports/*.py")),
        *sorted(folder.glob("code/*.py")),
        folder / "resolve.py",
    ):
        found = crc32(file.read_bytes(), found)
    return f"{found:08x}-{parser_size()}"
