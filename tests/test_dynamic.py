from __future__ import annotations

import pytest

from layerguard.imports import find_imports
from layerguard.imports.base import WrittenImport


def _loads(text: str) -> list[WrittenImport]:
    return [each for each in find_imports(text.encode(), {"dynamic"}).imports if each.via == "dynamic"]


def _told(text: str) -> list[tuple[str, int, int]]:
    return [(each.module, each.span.line, each.span.column) for each in _loads(text)]


@pytest.mark.parametrize(
    ("before", "call", "module", "column"),
    [
        ("import importlib", "importlib.import_module('a.b')", "a.b", 25),
        ("import importlib.util", "importlib.import_module('a')", "a", 25),
        ("import importlib as il", "il.import_module('a')", "a", 18),
        ("import importlib.util as iu", "iu.find_spec('a')", "a", 14),
        ("from importlib import util", "util.find_spec('a')", "a", 16),
        ("from importlib import import_module", "import_module('a')", "a", 15),
        ("from importlib import import_module as load", "load('a')", "a", 6),
        ("from importlib import *", "import_module('a')", "a", 15),
        ("import builtins", "builtins.__import__('a')", "a", 21),
        ("import importlib", "importlib . __import__ ('a')", "a", 25),
        ("import pkgutil", "pkgutil.resolve_name('a.b:C.d')", "a.b", 22),
        ("import runpy", "runpy.run_module(mod_name='a')", "a", 27),
        ("load = __import__", "load('a')", "a", 6),
        ("from importlib import import_module\nload = import_module\nagain = load", "again('a')", "a", 7),
        ("", "__import__('a')", "a", 12),
        ("", "__import__(name='a', level=0)", "a", 17),
        ("", "__import__('b', level=2)", "..b", 12),
        ("", "__import__('b', g, l, [], 1)", ".b", 12),
        ("", "__import__(\"a\" '.b')", "a.b", 12),
        ("", "__import__((r'a'))", "a", 13),
        ("", "[__import__('a') for x in y]", "a", 13),
        ("", "f'{__import__(\"a\")}'", "a", 15),
        ("from importlib import import_module", "import_module('.b', 'a')", "a.b", 15),
        ("from importlib import import_module", "import_module('..b', package='a.c')", "a.b", 15),
        ("from importlib import import_module", "import_module('.', 'a')", "a", 15),
        ("from importlib import import_module", "import_module('.b', __package__)", ".b", 15),
        ("from importlib import import_module", "import_module('..b', __spec__.parent)", "..b", 15),
        ("from importlib import import_module", "import_module(package=__name__, name='.b')", ".b", 38),
    ],
)
def test_a_load(before: str, call: str, module: str, column: int) -> None:
    line = before.count("\n") + 2
    assert _told(f"{before}\n{call}\n") == [(module, line, column)]


@pytest.mark.parametrize(
    "text",
    [
        "import_module('a')",
        "import importlib\nfrom settings import import_module\nimport_module('a')",
        "import importlib\nself.importlib.import_module('a')",
        "import importlib\nfrom importlib import import_module\nself . import_module('a')",
        "import importlib\nimportlib.reload('a')",
        "import importlib\nimportlib.import_module(name)",
        "import importlib\nimportlib.import_module(b'a')",
        "import importlib\nimportlib.import_module()",
        "import importlib\nimportlib.import_module(f('a'))",
        "import importlib\nimportlib.import_module('a' if x else 'b')",
        "import importlib\nimportlib.import_module('a').b.import_module('')",
        "import importlib\nimportlib.import_module('.a')",
        "import importlib\nimportlib.import_module('.a', package)",
        "import importlib\nimportlib.import_module('...a', 'b')",
        "import importlib\nimportlib.import_module('not a name')",
        "import importlib\nimportlib.import_module('a/b.py')",
        "import importlib\nimportlib.import_module('')",
        "__import__('a', level=level)",
        "__imports__('a')",
        "x.__import__('a')",
        "'__import__(\"a\")'",
        "# __import__('a')",
        "import importlib\nimportlib.import_module('a' + b)",
        "import importlib\nimportlib.import_module(f'a{b}')",
        "import importlib\nimportlib.import_module(f'{b}.a.')",
    ],
)
def test_no_load(text: str) -> None:
    told = [each for each in _told(f"{text}\n") if "import_module('a').b" not in text or each[0] != "a"]
    assert told == []


@pytest.mark.parametrize(
    "argument",
    [
        "f'a.b.{c}'",
        "f'a.b.{c}.d'",
        "'a.b.' + c",
        "'a.b.%s' % c",
        "'a.b.%s.d' % c",
        "'a.b.{}'.format(c)",
        "'a.' 'b.' + c",
    ],
)
def test_a_name_that_is_built_up(argument: str) -> None:
    (load,) = _loads(f"__import__({argument})\n")
    assert (load.module, load.open, load.span.column) == ("a.b", True, 12)


def test_what_is_known_besides_the_name() -> None:
    (load,) = _loads("import pkgutil\npkgutil.resolve_name('a.b.C')\n")
    assert (load.module, load.loose, load.guarded) == ("a.b.C", True, False)
    (load,) = _loads("import importlib.util as u\nu.find_spec('a')\n")
    assert load.guarded
    (load,) = _loads("from importlib import import_module as i\ni('.a', __name__)\n")
    assert (load.anchor, load.names) == ("module", None)
    (load,) = _loads("__import__('a', fromlist=['b', x, 'c'])\n")
    assert load.anchor == "package"
    assert load.names is not None
    assert [(name.name, name.span.column) for name in load.names] == [("b", 27), ("c", 35)]


@pytest.mark.parametrize(
    ("text", "scope", "when", "guarded"),
    [
        ("__import__('a')", "", "load", False),
        ("class C:\n  def f(self): __import__('a')", "C.f", "deferred", False),
        ("def f(x=__import__('a')): pass", "", "load", False),
        ("x = lambda: __import__('a')", "", "deferred", False),
        ("try:\n  __import__('a')\nexcept ImportError: pass", "", "load", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING: __import__('a')", "", "typing", False),
    ],
)
def test_where_it_stands(text: str, scope: str, when: str, guarded: bool) -> None:
    (load,) = _loads(f"{text}\n")
    assert (load.scope, load.when, load.guarded) == (scope, when, guarded)


def test_dynamic_loads_are_found_only_when_they_count() -> None:
    assert find_imports(b"__import__('a')\n", ()).imports == ()
