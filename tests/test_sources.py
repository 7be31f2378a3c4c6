from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerguard.errors import UserError
from layerguard.inventory import Inventory
from layerguard.model import Module
from layerguard.names import Names, find_roots, split_file
from layerguard.sources import Problem, Source, Tree, read_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("", encoding="utf-8")
    return root


def link(root: Path, path: str, target: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).symlink_to(target)


def run(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def read(root: Path, roots: Sequence[str] | None = None, exclude: Sequence[str] = ()) -> Tree:
    return read_tree(root, roots, exclude)


def named(tree: Tree) -> dict[str, str]:
    return {source.path: source.module for source in tree.sources}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside git."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


class TestNames:
    def test_the_whole_tree(self, root: Path) -> None:
        write(root, "app/__init__.py", "app/main.py", "app/jobs/deep/more.py", "setup.py", "README.md")
        tree = read(root)
        assert tree.inventory.folders == ["", "app", "app/jobs", "app/jobs/deep"]
        assert msgspec.structs.replace(tree, inventory=Inventory()) == Tree(
            sources=(
                Source(
                    path="app/__init__.py", module="app", is_package=True, place=f"{root}/app/__init__.py"
                ),
                Source(
                    path="app/jobs/deep/more.py",
                    module="app.jobs.deep.more",
                    is_package=False,
                    place=f"{root}/app/jobs/deep/more.py",
                ),
                Source(path="app/main.py", module="app.main", is_package=False, place=f"{root}/app/main.py"),
                Source(path="setup.py", module="setup", is_package=False, place=f"{root}/setup.py"),
            ),
            modules={
                "app": Module("app", "app/__init__.py", is_package=True, has_file=True),
                "app.main": Module("app.main", "app/main.py", is_package=False, has_file=True),
                "app.jobs": Module("app.jobs", "app/jobs", is_package=True, has_file=False),
                "app.jobs.deep": Module("app.jobs.deep", "app/jobs/deep", is_package=True, has_file=False),
                "app.jobs.deep.more": Module(
                    "app.jobs.deep.more", "app/jobs/deep/more.py", is_package=False, has_file=True
                ),
                "setup": Module("setup", "setup.py", is_package=False, has_file=True),
            },
            problems=(),
            files=("README.md", "app/__init__.py", "app/jobs/deep/more.py", "app/main.py", "setup.py"),
            siblings=frozenset({"", "app.jobs.deep"}),
            roots=frozenset({""}),
            noted=(),
        )

    def test_src_is_a_source_root_by_default(self, root: Path) -> None:
        write(root, "src/app/x.py", "tests/test_x.py", "src/single.py")
        tree = read(root)
        assert named(tree) == {
            "src/app/x.py": "app.x",
            "src/single.py": "single",
            "tests/test_x.py": "tests.test_x",
        }
        assert set(tree.modules) == {"app", "app.x", "single", "tests", "tests.test_x"}
        assert tree.siblings == {"", "app", "tests"}

    def test_src_that_is_a_package_is_none(self, root: Path) -> None:
        assert named(read(write(root, "src/__init__.py", "src/x.py"))) == {
            "src/__init__.py": "src",
            "src/x.py": "src.x",
        }

    def test_the_deepest_source_root(self, root: Path) -> None:
        write(root, "packages/a/src/a/x.py", "packages/b/src/b.py", "packages/tool.py", "lib/deep/y.py")
        assert named(read(root, ["packages/*/src", "lib", "./lib/deep/"])) == {
            "packages/a/src/a/x.py": "a.x",
            "packages/b/src/b.py": "b",
            "packages/tool.py": "packages.tool",
            "lib/deep/y.py": "y",
        }

    def test_given_roots_replace_the_default(self, root: Path) -> None:
        assert named(read(write(root, "src/x.py"), ["."])) == {"src/x.py": "src.x"}

    def test_init_of_a_source_root(self, root: Path) -> None:
        tree = read(write(root, "__init__.py", "x.py"))
        assert named(tree) == {"__init__.py": "__init__", "x.py": "x"}
        assert not tree.sources[0].is_package
        assert tree.siblings == frozenset()

    def test_a_package_wins_over_a_module(self, root: Path) -> None:
        tree = read(write(root, "x.py", "x/__init__.py", "y.py", "y/z.py", "w.py", "w.pyi", "w.pyw"))
        assert named(tree)["x.py"] == named(tree)["x/__init__.py"] == "x"
        assert tree.modules["x"] == Module("x", "x/__init__.py", is_package=True, has_file=True)
        assert tree.modules["y"] == Module("y", "y.py", is_package=False, has_file=True)
        assert tree.modules["w"].path == "w.py"
        assert len(tree.sources) == 6

    def test_stubs_and_compiled_modules_exist(self, root: Path) -> None:
        write(
            root,
            "x.py",
            "app/fast.cpython-311-x86_64-linux-gnu.so",
            "app/win.cp311.pyd",
            "app/c.pyx",
            "app/s.pyi",
        )
        write(root, "p/__init__.pyi", "libx.so.1", ".so", ".py", "app/gui.pyw")
        tree = read(root)
        assert named(tree) == {"x.py": "x", "app/gui.pyw": "app.gui"}
        assert set(tree.modules) == {"x", "app", "app.fast", "app.win", "app.c", "app.s", "app.gui", "p"}
        assert tree.modules["p"] == Module("p", "p/__init__.pyi", is_package=True, has_file=True)

    def test_odd_names(self, root: Path) -> None:
        write(root, "my-script.py", "with space.py", "größe/ä.py", "a.b/c.d.py")
        assert set(named(read(root)).values()) == {"my-script", "with space", "größe.ä", "a.b.c.d"}

    def test_bytes_that_are_no_utf8(self, root: Path) -> None:
        odd = os.fsdecode(b"d\xff/x\xfe.py")
        tree = read(write(root, odd))
        assert tree.sources == (
            Source(
                path="d\ufffd/x\ufffd.py", module="d\ufffd.x\ufffd", is_package=False, place=f"{root}/{odd}"
            ),
        )
        assert tree.files == (odd,)
        assert tree.sources[0].file.read_bytes() == b""
        assert [module.path for module in tree.modules.values()] == ["d\ufffd/x\ufffd.py", "d\ufffd"]

    @pytest.mark.parametrize(
        ("glob", "message"),
        [
            ("lib", "'source-roots': 'lib' matches no folder."),
            ("packages/*/src", "'source-roots': 'packages/*/src' matches no folder."),
            ("../x", "'source-roots': '../x' is outside the project."),
            ("/x", "'source-roots': '/x' is outside the project."),
        ],
    )
    def test_roots_that_are_none(self, root: Path, glob: str, message: str) -> None:
        with pytest.raises(UserError) as caught:
            read(write(root, "src/x.py", "packages/a/x.py"), [glob])
        assert caught.value.message == message

    @pytest.mark.parametrize(
        ("glob", "roots"),
        [
            ("a", {"a"}),
            ("*", {"a", "z"}),
            ("a/*", {"a/b"}),
            ("**", {"", "a", "a/b", "a/b/src", "z", "z/src"}),
            ("**/src", {"a/b/src", "z/src"}),
            ("a/**/src", {"a/b/src"}),
            (".h", {".h"}),
            (".*/src", {".h/src"}),
            (".", {""}),
        ],
    )
    def test_globs(self, glob: str, roots: set[str]) -> None:
        assert find_roots(["a/b/src/x.py", "z/src/y.py", ".h/src/z.py"], [glob]) == roots | {""}

    @given(st.lists(st.sampled_from(["a", "b", "src", "__init__.py", "x.py"]), min_size=1, max_size=5))
    def test_a_name_is_the_path_with_dots(self, parts: list[str]) -> None:
        """The oracle: the longest root taken off, suffix and __init__ dropped, dots put in."""
        path = "/".join([*(part.removesuffix(".py") for part in parts), "x.py"])
        below = path
        for root in ("a", "a/b"):
            if path.startswith(f"{root}/"):
                below = path.removeprefix(f"{root}/")
        names = Names([path], frozenset({"", "a", "a/b"}))
        assert names.files == {path: (below.removesuffix(".py").replace("/", "."), False)}
        parents = below.split("/")[:-1]
        above = {".".join(parents[:depth]) for depth in range(1, len(parents) + 1)}
        assert {name for name, module in names.modules.items() if not module.has_file} >= above

    def test_split_file(self) -> None:
        assert split_file("a/b.c/d.e.py") == ("d.e", ".py")
        assert split_file("a/d.e.so") == ("d", ".so")
        assert split_file("a.py/b") == ("", "")


class TestListing:
    def test_a_walk_leaves_out_what_is_not_meant(self, root: Path) -> None:
        write(
            root, "app/x.py", ".hidden.py", ".venv/a.py", "build/a.py", "app/dist/a.py", "node_modules/a.py"
        )
        write(root, "app/__pycache__/a.py", "env/pyvenv.cfg", "env/lib/a.py", "app/builder/a.py")
        tree = read(root)
        assert tree.files == (".hidden.py", "app/builder/a.py", "app/x.py")
        assert set(tree.modules) == {".hidden", "app", "app.builder", "app.builder.a", "app.x"}

    def test_the_root_may_be_anything(self, tmp_path: Path) -> None:
        assert named(read(write(tmp_path / "build", "pyvenv.cfg", "x.py"))) == {"x.py": "x"}

    def test_git_says_what_belongs_to_the_project(self, root: Path) -> None:
        write(root, "build/tracked.py", "ignored.py", "deleted.py", "new.py", "gone/x.py")
        (root / ".gitignore").write_text("ignored.py\n", encoding="utf-8")
        run(root, "init", "-q")
        run(root, "add", ".")
        (root / "deleted.py").unlink()
        (root / "gone/x.py").unlink()
        (root / "gone").rmdir()
        write(root, "gone")
        tree = read(root)
        assert named(tree) == {"build/tracked.py": "build.tracked", "new.py": "new"}
        assert tree.files == (".gitignore", "build/tracked.py", "gone", "new.py")
        assert set(tree.modules) == {"build", "build.tracked", "new"}

    def test_nested_repositories_belong_to_it(self, root: Path) -> None:
        write(root, "x.py", "sub/y.py")
        run(root, "init", "-q")
        run(root / "sub", "init", "-q")
        assert named(read(root)) == {"x.py": "x", "sub/y.py": "sub.y"}

    def test_a_folder_that_git_does_not_look_into_is_walked(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(root, "x.py", "sub/deep/y.py", "sub/build/z.py")
        monkeypatch.setattr("layerguard.git.list_files", lambda _: ["gone/", "sub/", "x.py"])
        assert named(read(root)) == {"x.py": "x", "sub/deep/y.py": "sub.deep.y"}

    def test_excluded_files_are_not_analysed_but_exist(self, root: Path) -> None:
        write(root, "app/x.py", "app/_vendor/y.py", "app/_vendor/keep.py", "notes/_vendor/a.txt")
        link(root, "app/_vendor/broken.py", "gone.py")
        tree = read(root, None, ["**/_vendor/*", "!keep.py"])
        assert named(tree) == {"app/x.py": "app.x", "app/_vendor/keep.py": "app._vendor.keep"}
        assert tree.files == ("app/_vendor/keep.py", "app/x.py")
        assert tree.modules["app._vendor.y"].path == "app/_vendor/y.py"
        assert tree.problems == ()

    def test_no_python_file(self, root: Path) -> None:
        write(root, "README.md", "x.pyi")
        with pytest.raises(UserError) as caught:
            read(root)
        assert caught.value.message == f"'{root}': there is no Python file in this folder or below it."
        write(root, "x.py")
        with pytest.raises(UserError) as caught:
            read(root, None, ["*.py"])
        assert caught.value.hint == "Is 'exclude' too wide?"

    def test_without_git(self, root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        write(root, "x.py")
        run(root, "init", "-q")
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
        tree = read(root)
        assert named(tree) == {"x.py": "x"}
        assert tree.noted == ("git was not found: every file below the root was read, ignored ones too.",)


class TestLinks:
    @pytest.fixture(autouse=True, params=["walk", "git"])
    def _listing(self, root: Path, request: pytest.FixtureRequest) -> None:
        if request.param == "git":
            run(root, "init", "-q")

    def test_to_a_source(self, root: Path) -> None:
        write(root, "z/real.py")
        link(root, "a/linked.py", "../z/real.py")
        tree = read(root)
        assert named(tree) == {"z/real.py": "z.real"}
        assert tree.modules["a.linked"] == Module("a.linked", "a/linked.py", is_package=False, has_file=True)
        assert tree.files == ("z/real.py",)

    def test_to_a_file_outside_is_read_once(self, root: Path, tmp_path: Path) -> None:
        write(tmp_path, "outside.py")
        for path in ("b.py", "a.py", "c.py"):
            link(root, path, "../outside.py")
        tree = read(root)
        assert named(tree) == {"a.py": "a"}
        assert tree.files == ("a.py",)
        assert set(tree.modules) == {"a", "b", "c"}
        assert named(read(root, None, ["a.py"])) == {"b.py": "b"}

    def test_to_a_file_without_a_python_name(self, root: Path) -> None:
        write(root, "bin/tool")
        link(root, "tool.py", "bin/tool")
        tree = read(root)
        assert named(tree) == {"tool.py": "tool"}
        assert tree.files == ("bin/tool",)

    def test_to_an_excluded_source(self, root: Path) -> None:
        write(root, "old/x.py")
        link(root, "x.py", "old/x.py")
        assert named(read(root, None, ["old/"])) == {"x.py": "x"}

    def test_to_a_folder(self, root: Path) -> None:
        write(root, "real/x.py")
        link(root, "linked", "real")
        link(root, "folder.py", "real")
        link(root, "loop", ".")
        tree = read(root)
        assert named(tree) == {"real/x.py": "real.x"}
        assert tree.files == ("real/x.py",)

    def test_to_nothing(self, root: Path) -> None:
        write(root, "x.py")
        link(root, "app/broken.py", "../gone.py")
        link(root, "circle.pyw", "circle.pyw")
        link(root, "broken.txt", "gone.txt")
        tree = read(root)
        assert tree.problems == (
            Problem(path="app/broken.py", line=1, column=1, reason="broken link to '../gone.py'"),
            Problem(path="circle.pyw", line=1, column=1, reason="broken link to 'circle.pyw'"),
        )
        assert named(tree) == {"x.py": "x"}
        assert tree.files == ("x.py",)
        assert set(tree.modules) == {"app", "app.broken", "circle", "x"}

    def test_a_root_that_is_a_link(self, root: Path, tmp_path: Path) -> None:
        write(root, "real.py")
        link(root, "linked.py", "real.py")
        (tmp_path / "way").symlink_to(root)
        assert named(read(tmp_path / "way")) == {"real.py": "real"}


class TestUnreadable:
    def test_a_folder(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(root, "x.py", "locked/y.py")
        scandir = os.scandir

        def refuse(path: str) -> object:
            if path.endswith("locked/"):
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr("layerguard.inventory.os.scandir", refuse)
        tree = read(root)
        assert tree.problems == (
            Problem(path="locked", line=1, column=1, reason="the folder cannot be read: Permission denied"),
        )
        assert named(tree) == {"x.py": "x"}
        assert read(root, None, ["locked/"]).problems == ()

    def test_a_file(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(root, "x.py", "locked/y.py")
        lstat, scandir = os.lstat, os.scandir

        def refuse(path: str) -> os.stat_result:
            if str(path).endswith("locked/y.py"):
                raise PermissionError(13, "Permission denied")
            return lstat(path)

        def refuse_folder(path: str) -> object:
            if str(path).endswith("locked"):
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr("layerguard.git.list_files", lambda _: ["locked/y.py", "x.py"])
        monkeypatch.setattr("layerguard.inventory.os.lstat", refuse)
        monkeypatch.setattr("layerguard.inventory.os.scandir", refuse_folder)
        tree = read(root)
        assert tree.problems == (
            Problem(
                path="locked/y.py", line=1, column=1, reason="the file cannot be read: Permission denied"
            ),
        )
        assert set(tree.modules) == {"x", "locked", "locked.y"}
