"""Fixes of string literals: dynamic loads, registries, lazy tables, the targets of patches."""

from __future__ import annotations

from collections.abc import Iterator

from layerguard.code import Code, StringToken
from layerguard.fixes.base import Edit, Place, Project, Refusal, old_and_new, refuse_split
from layerguard.regex import regex

_BUILT = regex(r"[\s)]*(?:[+%](?!=)|\.\s*format\s*\()")
_RETURNS_TOP = regex(r"(?<!\w)__import__\s*\([\s(]*(?:name\s*=\s*)?\Z")
_ALONE = regex(r"(?:^|[\n;:])[ \t\f]*(?:\w+\.)?__import__\s*\([\s(]*(?:name\s*=\s*)?\Z")
_RETURNS_IT = regex(r"(?:import_module|find_spec|resolve_name|run_module)\s*\([\s(]*(?:\w+\s*=\s*)?\Z")
_AFTER = regex(r"[\s),]*(?:$|\n|;|#)")
_LONGEST_CALL = 200


def fix_literal(code: Code, place: Place, project: Project) -> Iterator[Edit]:
    """Yield the edit that puts the new name into a literal, within its quotes.

    Raises Refusal where the old name does not stand in one literal as it is, and where it is relative.
    """
    tokens = [code.strings[at] for at in sorted(code.strings) if place.start <= at < place.end]
    if not tokens:
        raise Refusal("there is no string here any more")
    first = tokens[0]
    value, is_open = _value(code, tokens)
    if value.startswith("."):
        yield _relative(code, first, value, place, project)
        return
    old, new = old_and_new(place, place.imported)
    if not value.startswith(old) or value[len(old) : len(old) + 1] not in {"", ".", ":"}:
        raise Refusal("only a part of the name stands here")
    if place.via == "dynamic":
        _refuse_top(code, first)
    if is_open:
        name = value.rstrip(".")
        refuse_split(place, name)
    else:
        name = value.replace(":", ".", 1)
    project.moved(place.contracts, name)
    yield _replaced(code, first, old, new)


def _value(code: Code, tokens: list[StringToken]) -> tuple[str, bool]:
    """Return what the literals mean together, and whether that is only the beginning of a name."""
    value = ""
    for token in tokens:
        value += code.value(token)
        if token.field >= 0:
            return value, True
    if _BUILT.match(code.masked, tokens[-1].end):
        cut = min((at for at in (value.find("{"), value.find("%")) if at >= 0), default=len(value))
        return value[:cut], True
    return value, False


def _replaced(code: Code, token: StringToken, old: str, new: str) -> Edit:
    end = token.body + len(old)
    if end > (token.field if token.field >= 0 else token.close) or code.text[token.body : end] != old:
        raise Refusal("the name is written in pieces or with escapes")
    return Edit(token.body, end, new)


def _relative(code: Code, token: StringToken, value: str, place: Place, project: Project) -> Edit:
    """Return the edit of a relative name, whose package stays as it is."""
    rest = value.lstrip(".")
    dots = len(value) - len(rest)
    new = project.moved(place.contracts, place.imported)
    base = place.imported.removesuffix(f".{rest}")
    if base == place.imported or not new.startswith(f"{base}."):
        raise Refusal("it is relative to a package which the new name is not in")
    body = code.text[token.body : token.close]
    if body != value:
        raise Refusal("the name is written in pieces or with escapes")
    return Edit(token.body + dots, token.close, new[len(base) + 1 :])


def _refuse_top(code: Code, token: StringToken) -> None:
    """Refuse `__import__("app.old")` whose value is used: that is `app`, and what follows is not known."""
    before = code.masked[max(0, token.start - _LONGEST_CALL) : token.start]
    if _RETURNS_IT.search(before) or "__import__" not in code.masked:
        return
    if _RETURNS_TOP.search(before):
        if "fromlist" in code.masked[token.end : code.masked.find(")", token.end)]:
            return
        if _ALONE.search(before) and _AFTER.match(code.masked, token.end):
            return
    raise Refusal("what `__import__` returns is the top-level package, and it is used")
