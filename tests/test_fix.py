"""`layerguard check --fix`: what is rewritten, what is left, and that the code means the same."""

from __future__ import annotations

import contextlib
import io
import stat
import subprocess
import sys
import types
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from projects import run, write

from layerguard import fixes
from layerguard.errors import UserError
from layerguard.files import write_bytes

TOML = """\
[[contract]]
id = "old-is-gone"
kind = "removed"
modules = { "app.old" = "app.new", "app.sub.old" = "lib.fresh", "app.dead" = "", "app.one" = "app.pack", \
"app.many" = "app.single", "app.flat" = "flat" }
"""

PROJECT = {
    "layerguard.toml": TOML,
    "app/__init__.py": "",
    "app/keep.py": "a = b = c = d = 1\n",
    "app/new/__init__.py": "x = 1\ny = 2\n",
    "app/new/util.py": "def now(): return 7\n\n\nT = int\n",
    "app/new/data/x.txt": "",
    "app/pack/__init__.py": "x = 3\n",
    "app/single.py": "x = 4\n",
    "app/sub/__init__.py": "b = 5\n",
    "app/sub/deep/__init__.py": "",
    "lib/__init__.py": "",
    "lib/fresh/__init__.py": "x = 6\n",
    "lib/fresh/part.py": "z = 8\n",
    "flat.py": "x = 9\n",
}
"""What the code under fix may import: every old name has a new one, but for `app.dead`."""


def mend(root: Path, texts: Iterable[str], path: str = "m{}.py") -> list[tuple[str, list[str]]]:
    """Fix a file for each text; return its new text, and what was left as `line:column reason`."""
    files = {path.format(number): text for number, text in enumerate(texts)}
    write(root, {**PROJECT, **files})
    done = fixes.fix(root)
    again = fixes.fix(root)
    assert (again.files, again.places, again.left) == ({}, 0, done.left)
    left: dict[str, list[str]] = {name: [] for name in files}
    for each in done.left:
        left[each.location.path].append(f"{each.location.line}:{each.location.column} {each.reason}")
    return [((root / name).read_bytes().decode(), left[name]) for name in files]


