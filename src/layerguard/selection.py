"""The imports that a contract looks at, and questions about them, answered by the columns of the index."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cached_property
from itertools import compress, pairwise

from layerguard.index import ASKS, Index, Links
from layerguard.model import Import

_ASKING = bytes(1 if number < 2 * ASKS and number & ASKS else 0 for number in range(256))


class Selection:
    """Some of the imports of a project, by place: those that a contract looks at."""

    def __init__(
        self,
        index: Index,
        table: bytes,
        is_left_out: Callable[[str], bool | None] | None,
        counts: Callable[[Import], bool],
        shape: Callable[[Import], Import] | None = None,
    ) -> None:
        """Select what `table` (see `kinds_table`) has, less what is left out.

        `is_left_out` says it of all imports of an importer, None where each has to be asked whether it
        `counts`; without it all count. With `shape`, an import that only asks for a module is taken for what
        this makes of it: an import of the package above.
        """
        self._index = index
        self._shape = shape
        self._made: dict[int, Import] = {}
        mask = bytearray(index.kinds.translate(table))
        for importer, start, stop in _spans(index) if is_left_out else ():
            answer = is_left_out(importer) if is_left_out else False
            if answer:
                mask[start:stop] = bytes(stop - start)
            elif answer is None:
                for number in range(start, stop):
                    mask[number] = mask[number] and counts(index[number])
        for number in compress(range(len(mask)), index.kinds.translate(_ASKING)) if shape else ():
            # Who asks for a module at the top loads nothing.
            mask[number] = mask[number] and "." in index.names[index.imported[number]]
        self._mask = bytes(mask)

    def made(self, number: int) -> Import:
        """Return an import by its number; always the same object."""
        found = self._made.get(number)
        if found is None:
            found = self._index[number]
            if self._shape and found.asks:
                found = self._shape(found)
            self._made[number] = found
        return found

    def __iter__(self) -> Iterator[Import]:
        """Make them all."""
        return map(self.made, compress(range(len(self._mask)), self._mask))

    def numbers(self, wanted: Callable[[str], object]) -> list[int]:
        """Return the numbers of the imports whose imported name is wanted, and perhaps of some others."""
        flags = bytearray(map(bool, map(wanted, self._index.names)))
        if self._shape:
            for number, name in enumerate(self._index.names):
                flags[number] = flags[number] or bool(wanted(name.rpartition(".")[0]))
        chosen = map(flags.__getitem__, self._index.imported)
        return [number for number in compress(range(len(self._mask)), chosen) if self._mask[number]]

    def naming(self, wanted: Callable[[str], object]) -> list[Import]:
        """Return the imports whose imported name is wanted, and perhaps some others."""
        return [self.made(number) for number in self.numbers(wanted)]

    def ends(self, numbers: Iterable[int]) -> Iterator[tuple[int, str, str]]:
        """Yield each number with the importer and what is imported, without making the import if possible."""
        index, run = self._index, 0
        for number in numbers:
            while number >= index.starts[run + 1]:
                run += 1
            yield number, index.importers[run], self._named(number)

    def _named(self, number: int) -> str:
        """Return what an import imports, without making it where that is possible."""
        index = self._index
        if self._shape and index.kinds[number] & ASKS:
            return self.made(number).imported
        return index.names[index.imported[number]]

    def entering(
        self, banned: Callable[[str], int], reaching: Callable[[str], int]
    ) -> Iterator[tuple[int, str, str]]:
        """Yield the imports (as `ends` does) of what is `banned` for some unit that reaches the importer.

        Both give the bits of units; perhaps some other imports are yielded, too.
        """
        index = self._index
        bits = [banned(name) for name in index.names]
        if self._shape:
            bits = [
                mask | banned(name.rpartition(".")[0]) for mask, name in zip(bits, index.names, strict=True)
            ]
        if not any(bits):
            return
        chosen: list[int] = []
        imported, mask = self._imported, self._mask
        for importer, start, stop in _spans(index):
            units = reaching(importer)
            if units:
                chosen += [n for n in range(start, stop) if bits[imported[n]] & units and mask[n]]
        yield from self.ends(chosen)

    def reached_from(self, importers: Iterable[str], closed: Container[int]) -> Iterator[set[int]]:
        """Yield the names that importers import, by number, then what these import besides, and so on.

        What is imported by `closed` names is not looked at. Not for a selection with a `shape`.
        """
        index, names = self._index, self._index.names
        seen: set[int] = set()
        level: Iterable[str] = importers
        while True:
            runs = [run for importer in level for run in index.runs_by_importer.get(importer, ())]
            found = set().union(*map(self._named_in, runs)) - seen
            if not found:
                return
            yield found
            seen |= found
            level = [names[each] for each in found if each not in closed]

    def _named_in(self, run: int) -> Iterable[int]:
        start, stop = self._index.starts[run], self._index.starts[run + 1]
        part = self._imported[start:stop]
        return part if self._is_whole else compress(part, self._mask[start:stop])

    @cached_property
    def _imported(self) -> list[int]:
        return self._index.as_list

    @cached_property
    def _is_whole(self) -> bool:
        return 0 not in self._mask

    def numbers_of(self, names: Iterable[str]) -> list[int]:
        """Return the numbers of names among all that the project imports, as far as they are."""
        every, numbers = self._index.sorted_names
        return [
            numbers[at] for name in names for at in range(bisect_left(every, name), bisect_right(every, name))
        ]

    def numbers_within(self, package: str) -> list[int]:
        """Return the numbers of a package and of what is in it, among all that the project imports."""
        every, numbers = self._index.sorted_names
        start, stop = _inside(every, package)
        return [*self.numbers_of([package]), *numbers[start:stop]]

    def importers_within(self, package: str) -> list[str]:
        """Return the importers that are a package, or in it."""
        every = self._index.sorted_importers
        start, stop = _inside(every, package)
        return [*([package] if package in self._index.runs_by_importer else ()), *every[start:stop]]

    @property
    def links(self) -> Links:
        """Who imports what; the same object for all that select the same imports."""
        key = (self._mask, self._shape is not None)
        known = self._index.links.get(key)
        if known is None:
            known = self._index.links[key] = Links(self._linked())
        return known

    def _linked(self) -> dict[str, dict[str, int]]:
        index, mask = self._index, self._mask
        name, imported = index.names.__getitem__, self._imported
        links: dict[str, dict[str, int]] = {}
        for importer, start, stop in _spans(index):
            numbers = range(stop - 1, start - 1, -1)
            # The last value of a key stays, which is the first of them by place.
            if self._shape or mask.find(0, start, stop) >= 0:
                row = {self._named(number): number for number in numbers if mask[number]}
            else:
                ids = imported[start:stop]
                ids.reverse()
                row = dict(zip(map(name, ids), numbers, strict=True))
            row.pop(importer, None)
            if row:
                # A module may have two files.
                links[importer] = {**row, **links[importer]} if importer in links else row
        return links


def _inside(names: list[str], package: str) -> tuple[int, int]:
    """Return where, among sorted names, those in a package begin and stop; `/` comes next to the dot."""
    return bisect_left(names, f"{package}."), bisect_left(names, f"{package}/")


def _spans(index: Index) -> Iterator[tuple[str, int, int]]:
    """Yield the importer of each run that is not empty, and where it begins and stops."""
    for importer, (start, stop) in zip(index.importers, pairwise(index.starts), strict=True):
        if start < stop:
            yield importer, start, stop
