from __future__ import annotations

import pytest

from layerguard.imports.base import Fault
from layerguard.imports.syntax import find_fault


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "def f[T](x: T) -> T: ...\n",
        "type A[T = int] = list[T]\n",
        "x = t'{a}'\n",
        "try:\n    pass\nexcept A, B:\n    pass\n",
        "lazy import a\nlazy from a import b\n",
        "x = f'{a['b']}'\n",
        "with (open('x') as f, g()):\n    pass\n",
        "match x:\n    case {'a': 1}:\n        pass\n",
        "\ndef f():\n\treturn 1\n\x0c\nx = 2\n",
        "x = '\\d'\n",
    ],
)
def test_python_of_any_version(text: str) -> None:
    assert find_fault(text) is None


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("x = (\n", 1, 5),  # where the bracket is that nothing closes
        ("import a\nprint 'x'\n", 2, 7),
        ("def f():\nreturn\n", 2, 1),
        ("x = 'a\n", 1, 5),
        ("<<<<<<< HEAD\nimport a\n=======\n", 1, 1),
    ],
)
def test_the_first_fault_is_told(text: str, line: int, column: int) -> None:
    fault = find_fault(text)
    assert fault is not None
    assert (fault.line, fault.column) == (line, column)
    assert fault.reason[:1] == fault.reason[:1].lower() != ""


def test_the_reason_is_the_parser_s_own() -> None:
    assert find_fault("x = (\n") == Fault(1, 5, "'(' was never closed")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("def f():\n    x = = 1\n", 2, 9),
        ("class A:\n    def g(self):\n        print 'x'\n", 3, 15),
        ("async def f():\n    def g():\n        x = 08\n", 3, 13),
    ],
)
def test_a_fault_in_the_body_of_a_function(text: str, line: int, column: int) -> None:
    fault = find_fault(text)
    assert fault is not None
    assert (fault.line, fault.column) == (line, column)
