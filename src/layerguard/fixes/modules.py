"""Finds the statements that the places stand in, and has each fixed as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from layerguard.code import Code
from layerguard.fixes.base import Edit, Place, Project, Refusal, offset
from layerguard.fixes.statements import fix_from
from layerguard.imports.statements import Statement, find_statements
from layerguard.model import Location
from layerguard.sources import Source


def fix_modules(
    code: Code, places: Sequence[Place], source: Source, project: Project
) -> tuple[list[Edit], dict[Location, str]]:
    """Return the edits, and of each place in an import statement why it is left, empty for a fixed one."""
    from layerguard.fixes.chains import Meanings, fix_import  # noqa: PLC0415 - libcst is an extra

    edits: list[Edit] = []
    reasons = {place.location: "there is no import statement here any more" for place in places}
    statements = list(find_statements(code))
    meanings = cache(partial(Meanings, code))
    for statement in statements:
        here = _places_in(code, statement, places)
        if not here:
            continue

        def attempt(chosen: Sequence[Place], statement: Statement = statement) -> list[Edit]:
            if statement.names is None:
                return list(
                    fix_import(code, statement, chosen[0], statements, meanings=meanings, project=project)
                )
            module, package = _modules(statement, chosen[0], source)
            return list(fix_from(code, statement, chosen, module=module, package=package, project=project))

        good = []
        for place in here:
            reasons[place.location] = _refusal(attempt, [place])
            if not reasons[place.location]:
                good.append(place)
        if len(good) > 1 and (why := _refusal(attempt, good)):
            reasons |= {place.location: why for place in good}
        elif good:
            edits += attempt(good)
    return edits, reasons


def _refusal(attempt: Callable[[Sequence[Place]], object], places: Sequence[Place]) -> str:
    try:
        attempt(places)
    except Refusal as refusal:
        return refusal.reason
    return ""


def _places_in(code: Code, statement: Statement, places: Sequence[Place]) -> list[Place]:
    starts = {offset(code.text, name.span.line, name.span.column) for name in statement.names or ()}
    return [place for place in places if place.start == statement.offset or place.start in starts]


def _modules(statement: Statement, place: Place, source: Source) -> tuple[str, str]:
    """Return the whole name of the module that a statement imports from, and the importer's package."""
    package = source.module if source.is_package else source.module.rpartition(".")[0]
    module = place.imported if place.start == statement.offset else place.imported.rpartition(".")[0]
    if not statement.module.startswith(".") and module != statement.module:
        raise Refusal("the name counts from the folder of the script")
    return module, package
