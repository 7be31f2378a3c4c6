"""Reads the files of a project and gives its imports, resolved to whole module names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache

import msgspec

from layerguard.bindings import bound_names, spoken_names
from layerguard.code.decoding import Unreadable
from layerguard.config.declarations import Registry
from layerguard.errors import UserError
from layerguard.imports import find_imports
from layerguard.imports.base import Fault, Findings
from layerguard.imports.registries import NoTable, find_rows
from layerguard.index import Index
from layerguard.memory import Memory, Outline, Outlines, no_outlines
from layerguard.model import Import
from layerguard.resolve import Resolver
from layerguard.sources import Problem, Source, Tree
from layerguard.stores import digest_of
from layerguard.tables import known, suggest
from layerguard.workers import spread

Progress = Callable[[int, int], None]
_WORTH = 50
"""Among so many files the findings of one are made as fast as those that are kept are loaded."""


class Reading(msgspec.Struct, frozen=True):
    """All imports of a project, what could not be analysed, and the paths of which nothing could be."""

    imports: Index
    problems: tuple[Problem, ...]
    unread: frozenset[str]


class _Read(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What came of one file: its digest, what was found as msgpack, and the outline of that, resolved.

    The findings are empty where they are known for this digest, the outline is None where it is known too.
    """

    digest: bytes
    findings: bytes
    outline: Outline | None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Findings).decode


def read_imports(
    tree: Tree,
    registries: Sequence[Registry],
    via: Collection[str],
    outside: Collection[str] = (),
    progress: Progress | None = None,
    memory: Memory | None = None,
) -> Reading:
    """Read every source of the tree and find its imports; `via` are the ways to name a module that count.

    `outside` are the top-level names, not of the project, of which strings count too. What `memory` knows is
    not looked for again.

    `progress` is called with the number of files read so far, and of all. Raises UserError for a registry
    that cannot be read.
    """
    resolver = Resolver(tree.modules, tree.siblings, binder(tree, spoken_names), outside)
    outlines, findings = _read_all(tree, Reader(resolver, frozenset(via), memory), progress)
    sources = tree.sources

    def make(number: int) -> list[Import]:
        source, expected = sources[number], outlines.columns.counts[number]
        tree.opened.add(source.place)
        return _resolved(resolver, source, findings(number), expected) if expected else []

    tree.opened.update(sources[number].place for number in {*outlines.problems, *outlines.faults})
    if outlines.unsure:
        tree.open_all()
    imports = Index(
        [each.path for each in sources], [each.module for each in sources], outlines.columns, make
    )
    problems = [*tree.problems, *(each for _, some in sorted(outlines.problems.items()) for each in some)]
    unread = {problem.path for problem in tree.problems} | {
        sources[number].path for number in outlines.faults
    }
    if "dynamic" in via:
        imports = imports.replaced(_with_rows(imports, _registered(tree, registries, resolver)))
    return Reading(imports, tuple(problems), frozenset(unread))


class Reader(msgspec.Struct, frozen=True):
    """How a file is read: which ways to name a module count, against which modules names are resolved."""

    resolver: Resolver
    via: frozenset[str]
    memory: Memory | None

    def read(self, number: int, source: Source) -> _Read:
        """Read a source, by its number, as far as nothing is known of it."""
        memory = self.memory
        digest = memory.digests[number] if memory else b""
        data = None
        if not digest:
            try:
                data = source.read()
            except OSError as error:
                fault = Fault(1, 1, f"the file cannot be read: {error.strerror or error}")
                return self._outlined(source, b"", b"", Findings(fault=fault))
        if memory:
            digest = digest if data is None else digest_of(data)
            if memory.knows(number, digest):
                return _Read(digest, b"", None)
            kept = memory.findings(digest)
            if kept is not None:
                return self._outlined(source, digest, b"", _decode(kept))
        if data is None:
            data = source.read()
            digest = digest_of(data)
        findings = find_imports(data, self.via)
        return self._outlined(source, digest, _encode(findings), findings)

    def findings(self, number: int, source: Source) -> bytes:
        """Return the findings of a source that was not read because its outline is known."""
        if self.memory and not self.memory.is_loaded:
            self.memory.load()
        kept = self.memory.findings(self.memory.digests[number]) if self.memory else None
        try:
            return kept if kept is not None else _encode(find_imports(source.read(), self.via))
        except OSError as error:
            raise UserError(f"{source.path} cannot be read: {error.strerror or error}.") from error

    def _outlined(self, source: Source, digest: bytes, kept: bytes, findings: Findings) -> _Read:
        if findings.fault:
            fault = findings.fault
            problem = Problem(source.path, fault.line, fault.column, fault.reason)
            return _Read(digest, kept, Outline([], b"", [problem], fault=True))
        sure = all(found.via != "string" for found in findings.imports)
        return _Read(digest, kept, Outline(*self.resolver.outline(source, findings.imports), sure=sure))


