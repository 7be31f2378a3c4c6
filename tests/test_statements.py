from __future__ import annotations

import pytest

from layerguard.code import Code
from layerguard.imports import find_imports
from layerguard.imports.statements import find_statements


def _found(text: str) -> list[tuple[str, tuple[str, ...] | None, int, int]]:
    return [
        (
            each.module,
            None if each.names is None else tuple(name.name for name in each.names),
            each.span.line,
            each.span.column,
        )
        for each in find_statements(Code(text))
        if not each.repeated
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.b", [("a.b", None, 1, 8)]),
        ("import a . b , c as d", [("a.b", None, 1, 8), ("c", None, 1, 16)]),
        ("import a, a", [("a", None, 1, 8)]),
        ("import a, a as b", [("a", None, 1, 8)]),
        ("import a; import b", [("a", None, 1, 8), ("b", None, 1, 18)]),
        ("from a import b, c as d", [("a", ("b", "c"), 1, 6)]),
        ("from a import (\n    b,  # c\n    d,\n)", [("a", ("b", "d"), 1, 6)]),
        ("from.import a", [(".", ("a",), 1, 5)]),
        ("from . . .a import b", [("...a", ("b",), 1, 6)]),
        ("from .... import a", [("....", ("a",), 1, 6)]),
        ("from a import*", [("a", ("*",), 1, 6)]),
        ("from a import(b)", [("a", ("b",), 1, 6)]),
        ("from \\\n  a.b \\\n  import c", [("a.b", ("c",), 2, 3)]),
        ("import \\\n a", [("a", None, 2, 2)]),
        ("if x: import a", [("a", None, 1, 14)]),
        ("lambda: 0; from a import b", [("a", ("b",), 1, 17)]),
        ("x = 1;from a import b", [("a", ("b",), 1, 12)]),
        ("yield from x\nimport a", [("a", None, 2, 8)]),
        ("raise E from e; import a", [("a", None, 1, 24)]),
        ("import ﬁne", [("fine", None, 1, 8)]),
        ("imported = important = x.import_", []),
        ("'import a'  # import b", []),
        ("x = '''\nimport a\n'''", []),
    ],
)
def test_every_form(text: str, expected: list[object]) -> None:
    assert _found(text) == expected


def test_where_names_stand_and_what_they_are_called_here() -> None:
    (each,) = find_statements(Code("from a import (\n  b,\n  c as d,\n)"))
    assert each.names is not None
    assert [(n.name, n.bound, n.span.line, n.span.column, n.span.end_column) for n in each.names] == [
        ("b", "b", 2, 3, 4),
        ("c", "d", 3, 3, 4),
    ]
    bound = [each.bound for each in find_statements(Code("import a.b, c.d as e"))]
    assert bound == ["a", "e"]


@pytest.mark.parametrize(
    ("text", "lazy"),
    [
        ("lazy import a", True),
        ("lazy from a import b", True),
        ("x = 1; lazy import a", True),
        ("import lazy", False),
        ("from lazy import a", False),
        ("from a import lazy", False),
        ("lazy = 1; import a", False),
        ("x.lazy; import a", False),
    ],
)
def test_lazy(text: str, lazy: bool) -> None:
    (each,) = find_statements(Code(text))
    assert each.lazy is lazy


def test_at_the_margin_is_only_what_begins_a_line_of_code() -> None:
    text = "import a\n import b\nx; import c\nfrom d import e\nlazy import f"
    assert [each.at_margin for each in find_statements(Code(text))] == [True, False, False, True, False]


_NEWER = {
    "type parameters": (
        "def f[T: (int, str) = int](x: T) -> T:\n    import a\nclass C[*Ts, **P]:\n    from b import c\n",
        [("a", 2, 12, "f", "deferred"), ("b", 4, 10, "C", "load")],
    ),
    "type aliases": (
        "type A[T] = dict[str, T]\ntype = 1\nimport a\n",
        [("a", 3, 8, "", "load")],
    ),
    "nested quotes": (
        "x = f'{y['import no']}' + f\"{f\"{'import no'}\"}\"; import a\n",
        [("a", 1, 57, "", "load")],
    ),
    "fields over lines": (
        "x = f'{\n    y  # import no }'\n} import no'; import a\n",
        [("a", 3, 22, "", "load")],
    ),
    "backslashes in fields": (
        "x = f'{'\\n'.join(y)} import no'\nimport a\n",
        [("a", 2, 8, "", "load")],
    ),
    "template strings": (
        "x = t'import no {y!r:>{z}}' rt'\\{y}'\nimport a\n",
        [("a", 2, 8, "", "load")],
    ),
    "lazy imports": (
        "lazy import a, b.c\nlazy from . import d\nif x:\n    lazy from e import f\n",
        [
            ("a", 1, 13, "", "deferred"),
            ("b.c", 1, 16, "", "deferred"),
            (".", 2, 11, "", "deferred"),
            ("e", 4, 15, "", "deferred"),
        ],
    ),
    "lazy under type checking": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    lazy import a\n",
        [("typing", 1, 6, "", "load"), ("a", 3, 17, "", "typing")],
    ),
}


@pytest.mark.parametrize("name", _NEWER)
def test_syntax_newer_than_the_interpreter(name: str) -> None:
    text, expected = _NEWER[name]
    findings = find_imports(text.encode(), ())
    assert findings.fault is None
    assert [(i.module, i.span.line, i.span.column, i.scope, i.when) for i in findings.imports] == expected


def test_except_without_brackets() -> None:
    text = "try:\n    import a\nexcept ValueError, ImportError:\n    import b\n"
    found = find_imports(text.encode(), ()).imports
    assert [(i.module, i.span.line, i.guarded) for i in found] == [("a", 2, True), ("b", 4, False)]
    starred = "try:\n    import a\nexcept* KeyError, OSError:\n    import b\n"
    found = find_imports(starred.encode(), ()).imports
    assert [(i.module, i.guarded) for i in found] == [("a", False), ("b", False)]


@pytest.mark.parametrize(
    ("value", "when"),
    [
        ("False", "typing"),
        ("0", "typing"),
        ("TC = False", "typing"),
        ("compute()", "load"),
        ("a.b", "load"),
        ("not x", "load"),
    ],
)
def test_a_type_checking_that_the_file_sets_itself(value: str, when: str) -> None:
    text = f"TYPE_CHECKING = {value}\nif TYPE_CHECKING:\n    import a\n"
    assert [each.when for each in find_imports(text.encode(), ()).imports] == [when]
