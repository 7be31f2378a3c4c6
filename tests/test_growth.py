from __future__ import annotations

from pathlib import Path

import pytest
from history import ALLOWANCES, PLAIN, WORDS, Repo, grown, start, told
from projects import AB, allow

from layerguard import check
from layerguard.allowances.moves import Moves
from layerguard.ratchet import adopt, ratchet

OLD = "app.a.m -> app.b.x"


def functions(**imports: str) -> str:
    """A module of functions, each of which imports something (or "", nothing)."""
    bodies = {name: f"import {target}" if target else "pass" for name, target in imports.items()}
    return "".join(f"def {name}():\n    {body}\n\n\n" for name, body in bodies.items()) + WORDS + "\n"


def with_functions(root: Path, **imports: str) -> Repo:
    """A project whose `app.a.m` has these functions; what they import is allowed. `work` is checked out."""
    keys = [f"app.a.m:{name} -> {target}" for name, target in imports.items() if target]
    return start(root, PLAIN | {"app/a/m.py": functions(**imports), ALLOWANCES: allow(*keys)}).branch("work")


def keys(repo: Repo) -> list[str]:
    """The keys in the allowance file."""
    return [line.split('"')[1] for line in repo.text().splitlines() if line.startswith('"')]


def hints(repo: Repo) -> list[str]:
    return [each.hint.splitlines()[-1] for each in repo.check("main").violations if each.code == "LG103"]


class TestGrowth:
    def test_what_is_said(self, tmp_path: Path) -> None:
        repo = start(tmp_path)
        base = repo.head
        repo.write({"app/b/y.py": "import app.a\n"}).allow(OLD, "app.b.y -> app.a")
        (only,) = repo.check().violations
        assert (only.location.path, only.location.line, only.code, only.contract) == (
            ALLOWANCES,
            5,
            "LG202",
            "ab",
        )
        assert only.message == (
            f"the allowance 'app.b.y -> app.a' was added since {base[:7]}; "
            "a contract that is there already takes none"
        )
        assert only.hint == "Mend the import and remove the entry."

    def test_shrinking_sorting_and_words_are_none(self, tmp_path: Path) -> None:
        repo = start(
            tmp_path, PLAIN | {"app/b/y.py": "import app.a\n", ALLOWANCES: allow(OLD, "app.b.y -> app.a")}
        )
        reason = f'# new\nversion = 1\n[allow.ab]\n"app.b.y -> app.a" = {{ reason = "x" }}\n"{OLD}" = {{}}\n'
        assert repo.write({ALLOWANCES: reason}).check().violations == ()
        repo.write({ALLOWANCES: allow(OLD), "app/b/y.py": ""})
        assert repo.check().violations == ()

    def test_a_line_that_is_back_again(self, tmp_path: Path) -> None:
        """The base of the branch had it, so it is none; main has moved on, so it is."""
        repo = start(tmp_path).branch("work")
        repo.commit({"app/a/m.py": "", ALLOWANCES: "version = 1\n"})
        repo.commit({path: PLAIN[path] for path in ("app/a/m.py", ALLOWANCES)})
        assert repo.check("main").violations == ()
        assert grown(repo.check("HEAD~1")) == [OLD]

    def test_entries_of_the_chosen_contracts(self, tmp_path: Path) -> None:
        other = '[[contract]]\nid = "other"\nkind = "forbidden"\nsources = ["app"]\ntargets = ["os"]\n'
        repo = start(tmp_path, PLAIN | {"layerguard.toml": AB + other})
        repo.write({"app/b/y.py": "import os, app.a\n"})
        repo.write({ALLOWANCES: allow(OLD, "app.b.y -> app.a") + '[allow.other]\n"app.b.y -> os" = {}\n'})
        assert grown(repo.check()) == ["app.b.y -> app.a", "app.b.y -> os"]