def _read_all(
    tree: Tree, reader: Reader, progress: Progress | None
) -> tuple[Outlines, Callable[[int], bytes]]:
    """Return the outlines of all sources, and what gives their findings; keep what is new in the memory."""
    memory, sources = reader.memory, tree.sources
    outlines = memory.outlines if memory else no_outlines(len(sources))
    unseen = b"" in memory.digests if memory else False
    known = _known(memory, sources) if memory else set()
    work = [number for number in range(len(sources)) if number not in known]
    if memory and len(work) * _WORTH > len(sources):
        memory.load()  # before there are other processes
    decode = msgspec.msgpack.Decoder(list[_Read]).decode
    known_already = len(sources) - len(work)
    tell = (lambda done: progress(known_already + done, len(sources))) if progress else None
    read = spread(lambda number: reader.read(number, sources[number]), work, _encode, decode, tell)
    news: dict[int, Outline] = {}
    findings: dict[int, bytes] = {}
    for number, each in zip(work, read, strict=True):
        if memory:
            memory.digests[number] = each.digest
        if each.outline:
            news[number] = each.outline
        if each.findings:
            findings[number] = each.findings
    if progress:
        progress(len(sources), len(sources))
    outlines = outlines.replaced(news)
    if memory and (work or unseen):
        memory.keep(outlines, {memory.digests[number]: found for number, found in findings.items()})
    return outlines, lambda number: findings.get(number) or reader.findings(number, sources[number])


def _known(memory: Memory, sources: Sequence[Source]) -> set[int]:
    """Return the numbers of the sources whose outlines are known; for that, look at what may be the same."""
    known = set()
    for number, source in enumerate(sources):
        if not memory.digests[number] and memory.has_outlines:
            # To read a file here takes no longer than to have another process do it, and to hear of it.
            with suppress(OSError):
                memory.digests[number] = digest_of(source.read())
        if memory.knows(number, memory.digests[number]):
            known.add(number)
    return known


def _resolved(resolver: Resolver, source: Source, findings: bytes, expected: int) -> list[Import]:
    """Return the imports of a file, from what was found in it."""
    items = (item for found in _decode(findings).imports for item in resolver.resolve(source, found))
    made = [item for item in items if isinstance(item, Import)]
    if len(made) != expected:
        raise UserError(f"{source.path} was changed while it was read.", "Run the check again.")
    return made


def _with_rows(imports: Index, rows: Iterable[Import]) -> dict[str, list[Import]]:
    """Return the imports of the files that hold registries, their rows in the place of the same strings."""
    by_path: dict[str, list[Import]] = {}
    for row in rows:
        by_path.setdefault(row.location.path, []).append(row)
    for path, found in by_path.items():
        places = {_start(row) for row in found}
        found.extend(each for each in imports.at(path) if each.via != "string" or _start(each) not in places)
    return by_path


def _start(found: Import) -> tuple[int, int]:
    return (found.location.line, found.location.column)


def _registered(tree: Tree, registries: Sequence[Registry], resolver: Resolver) -> Iterator[Import]:
    for registry in registries:
        sources = [source for source in tree.sources if source.module == registry.module]
        where = f"registry '{registry.name}' of '{registry.module}'"
        if not sources:
            raise UserError(
                f"{where}: the project has no such module.", suggest(registry.module, tree.modules)
            )
        try:
            rows = list(find_rows(tree.open(sources[-1]), registry.name, registry.template))
        except NoTable as error:
            hint = suggest(registry.name, error.names) or (known(error.names) if error.names else "")
            raise UserError(f"{where}: {sources[-1].path} {error.reason}.", hint) from None
        except (Unreadable, OSError):
            continue  # the file itself is told as LG401
        for row in rows:
            yield from (item for item in resolver.resolve(sources[-1], row) if isinstance(item, Import))


def binder(
    tree: Tree, names_in: Callable[[bytes], frozenset[str] | None] = bound_names
) -> Callable[[str, str], bool]:
    """Return the question whether a module may bind a name; the answer no is a sure one.

    `names_in` says which names the bytes of a module may bind. A file is read when it is first asked about.
    """
    files: dict[str, list[Source]] = {}
    for source in tree.sources:
        files.setdefault(source.module, []).append(source)

    @cache
    def names(module: str) -> frozenset[str] | None:
        found: set[str] = set()
        for source in files.get(module, ()):
            try:
                bound = names_in(tree.open(source))
            except OSError:
                return None
            if bound is None:
                return None
            found |= bound
        return frozenset(found) if module in files else None

    def binds(module: str, name: str) -> bool:
        bound = names(module)
        return bound is None or name.partition(".")[0] in bound

    return binds
