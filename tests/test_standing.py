"""Outcomes that stand though files were edited, and those that do not."""

from __future__ import annotations

import os
import tempfile
from contextlib import chdir
from pathlib import Path
from unittest import mock

import msgspec
import pytest
from caching import cached, check, knows, learn, plain
from history import ALLOWANCES
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from projects import AB, allow, write

from layerguard import standing
from layerguard.config import load_config
from layerguard.imports import find_imports
from layerguard.model import Module
from layerguard.reading import read_imports
from layerguard.resolve import Resolver
from layerguard.snapshots import WIDTH, bytes_of, numbers_of, texts_of
from layerguard.sources import Source, read_tree
from layerguard.stores import NO_NUMBERS, digest_of, renumbered
from layerguard.tops import tops_of
from layerguard.verdicts import ANY, YOUNG, find_entry, key_of, seal_of
from layerguard.weighing import weigh

FILES = {
    "layerguard.toml": AB,
    "app/__init__.py": "",
    "app/a.py": "import os\n\nimport app.b\n",
    "app/b.py": "",
    "app/c.py": "import os\nfrom app import d\n",
    "app/d.py": "def f():\n    return 1\n",
    "app/deep/__init__.py": "",
    "app/deep/e.py": "from .. import c\n",
}
STAND: dict[str, dict[str, str]] = {
    "a comment": {"app/c.py": "# new\nimport os\nfrom app import d\n"},
    "an import that is outside": {"app/c.py": "import json\nimport os\nfrom app import d\n"},
    "several such imports": {
        "app/c.py": "import json, re as r\nfrom os import path, sep\nfrom app import d\n"
    },
    "one such import less": {"app/c.py": "from app import d\n"},
    "the same names over lines": {"app/c.py": "import os\nfrom app import (  # what it needs\n    d,\n)\n"},
    "what a function does": {"app/d.py": "def f():\n    return 2\n"},
    "one more function": {"app/d.py": "def f():\n    return 1\n\n\ndef g():\n    import re\n"},
    "two files": {"app/c.py": "from app import d\n", "app/d.py": "import os\n"},
    "an empty file": {"app/d.py": ""},
}
FALL: dict[str, dict[str, str]] = {
    "an import": {"app/c.py": "import os\nfrom app import d\nimport app.deep\n"},
    "another name": {"app/c.py": "import os\nfrom app import b\n"},
    "one more name": {"app/c.py": "import os\nfrom app import d, b\n"},
    "an import less": {"app/c.py": "import os\n"},
    "an import in a function": {"app/c.py": "import os\ndef f():\n    from app import d\n"},
    "a relative import": {"app/d.py": "from . import a\n"},
    "one above the top": {"app/d.py": "from .... import a\n"},
    "a dynamic load": {"app/d.py": "import importlib\nimportlib.import_module('json')\n"},
    "a mistake": {"app/d.py": "def f(:\n"},
    "a line above a violation": {"app/a.py": "# new\nimport os\n\nimport app.b\n"},
    "the line of a violation": {"app/a.py": "import os\n\nimport app.b  # new\n"},
    "one of two": {"app/c.py": "from app import d  # new\n", "app/d.py": "import app.a\n"},
}
OUTSIDE = '[[contract]]\nid = "x"\nkind = "forbidden"\nsources = ["app"]\ntargets = ["json.tool"]\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write(tmp_path / "project", FILES)
    monkeypatch.chdir(root)
    return root


