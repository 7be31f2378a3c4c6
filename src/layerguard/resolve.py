"""From names as they are written (`..codec`, `helper`, `app.x.Thing`) to whole names of modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from layerguard.imports.base import Span, WrittenImport
from layerguard.model import Import, Location, Module, Name
from layerguard.sources import Problem, Source


class Resolver:
    """The known modules of a project, against which written names are resolved."""

    def __init__(self, modules: Mapping[str, Module], siblings: frozenset[str]) -> None:
        """`siblings` are the folders that are no packages: their scripts import each other by bare names."""
        self._modules = modules
        self._siblings = siblings
        self._top = frozenset(name.partition(".")[0] for name in modules)

    def resolve(self, source: Source, found: WrittenImport) -> Iterator[Import | Problem]:
        """Yield the imports that one written import is: one per module that it names.

        A relative import above the top is a Problem instead.
        """
        module = self._absolute(source, found)
        if module is None:
            span = found.span
            yield Problem(
                source.path,
                span.line,
                span.column,
                f"the relative import '{found.module}' goes above the top",
            )
            return
        place = _location(source.path, found.span)
        if found.open and not self._may_be_package(module):
            return
        if found.loose:
            module, rest = self._longest(module)
            names = (Name(rest, place),) if rest else ()
            yield self._import(source, found, module, place, names)
            return
        if found.names is None:
            yield self._import(source, found, module, place, ())
            return
        rest_names = []
        for name in found.names:
            location = _location(source.path, name.span)
            submodule = f"{module}.{name.name}"
            if submodule in self._modules:
                yield self._import(source, found, submodule, location, ())
            else:
                rest_names.append(Name(name.name, location))
        if rest_names or not found.names:
            yield self._import(source, found, module, place, tuple(rest_names))

    def _import(
        self, source: Source, found: WrittenImport, module: str, place: Location, names: tuple[Name, ...]
    ) -> Import:
        return Import(source.module, found.scope, module, found.via, found.when, place, names, found.guarded)

    def _absolute(self, source: Source, found: WrittenImport) -> str | None:
        written = found.module
        folder = source.module if source.is_package else source.module.rpartition(".")[0]
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

    def _may_be_package(self, name: str) -> bool:
        known = self._modules.get(name)
        return known.is_package if known else name.partition(".")[0] not in self._top

    def _longest(self, name: str) -> tuple[str, str]:
        """Split a name into the longest module of the project that it begins with, and the rest.

        A name of which the project has no part, or only a part that holds no such name, stays whole.
        """
        module = name
        while module and module not in self._modules:
            module = module.rpartition(".")[0]
        return (module, name[len(module) + 1 :]) if module else (name, "")


def _location(path: str, span: Span) -> Location:
    return Location(path, span.line, span.column, span.end_line, span.end_column)