class TestMoves:
    def test_one_for_one(self, tmp_path: Path) -> None:
        repo = start(tmp_path).branch("work")
        repo.git("mv", "app/a/m.py", "app/a/n.py")
        (only,) = repo.check("main").violations
        assert (only.code, only.message) == (
            "LG201",
            f"the allowance '{OLD}' is of a module that moved: now 'app.a.n -> app.b.x'",
        )
        assert only.hint == "Run `layerguard ratchet`, which rewrites it."
        assert str(ratchet(repo.root, base="main")) == "removed 0, moved 1, kept 0"
        assert keys(repo) == ["app.a.n -> app.b.x"]
        assert repo.check("main").violations == ()
        assert str(ratchet(repo.root, base="main")) == "removed 0, moved 0, kept 1"

    def test_the_imported_side(self, tmp_path: Path) -> None:
        repo = start(tmp_path, PLAIN | {"app/b/x.py": WORDS}).branch("work")
        repo.git("mv", "app/b/x.py", "app/b/z.py")
        repo.write({"app/a/m.py": PLAIN["app/a/m.py"].replace("app.b.x", "app.b.z")})
        assert told(repo.check("main")) == [f"{ALLOWANCES}:4: LG201"]
        ratchet(repo.root, base="main")
        assert (keys(repo), repo.check("main").violations) == (["app.a.m -> app.b.z"], ())

    def test_both_sides(self, tmp_path: Path) -> None:
        repo = start(
            tmp_path,
            PLAIN | {"app/b/x.py": "\n".join(f"OTHER_{number} = {number} ** 2" for number in range(20))},
        ).branch("work")
        repo.git("mv", "app/b/x.py", "app/b/z.py")
        repo.git("mv", "app/a/m.py", "app/a/n.py")
        repo.write({"app/a/n.py": PLAIN["app/a/m.py"].replace("app.b.x", "app.b.z")}).commit()
        ratchet(repo.root, base="main")
        assert (keys(repo), repo.check("main").violations) == (["app.a.n -> app.b.z"], ())

    def test_again_and_again(self, tmp_path: Path) -> None:
        """Each move is rewritten and committed; git tells of one move, from the base to now."""
        repo = start(tmp_path).branch("work")
        for old, new in (("m", "n"), ("n", "o"), ("o", "p")):
            repo.git("mv", f"app/a/{old}.py", f"app/a/{new}.py")
            assert told(repo.check("main")) == [f"{ALLOWANCES}:4: LG201"]
            assert str(ratchet(repo.root, base="main")) == "removed 0, moved 1, kept 0"
            assert repo.check("main").violations == ()
            repo.commit()
        assert keys(repo) == ["app.a.p -> app.b.x"]

    def test_there_and_back(self, tmp_path: Path) -> None:
        repo = start(tmp_path).branch("work")
        for old, new in (("m", "n"), ("n", "m")):
            repo.git("mv", f"app/a/{old}.py", f"app/a/{new}.py")
            ratchet(repo.root, base="HEAD")
            repo.commit()
        assert (keys(repo), repo.check("main").violations) == ([OLD], ())

    def test_by_a_table(self, tmp_path: Path) -> None:
        """The file is another one altogether, but a contract says where the module went."""
        table = '[[contract]]\nid = "gone"\nkind = "removed"\nmodules = { "app.a.m" = "app.a.new" }\n'
        repo = start(tmp_path).branch("work")
        repo.write({"app/a/m.py": None, "app/a/new.py": "import app.b.x\n", "layerguard.toml": AB + table})
        assert told(repo.check("main")) == [f"{ALLOWANCES}:4: LG201"]
        ratchet(repo.root, base="main")
        assert (keys(repo), repo.check("main").violations) == (["app.a.new -> app.b.x"], ())

    def test_what_a_removed_contract_tolerates(self, tmp_path: Path) -> None:
        """The importer moves; what it names has its old name still, though a table says the new one."""
        removed = '[[contract]]\nid = "gone"\nkind = "removed"\nmodules = { "app.old" = "app.b.x" }\n'
        files = {"layerguard.toml": removed, "app/a/m.py": f"import app.old\n{WORDS}\n"}
        repo = start(tmp_path, PLAIN | files | {ALLOWANCES: allow("app.a.m -> app.old", contract="gone")})
        repo.branch("work").git("mv", "app/a/m.py", "app/a/n.py")
        assert told(repo.check("main")) == [f"{ALLOWANCES}:4: LG201"]
        ratchet(repo.root, base="main")
        assert (keys(repo), repo.check("main").violations) == (["app.a.n -> app.old"], ())

    def test_a_page_moves(self, tmp_path: Path) -> None:
        removed = '[[contract]]\nid = "gone"\nkind = "removed"\nmodules = { "app.old" = "" }\n'
        files = {"layerguard.toml": removed, "docs/a.md": f"app.old\n{WORDS}\n", "app/a/m.py": ""}
        repo = start(tmp_path, PLAIN | files | {ALLOWANCES: allow("docs/a.md -> app.old", contract="gone")})
        repo.branch("work").git("mv", "docs/a.md", "docs/b.md")
        ratchet(repo.root, base="main")
        assert (keys(repo), repo.check("main").violations) == (["docs/b.md -> app.old"], ())

    def test_the_number_does_not_rise(self, tmp_path: Path) -> None:
        """Two old names are said to be one new name now: two entries may become one, one never two."""
        modules = '{ "app.a.m" = "app.a.n", "app.a.k" = "app.a.n" }'
        tables = f'[[contract]]\nid = "gone"\nkind = "removed"\nmodules = {modules}\n'
        files = PLAIN | {"app/a/k.py": "import app.b.x\n", ALLOWANCES: allow("app.a.k -> app.b.x", OLD)}
        repo = start(tmp_path, files).branch("work")
        gone = {"app/a/k.py": None, "app/a/m.py": None, "layerguard.toml": AB + tables}
        repo.write({**gone, "app/a/n.py": "import app.b.x\nimport app.b.y\n"})
        assert str(ratchet(repo.root, base="main")) == "removed 1, moved 1, kept 0"
        assert keys(repo) == ["app.a.n -> app.b.x"]
        repo.allow("app.a.n -> app.b.x", "app.a.n -> app.b.y")
        assert grown(repo.check("main")) == ["app.a.n -> app.b.y"]

    def test_one_entry_has_one_new_name(self, tmp_path: Path) -> None:
        """Both sides moved: the entry may be of the old target or of the new one, not of both."""
        other = "\n".join(f"OTHER_{number} = {number} ** 2" for number in range(20))
        repo = start(tmp_path, PLAIN | {"app/b/x.py": other}).branch("work")
        repo.git("mv", "app/b/x.py", "app/b/z.py")
        repo.git("mv", "app/a/m.py", "app/a/n.py")
        repo.write({"app/a/n.py": f"import app.b.z\n{PLAIN['app/a/m.py']}"})
        repo.allow("app.a.n -> app.b.x", "app.a.n -> app.b.z")
        assert grown(repo.check("main")) == ["app.a.n -> app.b.z"]

    def test_onto_a_module_that_was_there(self, tmp_path: Path) -> None:
        repo = start(tmp_path, PLAIN | {"app/a/n.py": "N = 1\n"}).branch("work")
        repo.write({"app/a/m.py": None, "app/a/n.py": PLAIN["app/a/m.py"]}).allow("app.a.n -> app.b.x")
        assert grown(repo.check("main")) == ["app.a.n -> app.b.x"]