class TestEdits:
    @pytest.mark.parametrize("name", STAND)
    def test_that_change_nothing_that_was_looked_at(self, name: str, project: Path) -> None:
        assert learn()[0] == 1
        for _ in range(2):
            write(project, STAND[name])
            assert knows()
            write(project, {path: FILES[path] for path in STAND[name]})
            assert knows()
        write(project, STAND[name])
        assert knows("--output-format", "json")

    @pytest.mark.parametrize("name", FALL)
    def test_that_may_change_the_outcome(self, name: str, project: Path) -> None:
        learn()
        write(project, FALL[name])
        assert not knows()
        assert learn() == plain()
        assert knows()

    def test_the_number_of_imports_is_that_of_now(self, project: Path) -> None:
        assert learn()[1].endswith(" 7 of 7 files, 5 imports.\n")
        write(project, {"app/d.py": "import json, re\nfrom os import path, sep\n"})
        assert knows()
        assert check()[1].endswith(" 7 of 7 files, 8 imports.\n")

    def test_a_faulty_file_is_looked_at_again(self, project: Path) -> None:
        write(project, {"app/d.py": "def f(:\n"})
        learn()
        write(project, {"app/d.py": "\ndef f(:\n"})
        assert not knows()
        assert check()[1].startswith("app/a.py:3:8:")
        assert "app/d.py:2:" in check()[1]

    def test_after_a_check_too(self, project: Path) -> None:
        """What is found in a few edited files of many is not written to the file of all findings."""
        write(project, {f"app/deep/m{number}.py": "" for number in range(60)})
        learn()
        before = cached(project, "findings").read_bytes()
        write(project, {"app/c.py": "import app.deep\n"})
        learn()
        assert cached(project, "findings").read_bytes() == before
        write(project, {"app/c.py": "# new\nimport app.deep\n"})
        assert knows()

    def test_a_file_that_was_just_written_is_read_once_more(self, project: Path) -> None:
        """It may change again within a tick of the clock, and have the same numbers then."""
        learn()
        write(project, STAND["a comment"])
        (project / "app/deep/come").touch()
        (project / "app/deep/come").unlink()
        folder = str(project / "app/deep")
        old = _numbers(project, folder)
        assert knows()
        entry = _entry(project)
        paths = texts_of(entry["paths"])
        flags = dict(zip(paths, entry["flags"], strict=False))
        assert flags[str(project / "app/c.py")] & YOUNG
        assert _numbers(project, folder) == old != numbers_of([folder])

    def test_more_files_than_are_worth_it(self, project: Path) -> None:
        many = {f"app/deep/m{number}.py": "" for number in range(standing._MOST + 1)}
        write(project, many)
        learn()
        write(project, dict.fromkeys(list(many)[1:], "X = 1\n"))
        assert knows()
        write(project, dict.fromkeys(many, "X = 22\n"))
        assert not knows()

    @pytest.mark.parametrize("name", ["verdict", "findings"])
    def test_what_was_found_before_is_lost(self, name: str, project: Path) -> None:
        learn()
        cached(project, name).unlink()
        write(project, STAND["a comment"])
        assert not knows()
        assert check() == plain()

    def test_what_was_found_before_is_damaged(self, project: Path) -> None:
        learn()
        file = cached(project, "findings")
        file.write_bytes(file.read_bytes()[:-1])
        write(project, STAND["a comment"])
        assert not knows()
        assert check()[:2] == plain()[:2]

    def test_the_cache_cannot_be_written(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        learn()

        def forbid(*_: object) -> None:
            raise OSError

        monkeypatch.setattr("layerguard.standing.os.replace", forbid)
        before = sorted(path.name for path in cached(project, "verdict").parent.iterdir())
        write(project, STAND["an import that is outside"])
        for _ in range(2):
            assert knows()
        assert sorted(path.name for path in cached(project, "verdict").parent.iterdir()) == before

    def test_a_file_that_cannot_be_read(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        learn()
        write(project, STAND["a comment"])

        def forbid(path: str) -> bytes:
            raise PermissionError(path)

        monkeypatch.setattr("layerguard.standing.read_bytes", forbid)
        assert not knows()

    def test_a_check_knows_the_new_times(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        many = {f"app/deep/m{number}.py": "" for number in range(standing._MOST + 1)}
        write(project, many)
        learn()
        write(project, dict.fromkeys(many, ""))
        monkeypatch.setattr("layerguard.standing._LATE", 0)
        learn()
        write(project, FALL["another name"])
        read: list[str] = []
        whole = Source.read

        def noted(source: Source) -> bytes:
            read.append(source.path)
            return whole(source)

        monkeypatch.setattr(Source, "read", noted)
        assert learn()[0] == 1
        assert {path for path in read if path in many} == set()
        assert "app/c.py" in read


class TestContracts:
    """What some contract looks at is more than the modules that a file imports."""

    def test_an_outside_module_that_a_contract_names(self, project: Path) -> None:
        write(project, {"layerguard.toml": AB + OUTSIDE})
        learn()
        write(project, {"app/d.py": "import re\n"})
        assert knows()
        write(project, {"app/d.py": "import json\n"})
        assert not knows()
        write(project, {"app/d.py": "import json.tool\n"})
        assert learn()[1].count("app.d imports json.tool") == 1

    @pytest.mark.parametrize(
        ("contract", "is_told"),
        [
            ('kind = "existing"\npackages = ["app"]\n', True),
            (
                'kind = "removed"\nmodules = { "app.deep.gone" = "app.b" }\nvia = ["import", "string"]\n',
                False,
            ),
            ('kind = "removed"\nmodules = { "app.gone" = "app.b" }\n', True),
            ('kind = "removed"\nmodules = { "app.gone" = "app.b" }\nvia = ["text"]\n', True),
        ],
    )
    def test_what_a_module_binds_and_says(self, contract: str, is_told: bool, project: Path) -> None:
        use = "from app.deep import made\nX = 'app.deep.gone.x'\n"
        write(project, {"layerguard.toml": f'[[contract]]\nid = "y"\n{contract}', "app/c.py": use})
        write(project, {"app/deep/__init__.py": "made = 1\n"})
        expected = learn()
        write(project, {"app/deep/__init__.py": "# app.gone\n"})
        assert not knows()
        assert check() == plain()
        assert (check() != expected) is is_told

    def test_what_is_allowed(self, project: Path) -> None:
        write(project, {ALLOWANCES: allow("app.a -> app.b")})
        assert learn()[0] == 0
        write(project, {"app/a.py": "import os\n\n\nimport app.b\n"})
        assert check() == plain()
        assert check("--show-allowed") == plain("--show-allowed")

    @pytest.mark.parametrize("before", ["{'x': 'app.c'}", "{}"])
    def test_a_registry(self, before: str, project: Path) -> None:
        registry = '[[registry]]\nmodule = "app.a"\nname = "TABLE"\ntemplate = "{0}"\n'
        write(project, {"layerguard.toml": registry + AB, "app/a.py": f"TABLE = {before}\n"})
        assert learn()[0] == 0
        write(project, {"app/a.py": "TABLE = {'x': 'app.b'}\n"})
        assert not knows()
        assert learn() == plain()
        assert learn()[0] == 1

    @pytest.mark.parametrize("path", ["app/a.py", "app/c.py", "app/d.py"])
    def test_a_link_of_a_chain(self, path: str, project: Path) -> None:
        far = AB.replace("because", 'reach = "transitive"\nbecause')
        links = {
            "app/a.py": "import app.c\n",
            "app/c.py": "import app.d\n",
            "app/d.py": "import app.b\n",
        }
        write(project, {"layerguard.toml": far, **links})
        assert f"({path}:1)" in learn()[1]
        write(project, {path: f"# new\n{links[path]}"})
        assert not knows()
        assert f"({path}:2)" in learn()[1]

    def test_a_mistake_in_a_file_whose_name_is_no_utf8(self, project: Path) -> None:
        place = os.fsencode(project) + b"/app/\xff.py"
        Path(os.fsdecode(place)).write_text("from ... import x\n")
        assert "\ufffd.py:1:6: LG401" in learn()[1]
        Path(os.fsdecode(place)).write_text("\nfrom ... import x\n")
        assert not knows()

    def test_where_strings_count_every_file_may_matter(self, project: Path) -> None:
        """Whether a string names something depends on what other files bind, which processes have read."""
        write(project, {"app/c.py": "X = 'app.d.f'\n"})
        for ways, expected in (("import",), 0), (("import", "string"), 7):
            tree = read_tree(project, None, ())
            binder = mock.patch("layerguard.reading.binder", return_value=lambda *_: True)
            with binder:
                read_imports(tree, (), ways)
            assert len(tree.opened) == expected


def _entry(project: Path) -> dict[str, memoryview]:
    data = cached(project, "verdict").read_bytes()
    entry = find_entry(data, key_of(str(project), (), (), None, show_allowed=False), _seal(project))
    assert entry
    return entry


def _seal(project: Path) -> bytes:
    return seal_of(str(cached(project, "verdict").parent))


def _numbers(project: Path, path: str) -> list[int]:
    entry = _entry(project)
    place = texts_of(entry["paths"]).index(path)
    return entry["numbers"].cast("q").tolist()[place * WIDTH : (place + 1) * WIDTH]


KINDS = {
    "direct": 'kind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.b", "app.deep", "json.tool"]\n',
    "far": 'kind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.c"]\nreach = "transitive"\n',
    "loads": 'kind = "forbidden"\nsources = ["app.b"]\ntargets = ["app.d"]\nreach = "load"\n',
    "apart": 'kind = "independence"\nmodules = ["app.b", "app.c"]\n',
    "layers": 'kind = "layers"\nlayers = ["app.c", "app.d"]\nreach = "transitive"\n',
    "guarded": 'kind = "protected"\nmodules = ["app.deep.e"]\nimporters = ["app.a:f"]\n',
    "inside": 'kind = "private"\npackages = ["app"]\n',
    "round": 'kind = "acyclic"\npackages = ["app"]\n',
}
LINES = st.sampled_from(
    [
        "# more",
        "import json",
        "import json.tool",
        "from os import (path,\n  sep)",
        "import app.b, app.c",
        "from . import d",
        "from app.deep import e as x, _y",
        "def f():\n    import app.deep.e",
        "def g():\n    import re",
        "if X:\n    import importlib; importlib.import_module('app.c')",
        "def (",
    ]
)
PLACES = ("app/a.py", "app/b.py", "app/c.py", "app/d.py", "app/deep/__init__.py", "app/deep/e.py")


@given(
    kinds=st.sets(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4),
    texts=st.lists(st.lists(LINES, max_size=2), min_size=len(PLACES), max_size=len(PLACES)),
    edits=st.lists(st.tuples(st.sampled_from(PLACES), st.integers(0, 3), LINES), min_size=2, max_size=8),
)
@settings(deadline=None, max_examples=int(os.environ.get("SOUNDNESS_EXAMPLES", "40")))
def test_random_edits(kinds: set[str], texts: list[list[str]], edits: list[tuple[str, int, str]]) -> None:
    """A line comes or goes, and a check with a cache says what one without it does."""
    bodies = dict(zip(PLACES, texts, strict=True))
    with tempfile.TemporaryDirectory(prefix="standing-") as folder, chdir(folder):
        contracts = "".join(f'[[contract]]\nid = "{kind}"\n{KINDS[kind]}' for kind in sorted(kinds))
        write(Path(folder), {"layerguard.toml": contracts, "app/__init__.py": ""})
        write(Path(folder), {path: "\n".join(lines) for path, lines in bodies.items()})
        assert learn() == plain()
        for path, place, line in edits:
            lines = bodies[path]
            if line in lines:
                lines.remove(line)
            else:
                lines.insert(place, line)
            write(Path(folder), {path: "\n".join(lines)})
            event("stands" if knows() else "falls")
            assert check() == plain()


NAMES = st.sampled_from(["app", "app.b", "app.deep", "os", "json.tool", ".", ".b", "..", "c"])
WORDS = st.sampled_from(["b", "deep", "path", "c as d", "*"])
STATEMENTS = st.one_of(
    st.builds("import {}".format, NAMES.filter(lambda name: name[0] != ".")),
    st.builds("from {} import {}".format, NAMES, WORDS),
    st.builds("from {} import ({},\n  b)".format, NAMES, WORDS.filter("*".__ne__)),
    st.builds("def f():\n  import {}".format, NAMES.filter(lambda name: name[0] != ".")),
    st.sampled_from(["# more", "X = 1", "", "if X:\n  import app.b", "__import__('app.b')"]),
)
TEXTS = st.lists(STATEMENTS, max_size=4).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())
MODULES = {
    name: Module(name, f"{name}.py", is_package=name in {"app", "app.deep"}, has_file=True)
    for name in ("app", "app.b", "app.c", "app.deep")
}
WAYS = {"import", "dynamic"}


@given(TEXTS, TEXTS)
@example(b"import app.b\n", b"# more\nimport app.b\n")
@example(b"import app.b, os\n", b"import os\nimport app.b\n")
def test_what_weighs_nothing_is_the_same_to_a_check(before: bytes, after: bytes) -> None:
    """The oracle is what a file imports, resolved: the same but for what is outside, which is counted."""
    weighed = weigh([(msgspec.msgpack.encode(find_imports(before, WAYS)), after)], WAYS, {"app"})
    resolver = Resolver(MODULES, frozenset(), lambda *_: True)
    source = Source("app/x.py", "app.x", is_package=False, place="")
    was, now = (resolver.outline(source, find_imports(data, WAYS).imports) for data in (before, after))
    if weighed:
        more, [found] = weighed
        assert more == len(now[0]) - len(was[0])
        assert found == msgspec.msgpack.encode(find_imports(after, WAYS))
        assert _inside(was) == _inside(now)
        assert [each.reason for each in was[2]] == [each.reason for each in now[2]]
    else:
        assert before != after


def test_any_name_may_matter() -> None:
    pair = msgspec.msgpack.encode(find_imports(b"import os\n", WAYS)), b"import re\n"
    assert weigh([pair], WAYS, {"app"})
    assert weigh([pair], WAYS, {"app", ANY}) is None


def test_newer_numbers_of_outlines() -> None:
    digests = [digest_of(name) for name in (b"a", b"b", b"c")]
    old, new = list(range(12)), list(range(100, 112))
    parts = [memoryview(part) for part in (b"context", b"paths", bytes_of(old), b"".join(digests), b"rest")]
    now = b"".join([digests[0], digest_of(b"other"), digests[2]])
    found = renumbered(parts, b"paths", new, now, {2})
    assert list(map(bytes, found)) == [
        *(b"context", b"paths", bytes_of([*new[:4], *NO_NUMBERS, *NO_NUMBERS])),
        *(b"".join(digests), b"rest"),
    ]
    assert renumbered(parts, b"others", new, now, ()) == parts


def _inside(outline: tuple[list[str], bytes, object]) -> list[tuple[str, int]]:
    return [(name, kind) for name, kind in zip(*outline[:2], strict=True) if name.partition(".")[0] == "app"]


TOPS = [
    (
        'kind = "forbidden"\nsources = ["!app.x", "app"]\ntargets = ["json.tool", "re"]\n',
        {"app", "json", "re"},
    ),
    ('kind = "forbidden"\nsources = ["app"]\ntargets = ["*.tool"]\n', {"app", "*"}),
    ('kind = "forbidden"\nsources = ["app"]\ntargets = ["js*n"]\n', {"app", "*"}),
    ('kind = "layers"\nlayers = ["app.a | app.b", "(other.x)"]\n', {"app", "other"}),
    ('kind = "removed"\nmodules = { "old.x" = "new.x" }\n', {"old", "new"}),
    ('kind = "protected"\nmodules = ["json"]\nimporters = ["app.a:f"]\n', {"app", "json"}),
]


@pytest.mark.parametrize(("contract", "tops"), TOPS)
def test_the_names_that_a_check_may_look_at(contract: str, tops: set[str], project: Path) -> None:
    write(project, {"layerguard.toml": f'[[contract]]\nid = "y"\nbecause = "so*"\n{contract}'})
    config = load_config(project)
    tree = read_tree(project, None, ())
    found = tops_of(config.contracts, tree)
    assert tops <= found
    assert ("*" in found) is ("*" in tops)
    assert found.isdisjoint({"y", "so", "os"})


def test_a_script_calls_its_neighbours_by_their_last_names(project: Path) -> None:
    write(project, {"tools/run.py": "import helper\n", "tools/helper.py": ""})
    learn()
    write(project, {"tools/run.py": "import help\n"})
    assert not knows()
    learn()
    write(project, {"tools/run.py": "import other\n"})
    assert knows()
