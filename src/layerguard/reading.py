"""Reads the files of a project and gives its imports, resolved to whole module names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial

import msgspec

from layerguard.bindings import bound_names, spoken_names
from layerguard.code.decoding import Unreadable
from layerguard.config.declarations import Registry
from layerguard.errors import UserError
from layerguard.imports import find_imports
from layerguard.imports.base import Fault, Findings
from layerguard.imports.registries import NoTable, find_rows
from layerguard.index import Index, Run
from layerguard.model import Import
from layerguard.resolve import Resolver
from layerguard.sources import Problem, Source, Tree
from layerguard.tables import known, suggest
from layerguard.workers import spread

Progress = Callable[[int, int], None]


class Reading(msgspec.Struct, frozen=True):
    """All imports of a project, what could not be analysed, and the paths of which nothing could be."""

    imports: Index
    problems: tuple[Problem, ...]
    unread: frozenset[str]


class _Read(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What was read of one file: what was found as msgpack, and the outline of that, resolved."""

    findings: bytes
    names: list[str] = []
    kinds: bytes = b""
    problems: list[Problem] = []
    fault: bool = False


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Findings).decode


def read_imports(
    tree: Tree,
    registries: Sequence[Registry],
    via: Collection[str],
    outside: Collection[str] = (),
    progress: Progress | None = None,
) -> Reading:
    """Read every source of the tree and find its imports; `via` are the ways to name a module that count.

    `outside` are the top-level names, not of the project, of which strings count too.

    `progress` is called with the number of files read so far, and of all. Raises UserError for a registry
    that cannot be read.
    """
    resolver = Resolver(tree.modules, tree.siblings, binder(tree, spoken_names), outside)
    runs: list[Run] = []
    problems = list(tree.problems)
    unread = {problem.path for problem in problems}
    known: dict[str, str] = {}
    read = spread(
        partial(_read, resolver=resolver, via=frozenset(via)),
        tree.sources,
        _encode,
        msgspec.msgpack.Decoder(list[_Read]).decode,
    )
    for number, (source, found) in enumerate(zip(tree.sources, read, strict=True), 1):
        problems += found.problems
        if found.fault:
            unread.add(source.path)
        elif found.names:
            names = [known.setdefault(name, name) for name in found.names]
            make = partial(_resolved, resolver, source, found.findings)
            runs.append(Run(source.path, source.module, names, found.kinds, make))
        if progress:
            progress(number, len(tree.sources))
    imports = Index(runs)
    if "dynamic" in via:
        imports = imports.replaced(_with_rows(imports, _registered(tree, registries, resolver)))
    return Reading(imports, tuple(problems), frozenset(unread))


def _read(source: Source, resolver: Resolver, via: Collection[str]) -> _Read:
    findings = _findings(source, via)
    if findings.fault:
        fault = findings.fault
        problem = Problem(source.path, fault.line, fault.column, fault.reason)
        return _Read(b"", problems=[problem], fault=True)
    return _Read(_encode(findings), *resolver.outline(source, findings.imports))


def _resolved(resolver: Resolver, source: Source, findings: bytes) -> list[Import]:
    """Return the imports of a file, from what was found in it."""
    items = (item for found in _decode(findings).imports for item in resolver.resolve(source, found))
    return [item for item in items if isinstance(item, Import)]


def _findings(source: Source, via: Collection[str]) -> Findings:
    try:
        data = source.read()
    except OSError as error:
        return Findings(fault=Fault(1, 1, f"the file cannot be read: {error.strerror or error}"))
    return find_imports(data, via)


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
            rows = list(find_rows(sources[-1].read(), registry.name, registry.template))
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
                bound = names_in(source.read())
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