FROM = {
    "from app.old import x": "from app.new import x",
    "from app.old import x as z, y": "from app.new import x as z, y",
    "from app.old import (  # one\n    x,  # two\n    y,\n)  # three": (
        "from app.new import (  # one\n    x,  # two\n    y,\n)  # three"
    ),
    "from  app . old . util  import now": "from  app.new.util  import now",
    "from app.old import util": "from app.new import util",
    "from app.old import *": "from app.new import *",
    "from app import old": "from app import new as old",
    "from app import old as o": "from app import new as o",
    "from app import keep, old, sub": "from app import keep, new as old, sub",
    "from app import (\n    keep,\n    old,  # moved\n    sub,\n)": (
        "from app import (\n    keep,\n    new as old,  # moved\n    sub,\n)"
    ),
    "from app import old as \\\n    o": "from app import new as \\\n    o",
    "from app.sub import old": "from lib import fresh as old",
    "from app.sub import old as o": "from lib import fresh as o",
    "from app.sub import b, old as o": "from app.sub import b\nfrom lib import fresh as o",
    "from app.sub import old as o, b  # why": "from app.sub import b  # why\nfrom lib import fresh as o",
    "from app.sub import (\n    old,  # noqa\n    b,  # kept\n)": (
        "from app.sub import (\n    b,  # kept\n)\nfrom lib import fresh as old  # noqa"
    ),
    "from app.sub import (\n    b,\n    old\n)\n\nx = 1": (
        "from app.sub import (\n    b,\n)\nfrom lib import fresh as old\n\nx = 1"
    ),
    "from app.sub import (b, old,\n    deep)": "from app.sub import (b, deep)\nfrom lib import fresh as old",
    "from app.sub import (b,\n    old)": "from app.sub import (b)\nfrom lib import fresh as old",
    "from app.sub import b, \\\n    old": "from app.sub import b\nfrom lib import fresh as old",
    "if 1: from app.sub import b, old; b": "if 1: from app.sub import b; from lib import fresh as old; b",
    "def f():\n\tfrom app.sub import old, b\n\treturn b": (
        "def f():\n\tfrom app.sub import b\n\tfrom lib import fresh as old\n\treturn b"
    ),
    "from app import flat": "import flat",
    "from app import flat as f, keep": "from app import keep\nimport flat as f",
    "from app import flat as f": "import flat as f",
    "from app.flat import x": "from flat import x",
    "from app import old, flat, keep": "from app import new as old, keep\nimport flat",
    "lazy from app import old": "lazy from app import new as old",
    "lazy from app.sub import old, b": "lazy from app.sub import b\nlazy from lib import fresh as old",
}
RELATIVE = {
    "from .old import x": "from .new import x",
    "from.old import x": "from.new import x",
    "from . import old as o": "from . import new as o",
    "from . import old, keep": "from . import new as old, keep",
    "from .old.util import now": "from .new.util import now",
    "from .sub.old import x": "from lib.fresh import x",
    "from.sub.old import x": "from lib.fresh import x",
    "from .sub.old .part import z": "from lib.fresh.part import z",
    "from .sub import old, b": "from .sub import b\nfrom lib import fresh as old",
    "from .flat import x": "from flat import x",
    "from .import old": "from .import new as old",
    "from importlib import import_module\n\nimport_module('.old', __package__)": (
        "from importlib import import_module\n\nimport_module('.new', __package__)"
    ),
}
PLAIN = {
    "import app.old as o": "import app.new as o",
    "import app.old.util as u, os": "import app.new.util as u, os",
    "import app . old . util as u": "import app.new.util as u",
    "import app.old.util": "import app.new.util",
    "import app.old.util\n\nprint(app.old.util.now())": "import app.new.util\n\nprint(app.new.util.now())",
    "import app.old\n\n\ndef f(t: 'set[app.old.util.T]') -> app.old.util.T:\n    return f'{app . old.x}'\n": (
        "import app.new\n\n\ndef f(t: 'set[app.new.util.T]') -> app.new.util.T:\n    return f'{app.new.x}'\n"
    ),
    "import app.keep\nimport app.old\n\nk = app.keep.a + app.old.x": (
        "import app.keep\nimport app.new\n\nk = app.keep.a + app.new.x"
    ),
    "import app.sub.old\n\nk = app.sub.old.x": "import lib.fresh\n\nk = lib.fresh.x",
    "import app.sub.old.part, app.sub.old\n\nk = app.sub.old.x + app.sub.old.part.z": (
        "import lib.fresh.part, lib.fresh\n\nk = lib.fresh.x + lib.fresh.part.z"
    ),
    "import app.old\n\n\ndef f(app):\n    return app.old\n\n\nk = app.old.x": (
        "import app.new\n\n\ndef f(app):\n    return app.old\n\n\nk = app.new.x"
    ),
    "def f():\n    import app.old\n\n    return app.old.x": (
        "def f():\n    import app.new\n\n    return app.new.x"
    ),
    "import app.keep, app.sub.old\n\nk = app.keep.a, app.sub.old.x": (
        "import app.keep, lib.fresh\n\nk = app.keep.a, lib.fresh.x"
    ),
    "import app.old\n\n\ndef f():\n    import app.old.util\n\n\nk = app.old.util.now()": (
        "import app.new\n\n\ndef f():\n    import app.new.util\n\n\nk = app.new.util.now()"
    ),
    "import app.flat\n\nk = dict(app=app.flat.x)": "import flat\n\nk = dict(app=flat.x)",
    "lazy import app.old as o": "lazy import app.new as o",
    "import app.old\n\napp.old.x = 2\ndel app.old.x": "import app.new\n\napp.new.x = 2\ndel app.new.x",
}
LITERALS = {
    "import importlib\n\nimportlib.import_module('app.old.util')": (
        "import importlib\n\nimportlib.import_module('app.new.util')"
    ),
    'from importlib import import_module as im\n\nim(name=r"""app.old""")': (
        'from importlib import import_module as im\n\nim(name=r"""app.new""")'
    ),
    "from importlib import import_module\n\nimport_module('.old.util', 'app')": (
        "from importlib import import_module\n\nimport_module('.new.util', 'app')"
    ),
    "__import__('app.old')": "__import__('app.new')",
    "m = __import__('app.old', fromlist=['x'])": "m = __import__('app.new', fromlist=['x'])",
    "t = 'app.old.util:now'": "t = 'app.new.util:now'",
    't = ["app.old.util.now", u"app.old.x"]': 't = ["app.new.util.now", u"app.new.x"]',
    "t = ('app.old'\n     '.util')": "t = ('app.new'\n     '.util')",
    "x = 1\nt = f'app.old.{x}'": "x = 1\nt = f'app.new.{x}'",
    "x = 1\nt = 'app.old.' + x": "x = 1\nt = 'app.new.' + x",
    "x = 'app.old.{}'.format(1), 'app.old.%s' % 1": "x = 'app.new.{}'.format(1), 'app.new.%s' % 1",
    "from unittest import mock\n\nmock.patch('app.old.util.now')": (
        "from unittest import mock\n\nmock.patch('app.new.util.now')"
    ),
}
MENTIONS = {
    "# see app.old.util.now, app/old/util.py": "# see app.new.util.now, app/new/util.py",
    '"""Uses `app.old` é and app.old.x."""\n': '"""Uses `app.new` é and app.new.x."""\n',
    "x = 1  # é ü 😀 app.old\ny = 2  # app.older": "x = 1  # é ü 😀 app.new\ny = 2  # app.older",
    "from app.sub import (\n    b,\n    old,  # was app.old\n)": (
        "from app.sub import (\n    b,\n)\nfrom lib import fresh as old  # was app.new"
    ),
}


