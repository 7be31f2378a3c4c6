"""Puts code into a project, in memory, and tells which violations of a contract it brings.

Nothing is written. The project is read once; of a module that gets code only that module is read again.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property

import msgspec

from layerguard.bindings import bound_names
from layerguard.code.decoding import Unreadable, decode
from layerguard.config import Config
from layerguard.contracts import Contract
from layerguard.contracts.seeds import Ground
from layerguard.errors import UserError
from layerguard.graph import Graph, parents
from layerguard.imports import find_in_text
from layerguard.imports.mentions import Mentions
from layerguard.model import Import, Location, Module, Violation
from layerguard.names import shown
from layerguard.reading import Progress, binder, read_imports
from layerguard.resolve import Resolver
from layerguard.sources import Problem, Source, Tree, read_tree

Identity = tuple[str, str, int, int, str]


class Site(msgspec.Struct, frozen=True):
    """Code, and the module that gets it; with `is_text` the path of a text file that does."""

    module: str
    code: str
    is_text: bool = False


class Bed(msgspec.Struct, frozen=True):
    """A file with code in it: what it is as a source, its whole text, the number of lines before the code."""

    source: Source
    text: str
    before: int
    is_text: bool = False


class Garden:
    """A project that is read once and planted in as often as one likes."""

    def __init__(self, config: Config, contracts: Collection[Contract], progress: Progress | None) -> None:
        """Find the files of the project; the imports are read when they are first asked for."""
        self._config = config
        self._contracts = tuple(contracts)
        self._progress = progress
        self.tree = read_tree(config.root, config.source_roots, config.exclude, config.path)
        self._binds = binder(self.tree)
        self._sources = {source.module: source for source in self.tree.sources}
        self._usual: dict[str, frozenset[Identity]] = {}

    @cached_property
    def _imports(self) -> tuple[Import, ...]:
        """The imports of the whole project, by the ways that count for a contract which needs all of them."""
        via = {way for contract in self._contracts if not contract.judges_alone for way in contract.ways}
        outside = {name for contract in self._contracts for name in contract.targeted}
        reading = read_imports(self.tree, self._config.registries, via, outside, self._progress)
        return tuple(reading.imports)

    def ground(self, contract: Contract) -> Ground:
        """Return the project as the contract sees it when it says what must break it."""
        imports = () if contract.judges_alone else self._imports
        own = self._config.own_files
        texts = [path for path in self.tree.files if path not in own and not path.endswith((".py", ".pyw"))]
        return Ground(Graph(self.tree.modules, imports, self._binds), self._sources, texts)

    def package_of(self, module: str) -> str:
        """Return the package from which relative imports of a module count."""
        source = self._sources.get(module)
        is_package = source.is_package if source else module in self.tree.modules
        return module if is_package else module.rpartition(".")[0]

    def violations(self, contract: Contract, sites: Sequence[Site]) -> list[Violation]:
        """Return the violations that code brings, without regard to allowances, in the order of a report.

        They stand in the code itself or, where whole chains and circles are looked at, anywhere. Raises
        UserError for code that is none, or that cannot be put where it should be.
        """
        beds = [self._bed(site) for site in sites]
        tree = self._with(beds)
        planted = list(self._found(contract, beds, tree))
        known = () if contract.judges_alone else self._imports
        graph = Graph(tree.modules, [*known, *planted], self._binder(beds))
        usual = frozenset() if contract.judges_alone else self._violations_before(contract)
        fresh = {bed.source.path: bed.before for bed in beds}
        found = [
            each
            for each in contract.check(graph, frozenset())
            if _identity(each) not in usual
            and (
                not contract.judges_alone
                or each.location.line > fresh.get(each.location.path, each.location.line)
            )
        ]
        return sorted(found, key=lambda violation: violation.order)

    def _violations_before(self, contract: Contract) -> frozenset[Identity]:
        if contract.id not in self._usual:
            graph = Graph(self.tree.modules, self._imports, self._binds)
            self._usual[contract.id] = frozenset(map(_identity, contract.check(graph, frozenset())))
        return self._usual[contract.id]

    def _bed(self, site: Site) -> Bed:
        code = site.code.replace("\r\n", "\n").replace("\r", "\n")
        if site.is_text:
            file = Source(
                shown(site.module), "", is_package=False, place=f"{self._config.root}/{site.module}"
            )
            return Bed(file, code, 0, is_text=True)
        source = self._sources.get(site.module)
        if source is None:
            return Bed(self._new_source(site.module), code, 0)
        try:
            text = decode(source.read())
        except OSError as error:
            raise UserError(f"{source.path} cannot be read: {error.strerror or error}.") from None
        except Unreadable as error:
            raise UserError(f"{source.path} cannot be read: {error.reason}.") from None
        text += "\n" if text and not text.endswith("\n") else ""
        return Bed(source, text + code, text.count("\n"))

    def _new_source(self, module: str) -> Source:
        """Return the source of a module that has no file: beside its neighbours, or in the project root."""
        known = self.tree.modules.get(module)
        if known and known.has_file:
            raise UserError(
                f"'{module}' is {known.path}, which is not analysed, so that nothing can be planted in it."
            )
        if known:
            path = f"{known.path}/__init__.py"
            return Source(path, module, is_package=True, place=f"{self._config.root}/{path}")
        parent = next((name for name in reversed(parents(module)) if name in self.tree.modules), "")
        holder = self.tree.modules.get(parent)
        folder = ""
        if holder:
            folder = posixpath.dirname(holder.path) if holder.has_file else holder.path
            if holder.has_file and not holder.is_package:
                folder = posixpath.join(folder, parent.rpartition(".")[2])
        rest = module.removeprefix(f"{parent}.") if parent else module
        path = posixpath.join(folder, rest.replace(".", "/") + ".py")
        return Source(path, module, is_package=False, place=f"{self._config.root}/{path}")

    def _with(self, beds: Sequence[Bed]) -> Tree:
        """Return the project with the new modules among the beds."""
        modules, siblings = dict(self.tree.modules), set(self.tree.siblings)
        for bed in beds:
            source = bed.source
            if bed.is_text or source.module in self._sources:
                continue
            modules[source.module] = Module(
                source.module, source.path, is_package=source.is_package, has_file=True
            )
            folder = source.path
            for parent in reversed(parents(source.module)):
                folder = posixpath.dirname(folder)
                modules.setdefault(parent, Module(parent, folder, is_package=True, has_file=False))
            if source.is_package:
                siblings.discard(source.module)
            else:
                holder = modules.get(source.module.rpartition(".")[0])
                if holder is None or not holder.has_file:
                    siblings.add(source.module.rpartition(".")[0])
        return msgspec.structs.replace(self.tree, modules=modules, siblings=frozenset(siblings))

    def _binder(self, beds: Sequence[Bed]) -> Callable[[str, str], bool]:
        texts = {bed.source.module: bed.text for bed in beds if not bed.is_text}

        def binds(module: str, name: str) -> bool:
            bound = bound_names(texts[module].encode()) if module in texts else frozenset[str]()
            known = module in self._sources or module not in texts
            return bound is None or name in bound or (known and self._binds(module, name))

        return binds

    def _found(self, contract: Contract, beds: Sequence[Bed], tree: Tree) -> Iterator[Import]:
        resolver = Resolver(tree.modules, tree.siblings, self._binder(beds), contract.targeted)
        mentions = Mentions(contract.mentioned if "text" in contract.ways else (), tree.roots)
        for bed in beds:
            yield from _mentioned(bed, mentions)
            if bed.is_text:
                continue
            findings = find_in_text(bed.text, contract.ways)
            if findings.fault:
                raise _no_code(bed, findings.fault.line, findings.fault.reason)
            for found in findings.imports:
                for item in resolver.resolve(bed.source, found) if found.span.line > bed.before else ():
                    if isinstance(item, Problem):
                        raise _no_code(bed, item.line, item.reason)
                    yield item


def _mentioned(bed: Bed, mentions: Mentions) -> Iterator[Import]:
    code = "".join(bed.text.splitlines(keepends=True)[bed.before :])
    data = code.encode("utf-8", "surrogatepass")
    for each in mentions.find(data) if bed.is_text else mentions.find_in_code(data):
        span, down = each.span, bed.before
        place = Location(
            bed.source.path, span.line + down, span.column, span.end_line + down, span.end_column
        )
        yield Import(bed.source.path, "", each.module, "text", "load", place)


def _no_code(bed: Bed, line: int, reason: str) -> UserError:
    if line <= bed.before:
        return UserError(f"{bed.source.path} cannot be analysed, line {line}: {reason}.")
    return UserError(f"the code for '{bed.source.module}', line {line - bed.before}: {reason}.")


def _identity(violation: Violation) -> Identity:
    place = violation.location
    return (violation.code, place.path, place.line, place.column, violation.imported)
