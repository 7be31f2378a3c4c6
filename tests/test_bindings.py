from __future__ import annotations

import pytest

from layerguard.bindings import bound_names, spoken_names


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("import a.b\nimport c.d as e\n", {"a", "e"}),
        ("from a.b import c, d as e\n", {"c", "e"}),
        ("from a import (  # no\n    b,\n    c as d,\n)\n", {"b", "d"}),
        ("lazy from a import b\n", {"lazy", "b"}),
        ("X: int = 1\n", {"X", "int", "1"}),
        ("def f(x): y = 1\n", {"f"}),
        ("async def f(): ...\nclass C(D): z = 1\n", {"f", "C"}),
        ("def f():\n    global g, h\n    import i\n    j = 1\n", {"f", "g", "h"}),
        ("if x:\n    def f(): ...\n    y = f(z=w)\n", {"if", "x", "f", "y", "w"}),
        ("for i, (j, *k) in x.y: pass\n", {"for", "i", "j", "k", "in", "x", "pass"}),
        ("text = 'gone'  # gone\n", {"text"}),
        ("if (n := f()): pass\n", {"if", "n", "f", "pass"}),
        ("x.gone = y . gone\n", {"x", "y", "gone"}),  # a blank behind the dot: counted, to be sure
        ("", set()),
    ],
)
def test_every_word_that_may_be_bound(text: str, bound: set[str]) -> None:
    assert bound_names(text.encode()) == frozenset(bound)


@pytest.mark.parametrize(
    "text",
    [
        "from a import *\n",
        "from . import (*)\n",
        "def __getattr__(name): ...\n",
        "from a import __getattr__\n",
        "globals()['x'] = 1\n",
        "vars().update(x=1)\n",
        "exec(code)\n",
        "setattr(module, 'x', 1)\n",
        "import sys\nsys.modules[__name__] = x\n",
        "import sys\nsys . modules[__name__].x = 1\n",
        "m.__dict__.update(x)\n",
    ],
)
def test_what_makes_the_names_unseen(text: str) -> None:
    assert bound_names(text.encode()) is None


def test_a_file_that_is_no_text_is_unseen() -> None:
    assert bound_names(b"x = 1\0") is None
    assert bound_names(b"# coding: nonsense\nx = 1\n") is None


def test_words_in_strings_and_comments_make_nothing_unseen() -> None:
    assert bound_names(b"x = 'globals()'  # exec, from a import *\n") == frozenset({"x"})
    assert bound_names(b"x.exec()\ny.globals\n") == frozenset({"x", "y"})


def test_what_a_module_makes_on_demand_stands_in_its_text() -> None:
    lazy = b'TABLE = {"Thing": ".things"}  # and Other\ndef __getattr__(name): ...\n'
    assert bound_names(lazy) is None
    spoken = spoken_names(lazy)
    assert spoken is not None
    assert {"Thing", "Other", "things"} <= spoken
    assert "chord_unlock" not in spoken
    assert spoken_names(b"import os\n") == frozenset({"os"})
    assert spoken_names(b"from .all import *\ndef __getattr__(name): ...\n") is None
    assert spoken_names(b"\xff\n") is None