ANSWERS = {**FROM, **PLAIN, **LITERALS, **MENTIONS}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_right_answer(tmp_path: Path, end: str) -> None:
    before = [f"{text}\n".replace("\n", end) for text in ANSWERS]
    after: list[tuple[str, list[str]]] = [(f"{text}\n".replace("\n", end), []) for text in ANSWERS.values()]
    assert mend(tmp_path, before) == after


def test_relative_imports(tmp_path: Path) -> None:
    assert mend(tmp_path, RELATIVE, "app/m{}.py") == [(text, []) for text in RELATIVE.values()]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("app/sub/deep/m.py", "from ...old import x\n", "from ...new import x\n"),
        ("app/sub/deep/m.py", "from ... import old\n", "from ... import new as old\n"),
        ("app/new/m.py", "from ..old.util import now\n", "from .util import now\n"),
        ("app/new/__init__.py", "x = 1\nfrom ..old import util\n", "x = 1\nfrom . import util\n"),
        ("app/new/m.py", "from ..old import x\n", "from . import x\n"),
        ("app/new/m.py", "from ..old import (x)\n", "from . import (x)\n"),
    ],
)
def test_relative_imports_from_deeper_modules(tmp_path: Path, path: str, before: str, after: str) -> None:
    assert mend(tmp_path, [before], path) == [(after, [])]


LEFT = {
    "from app.old import gone": "1:6 'app.new.gone' does not exist",
    "import app.old.gone as g": "1:8 'app.new.gone' does not exist",
    "import app.old.x as x": "1:8 'app.new.x' does not exist",
    "from app.old import x, y as x": "1:6 the statement binds a name twice",
    "from app.sub import (b, # why\n    old)": "2:5 comments stand between the names",
    "from app import (  # why\n    flat)": "2:5 comments stand between the names",
    "import app.old\n\nprint(app)": "1:8 'app' is used as a value",
    "import app.old\n\napp = app.old": "1:8 'app' is bound to something else, too",
    "try: import app.old\nexcept OSError: app = None": "1:13 'app' is bound to something else, too",
    "import app.old\n\nprint(app.old.gone)": "1:8 'app.new.gone' does not exist",
    "import app.old\n\nprint((app).old.x)": "1:8 'app.old' is written in an unusual way where it is used",
    "import app.sub.old\n\nprint(app.keep)": "1:8 'app.keep' needs 'app', too",
    "import app.sub.old\n\nlib = app.sub.old": "1:8 'lib' means something else in this file",
    "import app.sub.old\n\n\ndef f(lib): app.sub.old": "1:8 'lib' means something else in this file",
    "class A:\n    import app.sub.old": "2:12 'lib' means something else in this file",
    "def f():\n    global app\n    import app.old": "3:12 'app' is bound to something else, too",
    "import app.sub.old\n\nt: 'app.T'": "1:8 'app.T' needs 'app', too",
    "__import__('app.old').old": "1:12 what `__import__` returns is the top-level package, and it is used",
    "m = __import__('app', fromlist=['old'])": "1:33 only a part of the name stands here",
    "t = 'app.\\x6fld.x'": "1:5 the name is written in pieces or with escapes",
    "t = 'app.' 'old.x'": "1:5 the name is written in pieces or with escapes",
    "t = 'app.old.util.gone'": "1:5 'app.new.util.gone' does not exist",
    "# app.old.gone": "1:3 'app.new.gone' does not exist",
    "# app/old/gone.py": "1:3 there is no 'app/new/gone.py'",
    "# app/flat/x": "1:3 there is no 'flat/x'",
    "from importlib import import_module\n\nimport_module('.old', 'app.sub')": (
        "3:15 it is relative to a package which the new name is not in"
    ),
}


