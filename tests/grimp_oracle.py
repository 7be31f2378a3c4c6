"""What grimp finds in packages: the reference that edges between modules are held against.

grimp stops at the first file that it cannot read, and panics (a BaseException) at some relative imports.
`scan` therefore cuts the files in half until only those that it can read are left.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from grimp.adaptors.modulefinder import ModuleFinder
from grimp.application.config import settings
from grimp.application.scanning import scan_imports
from written import statements

from layerguard.code import Code
from layerguard.code.decoding import decode
from layerguard.model import Import, Module
from layerguard.resolve import Resolver

if TYPE_CHECKING:
    from pathlib import Path

    from grimp.application.ports.modulefinder import FoundPackage, ModuleFile

    from layerguard.sources import Tree


class Edge(NamedTuple):
    importer: str
    imported: str
    line: int


class Rule(Enum):
    """Why grimp names the nearest package above the module that layerguard names, or nothing at all."""

    COMPILED = "grimp does not see a compiled or stub-only module"
    MISSING = "grimp does not name a module that does not exist"
    FOLDER = "a folder without __init__.py, and what is in it, are nothing to grimp"
    UNSEEN = "grimp does not look into a folder without __init__.py"


def _rule(
    edge: Edge,
    theirs: set[Edge],
    modules: dict[str, Module],
    seen: set[str],
    *,
    external: bool,
) -> Rule | None:
    """Return the rule that explains an import which only layerguard finds."""
    module = modules.get(edge.imported)
    if edge.importer not in seen:
        return Rule.UNSEEN
    if edge.imported in seen:
        return None
    names_above = edge._replace(imported=_above(edge.imported, seen)) in theirs
    # Without external packages it may name nothing: it looks no higher than the parent of the name taken.
    if external and not names_above:
        return None
    if module is None:
        return Rule.MISSING
    if not module.has_file or not modules[edge.imported.rpartition(".")[0]].has_file:
        return Rule.FOLDER
    return None if module.path.endswith(".py") else Rule.COMPILED


def _above(name: str, seen: set[str]) -> str:
    while name and name not in seen:
        name = name.rpartition(".")[0]
    return name


def found_edges(tree: Tree, package: str) -> set[Edge]:
    """Return what layerguard finds, with external modules cut to their first component, as grimp has them."""
    resolver = Resolver(tree.modules, tree.siblings, lambda _module, _name: True)
    found: set[Edge] = set()
    for source in tree.sources:
        code = Code(decode(source.file.read_bytes()))
        for statement, begin in statements(code):
            line = code.place(begin)[0]
            for item in resolver.resolve(source, statement):
                assert isinstance(item, Import), item
                top = item.imported.partition(".")[0]
                found.add(Edge(item.importer, item.imported if top == package else top, line))
    return found


def unexplained(
    ours: set[Edge],
    theirs: set[Edge],
    modules: dict[str, Module],
    seen: set[str],
    *,
    external: bool = True,
) -> tuple[list[Edge], Counter[Rule]]:
    """Return the imports that only one side has and no rule explains, and how often each rule was used."""
    left: list[Edge] = []
    used: Counter[Rule] = Counter()
    rest = theirs - ours
    for edge in sorted(ours - theirs):
        rule = _rule(edge, theirs, modules, seen, external=external)
        if rule is None:
            left.append(edge)
        else:
            used[rule] += 1
            rest.discard(edge._replace(imported=_above(edge.imported, seen)))
    return [*left, *sorted(rest)], used


def scan(name: str, folder: Path) -> tuple[set[Edge], set[str], set[str]]:
    """Return the imports that grimp finds, the modules that it could read, and those that it could not."""
    package = ModuleFinder().find_package(
        package_name=name, package_directory=str(folder), file_system=settings.FILE_SYSTEM
    )
    edges: set[Edge] = set()
    unread: set[str] = set()
    waiting = [sorted(package.module_files, key=lambda file: file.module.name)]
    while waiting:
        files = waiting.pop()
        found = _scan(package, files)
        if found is not None:
            edges |= found
        elif len(files) == 1:
            unread.add(files[0].module.name)
        else:
            middle = len(files) // 2
            waiting += [files[:middle], files[middle:]]
    every = {file.module.name for file in package.module_files}
    return edges, every - unread, unread


def _scan(package: FoundPackage, files: list[ModuleFile]) -> set[Edge] | None:
    try:
        found = scan_imports(
            files,
            found_packages={package},
            include_external_packages=True,
            exclude_type_checking_imports=False,
        )
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None
    return {
        Edge(each.importer.name, each.imported.name, each.line_number)
        for imports in found.values()
        for each in imports
    }
