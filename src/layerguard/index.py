"""All imports of a project, by number.

What is asked of every import stands in columns: who imports, what is imported, of which kind the import is.
The `Import` itself, with its place, scope and names, is made when it is looked at: that is a few of them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import compress, groupby
from typing import get_args, overload

import msgspec

from layerguard.model import Import, Via, When

_VIAS: tuple[Via, ...] = get_args(Via)
_WHENS: tuple[When, ...] = get_args(When)
_UNKNOWN, _ASKS = 16, 32
_KINDS = 64
_ASKING = bytes(1 if number < _KINDS and number & _ASKS else 0 for number in range(256))


def kind_number(via: Via, when: When, *, unknown: bool = False, asks: bool = False) -> int:
    """Return the kind of an import as a number below 64: how it names, when it runs, what is special."""
    return _VIAS.index(via) | _WHENS.index(when) << 2 | (_UNKNOWN if unknown else 0) | (_ASKS if asks else 0)


def kind_of(found: Import) -> int:
    """Return the same of an import."""
    return kind_number(found.via, found.when, unknown=found.unknown, asks=found.asks)


def kinds_table(vias: Collection[Via], whens: Collection[When], *, unknown: bool) -> bytes:
    """Return a table for `bytes.translate`: 1 for each kind of import that names and runs in these ways."""
    table = bytearray(256)
    for kind in range(_KINDS):
        when = kind >> 2 & 3
        if when < len(_WHENS) and _VIAS[kind & 3] in vias and _WHENS[when] in whens:
            table[kind] = unknown or not kind & _UNKNOWN
    return bytes(table)


class Run(msgspec.Struct, frozen=True):
    """The imports of one file by one importer, by place; `make` gives the whole of them.

    `names` is what each names, `kinds` has the `kind_number` of each.
    """

    path: str
    importer: str
    names: Sequence[str]
    kinds: bytes
    make: Callable[[], Sequence[Import]]


def runs_of(imports: Iterable[Import]) -> Iterator[Run]:
    """Yield the runs of imports that are there already, in any order."""
    every = sorted(imports, key=lambda found: (found.location, found.imported, found.via))
    for (path, importer), group in groupby(every, lambda found: (found.location.path, found.importer)):
        run = list(group)
        names = [found.imported for found in run]
        yield Run(path, importer, names, bytes(map(kind_of, run)), partial(list, run))


class Index(Sequence[Import]):
    """The imports of a project, sorted by place; the number of an import is its index.

    `names` are what is imported, each once; `imported` has for each import the number of its name there,
    `kinds` its `kind_number`. The imports of `runs[i]` begin with the number `starts[i]`.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        """Make the columns."""
        self.runs: Sequence[Run] = sorted(runs, key=lambda run: run.path)
        self.starts: list[int] = []
        self.imported = array("I")
        ids: dict[str, int] = {}
        for run in self.runs:
            self.starts.append(len(self.imported))
            self.imported.extend([ids.setdefault(name, len(ids)) for name in run.names])
        self.names: Sequence[str] = list(ids)
        self.kinds = b"".join([run.kinds for run in self.runs])
        self.links: dict[object, Links] = {}
        """The links of those who selected the same imports, so that they are found but once."""
        self._made: dict[int, Sequence[Import]] = {}

    def replaced(self, news: Mapping[str, Iterable[Import]]) -> Index:
        """Return an index in which the imports of these paths are others; a path may be new."""
        if not news:
            return self
        old = [run for run in self.runs if run.path not in news]
        return Index([*old, *(run for imports in news.values() for run in runs_of(imports))])

    def at(self, path: str) -> list[Import]:
        """Return the imports of one file."""
        return [
            found
            for number, run in enumerate(self.runs)
            if run.path == path
            for found in self._of_run(number)
        ]

    def __len__(self) -> int:
        """Return the number of imports."""
        return len(self.imported)

    def __iter__(self) -> Iterator[Import]:
        """Make them all."""
        for number in range(len(self.runs)):
            yield from self._of_run(number)

    @overload
    def __getitem__(self, number: int) -> Import: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Import]: ...
    def __getitem__(self, number: int | slice) -> Import | Sequence[Import]:
        """Make one of them, or some."""
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if number < 0:
            number += len(self)
        if not 0 <= number < len(self):
            raise IndexError(number)
        run = bisect_right(self.starts, number) - 1
        return self._of_run(run)[number - self.starts[run]]

    def _of_run(self, number: int) -> Sequence[Import]:
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self.runs[number].make()
        return made


class Links:
    """The links between modules: `after` has what each imports, and the number of the first import of it."""

    def __init__(self, after: dict[str, dict[str, int]]) -> None:
        """Keep the links."""
        self.after = after

    @cached_property
    def before(self) -> dict[str, list[str]]:
        """The modules that link to each one."""
        before: dict[str, list[str]] = {}
        for importer, links in self.after.items():
            for imported in links:
                before.setdefault(imported, []).append(importer)
        return before


class Selection:
    """Some of the imports of a project, by place: those that a contract looks at."""

    def __init__(
        self,
        index: Index,
        table: bytes,
        is_left_out: Callable[[str], bool | None],
        counts: Callable[[Import], bool],
        shape: Callable[[Import], Import] | None = None,
    ) -> None:
        """Select what `table` (see `kinds_table`) has, less what is left out.

        `is_left_out` says it of all imports of an importer: None where each has to be asked whether it
        `counts`. With `shape`, an import that only asks for a module is taken for what this makes of it: an
        import of the package above.
        """
        self._index = index
        self._shape = shape
        self._made: dict[int, Import] = {}
        mask = bytearray(index.kinds.translate(table))
        for start, run in zip(index.starts, index.runs, strict=True):
            answer = is_left_out(run.importer)
            if answer:
                mask[start : start + len(run.names)] = bytes(len(run.names))
            elif answer is None:
                for number in range(start, start + len(run.names)):
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
        index, run, stop, importer = self._index, -1, 0, ""
        for number in numbers:
            while number >= stop:
                run += 1
                importer = index.runs[run].importer
                stop = index.starts[run] + len(index.runs[run].names)
            yield number, importer, self._named(number)

    def _named(self, number: int) -> str:
        """Return what an import imports, without making it where that is possible."""
        index = self._index
        if self._shape and index.kinds[number] & _ASKS:
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
        for start, run in zip(index.starts, index.runs, strict=True):
            units = reaching(run.importer)
            if units:
                stop = start + len(run.names)
                every = range(start, stop)
                chosen += [n for n in every if bits[index.imported[n]] & units and self._mask[n]]
        yield from self.ends(chosen)

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
        links: dict[str, dict[str, int]] = {}
        for start, run in zip(index.starts, index.runs, strict=True):
            names = run.names
            stop = start + len(names)
            numbers: Iterable[int] = range(stop - 1, start - 1, -1)
            if self._shape:
                row = {self._named(number): number for number in numbers if mask[number]}
            elif mask.find(0, start, stop) < 0:
                # The last value of a key stays, which is the first of them by place.
                row = dict(zip(reversed(names), numbers, strict=True))
            else:
                row = {names[number - start]: number for number in numbers if mask[number]}
            row.pop(run.importer, None)
            if row:
                # A module may have two files.
                links[run.importer] = {**row, **links.get(run.importer, {})}
        return links