def test_what_is_left_and_why(tmp_path: Path) -> None:
    assert mend(tmp_path, LEFT) == [(text, [reason]) for text, reason in LEFT.items()]


def test_what_libcst_cannot_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise RecursionError

    monkeypatch.setattr("libcst.parse_module", fail)
    text = "import app.old as o, app.old.util\nfrom app import old\nt = 'app.old.x'\n"
    after = "import app.new as o, app.old.util\nfrom app import new as old\nt = 'app.new.x'\n"
    assert mend(tmp_path, [text]) == [(after, ["1:22 the file has syntax that libcst does not know"])]


def test_a_module_at_the_top(tmp_path: Path) -> None:
    toml = '[[contract]]\nid = "x"\nkind = "removed"\nmodules = { "word" = "app.new" }\n'
    texts = {
        "import word\n\nprint(word.x)\n": "import app.new as word\n\nprint(word.x)\n",
        "import word, word.util\n\nword.util.now(word.x)\n": (
            "import app.new, app.new.util\n\napp.new.util.now(app.new.x)\n"
        ),
    }
    write(tmp_path, {**PROJECT, "layerguard.toml": toml, **{f"{n}.py": text for n, text in enumerate(texts)}})
    done = fixes.fix(tmp_path)
    assert [(tmp_path / f"{n}.py").read_text() for n in range(len(texts))] == list(texts.values())
    assert list(done.lines(write=True)) == ["Fixed 3 places in 2 files."]
    assert list(fixes.fix(tmp_path).lines(write=True)) == ["There is nothing to fix."]


def test_chains_that_went_elsewhere(tmp_path: Path) -> None:
    toml = TOML.replace('"app.dead" = ""', '"app.old.y" = "app.single.x"')
    write(tmp_path, {**PROJECT, "layerguard.toml": toml, "m.py": "import app.old\n\nprint(app.old.y)\n"})
    reasons = [each.reason for each in fixes.fix(tmp_path).left]
    assert reasons == ["'app.old.y' has moved elsewhere than 'app.old'"]


def test_rows_of_a_registry_and_siblings_of_a_script(tmp_path: Path) -> None:
    toml = """\
[[registry]]
module = "m"
name = "ROWS"
template = "app.{0}"
[[contract]]
id = "x"
kind = "removed"
modules = { "app.old" = "app.new", "scripts.helper" = "scripts.tool" }
"""
    scripts = {f"scripts/{name}.py": "x = 1\n" for name in ("helper", "tool")}
    users = {"scripts/a.py": "import helper\n", "scripts/b.py": "from helper import x\n"}
    write(tmp_path, {**PROJECT, "layerguard.toml": toml, "m.py": "ROWS = ['old']\n", **scripts, **users})
    done = fixes.fix(tmp_path)
    assert [(each.location.path, each.location.column, each.reason) for each in done.left] == [
        ("m.py", 9, "only a part of the name stands here"),
        ("scripts/a.py", 8, "the name counts from the folder of the script"),
        ("scripts/b.py", 6, "the name counts from the folder of the script"),
    ]
    assert done.files == {}


def test_what_has_no_new_name_is_for_the_report_alone(tmp_path: Path) -> None:
    text = "import app.dead\nfrom app import dead, old\n"
    assert mend(tmp_path, [text]) == [("import app.dead\nfrom app import dead, new as old\n", [])]


def test_places_of_one_statement_are_fixed_one_by_one(tmp_path: Path) -> None:
    toml = TOML.replace('"app.dead" = ""', '"app.gone" = "app.nowhere"')
    write(tmp_path, {**PROJECT, "layerguard.toml": toml, "m.py": "from app import gone, old\n"})
    done = fixes.fix(tmp_path)
    assert (tmp_path / "m.py").read_text() == "from app import gone, new as old\n"
    assert [(each.location.column, each.reason) for each in done.left] == [
        (17, "'app.nowhere' does not exist")
    ]
    assert done.places == 1