class TestRenamedFunctions:
    def test_told_and_rewritten(self, tmp_path: Path) -> None:
        repo = with_functions(tmp_path, start="app.b.x", other="")
        repo.write({"app/a/m.py": functions(begin="app.b.x", other="")})
        assert told(repo.check("main")) == ["app/a/m.py:2: LG103", f"{ALLOWANCES}:4: LG201"]
        assert hints(repo) == ["It looks like the allowance of 'start'."]
        assert [each.message for each in repo.check("main").violations if each.code == "LG201"] == [
            (
                "the allowance 'app.a.m:start -> app.b.x' is no longer needed; "
                "it looks like that of 'app.a.m:begin -> app.b.x'"
            )
        ]
        assert str(ratchet(repo.root, base="main")) == "removed 0, moved 1, kept 0"
        assert (keys(repo), repo.check("main").violations) == (["app.a.m:begin -> app.b.x"], ())

    def test_another_one_was_mended(self, tmp_path: Path) -> None:
        """Its function is there still, so it is not the one that was renamed."""
        repo = with_functions(tmp_path, f="app.b.x", g="app.b.x")
        repo.write({"app/a/m.py": functions(f="", h="app.b.x")})
        assert hints(repo) == ["It looks like the allowance of 'g'."]
        assert str(ratchet(repo.root, base="main")) == "removed 1, moved 1, kept 0"
        assert (keys(repo), repo.check("main").violations) == (["app.a.m:h -> app.b.x"], ())

    def test_another_one_was_deleted_before(self, tmp_path: Path) -> None:
        """What the ratchet wrote is no growth, however the steps are cut."""
        repo = with_functions(tmp_path, f="app.b.x", g="app.b.x")
        repo.write({"app/a/m.py": functions(g="app.b.x")})
        assert str(ratchet(repo.root, base="main")) == "removed 1, moved 0, kept 1"
        repo.commit({"app/a/m.py": functions(h="app.b.x")})
        assert str(ratchet(repo.root, base="main")) == "removed 0, moved 1, kept 0"
        assert (keys(repo), repo.check("main").violations) == (["app.a.m:h -> app.b.x"], ())

    def test_which_one_is_not_certain(self, tmp_path: Path) -> None:
        repo = with_functions(tmp_path, f="app.b.x", g="app.b.x")
        repo.write({"app/a/m.py": functions(h="app.b.x")})
        assert hints(repo) == ["Ask app.base."]
        assert str(ratchet(repo.root, base="main")) == "removed 2, moved 0, kept 0"

    @pytest.mark.parametrize(
        "now",
        [
            {"start": "", "begin": "app.b.x"},
            {"other": "app.b.x"},
            {"begin": "app.b.y"},
            {"one": "app.b.x", "two": "app.b.x"},
        ],
    )
    def test_what_is_no_renamed_function(self, tmp_path: Path, now: dict[str, str]) -> None:
        """It is there still; the new one was there; another import; two new ones."""
        repo = with_functions(tmp_path, start="app.b.x", other="")
        repo.write({"app/a/m.py": functions(**now)})
        new = [f"app.a.m:{name} -> {target}" for name, target in now.items() if target]
        assert hints(repo) == ["Ask app.base."] * len(new)
        assert str(ratchet(repo.root, base="main")) == "removed 1, moved 0, kept 0"
        repo.allow(*new)
        assert grown(repo.check("main")) == new

    def test_module_level_is_no_function(self, tmp_path: Path) -> None:
        repo = with_functions(tmp_path, start="app.b.x")
        repo.write({"app/a/m.py": f"import app.b.x\n{WORDS}\n"}).allow(OLD)
        assert grown(repo.check("main")) == [OLD]

    def test_twice(self, tmp_path: Path) -> None:
        repo = with_functions(tmp_path, start="app.b.x")
        for name in ("begin", "run"):
            repo.write({"app/a/m.py": functions(**{name: "app.b.x"})})
            assert str(ratchet(repo.root, base="main")) == "removed 0, moved 1, kept 0"
            repo.commit()
        assert (keys(repo), repo.check("main").violations) == (["app.a.m:run -> app.b.x"], ())

    def test_in_a_module_that_moved(self, tmp_path: Path) -> None:
        repo = with_functions(tmp_path, start="app.b.x")
        repo.write({"app/a/m.py": None, "app/a/n.py": functions(begin="app.b.x")})
        assert hints(repo) == ["It looks like the allowance of 'start'."]
        assert str(ratchet(repo.root, base="main")) == "removed 0, moved 1, kept 0"
        assert (keys(repo), repo.check("main").violations) == (["app.a.n:begin -> app.b.x"], ())

    def test_a_class(self, tmp_path: Path) -> None:
        code = "class Engine:\n    def start(self):\n        import app.b.x\n"
        files = PLAIN | {"app/a/m.py": code, ALLOWANCES: allow("app.a.m:Engine.start -> app.b.x")}
        repo = start(tmp_path, files).branch("work")
        repo.write({"app/a/m.py": code.replace("Engine", "Motor")})
        assert hints(repo) == ["It looks like the allowance of 'Engine.start'."]
        ratchet(repo.root, base="main")
        assert (keys(repo), repo.check("main").violations) == (["app.a.m:Motor.start -> app.b.x"], ())


