from __future__ import annotations

from pathlib import Path

import pytest
from history import ALLOWANCES, PLAIN, Repo, grown, start, told
from projects import AB, allow

from layerguard.allowances.bases import Base
from layerguard.allowances.past import Past
from layerguard.config import Config, load_config
from layerguard.errors import UserError

KEYS = ("app.a.m -> app.b.x", "app.a.m -> app.b.y")
BARE = {path: text for path, text in PLAIN.items() if path not in {"layerguard.toml", ALLOWANCES}}


def today(root: Path) -> Config:
    return load_config(root)


def past(repo: Repo, *, others: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> Past:
    """The project at HEAD."""
    return Past(repo.root, Base(repo.head, "HEAD", others, notes), today(repo.root))


def entries(found: Past) -> list[tuple[str, str]]:
    return [(entry.contract, entry.key) for entry in found.allowances.entries]


@pytest.mark.parametrize("folder", ["", "tools/project"])
def test_what_there_was(tmp_path: Path, folder: str) -> None:
    files = {f"{folder}/{path}".lstrip("/"): text for path, text in PLAIN.items()}
    repo = start(tmp_path, files | {"outside.py": "import app\n"})
    root = tmp_path / folder
    found = Past(root, Base(repo.head, "HEAD"), today(root))
    for path in files:
        (tmp_path / path).write_text("" if path.endswith("layerguard.toml") else "broken = \n")
    assert found.config
    assert (found.config.path, list(found.contracts)) == ("layerguard.toml", ["ab"])
    assert entries(found) == [("ab", KEYS[0])]
    assert {"app", "app.a", "app.a.m", "app.b.x"} <= found.modules
    assert ("outside" in found.modules) == (folder == "")
    assert (found.module_of("app/a/m.py"), found.module_of("app/a/__init__.py")) == ("app.a.m", "app.a")
    assert found.module_of("README") == ""
    assert found.text_of("app.a.m") == [PLAIN["app/a/m.py"].encode()]
    assert found.text_of("app.gone") == []
    assert found.notes == []


def test_a_project_in_a_folder_of_the_checkout(tmp_path: Path) -> None:
    start(tmp_path, {f"tools/project/{path}": text for path, text in PLAIN.items()})
    inner = Repo(tmp_path / "tools/project")
    inner.write({"app/a/m.py": None, "app/a/n.py": PLAIN["app/a/m.py"]})
    assert told(inner.check()) == [f"{ALLOWANCES}:4: LG201"]
    inner.allow(*(key.replace(".m", ".n") for key in KEYS))
    assert grown(inner.check()) == ["app.a.n -> app.b.y"]


class TestConfiguration:
    @pytest.mark.parametrize(
        "pattern",
        [
            "contracts/*.toml",
            "./contracts/*.toml",
            "contracts//*.toml",
            "contracts/**/*.toml",
            "**/*.toml",
            "contracts/c.toml",
            "c*/[a-d].toml",
            "contracts/../contracts/?.toml",
        ],
    )
    def test_contract_files(self, tmp_path: Path, pattern: str) -> None:
        files = BARE | {
            "layerguard.toml": f'contracts = ["{pattern}"]\n',
            "contracts/c.toml": AB,
            ALLOWANCES: allow(KEYS[0]),
        }
        repo = start(tmp_path, files)
        found = past(repo)
        assert (list(found.contracts), found.notes) == (["ab"], [])
        assert entries(found) == [("ab", KEYS[0])]

    def test_in_pyproject(self, tmp_path: Path) -> None:
        table = AB.replace("[[contract]]", "[[tool.layerguard.contract]]")
        settings = '[tool.layerguard]\nallowances = "kept.toml"\n'
        repo = start(tmp_path, BARE | {"pyproject.toml": settings + table, "kept.toml": allow(KEYS[0])})
        repo.write({"pyproject.toml": None, "kept.toml": None, "layerguard.toml": AB}).allow(*KEYS)
        found = past(repo)
        assert (list(found.contracts), entries(found)) == (["ab"], [("ab", KEYS[0])])

    @pytest.mark.parametrize(
        "files",
        [
            {},
            {"pyproject.toml": '[project]\nname = "x"\n'},
            {"pyproject.toml": '# [tool.layerguard]\n[project]\nname = "x"\n'},
        ],
    )
    def test_that_there_was_none(self, tmp_path: Path, files: dict[str, str]) -> None:
        repo = start(tmp_path, BARE | files)
        repo.write({"layerguard.toml": AB}).allow(*KEYS)
        found = past(repo)
        assert (found.config, found.contracts, entries(found)) == (None, {}, [])
        assert found.allowances.path == ALLOWANCES
        assert grown(repo.check()) == [KEYS[1]]

    def test_that_cannot_be_read(self, tmp_path: Path) -> None:
        """Today's stands in for it, so that nothing is forgiven."""
        repo = start(tmp_path, PLAIN | {"layerguard.toml": f"{AB}nonsense = 1\n"})
        repo.write({"layerguard.toml": AB}).allow(*KEYS)
        report = repo.check()
        assert grown(report) == [KEYS[1]]
        note = (
            f"the configuration at {repo.head[:7]} cannot be read (layerguard.toml: contract 'ab': "
            "unknown key 'nonsense'.), so that of today is taken for it."
        )
        assert report.notes == (note,)

    @pytest.mark.parametrize("value", ["5", '"contracts/*.toml"', "[5]", "true"])
    def test_of_a_wrong_type(self, tmp_path: Path, value: str) -> None:
        repo = start(tmp_path, PLAIN | {"layerguard.toml": f"contracts = {value}\n{AB}"})
        repo.write({"layerguard.toml": AB}).allow(*KEYS)
        report = repo.check()
        assert grown(report) == [KEYS[1]]
        assert "'contracts'" in report.notes[0]

    def test_that_is_no_toml(self, tmp_path: Path) -> None:
        repo = start(tmp_path, PLAIN | {"layerguard.toml": "[[contract\n"})
        repo.write({"layerguard.toml": f'allowances = "kept.toml"\n{AB}', "kept.toml": allow(KEYS[0])})
        repo.write({ALLOWANCES: None})
        report = repo.check()
        assert grown(report) == [KEYS[0]]
        assert report.notes[0].startswith(f"the configuration at {repo.head[:7]} cannot be read (")

    def test_notes_of_the_base_come_first(self, tmp_path: Path) -> None:
        repo = start(tmp_path)
        assert past(repo, notes=("one",)).notes == ["one"]


class TestAllowances:
    def test_that_are_no_allowance_file(self, tmp_path: Path) -> None:
        repo = start(tmp_path, PLAIN | {ALLOWANCES: "version = 1\n<<<<<<< ours\n"})
        repo.allow(KEYS[0])
        with pytest.raises(UserError, match=f"{ALLOWANCES} at {repo.head[:7]}: line 2"):
            repo.check()

    def test_that_the_base_named_and_did_not_have(self, tmp_path: Path) -> None:
        repo = start(tmp_path, BARE | {"layerguard.toml": f'allowances = "kept.toml"\n{AB}'})
        repo.write({"kept.toml": allow(KEYS[0])})
        assert grown(repo.check()) == [KEYS[0]]

    def test_of_several_merge_bases(self, tmp_path: Path) -> None:
        repo = start(tmp_path)
        repo.allow("a -> 1", "a -> 2", "a -> 3").commit()
        one = repo.branch("one").allow("a -> 1", "a -> 2", "a -> one").commit()
        repo.branch("two", "main").allow("a -> 2", "a -> 3", "a -> two").commit()
        assert {key for _, key in entries(past(repo, others=(one,)))} == {"a -> 2", "a -> one", "a -> two"}


class TestImports:
    def keys(
        self, tmp_path: Path, text: str, contract: str = AB, importer: str = "app.a.m"
    ) -> frozenset[str]:
        path = importer if "/" in importer else f"{importer.replace('.', '/')}.py"
        repo = start(tmp_path, BARE | {path: text, "layerguard.toml": contract})
        found = past(repo)
        (only,) = found.contracts.values()
        return found.keys([importer], only)

    def test_all_ways_to_name_a_module(self, tmp_path: Path) -> None:
        text = (
            "import importlib\nfrom typing import TYPE_CHECKING\nfrom app.b import x, name\n"
            "if TYPE_CHECKING:\n    import app.b.y\n"
            "class C:\n    def f(self):\n        importlib.import_module('app.b.y')\n"
            "T = 'app.b.y.Thing'\n"
        )
        assert self.keys(tmp_path, text) == {
            "app.a.m -> importlib",
            "app.a.m -> typing",
            "app.a.m -> typing.TYPE_CHECKING",
            "app.a.m -> app.b.x",
            "app.a.m -> app.b",
            "app.a.m -> app.b.name",
            "app.a.m -> app.b.y (typing)",
            "app.a.m:C.f -> app.b.y (dynamic)",
            "app.a.m -> app.b.y (string)",
            "app.a.m -> app.b.y.Thing (string)",
        }

    def test_a_file_that_cannot_be_analysed(self, tmp_path: Path) -> None:
        assert self.keys(tmp_path, "import app.b.x\ndef f(:\n") <= {"app.a.m -> app.b.x"}

    def test_mentions(self, tmp_path: Path) -> None:
        contract = '[[contract]]\nid = "old"\nkind = "removed"\nmodules = { "app.old" = "" }\n'
        assert self.keys(tmp_path, "see app.old and app/old.py\n", contract, "docs/how to.md") == {
            "docs/how to.md -> app.old"
        }

    def test_rows_of_a_registry(self, tmp_path: Path) -> None:
        registry = '[[registry]]\nmodule = "app.a.m"\nname = "TABLE"\ntemplate = "app.b.{0}"\n'
        assert "app.a.m -> app.b.x (dynamic)" in self.keys(tmp_path, "TABLE = ['x']\n", registry + AB)

    def test_rows_of_a_registry_that_was_no_table_then(self, tmp_path: Path) -> None:
        registry = '[[registry]]\nmodule = "app.a.m"\nname = "TABLE"\ntemplate = "app.b.{0}"\n'
        assert self.keys(tmp_path, "import app.b.x\n", registry + AB) == {"app.a.m -> app.b.x"}


def test_source_roots(tmp_path: Path) -> None:
    files = {f"lib/{path}": text for path, text in BARE.items()}
    repo = start(tmp_path, files | {"layerguard.toml": f'source-roots = ["lib"]\n{AB}'})
    assert past(repo).module_of("lib/app/a/m.py") == "app.a.m"
    repo.commit({"layerguard.toml": f'source-roots = ["gone*"]\n{AB}'})
    assert past(repo).module_of("lib/app/a/m.py") == "lib.app.a.m"