def test_names_that_went_to_different_modules(tmp_path: Path) -> None:
    toml = TOML.replace('"app.dead" = ""', '"app.old.y" = "app.single.x"')
    text = "from app.old import (\n    x,\n    y,\n)\n"
    write(tmp_path, {**PROJECT, "layerguard.toml": toml, "m.py": text + "t = 'app.old.' + x\n"})
    done = fixes.fix(tmp_path)
    assert (tmp_path / "m.py").read_text() == (
        "from app.new import (\n    x,\n)\nfrom app.single import x as y\nt = 'app.old.' + x\n"
    )
    reason = "'app.old.y' has moved elsewhere than the rest of 'app.old'"
    assert [(each.location.line, each.reason) for each in done.left] == [(5, reason)]
    assert done.places == 2


def test_contracts_that_do_not_agree(tmp_path: Path) -> None:
    second = '[[contract]]\nid = "b"\nkind = "removed"\nmodules = { "app.old" = "app.single" }\n'
    text = "import app.old as o\nt = 'app.old.x'\n# app.old, app/old/\n"
    write(tmp_path, {**PROJECT, "layerguard.toml": TOML + second, "m.py": text})
    done = fixes.fix(tmp_path)
    assert {each.reason for each in done.left} == {
        "the contracts 'b', 'old-is-gone' give different new names"
    }
    assert (len(done.left), done.files) == (4, {})
    fixes.fix(tmp_path, contracts=["b"])
    assert (
        tmp_path / "m.py"
    ).read_text() == "import app.single as o\nt = 'app.single.x'\n# app.single, app/single.py\n"


DOCS = {
    b"See app/old/util.py.": b"See app/new/util.py.",
    b"/app/old/ @team": b"/app/new/ @team",
    b"./app/old/__init__.py": b"./app/new/__init__.py",
    b"app/old/data/x.txt": b"app/new/data/x.txt",
    b"app/old/*.py": b"app/new/*.py",
    b"app/one.py": b"app/pack/__init__.py",
    b"app/many/": b"app/single.py",
    b"app/many/__init__.py": b"app/single.py",
    b"app.old\r\n\r\napp.old": b"app.new\r\n\r\napp.new",
    b"\xff\xe2\x82 app.old.x \xff app.old": b"\xff\xe2\x82 app.new.x \xff app.new",
    b"\xef\xbb\xbfapp.old\napp.old": b"\xef\xbb\xbfapp.new\napp.new",
    b"a\rb\xff app.old\r\r\napp/old/": b"a\rb\xff app.new\r\r\napp/new/",
    "\ufeffdéjà app.old\r\n".encode("utf-16-le"): "\ufeffdéjà app.new\r\n".encode("utf-16-le"),
    "\ufeffapp.old\n".encode("utf-16-be"): "\ufeffapp.new\n".encode("utf-16-be"),
}


def test_text_files(tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    for number, before in enumerate(DOCS):
        (tmp_path / f"use{number}.md").write_bytes(before)
    done = fixes.fix(tmp_path)
    assert done.left == ()
    assert [(tmp_path / f"use{number}.md").read_bytes() for number in range(len(DOCS))] == list(DOCS.values())


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (b"app/many/x.txt", "there is no 'app/single/x.txt'"),
        (b"app/many/*.py", "there is no 'app/single/'"),
        (b"app/old/gone/", "there is no 'app/new/gone/'"),
        (b"app.old.gone()", "'app.new.gone' does not exist"),
    ],
)
def test_text_that_is_left(tmp_path: Path, before: bytes, reason: str) -> None:
    write(tmp_path, PROJECT)
    (tmp_path / "use.md").write_bytes(before)
    assert [each.reason for each in fixes.fix(tmp_path).left] == [reason]
    assert (tmp_path / "use.md").read_bytes() == before


