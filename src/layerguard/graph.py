"""The project as a graph: its modules, their imports, and the questions that contracts ask.

The only module that knows grimp. Contracts about single imports and about places walk the
imports themselves, because grimp keeps no place, scope or timing; grimp answers questions
about named pairs of modules (chains, shortest chains).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from layerguard.index import Index
from layerguard.model import Import, Location, Module
from layerguard.patterns import matches_any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import grimp


def parents(name: str) -> list[str]:
    """Return the packages above a module, highest first: `a` and `a.b` of `a.b.c`."""
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def within(name: str, package: str) -> bool:
    """Tell whether `name` is `package` or in it."""
    return name == package or name.startswith(f"{package}.")


class Graph:
    """Modules and imports, and the questions about them.

    `modules` are the project's own by name, folders without `__init__.py` included; `imports` are
    sorted by place. Both stay as they are once the graph is made.
    """

    def __init__(
        self,
        modules: Mapping[str, Module],
        imports: Iterable[Import],
        binds: Callable[[str, str], bool] | None = None,
    ) -> None:
        """Keep the modules by name and the imports in the order of their places; these are an Index, or any.

        `binds(package, name)` is False where a package's `__init__.py` can be seen not to bind a name;
        without it every name counts as bound.
        """
        self.modules: dict[str, Module] = dict(sorted(modules.items()))
        self.imports = imports if isinstance(imports, Index) else Index.of(imports)
        self._binds = binds

    def exists(self, name: str) -> bool:
        """Tell whether the project has this module."""
        return name in self.modules

    def owns(self, name: str) -> bool:
        """Tell whether the name begins with a top-level name of the project."""
        return name.partition(".")[0] in self._top

    def binds(self, module: str, name: str) -> bool:
        """Tell whether a module may bind a name; only a sure no is False."""
        return self._binds is None or self._binds(module, name)

    def children(self, package: str) -> tuple[str, ...]:
        """Return the modules directly in a package, sorted; none when it is no package."""
        return tuple(self._children.get(package, ()))

    def place(self, name: str) -> Location:
        """Return where a module begins: line 1 of its file, or of the highest file in its folder.

        Raises KeyError for a module that the project does not have.
        """
        module = self.modules[name]
        level = [module]
        while level and not any(each.has_file for each in level):
            level = [self.modules[child] for each in level for child in self.children(each.name)]
        path = min((each.path for each in level if each.has_file), default=module.path)
        return Location(path, 1, 1, 1, 1)

    def matches(self, pattern: str) -> bool:
        """Tell whether a pattern (without its `!`) names a module of the project as a whole."""
        return _matches(pattern, self.modules)

    def mentions(self, pattern: str) -> bool:
        """Tell whether some import names what a pattern means: a module, what is in it, or a name."""
        return _matches(pattern, self._named)

    @cached_property
    def _top(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self.modules)

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self.modules:
            parent, dot, _ = name.rpartition(".")
            if dot:
                found.setdefault(parent, []).append(name)
        return found

    @cached_property
    def _named(self) -> dict[str, None]:
        whole = set(self.imports.names)
        whole |= {f"{f.imported}.{name.name}" for f in self.imports for name in f.names if name.name != "*"}
        return dict.fromkeys(sorted(whole | {parent for name in whole for parent in parents(name)}))

    @cached_property
    def grimp(self) -> grimp.ImportGraph:
        """The same as a grimp graph: every module and import, missing and external ones included.

        Mentions in text are left out, as their importers are no modules. Built when it is first asked
        for. Where grimp fails it panics, which is a `BaseException`.
        """
        import grimp  # noqa: PLC0415  (heavy, and few runs ask for chains by name)

        graph = grimp.ImportGraph()
        for name in self.modules:
            graph.add_module(name)
        for found in self.imports:
            if found.via != "text" and found.importer != found.imported:
                graph.add_import(
                    importer=found.importer,
                    imported=found.imported,
                    line_number=found.location.line,
                    line_contents=f"{found.via} {found.when}",
                )
        return graph


def _matches(pattern: str, names: Mapping[str, object]) -> bool:
    text = pattern.removeprefix("!")
    return matches_any(text, names) if "*" in text else text in names
