from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import pytest
from history import Repo, start
from projects import AB, BROKEN, write

from layerguard.config import Config, load_config
from layerguard.snapshots import Glance
from layerguard.sources import Tree, read_tree
from layerguard.watching import Environment, Layout, Watch, find_shaping, take_numbers

LATER = 1 << 62


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder; git reads its configuration there."""
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    return found


def watch(
    root: Path, *wanted: str, extra: Collection[str] = (), moment: int = LATER, texts: bool = False
) -> Watch:
    config = load_config(root)
    further = [*(f"{root}/{path}" for path in wanted), *extra]
    return take_numbers(root, config, *laid_out(config), further, Glance(), moment, texts=texts)


def laid_out(config: Config) -> tuple[Tree, Layout | None]:
    """The tree of a project, and what it depends on."""
    tree = read_tree(config.root, config.source_roots, config.exclude)
    shaping = find_shaping(config.root, tree.inventory, str(config.root / ".layerguard_cache"))
    if shaping is None:
        return tree, None
    linked = [f"{config.root}/{path}" for path in tree.inventory.links if path.endswith(".py")]
    return tree, Layout(tree, shaping, linked, b"", {})


def watched(root: Path, *wanted: str, texts: bool = False) -> set[str]:
    """What is watched of and beside a project, relative to its root."""
    found = watch(root, *wanted, texts=texts)
    assert found.whole
    assert len(found.paths) == len(set(found.paths))
    assert len(found.numbers) == 4 * len(found.paths)
    assert all(map(os.path.isabs, found.paths))
    return {os.path.relpath(path, root) for path in found.paths}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return start(tmp_path / "project", BROKEN)


class TestProject:
    def test_sources_come_first(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN)
        assert watch(root).paths[:3] == [f"{root}/app/{name}.py" for name in ("__init__", "a", "b")]

    def test_folders_and_the_configuration(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN | {"contracts/x.toml": AB.replace('"ab"', '"x"')})
        (root / "app/empty").mkdir()
        found = watched(root, "docs/notes.md")
        assert found >= {".", "app", "app/empty", "contracts", "contracts/x.toml", "docs/notes.md"}
        assert found >= {"layerguard.toml", "pyproject.toml", "contracts/allowances.toml", ".git", "../.git"}
        assert not found & {"README.md", "app/__pycache__"}

    def test_texts_where_they_are_read(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN | {"docs/notes.md": ""})
        assert "docs/notes.md" not in watched(root)
        assert "docs/notes.md" in watched(root, texts=True)

    def test_the_configuration_in_folders_between(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN)
        config = load_config(root)
        found = take_numbers(root / "app", config, *laid_out(config), (), Glance(), LATER, texts=False)
        assert {f"{root}/app/{name}" for name in ("layerguard.toml", "pyproject.toml")} <= set(found.paths)
        assert f"{root.parent}/layerguard.toml" not in found.paths

    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("contracts/*.toml", {"contracts"}),
            ("packages/*/rules/*.toml", {"packages", "packages/one/rules", "packages/two/rules"}),
            ("./deep/er/x*.toml", {"deep", "deep/er"}),
            ("p*/one/*.toml", {"packages/one"}),
        ],
    )
    def test_folders_in_which_contracts_may_appear(
        self, pattern: str, expected: set[str], tmp_path: Path
    ) -> None:
        rule = AB.replace('"ab"', '"x"')
        files = dict.fromkeys(("contracts/x.toml", "packages/one/rules/x.toml", "deep/er/x.toml"), rule)
        files |= {"packages/one/x.toml": rule, "packages/two/x.py": ""}
        root = write(tmp_path / "project", BROKEN | files)
        write(root, {"layerguard.toml": f'contracts = ["{pattern}"]\n'})
        found = watched(root)
        assert found >= expected

    def test_any_depth_of_folders_cannot_be_watched(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN | {"rules/x.toml": AB.replace('"ab"', '"x"')})
        write(root, {"layerguard.toml": 'contracts = ["rules/**/*.toml"]\n'})
        assert not watch(root).whole

    def test_what_links_lead_to_step_by_step(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN)
        for path, target in {
            "app/c.py": "../../one",
            "../one": "two",
            "../two": "three",
            "app/x.pyi": "../../stub",
            "notes.txt": "../nothing",
            "app/broken.py": "nowhere.py",
        }.items():
            (root / path).symlink_to(target)
        write(tmp_path, {"three": "", "stub": "", "real": AB})
        (root / "layerguard.toml").unlink()
        (root / "layerguard.toml").symlink_to("../real")
        found = watched(root)
        assert found >= {"../one", "../two", "../three", "../stub", "../nothing", "../real"}
        assert found >= {"app/c.py", "app/broken.py", "app/nowhere.py"}

    def test_a_link_is_never_known_by_its_numbers(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN)
        (root / "app/c.py").symlink_to("../../real")
        write(tmp_path, {"real": ""})
        assert watch(root).young == {f"{root}/app/c.py"}

    def test_a_circle_of_links_ends(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN)
        (root / "app/c.py").symlink_to("d.py")
        (root / "app/d.py").symlink_to("c.py")
        assert {"app/c.py", "app/d.py"} <= watched(root)

    def test_young_sources_can_be_read_again_and_nothing_else(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN)
        found = watch(root, moment=0)
        assert found.young == {f"{root}/app/{name}.py" for name in ("__init__", "a", "b")}
        assert not found.whole
        newest = max(path.lstat().st_ctime_ns for path in (root, root / "app", root / "layerguard.toml"))
        while (root / "app/a.py").stat().st_ctime_ns <= newest:
            os.utime(root / "app/a.py")
        found = watch(root, moment=newest + 1)
        assert found.young == {f"{root}/app/a.py"}
        assert found.whole


class TestGit:
    def test_its_own_files(self, repo: Repo) -> None:
        found = watched(repo.root)
        assert found >= {
            f".git/{name}" for name in ("HEAD", "index", "config", "packed-refs", "info/exclude")
        }
        assert found >= {".git", ".git/refs", ".git/refs/heads", ".git/refs/heads/main", ".gitignore"}

    def test_a_folder_in_a_checkout(self, tmp_path: Path) -> None:
        repo = start(tmp_path / "top", {f"in/side/{path}": text for path, text in BROKEN.items()})
        repo.git("config", "include.path", "more")
        write(repo.root, {".git/more": "[core]\n\texcludesFile = names\n"})
        found = watched(repo.root / "in/side")
        assert found >= {".gitignore", "../.gitignore", "../../.gitignore", "../../.git/index", "../.git"}
        assert found >= {"../../.git/more", "../../names"}

    def test_a_linked_work_tree(self, repo: Repo) -> None:
        repo.git("worktree", "add", "-q", "-b", "other", "../linked")
        found = watched(repo.root.parent / "linked")
        git = "../project/.git"
        assert found >= {".git", f"{git}/worktrees/linked", f"{git}/worktrees/linked/HEAD"}
        assert found >= {f"{git}/worktrees/linked/index", f"{git}/config", f"{git}/info/exclude"}
        assert found >= {f"{git}/refs/heads", f"{git}/refs/heads/other", f"{git}/packed-refs"}

    def test_a_nested_repository(self, repo: Repo) -> None:
        nested = start(repo.root / "app/nested", {"__init__.py": "", "x.py": ""})
        nested.git("config", "core.excludesFile", str(repo.root.parent / "names"))
        (nested.root / "empty").mkdir()
        found = watched(repo.root)
        assert found >= {f"app/nested/.git/{name}" for name in ("HEAD", "index", "config", "info/exclude")}
        assert found >= {"app/nested", "app/nested/empty", "app/nested/.gitignore", "../names"}

    def test_a_submodule(self, repo: Repo, tmp_path: Path) -> None:
        inner = start(tmp_path / "inner", {"__init__.py": "", "x.py": ""})
        repo.git("submodule", "add", "-q", str(inner.root), "app/sub")
        repo.commit()
        found = watched(repo.root)
        assert found >= {f".git/modules/app/sub/{name}" for name in ("HEAD", "index", "info/exclude")}
        assert found >= {"app/sub", "app/sub/.git", "app/sub/.gitignore", "app/sub/x.py"}

    def test_what_configures_it(self, repo: Repo, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(home, {".gitconfig": "[include]\n\tpath = ~/more\n[core]\n\texcludesFile = ~/names\n"})
        (home / "more").symlink_to("real")
        found = watched(repo.root)
        names = (".gitconfig", ".config/git/config", ".config/git/ignore", "more", "real", "names")
        assert found >= {f"../home/{name}" for name in names}
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
        found = watched(repo.root)
        assert found >= {"../home/xdg/git/config", "../home/xdg/git/ignore"}

    def test_folders_to_which_a_file_may_come(self, repo: Repo) -> None:
        repo.commit({".gitignore": "ignored/\n"})
        for folder in ("new/deeper", "ignored/deeper", "app/empty"):
            (repo.root / folder).mkdir(parents=True)
        repo.write({"new/.gitignore": "*\n"})
        found = watched(repo.root)
        assert found >= {"app/empty", "app/empty/.gitignore", "app/empty/.git", "new", "new/.gitignore"}
        assert not found & {"ignored", "ignored/deeper", "new/deeper"}

    def test_ignored_as_a_whole(self, repo: Repo) -> None:
        repo.commit({".gitignore": "/inside/\n"})
        root = write(repo.root / "inside", BROKEN)
        found = watched(root)
        assert found >= {".", "app", ".gitignore", "../.gitignore", "../.git/index", "../.git/info/exclude"}

    def test_none_at_all(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN)
        assert not {path for path in watched(root) if ".git/" in path}


class TestEnvironment:
    def test_it_remembers_what_it_was_asked_for(self) -> None:
        environment = Environment({"A": "1", "B": "2"})
        assert environment["A"] == "1"
        assert environment.get("C", "x") == "x"
        assert "D" not in environment
        assert environment.asked == {"A": "1", "C": None, "D": None}

    def test_it_does_not_tell_all(self) -> None:
        with pytest.raises(NotImplementedError):
            list(Environment({}))
        with pytest.raises(NotImplementedError):
            len(Environment({}))