def test_paths_below_source_roots(tmp_path: Path) -> None:
    toml = """\
source-roots = ["src", "libs"]
[[contract]]
id = "moved"
kind = "removed"
modules = { "a.old" = "a.new", "a.two" = "b.two", "word" = "a.new", "gone" = "other.gone" }
"""
    text = (
        "src/a/old.py a/old.py /src/a/two.py x/a/old.py\n`word` and import word, word.x; gone/x.py gone.x\n"
    )
    files = {"layerguard.toml": toml, "src/a/__init__.py": "", "src/a/new.py": "x = 1\n", "use.txt": text}
    write(tmp_path, {**files, "libs/b/__init__.py": "", "libs/b/two.py": ""})
    done = fixes.fix(tmp_path)
    assert (tmp_path / "use.txt").read_text() == (
        "src/a/new.py a/new.py /libs/b/two.py x/a/old.py\n"
        "`word` and import a.new, a.new.x; gone/x.py other.gone.x\n"
    )
    assert [(each.location.line, each.location.column, each.reason) for each in done.left] == [
        (2, 2, "'word' may be a plain word here"),
        (2, 35, "'other.gone' is not of this project, so the path of its file is not known"),
    ]


def test_bytes_outside_the_names_stay(tmp_path: Path) -> None:
    before = (
        "# -*- coding: latin-1 -*-\r\nx = 'é'; from app.old import x\n\f\rfrom app import old # é app.old\r\n"
    )
    write(tmp_path, PROJECT)
    (tmp_path / "m.py").write_bytes(before.encode("latin-1"))
    (tmp_path / "n.py").write_bytes(b"\xef\xbb\xbfimport app.old as o")
    assert fixes.fix(tmp_path).left == ()
    after = before.replace("app.old", "app.new").replace("import old", "import new as old")
    assert (tmp_path / "m.py").read_bytes() == after.encode("latin-1")
    assert (tmp_path / "n.py").read_bytes() == b"\xef\xbb\xbfimport app.new as o"


def test_an_encoding_that_cannot_hold_the_new_name(tmp_path: Path) -> None:
    write(
        tmp_path, {**PROJECT, "layerguard.toml": TOML.replace('"app.new"', '"app.ŝ"'), "app/ŝ.py": "x = 1\n"}
    )
    (tmp_path / "m.py").write_bytes(b"# coding: latin-1\nfrom app.old import x\n")
    reasons = [each.reason for each in fixes.fix(tmp_path).left]
    assert reasons == ["the file's encoding cannot hold the new name"]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("use.txt", "\ufeffapp.old\n".encode("utf-16-le") + b"x"),
        ("m.py", b"# coding: utf-7\nx = 'app.old.x' # +AGE-\n"),
    ],
)
def test_an_encoding_that_gives_other_bytes_back(tmp_path: Path, path: str, data: bytes) -> None:
    write(tmp_path, PROJECT)
    (tmp_path / path).write_bytes(data)
    reasons = {each.reason for each in fixes.fix(tmp_path).left}
    assert reasons == {"the file's encoding does not give the same bytes back"}
    assert (tmp_path / path).read_bytes() == data


def test_links_and_permissions(tmp_path: Path) -> None:
    write(tmp_path, PROJECT)
    (tmp_path / "m.py").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text("import app.old as o\n")
    (tmp_path / "elsewhere").chmod(0o755)
    fixes.fix(tmp_path)
    assert (tmp_path / "m.py").is_symlink()
    assert (tmp_path / "elsewhere").read_text() == "import app.new as o\n"
    assert stat.S_IMODE((tmp_path / "elsewhere").stat().st_mode) == 0o755


def test_a_read_only_file_stops_all(tmp_path: Path) -> None:
    write(tmp_path, {**PROJECT, "a.py": "import app.old as o\n", "b.py": "import app.old as o\n"})
    (tmp_path / "b.py").chmod(0o444)
    with pytest.raises(UserError) as caught:
        fixes.fix(tmp_path)
    assert caught.value.message == "'b.py' is read-only; nothing was written."
    assert (tmp_path / "a.py").read_text() == "import app.old as o\n"


def test_what_was_written_before_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {**PROJECT, "a.py": "import app.old as o\n", "b.py": "import app.old as o\n"})

    def fail(path: Path, data: bytes) -> None:
        if path.name == "b.py":
            raise UserError("'b.py' cannot be written: disk full.")
        write_bytes(path, data)

    monkeypatch.setattr(fixes, "write_bytes", fail)
    with pytest.raises(UserError) as caught:
        fixes.fix(tmp_path)
    assert caught.value.hint == "These files were fixed before it: a.py."


