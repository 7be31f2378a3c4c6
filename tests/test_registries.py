from __future__ import annotations

import pytest

from layerguard.imports.registries import NoTable, find_rows


def _rows(text: str, template: str = "app.{0}", name: str = "T") -> list[tuple[str, int, int]]:
    return [(row.module, row.span.line, row.span.column) for row in find_rows(text.encode(), name, template)]


@pytest.mark.parametrize(
    ("text", "template", "expected"),
    [
        ("T = ['a', 'b.c']", "app.{0}", [("app.a", 1, 6), ("app.b.c", 1, 11)]),
        ("T = {'k': ('a', 'b')}", "app.{0}.{1}", [("app.a.b", 1, 12)]),
        ("T = {'k': 'a'}", "app.{key}.{0}", [("app.k.a", 1, 6)]),
        ("T = {'k': 'a'}", "app.{0}.{key}", [("app.a.k", 1, 11)]),
        ("T: dict[str, str] = {\n    'k': 'a',\n}", "app.{0}", [("app.a", 2, 10)]),
        ("T = (\n    'a',\n    ['b', 'c'],\n)", "app.{0}", [("app.a", 2, 5), ("app.b", 3, 6)]),
        ("T = {'k': 'a', 'l': compute(), 'm': x}", "app.{0}", [("app.a", 1, 11)]),
        ("T = [('é', 'a')]", "app.{1}", [("app.a", 1, 12)]),
        ("x = 1\n\nT = (  # a ]\n    'a'\n    'b',\n)", "app.{0}", [("app.ab", 4, 5)]),
        ("T = MappingProxyType({'k': 'a'})", "app.{0}", [("app.a", 1, 28)]),
        ("T = []", "app.{0}", []),
        ("T = ['x']\nT = ['a']", "app.{0}", [("app.a", 2, 6)]),
        ("def f():\n    T = ['x']\nT = ['a']", "app.{0}", [("app.a", 3, 6)]),
    ],
)
def test_rows(text: str, template: str, expected: list[object]) -> None:
    assert _rows(text, template) == expected


def test_a_row_is_a_dynamic_import_that_runs_later() -> None:
    (row,) = find_rows(b"T = ['a']", "T", "app.{0}")
    assert (row.via, row.scope) == ("dynamic", "")


@pytest.mark.parametrize(
    ("text", "reason", "names"),
    [
        ("U = []\nV: int = 1\n", "has no table 'T'", ["U", "V"]),
        ("def f():\n    T = []\n", "has no table 'T'", []),
        ("T == []\n", "has no table 'T'", []),
        ("T = compute\n", "has a 'T' that is no literal dict, list or tuple", []),
        ("T = [('a',)]\n", "has a row at line 1, column 7 that does not fill 'app.{1}'", []),
    ],
)
def test_what_cannot_be_read(text: str, reason: str, names: list[str]) -> None:
    with pytest.raises(NoTable) as caught:
        _rows(text, "app.{1}")
    assert (caught.value.reason, caught.value.names) == (reason, names)