class TestNewContracts:
    NEW = '[[contract]]\nid = "new"\nkind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.b"]\n'

    def test_only_what_stood_in_the_code(self, tmp_path: Path) -> None:
        repo = start(tmp_path).branch("work")
        repo.write({"layerguard.toml": self.NEW, "app/a/m.py": "import app.b.x\nimport app.b.y\n"})
        repo.allow(OLD, "app.a.m -> app.b.y", contract="new")
        (only,) = repo.check("main").violations
        assert (only.location.line, only.code, only.message) == (
            5,
            "LG202",
            (
                "the allowance 'app.a.m -> app.b.y' is of an import that did not stand in the code at "
                f"{repo.git('rev-parse', '--short=7', 'main')}"
            ),
        )

    def test_not_in_another_scope_nor_by_another_way(self, tmp_path: Path) -> None:
        repo = start(tmp_path).branch("work")
        code = (
            "import importlib\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import app.b.x\n"
            "importlib.import_module('app.b.x')\ndef f():\n    import app.b.x\n"
        )
        entries = [f"{OLD} (typing)", f"{OLD} (dynamic)", "app.a.m:f -> app.b.x"]
        repo.write({"layerguard.toml": self.NEW, "app/a/m.py": code}).allow(*entries, contract="new")
        assert grown(repo.check("main")) == entries

    def test_in_a_module_that_moved(self, tmp_path: Path) -> None:
        repo = start(tmp_path, PLAIN | {ALLOWANCES: "version = 1\n"}).branch("work")
        repo.git("mv", "app/a/m.py", "app/a/n.py")
        repo.write({"layerguard.toml": self.NEW})
        assert str(adopt("new", repo.root, base="main")) == "adopted 1"
        assert (keys(repo), repo.check("main").violations) == (["app.a.n -> app.b.x"], ())
        repo.commit()
        repo.git("mv", "app/a/n.py", "app/a/o.py")
        ratchet(repo.root, base="HEAD")
        assert (keys(repo), repo.check("main").violations) == (["app.a.o -> app.b.x"], ())

    def test_it_may_shrink_at_once(self, tmp_path: Path) -> None:
        repo = start(tmp_path, PLAIN | {ALLOWANCES: "version = 1\n"}).branch("work")
        repo.write({"layerguard.toml": self.NEW})
        adopt("new", repo.root, base="main")
        repo.commit({"app/a/m.py": ""})
        ratchet(repo.root, base="main")
        assert (keys(repo), repo.check("main").violations) == ([], ())

    @pytest.mark.parametrize("reach", ["direct", "transitive", "load"])
    def test_reach(self, tmp_path: Path, reach: str) -> None:
        files = {
            "layerguard.toml": "",
            "app/__init__.py": "",
            "app/a.py": "import app.mid\n",
            "app/mid.py": "from app.heavy import sub\n",
            "app/heavy/__init__.py": "",
            "app/heavy/sub.py": "",
        }
        repo = start(tmp_path, files).branch("work")
        source = "app.mid" if reach == "direct" else "app.a"
        repo.write(
            {
                "layerguard.toml": f'[[contract]]\nid = "new"\nkind = "forbidden"\nreach = "{reach}"\n'
                f'sources = ["{source}"]\ntargets = ["app.heavy"]\n'
            }
        )
        assert len(repo.check("main").violations) == 1
        assert str(adopt("new", repo.root, base="main")) == "adopted 1"
        assert repo.check("main").violations == ()

    def test_loading_a_parent(self, tmp_path: Path) -> None:
        files = {
            "layerguard.toml": "",
            "app/__init__.py": "",
            "app/a.py": "import app.heavy.sub\n",
            "app/heavy/__init__.py": "",
            "app/heavy/sub.py": "",
        }
        repo = start(tmp_path, files).branch("work")
        repo.write(
            {
                "layerguard.toml": '[[contract]]\nid = "new"\nkind = "forbidden"\nreach = "load"\n'
                'sources = ["app.a"]\ntargets = ["app.heavy"]\nas-packages = false\n'
            }
        )
        assert len(repo.check("main").violations) == 1
        assert str(adopt("new", repo.root, base="main")) == "adopted 1"
        assert repo.check("main").violations == ()