def test_without_libcst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UserError) as caught:
        fixes.fix(write(tmp_path, PROJECT))
    assert caught.value.message == "fixes need libcst, which is not installed."
    assert caught.value.hint == "Run `pip install 'layerguard[fix]'`."


def test_the_command_without_libcst(tmp_path: Path) -> None:
    """In a process of its own, in which nothing has imported libcst before."""
    program = (
        "import sys; sys.modules['libcst'] = None; sys.argv = ['layerguard', 'check', '--fix']\n"
        "import importlib.util; importlib.util.find_spec = lambda *_: None\n"
        "from layerguard.start import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=write(tmp_path, PROJECT),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: fixes need libcst, which is not installed.",
        "  hint: Run `pip install 'layerguard[fix]'`.",
    ]


def test_the_command(tmp_path: Path) -> None:
    allowances = 'version = 1\n\n[allow.old-is-gone]\n"m -> app.old" = {}\n'
    files = {
        "m.py": "import app.old as o",
        "n.py": "from app.old import x\n",
        "k.py": "from app.old import gone\n",
    }
    write(tmp_path, {**PROJECT, **files, "contracts/allowances.toml": allowances})
    shown = run(tmp_path, "check", "--fix", "--diff", "m.py")
    assert shown.stdout.decode() == (
        "--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-import app.old as o\n\\ No newline at end of file\n"
        "+import app.new as o\n\\ No newline at end of file\n"
    )
    assert shown.stderr.decode() == (
        "Would fix 1 place in 1 file.\nnote: 1 place of them had an allowance: `layerguard ratchet` is due.\n"
    )
    assert shown.returncode == 1
    assert (tmp_path / "m.py").read_text() == "import app.old as o"

    done = run(tmp_path, "check", "--fix", "--output-format", "concise", environment={"CI": "true"})
    assert done.stderr.decode().splitlines()[:3] == [
        "k.py:1:6: not fixed: 'app.new.gone' does not exist.",
        "Fixed 2 places in 2 files.",
        "note: 1 place of them had an allowance: `layerguard ratchet` is due.",
    ]
    lines = done.stdout.decode().splitlines()
    assert [line.partition(" [")[0] for line in lines[:2]] == [
        "contracts/allowances.toml:4:1: LG201",
        "k.py:1:6: LG107",
    ]
    assert done.returncode == 1
    nothing = run(tmp_path, "check", "--diff")
    assert (nothing.stdout, nothing.returncode) == (b"", 0)
    assert nothing.stderr.decode() == "k.py:1:6: not fixed: 'app.new.gone' does not exist.\n"


def test_the_diff_can_be_applied(tmp_path: Path) -> None:
    text = "from app.sub import b, old\r\n\r\nt = 'app.old.x'\r\n"
    write(tmp_path, {**PROJECT, "m.py": text, "docs/use.md": "é app.old"})
    (tmp_path / "use.txt").write_bytes("\ufeffapp.old".encode("utf-16-le"))
    done = fixes.fix(tmp_path, write=False)
    assert done.diff().endswith("Binary files a/use.txt and b/use.txt differ\n")
    assert (tmp_path / "m.py").read_bytes() == text.encode()
    patch = done.diff().partition("Binary")[0].encode()
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, check=True)
    for path in ("m.py", "docs/use.md"):
        assert (tmp_path / path).read_bytes() == done.files[path][1]


# What the fixed code does is compared with what the code did, when the old modules were there still.


