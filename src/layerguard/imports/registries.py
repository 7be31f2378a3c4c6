"""Declared registries: module-level tables whose rows hold the parts of module names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from layerguard.code import Code
from layerguard.code.decoding import decode
from layerguard.imports.base import Span, WrittenImport, WrittenName
from layerguard.regex import regex

_ASSIGNED = regex(r"^(\w+)[ \t]*(?::[^=\n]*(?:\n[^=\n]*)*?)?=(?!=)", re.MULTILINE)
_FIELD = regex(r"\{(\w+)\}")


class NoTable(Exception):  # noqa: N818 - it is raised for the lack of one
    """The registry cannot be read: why, and `names`, the tables that the module does have."""

    def __init__(self, reason: str, names: list[str]) -> None:
        """Keep the reason, and the names to choose from."""
        super().__init__(reason)
        self.reason = reason
        self.names = names


def find_rows(data: bytes, name: str, template: str) -> Iterator[WrittenImport]:
    """Yield a `dynamic` import for each row of a module-level dict, list or tuple.

    `template` names the module: `{0}`, `{1}` are the texts of the row, `{key}` its key. Rows that are
    no literals are passed over. An import's place is that of the first text that the template uses.
    Raises NoTable when there is no such table, Unreadable when the bytes are no text.
    """
    code = Code(decode(data))
    tables = {match[1]: match.end() for match in _ASSIGNED.finditer(code.masked)}
    if name not in tables:
        raise NoTable(f"has no table '{name}'", sorted(tables))
    start = tables[name]
    node = _expression(code, start)
    if isinstance(node, ast.Call) and node.args:  # MappingProxyType({...}), OrderedDict([...])
        node = node.args[0]
    for key, value in _rows(node, name):
        texts = [
            text
            for text in (value.elts if isinstance(value, ast.Tuple | ast.List) else [value])
            if _is_text(text)
        ]
        by_field = {str(number): text for number, text in enumerate(texts)}
        if key is not None and _is_text(key):
            by_field["key"] = key
        fields = _FIELD.findall(template)
        if any(field not in by_field for field in fields):
            if not texts:
                continue
            line, column = code.place(start + _offset(code, start, texts[0]))
            raise NoTable(f"has a row at line {line}, column {column} that does not fill '{template}'", [])
        module = template
        for field in fields:
            module = module.replace(f"{{{field}}}", _text(by_field[field]))
        first = by_field[fields[0]]
        at = start + _offset(code, start, first)
        token = code.strings[at]
        span = Span(*code.place(token.start), *code.place(token.end))
        module, _, attribute = module.partition(":")
        names = (WrittenName(attribute, attribute, span),) if attribute else None
        yield WrittenImport(module, span, "dynamic", "deferred", taken=names)


def _expression(code: Code, start: int) -> ast.expr:
    """Parse what is assigned at an offset: the shortest stretch of whole lines that is an expression."""
    text = code.text
    end = text.find("\n", start)
    while end >= 0 or start < len(text):
        stop = len(text) if end < 0 else end
        if code.masked.count("(", start, stop) == code.masked.count(")", start, stop):
            try:
                return ast.parse(f"({text[start:stop]}\n)", mode="eval").body
            except SyntaxError:
                pass
        if end < 0:
            break
        end = text.find("\n", end + 1)
    raise NoTable("has a table there that cannot be read", [])


def _rows(node: ast.expr, name: str) -> list[tuple[ast.expr | None, ast.expr]]:
    if isinstance(node, ast.Dict):
        return list(zip(node.keys, node.values, strict=True))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [(None, value) for value in node.elts]
    raise NoTable(f"has a '{name}' that is no literal dict, list or tuple", [])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _text(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _offset(code: Code, start: int, node: ast.expr) -> int:
    """Return the offset from `start` of a node of the expression there (its text follows one bracket)."""
    lines = code.text[start:].split("\n", node.lineno - 1)[: node.lineno - 1]
    before = sum(len(line) + 1 for line in lines)
    line = code.text[start + before :].partition("\n")[0]
    column = node.col_offset - (1 if node.lineno == 1 else 0)
    return before + len(line.encode("utf-8")[:column].decode("utf-8"))
