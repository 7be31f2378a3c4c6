"""What an import means by patterns: the module that it names, a name it takes, a package that it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layerguard.graph import parents
from layerguard.model import Import, Location, Reach

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from layerguard.patterns import Patterns


class Hit(msgspec.Struct, frozen=True):
    """What an import means by a pattern.

    `unit` is the package (or name) by which it is meant, `imported` what the import names, at
    `location`; `loaded` is the same, or the parent package that is meant and runs first.
    """

    unit: str
    imported: str
    location: Location
    loaded: str


def run_parents(importer: str, imported: str) -> list[str]:
    """Return the packages that an import may run on its way to what it names, highest first.

    Those that hold the importer have run already.
    """
    own = {importer, *parents(importer)}
    return [name for name in parents(imported) if name not in own]


def hits(
    found: Import, patterns: Patterns, modules: Container[str] = (), reach: Reach = "direct"
) -> list[Hit]:
    """Return what an import means by the patterns: the module, or else each name; with `load` parents too.

    A pattern with wildcards means modules. What is taken from one of the project's `modules` and is none
    itself is only a name, so that such a pattern does not mean it; of an external module that is not known.
    """
    unit = patterns.find(found.imported)
    if unit is not None:
        result = [Hit(unit, found.imported, found.location, found.imported)]
    else:
        names = ((f"{found.imported}.{each.name}", each) for each in found.names if each.name != "*")
        result = [
            Hit(unit, text, name.location, text)
            for text, name in names
            if (unit := patterns.find(text)) is not None
            and (unit in patterns.texts or found.imported not in modules)
        ]
    if reach == "load":
        result += [
            Hit(unit, found.imported, found.location, parent)
            for parent in run_parents(found.importer, found.imported)
            if (unit := patterns.find(parent)) is not None
        ]
    return result


def above_names(patterns: Patterns, modules: Container[str]) -> set[str]:
    """Return the modules from which a name may be taken that the patterns mean by its text."""
    # What is taken from a package and is a module is no name in it.
    texts = [text for text in patterns.texts if "*" not in text and text not in modules]
    return {parent for text in texts for parent in parents(text)}


def may_hit(
    patterns: Patterns, modules: Container[str] = (), reach: Reach = "direct"
) -> Callable[[str], bool]:
    """Return the question whether an import of a module can mean anything by the patterns (see `hits`)."""
    above = above_names(patterns, modules)
    has_wildcards = any("*" in text for text in patterns.texts)
    if patterns.heads is not None and reach != "load":
        # The same in one step, and so without a function call for each name.
        exact, heads = above.union(patterns.texts), patterns.heads
        return lambda imported: imported.startswith(heads) or imported in exact

    def may(imported: str) -> bool:
        if patterns.find(imported) is not None or imported in above:
            return True
        if has_wildcards and imported not in modules:
            return True
        return reach == "load" and any(patterns.find(each) is not None for each in parents(imported))

    return may