class _Modules:
    """A project with both names of each module, which are the same module object."""

    def __init__(self) -> None:
        self.table: dict[str, types.ModuleType] = {}
        for name in (
            "app",
            "app.new",
            "app.new.util",
            "app.keep",
            "app.sub",
            "lib",
            "lib.fresh",
            "lib.fresh.part",
        ):
            module = types.ModuleType(name)
            module.__path__ = []
            self.table[name] = module
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(self.table[parent], last, module)
        for old, new in (("app.old", "app.new"), ("app.sub.old", "lib.fresh")):
            parent, _, last = old.rpartition(".")
            setattr(self.table[parent], last, self.table[new])
            for name in list(self.table):
                if name == new or name.startswith(f"{new}."):
                    self.table[old + name[len(new) :]] = self.table[name]
        code = {
            "app.new": "x = 1\ny = 2",
            "app.new.util": "def now(): return 7\nT = int",
            "app.keep": "a = b = c = 1",
        }
        code |= {"app.sub": "b = 5", "lib.fresh": "x = 6", "lib.fresh.part": "z = 8"}
        for name, text in code.items():
            exec(text, vars(self.table[name]))  # noqa: S102 - text of this test

    def run(self, text: str) -> tuple[dict[str, str], str]:
        """Run a module of the package `app`; return what it binds, and what it prints."""
        before = dict(sys.modules)
        out = io.StringIO()
        space: dict[str, object] = {"__name__": "app.m", "__package__": "app"}
        sys.modules.update(self.table)
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(text, "m.py", "exec"), space)  # noqa: S102 - text of this test
        finally:
            for name in set(sys.modules) - set(before):
                del sys.modules[name]
        bound = {
            name: getattr(value, "__name__", repr(value)) for name, value in space.items() if name[:2] != "__"
        }
        return bound, out.getvalue()


_NAMES = {
    "app": ["old", "keep", "sub", "new"],
    "app.old": ["x", "y", "util", "*"],
    "app.old.util": ["now", "T"],
    "app.sub": ["b", "old"],
    "app.sub.old": ["x", "part"],
    "app.sub.old.part": ["z"],
    ".old": ["x", "util"],
    ".": ["old", "keep"],
    ".sub": ["old", "b"],
}
_USES = {
    "app.old": "app.old.x",
    "app.old.util": "app.old.util.now()",
    "app.sub.old.part": "app.sub.old.part.z",
    "app.keep": "app.keep.a",
}


@st.composite
def _froms(draw: st.DrawFn) -> str:
    module = draw(st.sampled_from(sorted(_NAMES)))
    names = draw(st.lists(st.sampled_from(_NAMES[module]), min_size=1, unique=True))
    if "*" in names:
        return f"from {module} import *"
    items = [name + draw(st.sampled_from(["", "", f" as {name}_", " as z"])) for name in names]
    if len({item.split()[-1] for item in items}) < len(items):
        items = names
    layout = draw(
        st.sampled_from(["{}", "({})", "(\n    {},\n)", "(\n    {},  # c\n)", "(  # c\n    {}\n)", "\\\n {}"])
    )
    between = ", " if "\n    {}" not in layout else draw(st.sampled_from([",\n    ", ", ", ",  # why\n    "]))
    return f"from {module} import {layout.format(between.join(items))}"


@st.composite
def _imports(draw: st.DrawFn) -> str:
    module = draw(st.sampled_from(sorted(_USES)))
    if draw(st.booleans()):
        return f"import {module} as m{draw(st.sampled_from(['', '1']))}"
    use = draw(
        st.sampled_from(
            ["print({})", "def f():\n    return {}\nprint(f())", "f'{{{}}}'", "[{} for _ in 'a']"]
        )
    )
    return f"import {module}\n{use.format(_USES[module])}"


@st.composite
def _modules(draw: st.DrawFn) -> str:
    literals = st.sampled_from(
        [
            "from importlib import import_module\nprint(import_module('app.old').x)",
            "__import__('app.old.util')",
        ]
    )
    parts = draw(st.lists(st.one_of(_froms(), _imports(), literals), min_size=1, max_size=5))
    frames = [
        "{}",
        "if 1:\n    {}",
        "try:\n    {}\nfinally:\n    pass",
        "def g():\n    {}\n    print(len(dir()))\ng()",
    ]
    framed = []
    for part in parts:
        frame = draw(st.sampled_from(frames)) if "\n" not in part and "*" not in part else "{}"
        framed.append(frame.format(part))
    return draw(st.sampled_from(["\n", "\n\n# app.old\n"])).join(framed) + "\n"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_modules(), min_size=10, max_size=10))
def test_fixed_code_means_the_same(tmp_path: Path, texts: list[str]) -> None:
    for text, (fixed, left) in zip(texts, mend(tmp_path, texts, "app/m{}.py"), strict=True):
        before, after = _Modules().run(text), _Modules().run(fixed)
        assert before[1] == after[1]
        # A plain import of what went to another top-level package binds that one now: the only change.
        assert {**before[0], "app": "", "lib": ""} == {**after[0], "app": "", "lib": ""}
        if not left:
            assert "app.old" not in fixed
            assert "sub.old" not in fixed
