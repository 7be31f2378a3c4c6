from __future__ import annotations

import pytest
from graphs import modules

from layerguard.code import Code
from layerguard.imports import find_imports
from layerguard.imports.statements import find_statements
from layerguard.model import Import
from layerguard.resolve import Resolver
from layerguard.sources import Problem, Source

_MODULES = modules(
    "app.a.deep.m", "app.a.m", "app.b.x", "app.b.y", "scripts.helper", "scripts.run", folders=["scripts"]
)
_RESOLVER = Resolver(_MODULES, frozenset({"scripts"}), lambda _module, _name: True)


def _source(module: str) -> Source:
    known = _MODULES[module]
    return Source(known.path, module, known.is_package, known.path)


def _resolved(module: str, text: str) -> list[object]:
    """Return what is imported, its column and the names taken; of a problem its place and reason."""
    found: list[object] = []
    for written in find_statements(Code(text)):
        for item in _RESOLVER.resolve(_source(module), written):
            if isinstance(item, Problem):
                found.append((item.path, item.line, item.column, item.reason))
            else:
                found.append((item.imported, item.location.column, *(name.name for name in item.names)))
    return found


@pytest.mark.parametrize(
    ("module", "text", "expected"),
    [
        ("app.a.m", "import app.b.x", [("app.b.x", 8)]),
        ("app.a.m", "import app.gone.x", [("app.gone.x", 8)]),
        ("app.a.m", "import google.cloud.storage", [("google.cloud.storage", 8)]),
        ("app.a.m", "from app.b import x", [("app.b.x", 19)]),
        ("app.a.m", "from app.b import x, y", [("app.b.x", 19), ("app.b.y", 22)]),
        (
            "app.a.m",
            "from app.b import x, N, y, M",
            [("app.b", 6, "N", "M"), ("app.b.x", 19), ("app.b.y", 25)],
        ),
        ("app.a.m", "from app.b import *", [("app.b", 6, "*")]),
        ("app.a.m", "from app.gone import x", [("app.gone", 6, "x")]),
        ("app.a.m", "from lib.sub import X", [("lib.sub", 6, "X")]),
        ("app.a.m", "from . import m", [("app.a.m", 15)]),
        ("app.a.m", "from .deep import m", [("app.a.deep.m", 19)]),
        ("app.a.m", "from .. import b", [("app.b", 16)]),
        ("app.a.m", "from ..b.x import N", [("app.b.x", 6, "N")]),
        ("app.a.m", "from .gone import N", [("app.a.gone", 6, "N")]),
        ("app.a", "from . import m", [("app.a.m", 15)]),
        ("app.a", "from .. import b", [("app.b", 16)]),
        ("app.a.deep.m", "from ...b import x", [("app.b.x", 18)]),
        ("app", "from . import N", [("app", 6, "N")]),
        ("scripts.run", "import helper", [("scripts.helper", 8)]),
        ("scripts.run", "import helper.x", [("scripts.helper.x", 8)]),
        ("scripts.run", "from helper import N", [("scripts.helper", 6, "N")]),
        ("scripts.run", "import app", [("app", 8)]),
        ("scripts.run", "from . import helper", [("scripts.helper", 15)]),
        ("app.a.m", "import helper", [("helper", 8)]),
        ("app.a.m", "import m", [("m", 8)]),
    ],
)
def test_what_a_statement_names(module: str, text: str, expected: list[object]) -> None:
    assert _resolved(module, text) == expected


@pytest.mark.parametrize(
    ("module", "text", "written"),
    [
        ("app.a.m", "from ... import x", "..."),
        ("app.a.m", "from ....b import x", "....b"),
        ("app", "from .. import x", ".."),
        ("app.a", "x; from ...b import x", "...b"),
    ],
)
def test_above_the_top(module: str, text: str, written: str) -> None:
    path = _MODULES[module].path
    assert _resolved(module, text) == [
        (path, 1, text.index("from") + 6, f"the relative import '{written}' goes above the top")
    ]


def test_a_name_keeps_its_own_place_and_the_import_what_is_around_it() -> None:
    text = "try:\n    def f():\n        from app.b import (\n            N,\n        )\nfinally: pass\n"
    (written,) = find_imports(text.encode(), ()).imports
    (item,) = _RESOLVER.resolve(_source("app.a.m"), written)
    assert isinstance(item, Import)
    assert (item.importer, item.scope, item.when, item.via) == ("app.a.m", "f", "deferred", "import")
    place = item.names[0].location
    assert (place.path, place.line, place.column, place.end_line, place.end_column) == (
        "app/a/m.py",
        4,
        13,
        4,
        14,
    )


def _dynamic(module: str, call: str) -> list[tuple[str, tuple[str, ...]]]:
    text = f"import importlib, pkgutil\n{call}\n"
    return [
        (item.imported, tuple(name.name for name in item.names))
        for written in find_imports(text.encode(), {"dynamic"}).imports
        if written.via == "dynamic"
        for item in _RESOLVER.resolve(_source(module), written)
        if isinstance(item, Import)
    ]


@pytest.mark.parametrize(
    ("module", "call", "expected"),
    [
        ("app.a.m", "importlib.import_module('..b.x', __package__)", [("app.b.x", ())]),
        ("app.a", "importlib.import_module('..b.x', __package__)", [("app.b.x", ())]),
        ("app.a", "importlib.import_module('..b', __name__)", [("app.b", ())]),
        ("app.a.m", "importlib.import_module('..b', __name__)", [("app.a.b", ())]),
        ("app.a.m", "importlib.import_module('.b', __name__)", [("app.a.m.b", ())]),
        ("app.a.m", "__import__('b', None, None, ['x', 'N'], 2)", [("app.b", ("N",)), ("app.b.x", ())]),
        ("app.a.m", "pkgutil.resolve_name('app.b.x.C.d')", [("app.b.x", ("C.d",))]),
        ("app.a.m", "pkgutil.resolve_name('app.b.x:C')", [("app.b.x", ())]),
        ("app.a.m", "pkgutil.resolve_name('lib.x.C')", [("lib.x.C", ())]),
        ("app.a.m", "importlib.import_module(f'app.b.{x}')", [("app.b", ())]),
        ("app.a.m", "importlib.import_module('lib.' + x)", [("lib", ())]),
        ("app.a.m", "importlib.import_module(f'app.b.x.{x}')", []),
    ],
)
def test_what_a_dynamic_load_names(module: str, call: str, expected: list[object]) -> None:
    assert _dynamic(module, call) == expected
