"""Strings that name a module: where they stand, which of them count, and what they are resolved to."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerguard.imports import find_imports
from layerguard.imports.base import WrittenImport
from layerguard.model import Import
from layerguard.reading import read_imports
from layerguard.sources import read_tree


def find(text: str) -> list[WrittenImport]:
    findings = find_imports(text.encode(), {"string"})
    assert findings.fault is None
    return [each for each in findings.imports if each.via == "string"]


def names(text: str) -> list[str]:
    """What the strings name: `a.b`, `a.b:name`, or `a.b.` for a literal beginning."""
    return [
        each.module + "." * each.open + "".join(f":{name.name}" for name in each.names or ())
        for each in find(text)
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x = 'app.old'", (1, 5, 1, 14)),
        ("x = 'é', 'app.old'", (1, 10, 1, 19)),
        ("x = (\n    r'app.'\n    u'old'\n)", (2, 5, 3, 11)),
        ("x = 'app.' \\\n  'old'", (1, 5, 2, 8)),
        ("x = '''app.old'''", (1, 5, 1, 18)),
        ("x = 'app.\\\nold'", (1, 5, 2, 5)),
        ("x = f'app.{y}'", (1, 5, 1, 15)),
        ("x = 'app.%s' % y", (1, 5, 1, 13)),
        ("x = f'{y['app.old']}'", (1, 10, 1, 19)),
        ("def f(): return 'app.old'", (1, 17, 1, 26)),
        ("\x0cx = 'app.old'\r\n", (1, 6, 1, 15)),
    ],
)
def test_places(text: str, place: tuple[int, int, int, int]) -> None:
    [found] = find(text)
    span = found.span
    assert (span.line, span.column, span.end_line, span.end_column) == place


@pytest.mark.parametrize(
    ("text", "scope", "when"),
    [
        ("class A:\n    x = 'app.old'\n", "A", "load"),
        ("def f(x='app.old'): pass\n", "", "load"),
        ("@patch('app.old.x')\ndef f(): pass\n", "", "load"),
        ("class A:\n    def f(self):\n        return ['app.old']\n", "A.f", "deferred"),
        ("x = lambda: 'app.old'\n", "", "deferred"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    x = 'app.old'\n", "", "typing"),
    ],
)
def test_scope_and_time(text: str, scope: str, when: str) -> None:
    [found] = find(text)
    assert (found.scope, found.when, found.via) == (scope, when, "string")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # as a whole
        ("x = 'app'", []),
        ("x = 'app.old '", []),
        ("x = ' app.old'", []),
        ("x = 'app..old'", []),
        ("x = '.app.old'", []),
        ("x = 'app.old.'", []),
        ("x = 'app.1st'", []),
        ("x = 'app/old.py'", []),
        ("x = 'app.old-x'", []),
        ("x = 'see app.old'", []),
        ("x = 'app.old:a b'", []),
        ("x = 'app.old:'", []),
        ("x = 'app.größe'", ["app.größe"]),
        ("x = 'app:Thing'", ["app:Thing"]),
        ("x = 'app.old:Thing.make'", ["app.old:Thing.make"]),
        ("x = r'app.old', R'app.old', u'app.old'", ["app.old"] * 3),
        # docstrings, statements of their own, bytes
        ("'app.old'\n", []),
        ("def f():\n    'app.old'\n", []),
        ("def f(): 'app.old'\n", []),
        ("x = 1\n'app.old'; y = 2\n", []),
        ("x = b'app.old', br'app.old', b'app.' b'old'", []),
        ("'app.old'.split()\n", ["app.old"]),
        # built up
        ("x = f'app.old'", ["app.old"]),
        ("x = f'app.old.{y}'", ["app.old."]),
        ("x = f'app.old.{y}.z'", ["app.old."]),
        ("x = f'app.old.{y}:{z!r:>10}'", ["app.old."]),
        ("x = f'app.old{y}'", []),
        ("x = f'{y}.app.old'", []),
        ("x = 'app.' f'old.{y}'", ["app.old."]),
        ("x = 'app.old.' + y", ["app.old."]),
        ("x = y + 'app.old.x'", ["app.old.x"]),
        ("x = 'app.old' + y", []),
        ("x = 'app.old.%s.z' % y", ["app.old."]),
        ("x = 'app.old.{}'.format(y)", ["app.old."]),
        ("x = 'app.old.{}' . format (y)", ["app.old."]),
        ("x = 'app.old.'; y += z", []),
        # prose that begins with a path
        ("x = f'app.old.{y} is gone'", []),
        ("x = 'app.old.%s is gone' % y", []),
        ("x = 'app.old.{} is ' 'gone'.format(y)", []),
        ("x = f'app.old.{y if z else w}'", ["app.old."]),
        # loggers
        ("x = logging.getLogger('app.old')", []),
        ("x = getLogger(\n    name='app.old'\n)", []),
        ("x = get_task_logger('app.old')", []),
        ("with self.assertLogs('app.old', level='INFO'): pass", []),
        ("with self.assertNoLogs(logger='app.old'): pass", []),
        ("caplog.set_level(logging.DEBUG, logger='app.old')", []),
        ("LOGGER_NAME: str = 'app.old'", []),
        ("class A:\n    _logger_name = 'app.old'", []),
        ("x == ('app.old', logging.INFO, 'message')", []),
        ("x = {'loggers': {'app.old': {'handlers': ['app.new']}}}", ["app.new"]),
        ("loggers: list[str] = ['app.old', 'app.older']", []),
        ("run(loggers=['app.old'])", []),
        ("logger_class = 'app.old.Logger'", ["app.old.Logger"]),
        ("loggers = {}\nx = ['app.old']", ["app.old"]),
        # groups of entry points
        ("x = entry_points(group='app.old')", []),
        ("x = iter_entry_points('app.old')", []),
        ("x = entry_points().select(group='app.old')", []),
        ("x = Group(group='app.old')", ["app.old"]),
        # files
        ("x = path / 'app.old'", []),
        ("x = path / 'app.old' / 'x'", []),
        ("x = path // 'app.old'", ["app.old"]),
        ("x = os.path.join(root, 'app.old')", []),
        ("x = root.joinpath('app.old')", []),
        ("x = open('app.old'), Path('app.old')", []),
        ("x = zipfile.open('app.old')", ["app.old"]),
        ("x = path; ','.join(('app.old', y))", ["app.old"]),
    ],
)
def test_which_count(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        ("patch('app.x')", True),
        ("mock.patch(\n  'app.x')", True),
        ("patch(target='app.x')", True),
        ("patch.dict('app.x')", True),
        ("mocker.patch.multiple('app.x')", True),
        ("monkeypatch.setattr('app.x', 1)", True),
        ("monkeypatch.delattr('app.x')", True),
        ("import_string('app.x')", True),
        ("dispatch('app.x')", False),
        ("patch(y, 'app.x')", False),
        ("x = 'app.x'", False),
        ("x = 'app.x:y'", True),
        ("x = 'app:y'", False),
    ],
)
def test_sure(text: str, is_sure: bool) -> None:
    assert [each.sure for each in find(text)] == [is_sure]


def test_the_literal_of_a_dynamic_load_is_no_string_besides() -> None:
    text = "import importlib\nimportlib.import_module('app.old')\nx = 'app.old'\n"
    for via in ({"string"}, {"dynamic", "string"}):
        found = find_imports(text.encode(), via).imports
        assert [each.span.line for each in found if each.via == "string"] == [3]


PROJECT = {
    "app/__init__.py": "import json\n\nfrom app.images import codec\n\nsession = 1\n",
    "app/images/__init__.py": "",
    "app/images/codec.py": "def load(): ...\nclass Codec: ...\n",
    "app/lazy.py": "TABLE = {'any': '.x'}\ndef __getattr__(name): ...\n",
    "app/plain/deep/x.py": "",
    "main.py": "run = 1\n",
    "tests/helper.py": "x = 1\n",
}


def resolved(root: Path, text: str, outside: tuple[str, ...] = ()) -> list[Import]:
    for path, content in {**PROJECT, "tests/test_x.py": text}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    found = read_imports(read_tree(root, None, []), (), {"string"}, outside).imports
    return [each for each in found if each.location.path == "tests/test_x.py"]


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("'app.images'", ("app.images", [], False)),
        ("'app.images.codec'", ("app.images.codec", [], False)),
        ("'app.images.codec.load'", ("app.images.codec", ["load"], False)),
        ("'app.images.codec:load'", ("app.images.codec", ["load"], False)),
        ("'app.images.codec.Made.here'", ("app.images.codec", ["Made.here"], False)),
        ("'app.images.codec.gone'", ("app.images.codec", ["gone"], True)),
        ("'app.images.codec:gone'", ("app.images.codec", ["gone"], False)),
        ("patch('app.images.codec.gone')", ("app.images.codec", ["gone"], False)),
        ("'app.gone.deep'", ("app", ["gone.deep"], True)),
        ("'app.session.begin'", ("app", ["session.begin"], False)),
        ("'app.json'", ("app", ["json"], True)),
        ("'app.images.png'", ("app.images", ["png"], True)),
        ("patch('app.json')", ("app", ["json"], False)),
        ("'app.lazy.any'", ("app.lazy", ["any"], False)),
        ("'app.lazy.other'", ("app.lazy", ["other"], True)),
        ("'app.plain.deep'", ("app.plain.deep", [], False)),
        ("'app.plain.gone'", ("app.plain", ["gone"], True)),
        ("patch('app.plain.gone')", ("app.plain", ["gone"], False)),
        ("'main:run'", ("main", ["run"], False)),
        ("'main:gone'", ("main", ["gone"], True)),
        ("f'app.images.{x}'", ("app.images", [], False)),
        ("f'app.gone.{x}'", ("app.gone", [], True)),
        ("f'app.images.codec.{x}'", None),
        ("'elsewhere.x'", None),
        ("'outer.x'", ("outer.x", [], False)),
        ("'outer.x.yaml'", ("outer.x.yaml", [], True)),
        ("'outer:X'", ("outer", ["X"], False)),
        ("'outer:x'", ("outer", ["x"], True)),
        ("'helper.x'", None),
        ("patch('helper.x')", ("tests.helper", ["x"], False)),
    ],
)
def test_resolved(tmp_path: Path, literal: str, expected: tuple[str, list[str], bool] | None) -> None:
    found = resolved(tmp_path, f"y = [{literal}]\n", ("outer",))
    assert [(each.imported, [name.name for name in each.names], each.unknown) for each in found] == (
        [] if expected is None else [expected]
    )


_WORD = st.sampled_from(["app", "old", "x", "_y", "größe", "", " ", "1"])
_JOINT = st.sampled_from([".", ".", ".", ":", "..", "/"])
_VALUE = st.lists(st.tuples(_WORD, _JOINT), min_size=1, max_size=4).map(
    lambda parts: "".join(word + joint for word, joint in parts)[:-1]
)
_QUOTE = st.sampled_from(["'", '"', "'''", '"""'])
_LITERAL = st.builds(
    lambda value, prefix, quote: f"{prefix}{quote}{value}{quote}",
    _VALUE,
    st.sampled_from(["", "r", "u", "b", "Rb", "f"]),
    _QUOTE,
)
_FORMATTED = st.builds(
    lambda value, tail: f"f'{value}.{{x}}{tail}'", _VALUE, st.sampled_from(["", ".z", " z"])
)
_EXPRESSION = st.one_of(
    _LITERAL,
    _FORMATTED,
    st.builds("{} + x".format, _LITERAL),
    st.builds("x + {}".format, _LITERAL),
    st.builds("{}.format(x)".format, _LITERAL),
    st.builds("({},\n  {})".format, _LITERAL, _LITERAL),
    st.builds("{{{}: [x]}}".format, _LITERAL),
    st.builds("call(x, key={})".format, _LITERAL),
)
_LINE = st.one_of(
    st.builds("é = {}".format, _EXPRESSION),
    _EXPRESSION,
    st.builds("def f(a={}): {}".format, _EXPRESSION, _EXPRESSION),
    st.builds("class A:\n    {}\n    b = {}".format, _EXPRESSION, _EXPRESSION),
    st.builds("# {}".format, _LITERAL),
)


