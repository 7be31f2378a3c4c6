"""Graphs made by hand, for the tests of the graph and of the contracts.

Every module is a file `a/b.py`, a package `a/b/__init__.py` where another module lies in it. Every
import stands on a line of its own, counted per importer, its column is 8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layerguard.graph import Graph, parents
from layerguard.model import Import, Location, Module, Name, Via, Violation, When

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Place = tuple[str, int, int]


def modules(*names: str, folders: Iterable[str] = ()) -> dict[str, Module]:
    """Return modules with the packages above them; `folders` are packages without a file."""
    every = sorted({*names, *(parent for name in names for parent in parents(name))})
    packages = {parent for name in every for parent in parents(name)}
    bare = set(folders)
    return {
        name: Module(
            name, _path(name, package=name in packages, bare=name in bare), name in packages, name not in bare
        )
        for name in every
    }


def _path(name: str, *, package: bool, bare: bool = False) -> str:
    path = name.replace(".", "/")
    if bare:
        return path
    return f"{path}/__init__.py" if package else f"{path}.py"


def imports(
    importer: str,
    imported: str,
    *names: str,
    path: str = "",
    line: int = 1,
    scope: str = "",
    via: Via = "import",
    when: When = "load",
    guarded: bool = False,
) -> Import:
    """Return one import. Its names stand one after the other on its line, from column 30 by tens."""
    place = path or importer.replace(".", "/") + ".py"
    taken = tuple(
        Name(name, Location(place, line, 30 + 10 * number, line, 30 + 10 * number + len(name)))
        for number, name in enumerate(names)
    )
    location = Location(place, line, 8, line, 8 + len(imported))
    return Import(importer, scope, imported, via, when, location, taken, guarded)


def graph(
    names: str,
    *found: Import | str,
    folders: Iterable[str] = (),
    binds: Callable[[str, str], bool] | None = None,
) -> Graph:
    """Return a graph of modules (separated by blanks) and imports; `"a -> b"` stands on the next line."""
    known = modules(*names.split(), folders=folders)
    lines: dict[str, int] = {}
    every: list[Import] = []
    for each in found:
        if isinstance(each, str):
            importer, imported = each.split(" -> ")
            line = lines[importer] = lines.get(importer, 0) + 1
            path = known[importer].path if importer in known else ""
            every.append(imports(importer, imported, path=path, line=line))
        else:
            every.append(each)
    return Graph(known, every, binds)


def told(violations: Iterable[Violation]) -> list[tuple[str, int, int, str]]:
    """Return path, line, column and imported of each violation, sorted."""
    return sorted((v.location.path, v.location.line, v.location.column, v.imported) for v in violations)


def edges(violations: Iterable[Violation]) -> list[str]:
    """Return each violation as `importer -> imported`, sorted."""
    return sorted(f"{v.importer} -> {v.imported}" for v in violations)


def chain(violation: Violation) -> list[str]:
    """Return the modules of a chain."""
    return [violation.chain[0].importer, *(step.imported for step in violation.chain)]
