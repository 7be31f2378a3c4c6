"""The project as it was at the base: its contracts, its allowances, its imports."""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from layerguard import git
from layerguard.allowances import Allowances, parse_allowances
from layerguard.allowances.bases import Base
from layerguard.code.decoding import Unreadable
from layerguard.config import OWN_FILE, SHARED_FILE, Config, read_config
from layerguard.config.settings import DEFAULT_CONTRACTS
from layerguard.contracts import Contract
from layerguard.contracts.base import allowance_key
from layerguard.errors import UserError
from layerguard.imports import find_imports
from layerguard.imports.base import WrittenImport
from layerguard.imports.mentions import Mentions
from layerguard.imports.registries import NoTable, find_rows
from layerguard.model import Import, Location
from layerguard.names import SOURCES, Names, find_roots
from layerguard.resolve import Resolver
from layerguard.sources import Source
from layerguard.toml import parse_toml


class Past:
    """The project at a base, read from git; each part when it is first asked for."""

    def __init__(self, root: Path, base: Base, today: Config) -> None:
        """`today` is the work tree's configuration: it stands in where that of the base cannot be read."""
        self.base = base
        self.notes = list(base.notes)
        self._root = root
        self._today = today
        self._files = git.list_files_at(root, base.commit)

    @cached_property
    def config(self) -> Config | None:
        """The configuration at the base; None where there was none."""
        name = OWN_FILE if OWN_FILE in self._files else SHARED_FILE
        if name not in self._files:
            return None
        try:
            with tempfile.TemporaryDirectory(prefix="layerguard-") as folder:
                return read_config(Path(folder), name) if self._write(Path(folder), name) else None
        except UserError as error:
            self.notes.append(
                f"the configuration at {self.base.commit[:7]} cannot be read ({error.message}), "
                "so that of today is taken for it."
            )
            return self._today

    @cached_property
    def contracts(self) -> dict[str, Contract]:
        """The contracts that the base had, by their ids."""
        return {contract.id: contract for contract in self.config.contracts} if self.config else {}

    @cached_property
    def allowances(self) -> Allowances:
        """The allowance file of the base, found through its own configuration; empty where it had none.

        Raises UserError when there was one that is none.
        """
        path = self.config.allowances if self.config else self._today.allowances
        found = Allowances(path)
        if path in self._files:
            text = self._read([path])[path].decode("utf-8", "replace")
            found = parse_allowances(text, f"{path} at {self.base.commit[:7]}")
        for other in self.base.others:
            found = self._merged(found, other)
        return found

    def _merged(self, found: Allowances, other: str) -> Allowances:
        """Merge the allowances with those of another merge base: what either side removed is gone."""
        ancestor = (git.find_merge_bases(self._root, self.base.commit, other) or [other])[0]
        theirs, old = (
            {
                (entry.contract, entry.key): entry
                for entry in Past(self._root, Base(commit, ""), self._today).allowances.entries
            }
            for commit in (other, ancestor)
        )
        ours = {(entry.contract, entry.key): entry for entry in found.entries}
        kept = [
            entry
            for identity, entry in (theirs | ours).items()
            if (identity in ours and identity in theirs) or identity not in old
        ]
        return replace(found, entries=tuple(kept))

    @cached_property
    def modules(self) -> frozenset[str]:
        """The modules that the project had."""
        return frozenset(self._names.modules)

    def module_of(self, path: str) -> str:
        """Return the module that a file was; empty where it was none."""
        return self._names.files.get(path, ("", False))[0]

    def text_of(self, module: str) -> list[bytes]:
        """Return the bytes of the files that a module had."""
        return list(self._read(self._paths(module)).values())

    def not_shared(self, paths: Iterable[str]) -> frozenset[str]:
        """Return which of the paths were not there then, and which paths of then are not among them."""
        return frozenset(self._files.keys() ^ set(paths))

    def renames(self) -> list[tuple[str, str]]:
        """Return the files that were renamed since, old and new path, as far as git is certain."""
        return git.find_renames(self._root, self.base.commit)

    def keys(self, importers: Iterable[str], contract: Contract) -> frozenset[str]:
        """Return the identities of all that these importers (modules, or paths of text files) named then."""
        found: set[str] = set()
        for importer in sorted(set(importers)):
            for each in self._imports(importer, contract):
                found.add(allowance_key(each, each.imported))
                found.update(allowance_key(each, f"{each.imported}.{name.name}") for name in each.names)
        return frozenset(found)

    def _imports(self, importer: str, contract: Contract) -> Iterable[Import]:
        mentions = Mentions(contract.mentioned, self._roots)
        if importer in self._files:
            data = self._read([importer])[importer]
            found = mentions.find_in_code(data) if importer.endswith(SOURCES) else mentions.find(data)
            place = Location(importer, 1, 1, 1, 1)
            return [Import(importer, "", each.module, "text", "load", place) for each in found]
        imports = []
        for path, data in self._read(self._paths(importer)).items():
            source = Source(path, *self._names.files[path], f"{self._root}/{path}")
            resolver = self._resolver(contract)
            for written in (*find_imports(data, ("dynamic", "string")).imports, *self._rows(importer, data)):
                items = resolver.resolve(source, written)
                imports += [item for item in items if isinstance(item, Import)]
        return imports

    def _rows(self, module: str, data: bytes) -> Iterator[WrittenImport]:
        """Yield the rows of the registries in a module: of those declared then, and of those declared now."""
        then = self.config.registries if self.config else ()
        for registry in dict.fromkeys((*then, *self._today.registries)):
            if registry.module == module:
                with suppress(NoTable, Unreadable):
                    yield from find_rows(data, registry.name, registry.template)

    def _resolver(self, contract: Contract) -> Resolver:
        names = self._names
        return Resolver(names.modules, names.siblings, lambda _module, _name: True, contract.targeted)

    def _paths(self, module: str) -> list[str]:
        return [
            path for path, (name, _) in self._names.files.items() if name == module and path.endswith(SOURCES)
        ]

    @cached_property
    def _roots(self) -> frozenset[str]:
        globs = self.config.source_roots if self.config else self._today.source_roots
        try:
            return find_roots(sorted(self._files), globs)
        except UserError:
            return frozenset({""})

    @cached_property
    def _names(self) -> Names:
        return Names(sorted(self._files), self._roots)

    def _read(self, paths: Collection[str]) -> dict[str, bytes]:
        blobs = git.read_blobs(self._root, sorted({self._files[path] for path in paths}))
        return {path: blobs[self._files[path]] for path in paths}

    def _write(self, folder: Path, name: str) -> bool:
        """Write the configuration, and what may hold contracts, into a folder, to be read as ever.

        False is for a shared file that is not about layerguard.
        """
        data = self._read([name])[name]
        if name == SHARED_FILE and b"tool.layerguard" not in data:
            return False
        values = parse_toml(data.decode("utf-8", "replace"), name)
        for key in ("tool", "layerguard") if name == SHARED_FILE else ():
            if not isinstance(found := values.get(key), dict):
                return False
            values = found
        # More than the patterns mean will do: they are matched once more when the configuration is read.
        named = values.get("contracts", DEFAULT_CONTRACTS)
        listed = named if isinstance(named, (list, tuple)) else ()  # what else it may be is told later
        patterns = [posixpath.normpath(str(pattern)).replace("**/", "*") for pattern in listed]
        wanted = {name} | {path for path in self._files for pattern in patterns if fnmatchcase(path, pattern)}
        for path, data in self._read(wanted).items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return True
