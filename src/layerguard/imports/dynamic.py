"""Dynamic loads: calls of import_module, __import__, find_spec and their like with a literal name.

The functions are known by what the file's own import statements and plain assignments call them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from layerguard.code import Code, StringToken
from layerguard.code.aliases import with_aliases
from layerguard.imports.base import Page, WrittenImport, WrittenName
from layerguard.regex import regex

_WORDS = ("importlib", "pkgutil", "runpy", "__import__")
_FUNCTIONS = {
    "importlib.import_module": "import_module",
    "importlib.__import__": "__import__",
    "importlib.util.find_spec": "find_spec",
    "pkgutil.resolve_name": "resolve_name",
    "runpy.run_module": "run_module",
    "builtins.__import__": "__import__",
}
_PARAMETERS = {
    "import_module": ("name", "package"),
    "find_spec": ("name", "package"),
    "__import__": ("name", "globals", "locals", "fromlist", "level"),
    "resolve_name": ("name",),
    "run_module": ("mod_name",),
}
_PART = regex(r"[(\[{]|[)\]}]|,")
_KEYWORD = regex(r"\s*(\w+)\s*=(?!=)")
_BUILT = regex(r"\s*(?:[+%]|\.\s*format\s*\()")
_MODULE = regex(r"\w+(?:\.\w+)*")

Span2 = tuple[int, int]


def find_dynamic(page: Page) -> Iterator[WrittenImport]:
    """Yield each dynamic load whose name is a literal, or begins with one that ends in a dot."""
    code = page.code
    functions = _functions(page)
    for match in _calls(tuple(sorted(functions))).finditer(code.masked):
        if _is_attribute(code.masked, match.start()):
            continue
        function = functions["".join(match[1].split())]
        arguments = _arguments(code.masked, match.end(), _PARAMETERS[function])
        found = _load(page, function, arguments)
        if found:
            yield found


def loads_dynamically(text: str) -> bool:
    """Tell whether there can be a dynamic load in a text at all."""
    return any(word in text for word in _WORDS)


def _functions(page: Page) -> dict[str, str]:
    """Return the expressions that mean one of the functions in this file."""
    known = {"__import__": "__import__"}
    for statement in page.statements:
        for path, function in _FUNCTIONS.items():
            known |= dict.fromkeys(_spellings(statement, path), function)
    return with_aliases(page.code.masked, known)


def _spellings(statement: WrittenImport, path: str) -> Iterator[str]:
    """Yield what the function at a dotted path is called because of an import statement."""
    module = statement.module
    if statement.names is None:
        if statement.bound == module.partition(".")[0] == path.partition(".")[0]:
            yield path  # `import importlib.util` gives all of importlib
        elif path.startswith(f"{module}."):
            yield statement.bound + path[len(module) :]
        return
    for name in statement.names:
        if name.name == "*" and path.rpartition(".")[0] == module:
            yield path.rpartition(".")[2]
        elif f"{path}.".startswith(f"{module}.{name.name}."):
            yield name.bound + path[len(module) + 1 + len(name.name) :]


@lru_cache(maxsize=256)
def _calls(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    alternatives = "|".join(re.escape(name).replace(r"\.", r"\s*\.\s*") for name in longest_first)
    return re.compile(rf"(?<![\w.])({alternatives})\s*\(")


def _is_attribute(masked: str, at: int) -> bool:
    """Tell whether a name stands behind a dot and blanks: `x . import_module(…)` is another's function."""
    return masked[masked.rfind("\n", 0, at) + 1 : at].rstrip(" \t\f").endswith(".")


def _arguments(masked: str, start: int, parameters: tuple[str, ...]) -> dict[str, Span2]:
    """Return the stretches of a call's arguments by parameter name."""
    stretches, depth, began = [], 0, start
    for match in _PART.finditer(masked, start):
        part = match[0]
        if part in "([{":
            depth += 1
        elif part in ")]}":
            depth -= 1
            if depth < 0:
                stretches.append((began, match.start()))
                break
        elif depth == 0:
            stretches.append((began, match.start()))
            began = match.end()
    arguments = {}
    for number, (left, right) in enumerate(stretches):
        keyword = _KEYWORD.match(masked, left, right)
        if keyword:
            arguments[keyword[1]] = (keyword.end(), right)
        elif number < len(parameters):
            arguments[parameters[number]] = (left, right)
    return arguments


