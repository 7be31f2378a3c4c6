"""From names as they are written (`..codec`, `helper`, `app.x.Thing`) to whole names of modules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import get_args

from msgspec.structs import replace

from layerguard.imports.base import Span, WrittenImport, WrittenName
from layerguard.index import kind_number, kind_of
from layerguard.model import Import, Location, Module, Name, When
from layerguard.regex import regex
from layerguard.sources import Problem, Source

_FILE = regex(
    r"(?:.*\.)?(?:cfg|conf|css|csv|db|gz|html|ini|j2|js|json|lock|log|md|pdf|png|pyi?|rst|sh|sql|sqlite|svg|toml"
    r"|txt|xml|ya?ml|zip)"
)
"""The suffix of a file, of which a name in a module, where a string alone says it, is hardly one."""
_KINDS = {when: kind_number("import", when) for when in get_args(When)}


class Resolver:
    """The known modules of a project, against which written names are resolved."""

    def __init__(
        self,
        modules: Mapping[str, Module],
        siblings: frozenset[str],
        binds: Callable[[str, str], bool],
        outside: Collection[str] = (),
    ) -> None:
        """Keep what is known.

        `siblings` are the folders that are no packages: their scripts import each other by bare names.
        `binds(module, name)` is False where a module can be seen not to bind a name. `outside` are the
        top-level names, not of the project, of which strings count too.
        """
        self._modules = modules
        self._siblings = siblings
        self._binds = binds
        self._top = frozenset(name.partition(".")[0] for name in modules)
        self._holders = frozenset(name.rpartition(".")[0] for name in modules)
        self._outside = frozenset(outside)

    def resolve(self, source: Source, found: WrittenImport) -> Iterator[Import | Problem]:
        """Yield the imports that one written import is: one per module that it names.

        A relative import above the top is a Problem instead; a string that names nothing is none at all.
        """
        if found.via == "string":
            yield from self._string(source, found)
            return
        module = self._absolute(source, found)
        if module is None:
            span = found.span
            reason = f"the relative import '{found.module}' goes above the top"
            yield Problem(source.path, span.line, span.column, reason)
            return
        place = _location(source.path, found.span)
        if found.open and not self._may_be_package(module):
            return
        if found.loose:
            module, rest = self._longest(module)
            yield self._import(source, found, module, place, (Name(rest, place),) if rest else ())
            return
        if found.names is None:
            yield self._import(source, found, module, place, ())
            return
        submodules, others = self._taken(module, found.names)
        if others or not found.names:
            names: dict[str, Name] = {}
            for name in others:
                names.setdefault(name.name, Name(name.name, _location(source.path, name.span)))
            yield self._import(source, found, module, place, tuple(names.values()))
        for submodule, name in submodules.items():
            yield self._import(source, found, submodule, _location(source.path, name.span), ())

    def outline(
        self, source: Source, written: Iterable[WrittenImport]
    ) -> tuple[list[str], bytes, list[Problem]]:
        """Return what `resolve` makes of all imports of a file, less their places and scopes.

        That is what each names, its `kind_number`, and the problems.
        """
        imported: list[str] = []
        kinds = bytearray()
        problems: list[Problem] = []
        has_siblings = self._folder(source) in self._siblings
        for found in written:
            module: str | None = None
            if found.via == "import":
                module = found.module
                if has_siblings or module.startswith("."):
                    module = self._absolute(source, found)
                if module is not None and module not in self._holders:
                    imported.append(module)
                    kinds.append(_KINDS[found.when])
                    continue
            if module is None:
                for item in self.resolve(source, found):
                    if isinstance(item, Problem):
                        problems.append(item)
                    else:
                        imported.append(item.imported)
                        kinds.append(kind_of(item))
                continue
            words = found.words
            submodules = dict.fromkeys(f"{module}.{word}" for word in words)
            taken = [each for each in submodules if each in self._modules]
            if len(taken) < len(submodules) or not words:
                imported.append(module)
            imported += taken
            kinds += bytes((_KINDS[found.when],)) * (len(imported) - len(kinds))
        return imported, bytes(kinds), problems

    def _taken(
        self, module: str, names: Sequence[WrittenName]
    ) -> tuple[Mapping[str, WrittenName], Sequence[WrittenName]]:
        """Split what is taken from a module: into its submodules, and the rest, which are names in it."""
        if module not in self._holders:
            return {}, names
        submodules: dict[str, WrittenName] = {}
        rest = []
        for name in names:
            submodule = f"{module}.{name.name}"
            if submodule in self._modules:
                submodules.setdefault(submodule, name)
            else:
                rest.append(name)
        return submodules, rest

    def _string(self, source: Source, found: WrittenImport) -> Iterator[Import]:
        """Yield what a string names, if it can be the name of a module or of something in one."""
        place = _location(source.path, found.span)
        # A test may patch what it imports as its sibling.
        written = (self._absolute(source, found) if found.sure else None) or found.module
        top, _, inside = written.partition(".")
        names = tuple(Name(name.name, place) for name in found.names or ())
        if top not in self._top:
            if top in self._outside:
                item = self._import(source, found, written, place, names)
                seen = inside or (names[0].name if names else "")
                yield replace(item, unknown=not _is_likely(found, seen) and (not inside or _is_file(seen)))
            return
        if found.open:
            known = self._modules.get(written)
            if known is None or known.is_package:
                item = self._import(source, found, written, place, ())
                yield replace(item, unknown=known is None)
            return
        module, rest = self._longest(written)
        item = self._import(source, found, module, place, (Name(rest, place),) if rest else names)
        seen = item.names[0].name if item.names else ""
        unknown = not _is_likely(found, seen) and (_is_file(seen) or not self._may_bind(module, seen))
        yield replace(item, unknown=unknown)

    def _import(
        self, source: Source, found: WrittenImport, module: str, place: Location, names: tuple[Name, ...]
    ) -> Import:
        return Import(
            source.module,
            found.scope,
            module,
            found.via,
            found.when,
            place,
            names,
            guarded=found.guarded,
            asks=found.asks,
        )

    def _absolute(self, source: Source, found: WrittenImport) -> str | None:
        written = found.module
        folder = self._folder(source)
        if not written.startswith("."):
            if folder in self._siblings:
                first = written.partition(".")[0]
                sibling = self._modules.get(f"{folder}.{first}" if folder else first)
                if folder and sibling and sibling.has_file:
                    return f"{folder}.{written}"
            return written
        name = written.lstrip(".")
        level = len(written) - len(name)
        base = source.module if found.anchor == "module" else folder
        parts = base.split(".") if base else []
        if level > len(parts):
            return None
        parts = parts[: len(parts) - level + 1]
        return ".".join([*parts, name] if name else parts)

    @staticmethod
    def _folder(source: Source) -> str:
        return source.module if source.is_package else source.module.rpartition(".")[0]

    def _may_be_package(self, name: str) -> bool:
        known = self._modules.get(name)
        return known.is_package if known else name.partition(".")[0] not in self._top

    def _may_bind(self, module: str, name: str) -> bool:
        # A folder without `__init__.py` holds modules and nothing else.
        return self._modules[module].has_file and self._binds(module, name.partition(".")[0])

    def _longest(self, name: str) -> tuple[str, str]:
        """Split a name into the longest module of the project that it begins with, and the rest.

        A name of which the project has no part, or only a part that holds no such name, stays whole.
        """
        module = name
        while module and module not in self._modules:
            module = module.rpartition(".")[0]
        return (module, name[len(module) + 1 :]) if module else (name, "")


def _is_likely(found: WrittenImport, name: str) -> bool:
    """Tell whether a string that ends in this name of a module needs no proof that the module binds it.

    A class, or the target of a patch, may be made in ways that nobody sees.
    """
    return found.sure or found.open or not name or name[0].isupper()


def _is_file(rest: str) -> bool:
    """Tell whether a dotted text that is no module is rather the name of a file, such as `app.json`."""
    return _FILE.fullmatch(rest) is not None


def _location(path: str, span: Span) -> Location:
    return Location(path, span.line, span.column, span.end_line, span.end_column)
