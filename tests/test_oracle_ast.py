"""The scanner finds what `ast` finds: on real files, and on files made from a grammar of awkward pieces."""

from __future__ import annotations

import ast
import random
import sysconfig
import warnings
from codecs import BOM_UTF8
from pathlib import Path
from unicodedata import normalize

import pytest
from ast_dynamic import Loaded, loads_by_ast
from ast_oracle import Found, imports_by_ast
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modules_made import modules
from written import statements

from layerguard.code import Code
from layerguard.code.decoding import Unreadable, decode
from layerguard.imports import find_imports
from layerguard.imports.base import Span
from layerguard.imports.statements import Statement

_SEED = 20
_LIBRARY = Path(sysconfig.get_path("stdlib"))
_PACKAGES = ("_pytest", "click", "coverage", "hypothesis", "msgspec", "mypy", "pygments", "rich")


def _files(folder: Path, count: int) -> list[Path]:
    every = sorted(
        path for path in folder.rglob("*.py") if "site-packages" not in path.relative_to(folder).parts
    )
    return random.Random(_SEED).sample(every, min(count, len(every)))  # noqa: S311 - no secret


def _compare(data: bytes, where: object = "") -> int:
    """Compare one file, and return the number of imports in it; -1 for a file that `ast` refuses."""
    try:
        text = decode(data)
        expected = imports_by_ast(text)
    except (Unreadable, SyntaxError, ValueError):
        return -1
    findings = find_imports(data, {"dynamic"})
    assert findings.fault is None, where
    code = Code(text)
    written = list(statements(code))
    lines = {statement.span: code.place(begin)[0] for statement, begin in written}
    found = [
        Found(
            each.module,
            None if each.names is None else tuple(name.name for name in each.names),
            lines[each.span],
            each.scope,
            each.when,
            each.guarded,
        )
        for each in findings.imports
        if each.via == "import"
    ]
    assert sorted(found, key=repr) == sorted(expected, key=repr), where
    _compare_places(text, code, written, where)
    loads = [
        Loaded(
            each.module,
            None if each.names is None else tuple(name.name for name in each.names),
            each.span.line,
            each.span.column,
            each.scope,
            each.when,
            each.guarded,
        )
        for each in findings.imports
        if each.via == "dynamic" and not each.open
    ]
    if not any(word in text for word in ("find_spec", "resolve_name", "run_module")):
        expected_loads = loads_by_ast(text) if "__import__" in text or "importlib" in text else []
        assert loads == expected_loads, where
    return len(found)


def _compare_places(text: str, code: Code, written: list[tuple[Statement, int]], where: object) -> None:
    """Hold the place of each module and name against that of `ast`, and the text there against the name."""
    lines = text.split("\n")
    named: list[tuple[Span, str]] = []
    begun: list[tuple[int, int, str]] = []
    for statement, begin in written:
        between = text[begin : statement.offset].replace("\\\n", "")
        begun.append((*code.place(begin), statement.module))
        if statement.names is None:
            named.append((statement.span, statement.module))
        else:
            assert between.strip(" \t\f") == "from", where
            named += [(name.span, name.name) for name in statement.names]
            assert _text(lines, statement.span) == statement.module, where
    for span, name in named:
        assert _text(lines, span) == name, where
    from_ast: list[tuple[int, int, str]] = []
    begun_ast: list[tuple[int, int, str]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            seen: set[str] = set()
            for alias in node.names:
                if isinstance(node, ast.ImportFrom) or alias.name not in seen:
                    from_ast.append((*_place(lines, alias), alias.name))
                if isinstance(node, ast.Import) and alias.name not in seen:
                    begun_ast.append((*_place(lines, node), alias.name))
                seen.add(alias.name)
            if isinstance(node, ast.ImportFrom):
                begun_ast.append((*_place(lines, node), "." * node.level + (node.module or "")))
    assert sorted((span.line, span.column, name) for span, name in named) == sorted(from_ast), where
    assert sorted(begun) == sorted(begun_ast), where


def _place(lines: list[str], node: ast.alias | ast.stmt) -> tuple[int, int]:
    before = lines[node.lineno - 1].encode("utf-8", "surrogatepass")[: node.col_offset]
    return node.lineno, len(before.decode("utf-8", "surrogatepass")) + 1


def _text(lines: list[str], span: Span) -> str:
    """Return the text of a span as a name: without blanks and line joins, as Python compares names."""
    if span.line == span.end_line:
        text = lines[span.line - 1][span.column - 1 : span.end_column - 1]
    else:
        middle = lines[span.line : span.end_line - 1]
        text = "\n".join(
            [
                lines[span.line - 1][span.column - 1 :],
                *middle,
                lines[span.end_line - 1][: span.end_column - 1],
            ]
        )
    return normalize("NFKC", "".join(text.replace("\\\n", "").split()))


@pytest.mark.parametrize("part", range(4))
def test_files_of_the_standard_library(part: int) -> None:
    found = [_compare(path.read_bytes(), path) for path in _files(_LIBRARY, 180)[part::4]]
    assert sum(found) > 120
    assert found.count(-1) < 4


@pytest.mark.parametrize("package", _PACKAGES)
def test_files_of_packages(package: str) -> None:
    found = [
        _compare(path.read_bytes(), path)
        for path in _files(Path(sysconfig.get_path("purelib")) / package, 15)
    ]
    assert sum(found) > 5
    assert -1 not in found


@pytest.mark.real
@pytest.mark.parametrize("part", range(16))
def test_files_of_the_benchmarks(part: int) -> None:
    """Some 37,000 files of twelve packages, where `python -m benchmarks` has fetched them."""
    every = sorted((Path(__file__).parent.parent / "build/benchmarks/trees/twelve").rglob("*.py"))
    if not every:
        pytest.skip("needs the files that python -m benchmarks fetches")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [_compare(path.read_bytes(), path) for path in every[part::16]]
    assert sum(found) > 10_000
    assert found.count(-1) < 100


@settings(
    deadline=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(modules(), st.sampled_from([b"", b"", BOM_UTF8]), st.sampled_from(["\n", "\n", "\r\n", "\r"]))
def test_modules_made_of_awkward_pieces(text: str, mark: bytes, end: str) -> None:
    ast.parse(text)  # the grammar makes Python only
    assert _compare(mark + text.replace("\n", end).encode(), text) >= 0


def test_the_grammar_makes_every_kind_of_import() -> None:
    """What is compared above is not nothing: among some examples there is each value of each field."""
    whens: set[str] = set()
    guarded: set[bool] = set()
    scoped: set[bool] = set()
    loaded: set[str] = set()

    @settings(deadline=None, max_examples=80, database=None, derandomize=True)
    @given(modules())
    def look(text: str) -> None:
        for each in imports_by_ast(text):
            whens.add(each.when)
            guarded.add(each.guarded)
            scoped.add(bool(each.scope))
        loaded.update(each.when for each in loads_by_ast(text))

    look()
    assert whens == {"load", "deferred", "typing"}
    assert guarded == scoped == {False, True}
    assert {"load", "deferred"} <= loaded