def _load(page: Page, function: str, arguments: dict[str, Span2]) -> WrittenImport | None:
    code = page.code
    name = arguments.get(_PARAMETERS[function][0])
    literal = _literal(code, *name) if name else None
    if literal is None:
        return None
    text, tokens, is_open = literal
    if function == "resolve_name":
        text = text.partition(":")[0]
    if is_open:
        if not text.endswith("."):
            return None
        text = text.rstrip(".") or text
    placed = _anchored(code, function, arguments, text)
    if placed is None or (placed[0].strip(".") and not _MODULE.fullmatch(placed[0].lstrip("."))):
        return None
    module, anchor = placed
    start = tokens[0].start
    around = page.blocks.around(start)
    return WrittenImport(
        module,
        page.span(start, tokens[-1].end),
        "dynamic",
        around.when,
        around.scope,
        taken=_fromlist(page, arguments) if function == "__import__" else None,
        guarded=around.guarded or function == "find_spec",
        anchor=anchor,
        loose=function == "resolve_name",
        open=is_open,
        asks=function == "find_spec",
    )


def _anchored(
    code: Code, function: str, arguments: dict[str, Span2], text: str
) -> tuple[str, Literal["package", "module"]] | None:
    """Return the name and what its dots count from; a literal package is put in front at once."""
    if function == "__import__":
        level = code.masked[slice(*arguments["level"])].strip() if "level" in arguments else "0"
        return ("." * int(level) + text, "package") if level.isdecimal() else None
    if not text.startswith("."):
        return (text, "package") if text else None
    if "package" not in arguments:
        return None
    package = code.masked[slice(*arguments["package"])].strip()
    if package in {"__package__", "__spec__.parent"}:
        return text, "package"
    if package == "__name__":
        return text, "module"
    literal = _literal(code, *arguments["package"])
    name = _join(literal[0], text) if literal and not literal[2] else ""
    return (name, "package") if name else None


def _join(package: str, relative: str) -> str:
    """Return what a relative name means in a package; empty when it goes above the top."""
    rest = relative.lstrip(".")
    parts = package.split(".")
    depth = len(parts) - (len(relative) - len(rest)) + 1
    return ".".join([*parts[:depth], *([rest] if rest else [])]) if depth > 0 else ""


def _literal(code: Code, start: int, end: int) -> tuple[str, list[StringToken], bool] | None:
    """Return what an argument says, its string tokens, and whether only its beginning is literal."""
    masked = code.masked
    while start < end and masked[start] in " \t\f\n(":
        start += 1
    tokens: list[StringToken] = []
    text, position = "", start
    while (token := code.strings.get(position)) and token.end <= end and "b" not in token.prefix:
        tokens.append(token)
        text += code.value(token)
        position = token.end
        if token.field >= 0:
            return text, tokens, True
        while position < end and masked[position] in " \t\f\n":
            position += 1
    if not tokens:
        return None
    if _BUILT.match(masked, position, end):
        # What `format` and `%` put in may stand anywhere in the text.
        cut = min((at for at in (text.find("{"), text.find("%")) if at >= 0), default=len(text))
        return text[:cut], tokens, True
    return (text, tokens, False) if not masked[position:end].strip(" \t\f\n)") else None


def _fromlist(page: Page, arguments: dict[str, Span2]) -> tuple[WrittenName, ...] | None:
    """Return the literal names of an `__import__`'s fromlist: they load modules as a `from` import does."""
    if "fromlist" not in arguments:
        return None
    start, end = arguments["fromlist"]
    tokens = [token for at, token in page.code.strings.items() if start <= at < end]
    return tuple(
        WrittenName(name, name, page.span(token.start, token.end))
        for token in tokens
        if (name := page.code.value(token)).isidentifier()
    )
