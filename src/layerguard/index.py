"""All imports of a project, by number.

What is asked of every import stands in columns: who imports, what is imported, of which kind the import is.
The `Import` itself, with its place, scope and names, is made when it is looked at: that is a few of them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, groupby
from typing import get_args, overload

import msgspec

from layerguard.model import Import, Via, When

_VIAS: tuple[Via, ...] = get_args(Via)
_WHENS: tuple[When, ...] = get_args(When)
_UNKNOWN, ASKS = 16, 32
_KINDS = 64


def kind_number(via: Via, when: When, *, unknown: bool = False, asks: bool = False) -> int:
    """Return the kind of an import as a number below 64: how it names, when it runs, what is special."""
    return _VIAS.index(via) | _WHENS.index(when) << 2 | (_UNKNOWN if unknown else 0) | (ASKS if asks else 0)


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


class Columns(msgspec.Struct, frozen=True):
    """What is asked of all imports, in the order of the files, of each of which `counts` has the number.

    `names` are what is imported, each once; `imported` has for each import the number of its name there,
    `kinds` its `kind_number`.
    """

    names: list[str]
    counts: array[int]
    imported: array[int]
    kinds: bytes

    def replaced(self, news: Mapping[int, tuple[Sequence[str], bytes]]) -> Columns:
        """Return columns in which the names and kinds of these files, by number, are others."""
        if not news:
            return self
        ids = {name: number for number, name in enumerate(self.names)}
        counts, imported, kinds = array("I", self.counts), array("I"), []
        done = start = 0
        for number, count in enumerate(self.counts):
            if number in news:
                names, its_kinds = news[number]
                imported += self.imported[done:start]
                imported.extend([ids.setdefault(name, len(ids)) for name in names])
                kinds += [self.kinds[done:start], its_kinds]
                counts[number] = len(names)
                done = start + count
            start += count
        imported += self.imported[done:]
        kinds.append(self.kinds[done:])
        return Columns(list(ids), counts, imported, b"".join(kinds))


def columns_of(files: Iterable[tuple[Sequence[str], bytes]]) -> Columns:
    """Return the columns of files, of each of which the names and the kinds are given."""
    ids: dict[str, int] = {}
    counts, imported, kinds = array("I"), array("I"), []
    for names, its_kinds in files:
        imported.extend([ids.setdefault(name, len(ids)) for name in names])
        counts.append(len(names))
        kinds.append(its_kinds)
    return Columns(list(ids), counts, imported, b"".join(kinds))


class Index(Sequence[Import]):
    """The imports of a project, sorted by place; the number of an import is its index.

    They come in runs of one file and one importer each: `paths` and `importers` have these of each run, and
    the imports of a run begin with its number in `starts`. Further columns are those of `Columns`.
    """

    def __init__(
        self,
        paths: Sequence[str],
        importers: Sequence[str],
        columns: Columns,
        make: Callable[[int], Sequence[Import]],
    ) -> None:
        """Keep the columns; `make` gives the imports of a run by its number."""
        self.paths = paths
        self.importers = importers
        self.names: Sequence[str] = columns.names
        self.imported = columns.imported
        self.kinds = columns.kinds
        self.starts = [0, *accumulate(columns.counts)]
        self.links: dict[object, Links] = {}
        """The links of those who selected the same imports, so that they are found but once."""
        self._make = make
        self._made: dict[int, Sequence[Import]] = {}

    @classmethod
    def of(cls, imports: Iterable[Import]) -> Index:
        """Return the index of imports that are there already, in any order."""
        return _joined(list(_runs_of(imports)))

    @cached_property
    def sorted_names(self) -> tuple[list[str], list[int]]:
        """The column `names` sorted, and the numbers that they have there."""
        numbers = sorted(range(len(self.names)), key=self.names.__getitem__)
        return [self.names[number] for number in numbers], numbers

    @cached_property
    def sorted_importers(self) -> list[str]:
        """The importers that import anything, sorted."""
        return sorted(self.runs_by_importer)

    @cached_property
    def as_list(self) -> list[int]:
        """The column `imported` as a list, which is faster to take parts of."""
        return self.imported.tolist()

    @cached_property
    def runs_by_importer(self) -> dict[str, list[int]]:
        """The numbers of the runs of each importer that imports anything."""
        runs: dict[str, list[int]] = {}
        for number, importer in enumerate(self.importers):
            if self.starts[number] < self.starts[number + 1]:
                runs.setdefault(importer, []).append(number)
        return runs

    def replaced(self, news: Mapping[str, Iterable[Import]]) -> Index:
        """Return an index in which the imports of these paths are others; a path may be new."""
        if not news:
            return self
        runs = [run for run in map(self._run, range(len(self.paths))) if run.path not in news]
        for imports in news.values():
            runs += _runs_of(imports)
        return _joined(sorted(runs, key=lambda run: run.path))

    def _run(self, number: int) -> _Run:
        part = slice(self.starts[number], self.starts[number + 1])
        names = [self.names[each] for each in self.imported[part]]
        make = partial(self.of_run, number)
        return _Run(self.paths[number], self.importers[number], names, self.kinds[part], make)

    def at(self, path: str) -> list[Import]:
        """Return the imports of one file."""
        numbers = (number for number, each in enumerate(self.paths) if each == path)
        return [found for number in numbers for found in self.of_run(number)]

    def of_run(self, number: int) -> Sequence[Import]:
        """Return the imports of a run, by its number."""
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self._make(number)
        return made

    def __len__(self) -> int:
        """Return the number of imports."""
        return len(self.imported)

    def __iter__(self) -> Iterator[Import]:
        """Make them all."""
        for number in range(len(self.paths)):
            yield from self.of_run(number)

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
        return self.of_run(run)[number - self.starts[run]]


class _Run(msgspec.Struct, frozen=True):
    path: str
    importer: str
    names: Sequence[str]
    kinds: bytes
    make: Callable[[], Sequence[Import]]


def _runs_of(imports: Iterable[Import]) -> Iterator[_Run]:
    every = sorted(imports, key=lambda found: (found.location, found.imported, found.via))
    for (path, importer), group in groupby(every, lambda found: (found.location.path, found.importer)):
        run = list(group)
        names = [found.imported for found in run]
        yield _Run(path, importer, names, bytes(map(kind_of, run)), run.copy)


def _joined(runs: Sequence[_Run]) -> Index:
    columns = columns_of((run.names, run.kinds) for run in runs)
    paths, importers = [run.path for run in runs], [run.importer for run in runs]
    return Index(paths, importers, columns, lambda number: runs[number].make())


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
