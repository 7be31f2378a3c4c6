from __future__ import annotations

import subprocess
import sys

from graphs import graph, imports, modules

from layerguard.graph import Graph, parents, within
from layerguard.model import Location


def test_imports_are_kept_by_place() -> None:
    found = [imports("b", "x", line=2), imports("b", "y"), imports("a", "z", line=9)]
    assert [each.imported for each in Graph({}, found).imports] == ["z", "y", "x"]


def test_questions_about_names() -> None:
    small = graph("app.a.x app.b tests.t")
    assert small.exists("app.a")
    assert not small.exists("app.c")
    assert small.owns("app.gone")
    assert small.owns("tests")
    assert not small.owns("apple")
    assert not small.owns("os.path")
    assert small.children("app") == ("app.a", "app.b")
    assert small.children("app.b") == ()
    assert list(small.modules) == ["app", "app.a", "app.a.x", "app.b", "tests", "tests.t"]


def test_whole_names() -> None:
    assert parents("a.b.c") == ["a", "a.b"]
    assert parents("a") == []
    assert within("app.core", "app.core")
    assert within("app.core.x", "app.core")
    assert not within("app.corelib", "app.core")


def test_binds_says_no_only_when_told() -> None:
    assert graph("app.a").binds("app", "gone")
    told = graph("app.a", binds=lambda module, name: (module, name) != ("app", "gone"))
    assert not told.binds("app", "gone")
    assert told.binds("app", "here")


def test_a_module_begins_at_its_file_a_folder_at_the_highest_file_in_it() -> None:
    small = graph("app.a.z.deep app.a.b.x", folders=["app.a", "app.a.b"])
    assert small.place("app") == Location("app/__init__.py", 1, 1, 1, 1)
    assert small.place("app.a.b") == Location("app/a/b/x.py", 1, 1, 1, 1)
    assert small.place("app.a") == Location("app/a/z/__init__.py", 1, 1, 1, 1)
    empty = Graph(modules("app", folders=["app"]), ())
    assert empty.place("app") == Location("app", 1, 1, 1, 1)


def test_what_patterns_match_and_what_imports_mention() -> None:
    small = graph("app.a.x", imports("app.a", "hub.sub", "HfApi", "*"))
    assert small.matches("app.a")
    assert small.matches("!app.*.x")
    assert not small.matches("app.b")
    assert not small.matches("app.a.*.y")
    assert small.mentions("hub")
    assert small.mentions("hub.sub.HfApi")
    assert small.mentions("hub.*")
    assert not small.mentions("hub.HfApi")
    assert not small.mentions("hub.sub.*.x")


def test_the_grimp_graph_has_every_module_and_import_but_text() -> None:
    small = graph(
        "app.a app.b",
        "app.a -> app.b",
        "app.a -> app.gone",
        "app.b -> google.cloud.storage",
        "app.b -> app.b",
        imports("README.md", "app.a", via="text"),
    )
    assert small.grimp.modules == {"app", "app.a", "app.b", "app.gone", "google.cloud.storage"}
    assert small.grimp.count_imports() == 3
    details = small.grimp.get_import_details(importer="app.b", imported="google.cloud.storage")
    assert [detail["line_number"] for detail in details] == [1]
    assert small.grimp.find_shortest_chain(importer="app.a", imported="app.b") == ("app.a", "app.b")


def test_grimp_is_not_loaded_before_it_is_asked() -> None:
    code = (
        "import sys, layerguard.contracts; sys.exit('grimp' in sys.modules or 'importlinter' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
