"""What the imports of a file are according to `ast`: the reference that the scanner is held against."""

from __future__ import annotations

import ast
from typing import NamedTuple

_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


class Found(NamedTuple):
    module: str
    names: tuple[str, ...] | None
    line: int
    scope: str
    when: str
    guarded: bool


def imports_by_ast(text: str) -> list[Found]:
    """Return every import statement of a file in its order; line is that of the statement."""
    tree = ast.parse(text)
    names = _typing_names(tree) if "TYPE_CHECKING" in text else set()
    found: list[Found] = []
    _visit(tree.body, found, names, "", "load", False)
    return sorted(found, key=lambda item: item.line)


def _typing_names(tree: ast.Module) -> set[str]:
    names = {"TYPE_CHECKING"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in {"typing", "typing_extensions"}:
                    names.add(f"{alias.asname or alias.name}.TYPE_CHECKING")
        elif isinstance(node, ast.ImportFrom):
            ours = node.module in {"typing", "typing_extensions"} and not node.level
            for alias in node.names:
                if ours and alias.name == "TYPE_CHECKING":
                    names.add(alias.asname or alias.name)
                elif not ours and (alias.asname or alias.name) == "TYPE_CHECKING":
                    names.discard("TYPE_CHECKING")
    for _ in range(2):
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.value, ast.Name | ast.Attribute)
                and ast.unparse(node.value) in names
            ):
                names.add(ast.unparse(node.targets[0]))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TYPE_CHECKING":
            value = ast.unparse(node.value)
            if value not in {"False", "0"} | names:
                names.discard("TYPE_CHECKING")
    return names


def _truth(node: ast.expr, names: set[str]) -> bool | None:
    match node:
        case ast.UnaryOp(op=ast.Not()):
            value = _truth(node.operand, names)
            return None if value is None else not value
        case ast.BoolOp():
            decisive = isinstance(node.op, ast.Or)
            values = [_truth(value, names) for value in node.values]
            if decisive in values:
                return decisive
            return None if None in values else not decisive
        case ast.Name() | ast.Attribute():
            return False if ast.unparse(node) in names else None
    return None


def _catches(node: ast.expr | None) -> bool:
    if node is None:
        return True
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(ast.unparse(item).split(".")[-1] in _ERRORS for item in nodes)


def _suppresses(node: ast.With | ast.AsyncWith) -> bool:
    return any(
        isinstance(call := item.context_expr, ast.Call)
        and ast.unparse(call.func).split(".")[-1] == "suppress"
        and any(_catches(argument) for argument in call.args)
        for item in node.items
    )


def _visit(
    body: list[ast.stmt], found: list[Found], names: set[str], scope: str, when: str, guarded: bool
) -> None:
    for node in body:
        match node:
            case ast.Import():
                seen: set[str] = set()
                for alias in node.names:
                    if alias.name not in seen:
                        seen.add(alias.name)
                        found.append(Found(alias.name, None, node.lineno, scope, when, guarded))
            case ast.ImportFrom():
                module = "." * node.level + (node.module or "")
                taken = tuple(alias.name for alias in node.names)
                found.append(Found(module, taken, node.lineno, scope, when, guarded))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inner = f"{scope}.{node.name}" if scope else node.name
                later = "typing" if when == "typing" else "deferred"
                _visit(node.body, found, names, inner, later, False)
            case ast.ClassDef():
                inner = f"{scope}.{node.name}" if scope else node.name
                _visit(node.body, found, names, inner, when, guarded)
            case ast.If():
                truth = _truth(node.test, names)
                _visit(node.body, found, names, scope, "typing" if truth is False else when, guarded)
                _visit(node.orelse, found, names, scope, "typing" if truth is True else when, guarded)
            case ast.Try() | ast.TryStar():
                safe = guarded or any(_catches(handler.type) for handler in node.handlers)
                _visit(node.body, found, names, scope, when, safe)
                for handler in node.handlers:
                    _visit(handler.body, found, names, scope, when, guarded)
                _visit(node.orelse, found, names, scope, when, guarded)
                _visit(node.finalbody, found, names, scope, when, guarded)
            case ast.With() | ast.AsyncWith():
                _visit(node.body, found, names, scope, when, guarded or _suppresses(node))
            case ast.For() | ast.AsyncFor() | ast.While():
                _visit(node.body, found, names, scope, when, guarded)
                _visit(node.orelse, found, names, scope, when, guarded)
            case ast.Match():
                for case in node.cases:
                    _visit(case.body, found, names, scope, when, guarded)