class TestBetweenTwoMoves:
    """What may be a name between two moves: one that was nobody's before, and is nobody's now."""

    def test_names(self) -> None:
        before, now = ["app", "app.a", "app.a.m", "app.b.x"], ["app", "app.a.o", "app.b.y"]
        moves = Moves({}, {"app.a.m": "app.a.o"}, before, now)
        names = ["app.a.n", "app.a.m", "app.a.o", "app.b.y", "app.b.gone", "app.b.y.Name", "hub.Name"]
        assert [name for name in names if moves.was_between(name)] == ["app.a.n", "app.b.gone"]

    def test_an_entry_for_another_import_stands_for_nothing(self, tmp_path: Path) -> None:
        """Beside a moved module, another import of the same function was taken for a second move."""
        repo = with_functions(tmp_path, f="app.b.x")
        repo.git("mv", "app/a/m.py", "app/a/o.py")
        repo.allow("app.a.o:f -> app.b.y")
        found = [(each.code, each.key or each.location.line) for each in repo.check("main").violations]
        line = repo.text().split("\n").index('"app.a.o:f -> app.b.y" = {}') + 1
        assert found == [("LG103", "app.a.o:f -> app.b.x"), ("LG201", line), ("LG202", line)]


class TestPaths:
    """Growth is told with the paths of the importer, as staleness is."""

    def test_of_the_importer(self, tmp_path: Path) -> None:
        repo = start(tmp_path).branch("work")
        repo.write({"app/a/n.py": "import app.b.y\n"}).allow(OLD, "app.a.n -> app.b.y")
        line = repo.text().split("\n").index('"app.a.n -> app.b.y" = {}') + 1
        found = [(each.code, each.location.line) for each in check(tmp_path, paths=["app/a/n.py"]).violations]
        assert found == [("LG202", line)]
        assert check(tmp_path, paths=["app/a/m.py"]).violations == ()
        assert [each.code for each in check(tmp_path, paths=["contracts"]).violations] == ["LG202"]