class _Reference(ast.NodeVisitor):
    """The same by way of `ast`: the place of each string that counts, and what is literal of its path."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.found: list[tuple[int, int, str]] = []
        self.visit(ast.parse(text))

    def add(self, node: ast.expr, *, built: bool) -> None:
        head, literal, has_fields = _literal(node)
        built |= has_fields
        parts = re.split("[.:]", head[:-1] if built else head)
        is_path = all(part.isidentifier() for part in parts) and head.count(":") <= (not built)
        fits = head.endswith(".") and not re.search(r"\s", literal) if built else len(parts) > 1
        if is_path and fits:
            column = len(self.lines[node.lineno - 1].encode()[: node.col_offset].decode()) + 1
            self.found.append((node.lineno, column, head))

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant | ast.JoinedStr) or _literal(node.value)[2]:
            self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.add(node, built=False)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.add(node, built=False)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.left(node.left)
        self.visit(node.right)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            self.left(node.func.value)
        for each in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.visit(each)

    def left(self, node: ast.expr) -> None:
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            self.add(node, built=True)
        else:
            self.visit(node)


def _literal(node: ast.expr) -> tuple[str, str, bool]:
    """Return what a string says before its first field, all that is literal, whether it has fields."""
    if isinstance(node, ast.Constant):
        return str(node.value), str(node.value), False
    assert isinstance(node, ast.JoinedStr)
    parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
    head = parts[0] if parts and isinstance(parts[0], str) else ""
    return head, "".join(str(part) for part in parts if part is not None), None in parts


@given(st.lists(_LINE, min_size=1, max_size=6).map("\n".join))
def test_the_same_strings_as_by_ast(text: str) -> None:
    try:
        expected = _Reference(text).found
    except SyntaxError:  # bytes that are no ASCII
        return
    found = [
        (each.span.line, each.span.column, name) for each, name in zip(find(text), names(text), strict=True)
    ]
    assert sorted(found) == sorted(expected)
