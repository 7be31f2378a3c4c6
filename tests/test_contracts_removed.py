from __future__ import annotations

from graphs import graph, imports, told

from layerguard.contracts.removed import Removed
from layerguard.model import Location

NONE: frozenset[str] = frozenset()


def test_nothing_names_the_old_modules() -> None:
    small = graph(
        "app.new.util app.a",
        imports("app.a", "app.old.util", line=1),
        imports("app.a", "app", "new", "old", line=2),
        imports("app.a", "app.older", line=3),
        imports("app.a", "app.old", "x", line=4, via="dynamic"),
        imports("app.a", "app.dead.deep", line=5),
        imports("app.a", "app.old", "*", line=6),
        imports("app.a", "app", "*", line=7),
        imports("tests.t", "app.old.util", "now", via="string", scope="test", when="deferred"),
        imports("docs/use.md", "app.old", path="docs/use.md", line=3, via="text"),
    )
    contract = Removed(id="x", modules={"app.old": "app.new", "app.dead": ""})
    violations = sorted(contract.check(small, NONE), key=lambda each: each.order)
    assert told(violations) == [
        ("app/a.py", 1, 8, "app.old.util"),
        ("app/a.py", 2, 40, "app.old"),
        ("app/a.py", 4, 8, "app.old"),
        ("app/a.py", 5, 8, "app.dead.deep"),
        ("app/a.py", 6, 8, "app.old"),
        ("docs/use.md", 3, 8, "app.old"),
        ("tests/t.py", 1, 8, "app.old.util"),
    ]
    assert [v.message for v in violations] == [
        "app.a imports app.old.util, now app.new.util",
        "app.a imports app.old, now app.new",
        "app.a imports app.old, now app.new",
        "app.a imports app.dead.deep, which was removed",
        "app.a imports app.old, now app.new",
        "docs/use.md names app.old, now app.new",
        "tests.t names app.old.util, now app.new.util",
    ]
    assert violations[6].key == "tests.t:test -> app.old.util (string)"
    assert {v.code for v in violations} == {"LG107"}


def test_the_most_specific_old_name_gives_the_new_one() -> None:
    small = graph("app.a", "app.a -> app.old.util.x", "app.a -> app.old.utility")
    contract = Removed(id="x", modules={"app.old": "app.new", "app.old.util": "lib.util"})
    assert [v.message for v in contract.check(small, NONE)] == [
        "app.a imports app.old.util.x, now lib.util.x",
        "app.a imports app.old.utility, now app.new.utility",
    ]


def test_an_old_module_that_exists() -> None:
    small = graph("app.dead.inner.x app.a app.back", folders=["app.dead", "app.dead.inner"])
    contract = Removed(
        id="x",
        modules={"app.dead": "", "app.back": "app.new", "app.gone": ""},
        because="Split.",
        severity="warning",
    )
    dead, back = contract.check(small, NONE)
    assert dead.location == Location("app/dead/inner/x.py", 1, 1, 1, 1)
    assert dead.message == "'app.dead' was removed, but exists"
    assert (dead.code, dead.contract, dead.severity, dead.because) == ("LG302", "x", "warning", "Split.")
    assert (dead.importer, dead.imported, dead.key) == ("", "", "")
    assert back.location == Location("app/back.py", 1, 1, 1, 1)


def test_problems_and_empty_patterns() -> None:
    contract = Removed(
        id="x", modules={"app.*": "", "app.old": "", "app/old.py": ""}, exclude_importers=("app.no",)
    )
    assert list(contract.problems()) == [
        ("modules", "'app.*' is not the dotted name of a module"),
        ("modules", "'app/old.py' is not the dotted name of a module"),
    ]
    assert list(contract.empty_patterns(graph("app.a"))) == ["app.no"]
