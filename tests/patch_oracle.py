"""Which strings a test suite gives to `mock.patch` and its like, according to `ast`."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_NAMES = {"patch", "patching", "setattr", "delattr"}
_KEYWORDS = {"target", "in_dict", "name"}


class Patched(NamedTuple):
    """A target as it is written: the name of what is patched, and where its literal begins, from 1.

    `whole` is False for a name of which only the beginning is literal.
    """

    line: int
    column: int
    target: str
    whole: bool

    @property
    def module(self) -> str:
        """The module, or what else holds the name that is patched."""
        return self.target.rpartition(".")[0] if self.whole else self.target


def patched_by_ast(text: str) -> list[Patched]:
    """Return every literal dotted target of `patch(…)`, `patch.dict(…)`, `setattr(…)` …, by place."""
    lines = text.split("\n")
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not _is_patch(node.func):
            continue
        for given in [*node.args[:1], *(word.value for word in node.keywords if word.arg in _KEYWORDS)]:
            target, whole = _literal(given)
            if _DOTTED.fullmatch(target if whole else f"{target}x"):
                column = len(lines[given.lineno - 1].encode()[: given.col_offset].decode()) + 1
                found.append(Patched(given.lineno, column, target if whole else target[:-1], whole))
    return sorted(found)


def _is_patch(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute) and function.attr in {"dict", "multiple"}:
        return isinstance(function.value, ast.Name | ast.Attribute) and _last(function.value) == "patch"
    return isinstance(function, ast.Name | ast.Attribute) and _last(function) in _NAMES


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _literal(node: ast.expr) -> tuple[str, bool]:
    match node:
        case ast.Constant(value=str(text)):
            return text, True
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text, False
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Add()):
            return text, False
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return text.partition("%")[0], False
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return text.partition("{")[0], False
    return "", True
