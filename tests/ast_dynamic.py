"""What the dynamic loads of a file are according to `ast`: the second half of the reference."""

from __future__ import annotations

import ast
from importlib.util import resolve_name
from typing import NamedTuple

from ast_oracle import _catches, _suppresses, _truth, _typing_names
from typing_extensions import override

_FUNCTIONS = {
    "importlib.import_module": "import_module",
    "importlib.__import__": "__import__",
    "builtins.__import__": "__import__",
}


class Loaded(NamedTuple):
    module: str
    names: tuple[str, ...] | None
    line: int
    column: int
    scope: str
    when: str
    guarded: bool


def loads_by_ast(text: str) -> list[Loaded]:
    """Return each call of import_module or __import__ with a literal name, by place."""
    tree = ast.parse(text)
    reader = _Reader(text, tree)
    reader.visit(tree)
    return sorted(reader.found, key=lambda load: (load.line, load.column))


def _functions(tree: ast.Module) -> dict[str, str]:
    known = {"__import__": "__import__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known |= _of_module(alias)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            paths = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            known |= {bound: _FUNCTIONS[path] for bound, path in paths.items() if path in _FUNCTIONS}
    for _ in range(2):
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
                and isinstance(node.value, ast.Name | ast.Attribute)
                and ast.unparse(node.value) in known
            ):
                known[node.targets[0].id] = known[ast.unparse(node.value)]
    return known


def _of_module(alias: ast.alias) -> dict[str, str]:
    """Return what an `import importlib` makes known, under its alias; `importlib.util` does the same."""
    known = {}
    for path, function in _FUNCTIONS.items():
        module, _, name = path.partition(".")
        if alias.name == module or (alias.name.startswith(f"{module}.") and not alias.asname):
            known[f"{alias.asname or module}.{name}"] = function
    return known


class _Reader(ast.NodeVisitor):
    def __init__(self, text: str, tree: ast.Module) -> None:
        self.found: list[Loaded] = []
        self._lines = text.split("\n")
        self._functions = _functions(tree)
        self._typing = _typing_names(tree) if "TYPE_CHECKING" in text else set()
        self._around = ("", "load", False)

    def _within(self, around: tuple[str, str, bool], *nodes: ast.AST) -> None:
        before, self._around = self._around, around
        for node in nodes:
            self.visit(node)
        self._around = before

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        scope, when, _ = self._around
        for part in (*node.decorator_list, node.args, *filter(None, [node.returns])):
            self.visit(part)
        later = "typing" if when == "typing" else "deferred"
        self._within((f"{scope}.{node.name}".lstrip("."), later, False), *node.body)

    visit_FunctionDef = _function  # noqa: N815 - as NodeVisitor wants it
    visit_AsyncFunctionDef = _function  # noqa: N815

    @override
    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        scope, when, guarded = self._around
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._within((f"{scope}.{node.name}".lstrip("."), when, guarded), *node.body)

    @override
    def visit_Lambda(self, node: ast.Lambda) -> None:
        scope, when, guarded = self._around
        self.visit(node.args)
        self._within((scope, "typing" if when == "typing" else "deferred", guarded), node.body)

    @override
    def visit_If(self, node: ast.If) -> None:
        scope, when, guarded = self._around
        truth = _truth(node.test, self._typing)
        self.visit(node.test)
        self._within((scope, "typing" if truth is False else when, guarded), *node.body)
        self._within((scope, "typing" if truth is True else when, guarded), *node.orelse)

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        scope, when, guarded = self._around
        safe = guarded or any(_catches(handler.type) for handler in node.handlers)
        self._within((scope, when, safe), *node.body)
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    visit_Try = _try  # noqa: N815
    visit_TryStar = _try  # noqa: N815

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        scope, when, guarded = self._around
        for item in node.items:
            self.visit(item)
        self._within((scope, when, guarded or _suppresses(node)), *node.body)

    visit_With = _with  # noqa: N815
    visit_AsyncWith = _with  # noqa: N815

    @override
    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name | ast.Attribute):
            function = self._functions.get(ast.unparse(node.func))
            if function:
                self._load(function, node)
        self.generic_visit(node)

    def _load(self, function: str, node: ast.Call) -> None:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        order = ("name", "package") if function == "import_module" else ("name", "", "", "fromlist", "level")
        given = {**dict(zip(order, node.args, strict=False)), **keywords}
        literal = given.get("name")
        if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str):
            return
        names = None
        if function == "import_module":
            module = _absolute(literal.value, given.get("package"))
        else:
            level = given.get("level", ast.Constant(0))
            module = (
                "." * level.value + literal.value
                if isinstance(level, ast.Constant) and isinstance(level.value, int)
                else ""
            )
            if "fromlist" in given:
                names = tuple(
                    part.value
                    for part in ast.walk(given["fromlist"])
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
        parts = module.lstrip(".").split(".")
        if module and (not module.strip(".") or all(part.isidentifier() for part in parts)):
            column = len(self._lines[literal.lineno - 1].encode()[: literal.col_offset].decode()) + 1
            self.found.append(Loaded(module, names, literal.lineno, column, *self._around))


def _absolute(name: str, package: ast.expr | None) -> str:
    if not name.startswith("."):
        return name
    if isinstance(package, ast.Constant) and isinstance(package.value, str):
        return resolve_name(name, package.value)
    known = package is not None and ast.unparse(package) in {"__name__", "__package__", "__spec__.parent"}
    return name if known else ""
