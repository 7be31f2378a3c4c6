from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from caching import cached, check, knows, learn, plain, refuse
from clock import settle
from history import ALLOWANCES, Repo, start
from projects import AB, BROKEN, PROGRAM, allow, write
from spec import call

import layerguard
from layerguard import __version__, imports, sources
from layerguard.keeping import outcome
from layerguard.snapshots import SEAL, pack, unpack
from layerguard.sources import Tree
from layerguard.start import main
from layerguard.stores import SIZE, digest_of
from layerguard.surroundings import FORMATS
from layerguard.verdicts import FOLDER, VARIABLE, Basis, key_of, place_of, to_bytes

NOBODY_ELSE = "# Made by layerguard.\n*\n"
CLEAN = BROKEN | {"app/a.py": "import os\n"}
FORBIDDEN = '[[contract]]\nid = "x"\nkind = "forbidden"\nsources = ["app"]\ntargets = ["json"]\n'
REMOVED = '[[contract]]\nid = "gone"\nkind = "removed"\nmodules = { "app.old" = "app.b" }\n'
WORDS = "".join(
    f"WORD_{number} = 'a line by which git knows the file again: {number}'\n" for number in range(20)
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one violation, in no checkout, which is the current folder."""
    root = write(tmp_path / "project", BROKEN)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """The same in a checkout, all of it committed."""
    found = start(tmp_path / "checkout", BROKEN)
    monkeypatch.chdir(found.root)
    return found


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is parsed from now on."""
    found: list[bytes] = []
    find = imports.find_imports

    def find_imports(data: bytes, via: frozenset[str]) -> object:
        found.append(data)
        return find(data, via)

    monkeypatch.setattr("layerguard.reading.find_imports", find_imports)
    return found


def files_in(folder: Path) -> list[str]:
    """The files below a folder, without the part of their names that is a checksum."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(re.sub("-[0-9a-f]{8}$", "", path) for path in found)


class TestHits:
    def test_the_second_run_needs_no_check(self, project: Path) -> None:
        assert (project / FOLDER).exists() is False
        assert learn() == plain()
        assert knows()

    def test_in_a_checkout_too(self, repo: Repo) -> None:
        learn()
        assert knows()
        assert repo.git("status", "--short") == ""

    def test_it_loads_nothing_that_takes_time(self, project: Path) -> None:
        learn()
        said = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "layerguard", "check"],
            cwd=project,
            check=False,
            capture_output=True,
            text=True,
        )
        assert said.returncode == 1
        assert said.stdout == plain()[1]
        loaded = set(re.findall(r"\| +([\w.]+)$", said.stderr, re.MULTILINE))
        assert "layerguard.start.known" in loaded
        assert loaded.isdisjoint({"msgspec", "click", "grimp", "pathlib", "subprocess", "layerguard.run"})

    @pytest.mark.parametrize("form", FORMATS)
    def test_another_format_needs_none(self, form: str, project: Path) -> None:
        learn()
        assert knows("--output-format", form)
        assert knows(f"--output-format={form}")
        assert project.is_dir()

    def test_nor_does_what_is_decided_afterwards(self, project: Path, tmp_path: Path) -> None:
        learn()
        for words in (["--exit-zero"], ["--strict-contracts"], ["--exit-zero", "--output-format", "json"]):
            assert knows(*words)
        file = tmp_path / "report"
        assert knows("--output-file", str(file))
        assert file.read_text() == plain()[1]
        assert project.is_dir()

    def test_the_ratchet_knows_the_files(self, project: Path, parsed: list[bytes]) -> None:
        learn()
        parsed.clear()
        assert call(main, ["ratchet"])[:2] == (0, "removed 0, moved 0, kept 0\n")
        assert parsed == []
        write(project, {"app/a.py": "import json\n"})
        assert call(main, ["ratchet"])[0] == 0
        assert parsed == [b"import json\n"]

    def test_a_report_in_the_project_is_no_change_of_it(self, project: Path) -> None:
        words = ("--output-file", "app/report.txt")
        learn(*words)
        learn(*words)
        assert knows(*words)
        assert (project / "app/report.txt").read_text() == plain()[1]
        (project / "app/report.txt").unlink()
        check(*words)
        assert (project / "app/report.txt").read_text() == plain()[1]

    def test_colours_are_not_those_of_the_first_run(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        learn()
        monkeypatch.setattr("layerguard.asked.wants_colour", lambda _: True)
        assert knows()
        assert "\x1b[" in check()[1]
        assert project.is_dir()

    @pytest.mark.parametrize(
        "words",
        [["app/b.py"], ["--contract", "ab"], ["--show-allowed"], ["--base", "HEAD"]],
    )
    def test_other_questions_do(self, words: list[str], repo: Repo) -> None:
        learn()
        assert not knows(*words)
        learn(*words)
        assert knows(*words)
        assert knows()
        assert repo.root == Path.cwd()

    def test_another_folder_is_another_question(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        learn()
        monkeypatch.chdir(project / "app")
        assert not knows("a.py")
        learn("a.py")
        assert knows("a.py")
        assert not (project / "app" / FOLDER).exists()

    def test_weaker_contracts_fail_where_that_is_asked(self, repo: Repo) -> None:
        repo.write({"layerguard.toml": AB.replace('"app.a", ', ""), "app/a.py": ""})
        assert learn()[0] == 0
        assert knows()
        assert knows("--strict-contracts")
        assert check("--strict-contracts")[0] == 1

    def test_errors_are_not_kept(self, project: Path) -> None:
        write(project, {"layerguard.toml": "broken"})
        for _ in range(2):
            assert learn() == plain()
            assert check()[0] == 2
        assert "verdict" not in str(files_in(project / FOLDER))


def edit(text: str) -> Callable[[Path], object]:
    return lambda root: write(root, {"app/a.py": text})


def rewrite_in_place(root: Path) -> None:
    """As many bytes, at the same time."""
    file = root / "app/a.py"
    old = file.stat()
    file.write_text(file.read_text().replace("app.b", "app.c"))
    os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))


def set_time(when: int) -> Callable[[Path], None]:
    return lambda root: os.utime(root / "app/a.py", (when, when))


def swap(root: Path) -> None:
    (root / "app/a.py").rename(root / "between")
    (root / "app/b.py").rename(root / "app/a.py")
    (root / "between").rename(root / "app/b.py")


def make_a_folder(root: Path) -> None:
    (root / "app/b.py").unlink()
    (root / "app/b.py").mkdir()


def make_a_link(root: Path) -> None:
    (root / "app/b.py").rename(root / "elsewhere")
    (root / "app/b.py").symlink_to("../elsewhere")


def turn_a_link(root: Path) -> None:
    """It leads to a folder first, then to a text that names an old module."""
    (root / "app/notes").unlink()
    (root / "app/notes").symlink_to("../elsewhere.txt")


def replace_by_itself(root: Path) -> None:
    """As an editor does that writes another file first."""
    (root / "app/new").write_bytes((root / "app/a.py").read_bytes())
    (root / "app/new").replace(root / "app/a.py")


def come_and_go(root: Path) -> None:
    (root / "app/new.py").write_text("import app.b\n")
    (root / "app/new.py").unlink()


CHANGES: dict[str, Callable[[Path], object]] = {
    "edit": edit("import os\n"),
    "same size and time": rewrite_in_place,
    "swap": swap,
    "delete": lambda root: (root / "app/b.py").unlink(),
    "rename": lambda root: (root / "app/b.py").rename(root / "app/c.py"),
    "add": lambda root: write(root, {"app/c.py": "import app.b\n"}),
    "add in a new folder": lambda root: write(root, {"other/c.py": "import app.b\n"}),
    "another kind": make_a_folder,
    "a link": make_a_link,
    "contract": lambda root: write(root, {"layerguard.toml": AB.replace("They", "We")}),
    "contract file": lambda root: write(root, {"contracts/x.toml": FORBIDDEN}),
    "allowances": lambda root: write(root, {ALLOWANCES: allow("app.a -> app.b")}),
}
NO_CHANGES: dict[str, Callable[[Path], object]] = {
    "touch": lambda root: (root / "app/a.py").touch(),
    "past": set_time(0),
    "future": set_time(4_000_000_000),
    "mode": lambda root: (root / "app/a.py").chmod(0o600),
    "written again": lambda root: (root / "app/a.py").write_bytes((root / "app/a.py").read_bytes()),
    "put in its place": replace_by_itself,
    "a file that comes and goes": come_and_go,
}
"""What changes the numbers of a file or folder, and not what it holds."""


class TestNames:
    """Paths need be no UTF-8."""

    @pytest.mark.parametrize("in_git", [False, True])
    def test_of_a_file(self, in_git: bool, request: pytest.FixtureRequest) -> None:
        root: Path = request.getfixturevalue("repo").root if in_git else request.getfixturevalue("project")
        odd = root / os.fsdecode(b"app/\xff.py")
        odd.write_text("import app.b\n")
        for text in ("import app.b\n", "import app.a\n", "import app.gone\n"):
            odd.write_text(text)
            assert learn() == plain()
            assert knows()

    def test_of_the_root_and_of_a_source_root(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        root = tmp_path / os.fsdecode(b"project\xff")
        write(root / os.fsdecode(b"lib\xfe"), {path: text for path, text in BROKEN.items() if "/" in path})
        write(root, {"layerguard.toml": f'source-roots = ["lib*"]\n{AB}'})
        (root / "link.py").symlink_to(root / os.fsdecode(b"lib\xfe/app/b.py"))
        monkeypatch.chdir(root)
        for text in ("import app.b\n", "import json\n"):
            write(root / os.fsdecode(b"lib\xfe"), {"app/a.py": text})
            assert learn() == plain()
            assert knows()
        assert call(main, ["ratchet", "--check"])[0] == 0


class TestMisses:
    @pytest.mark.parametrize("name", CHANGES)
    @pytest.mark.parametrize("in_git", [False, True])
    def test_after_a_change(self, name: str, in_git: bool, request: pytest.FixtureRequest) -> None:
        root: Path = request.getfixturevalue("repo").root if in_git else request.getfixturevalue("project")
        learn()
        assert knows()
        CHANGES[name](root)
        assert not knows()
        assert learn() == plain()
        assert knows()

    @pytest.mark.parametrize("name", NO_CHANGES)
    @pytest.mark.parametrize("in_git", [False, True])
    def test_not_where_a_file_holds_the_same(
        self, name: str, in_git: bool, request: pytest.FixtureRequest
    ) -> None:
        root: Path = request.getfixturevalue("repo").root if in_git else request.getfixturevalue("project")
        learn()
        for _ in range(2):
            NO_CHANGES[name](root)
            assert knows()
        assert knows()

    def test_a_link_that_leads_to_something_else(self, project: Path) -> None:
        (project / "elsewhere").mkdir()
        (project / "app/notes").symlink_to("../elsewhere")
        write(project, {"layerguard.toml": REMOVED, "elsewhere.txt": "app.old\n"})
        learn()
        turn_a_link(project)
        assert not knows()
        assert learn() == plain()

    @pytest.mark.parametrize(
        "words",
        [
            ["add", "app/d.py"],
            ["update-index", "--chmod=+x", "app/b.py"],
            ["update-index", "--assume-unchanged", "app/b.py"],
        ],
    )
    def test_not_where_the_index_has_the_same_paths(self, words: list[str], repo: Repo) -> None:
        repo.write({"app/d.py": ""})
        repo.commit()
        learn()
        repo.write({"app/d.py": "import json\n"})
        (repo.root / "app/b.py").touch()
        index = repo.root / ".git/index"
        before = index.read_bytes()
        repo.git(*words)
        assert index.read_bytes() != before
        assert knows()
        assert knows()

    @pytest.mark.parametrize("words", [["rm", "-q", "--cached", "app/b.py"], ["add", "app/d.py"]])
    def test_where_it_has_others(self, words: list[str], repo: Repo) -> None:
        repo.write({"app/d.py": ""})
        learn()
        repo.git(*words)
        assert not knows()
        assert learn() == plain()

    def test_a_revision_that_is_no_ref_of_its_own(self, repo: Repo) -> None:
        """Its name is that of a file beside the index, which git puts in the place of the old one."""
        repo.write({ALLOWANCES: allow("app.a -> app.b")})
        repo.commit()
        repo.git("update-ref", "REBASE_HEAD", "HEAD")
        assert learn("--base", "REBASE_HEAD")[0] == 0
        assert knows("--base", "REBASE_HEAD")
        repo.git("update-ref", "REBASE_HEAD", "HEAD~1")
        assert not knows("--base", "REBASE_HEAD")
        assert check("--base", "REBASE_HEAD")[0] == 1

    def test_a_revision_whose_folder_is_behind_a_link(self, repo: Repo) -> None:
        """Work trees were made that way before git had a command for it."""
        repo.write({ALLOWANCES: allow("app.a -> app.b")})
        repo.commit()
        repo.git("branch", "x")
        (repo.root / ".git/refs").rename(repo.root.parent / "refs")
        (repo.root / ".git/refs").symlink_to(repo.root.parent / "refs")
        assert learn("--base", "x")[0] == 0
        assert knows("--base", "x")
        # What lies in the folder itself goes before a branch.
        (repo.root.parent / "refs/x").write_text(repo.git("rev-parse", "HEAD~1") + "\n")
        assert not knows("--base", "x")
        assert check("--base", "x") == plain("--base", "x")

    @pytest.mark.parametrize("in_git", [False, True])
    def test_a_file_that_comes_while_the_tree_is_read(
        self, in_git: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root: Path = request.getfixturevalue("repo").root if in_git else request.getfixturevalue("project")
        learn()
        write(root, {"app/other.py": ""})  # so that the tree is read anew
        settle()
        read = sources.read_tree

        def read_and_add(root: Path, roots: Sequence[str] | None, exclude: Sequence[str], path: str) -> Tree:
            tree = read(root, roots, exclude, path)
            write(root, {"app/late.py": "import app.b\nfrom app import a\n"})
            return tree

        with monkeypatch.context() as patch:
            patch.setattr("layerguard.keeping.read_tree", read_and_add)
            check()
        assert not knows()
        assert check() == plain()

    def test_a_commit_changes_no_layout(self, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
        learn()
        repo.write({"app/b.py": "import json\n"})
        repo.git("add", "app/b.py")
        repo.git("commit", "-qm", "more")
        assert not knows()
        expected = plain()
        monkeypatch.setattr("layerguard.keeping.read_tree", refuse)
        assert learn() == expected
        assert knows()

    def test_in_a_hook(self, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
        """What git tells a hook is told to nobody else, and differs each time: when and what is committed."""
        learn()
        monkeypatch.setenv("GIT_EXEC_PATH", "/usr/lib/git-core")
        monkeypatch.setenv("GIT_AUTHOR_DATE", "@1796049690 +0000")
        monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index-17.lock")
        (repo.root / ".git/index.lock").touch()
        assert knows()

    def test_a_file_with_an_old_time_is_read_all_the_same(self, project: Path) -> None:
        learn()
        write(project, {"app/a.py": "import os\n"})
        os.utime(project / "app/a.py", (0, 0))
        assert check() == plain()
        assert check()[0] == 0

    def test_two_edits_within_a_tick(self, project: Path) -> None:
        settle()
        for number in range(30):
            (project / "app/a.py").write_text(f"import {'app.b' if number % 2 else 'app.c'}\n")
            assert check()[0] == number % 2

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("LAYERGUARD_BASE", "HEAD"),
            ("CI", "1"),
            ("HOME", "elsewhere"),
            ("XDG_CONFIG_HOME", "elsewhere"),
            ("GIT_CONFIG_GLOBAL", "elsewhere"),
            ("GIT_CEILING_DIRECTORIES", "/"),
        ],
    )
    def test_a_variable(self, name: str, value: str, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(repo.root.parent / "home"))
        learn()
        assert knows()
        monkeypatch.setenv(name, value)
        assert not knows()
        monkeypatch.delenv(name)
        if name in {"LAYERGUARD_BASE", "CI", "XDG_CONFIG_HOME", "GIT_CEILING_DIRECTORIES"}:
            assert knows()

    def test_no_git_any_more(self, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        learn()
        (tmp_path / "empty").mkdir()
        monkeypatch.setenv("PATH", str(tmp_path / "empty"))
        assert not knows()
        assert learn() == plain()
        assert "git was not found" in check()[2]
        assert knows()
        assert repo.root == Path.cwd()

    def test_no_home(self, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
        def getpwuid(number: int) -> object:
            raise KeyError(number)

        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.setattr("pwd.getpwuid", getpwuid)
        assert learn() == plain()
        assert repo.root == Path.cwd()

    def test_another_user(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        learn()
        monkeypatch.setattr("os.geteuid", lambda: 4242)
        assert not knows()
        assert project.is_dir()

    def test_another_day(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        learn()
        with monkeypatch.context() as patch:
            patch.setattr("layerguard.verdicts.today", lambda: "2999-01-01")
            assert knows()
        entry = "'app.a -> app.b' = { review-by = 2998-01-01 }\n"
        write(project, {ALLOWANCES: f"version = 1\n[allow.ab]\n{entry}"})
        learn()
        assert knows()
        monkeypatch.setattr("layerguard.verdicts.today", lambda: "2999-01-01")
        assert not knows()

    def test_an_update_of_what_it_is_made_of(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        site = project.parent / "site"
        write(site, {"msgspec/__init__.py": ""})
        monkeypatch.setattr("layerguard.watching._programs", lambda: [str(site)])
        learn()
        assert knows()
        (site / "msgspec-9.dist-info").mkdir()
        assert not knows()

    @pytest.mark.parametrize(
        ("path", "before", "after"),
        [
            ("layerguard.toml", AB, AB.replace("They", "We")),
            ("contracts/x.toml", FORBIDDEN, FORBIDDEN.replace("json", "os")),
            (ALLOWANCES, "version = 1\n", allow("app.a -> app.b")),
            ("app/pyproject.toml", "", "[tool.layerguard]\n"),
            ("app/c.py", "", "import app.b\n"),
        ],
    )
    @pytest.mark.parametrize("steps", [1, 2])
    def test_what_a_link_leads_to(
        self, path: str, before: str, after: str, steps: int, project: Path
    ) -> None:
        real = project.parent / "real"
        (project / path).unlink(missing_ok=True)
        (project / path).parent.mkdir(exist_ok=True)
        real.write_text(before)
        target = real
        if steps > 1:
            target = project.parent / "between"
            target.symlink_to(real)
        (project / path).symlink_to(target)
        os.chdir(project / "app")
        learn()
        assert knows()
        real.write_text(after)
        assert not knows()
        assert check() == plain()

    def test_a_folder_of_contracts_that_is_a_link(self, project: Path) -> None:
        write(project.parent / "shared", {"x.toml": FORBIDDEN})
        (project / "contracts").symlink_to("../shared")
        learn()
        assert knows()
        write(project.parent / "shared", {"y.toml": FORBIDDEN.replace('"x"', '"y"')})
        assert not knows()

    def test_a_text_that_a_broken_link_names(self, project: Path) -> None:
        write(project, {"contracts/r.toml": REMOVED})
        (project / "notes.txt").symlink_to("../notes")
        learn()
        assert knows()
        write(project.parent, {"notes": "see app.old\n"})
        assert not knows()

    def test_a_folder_that_a_link_named_as_code_leads_to(self, project: Path) -> None:
        target = project.parent / "target"
        target.mkdir()
        (project / "app/c.py").symlink_to(target)
        learn()
        assert knows()
        target.rmdir()
        target.write_text("import app.b\n")
        assert not knows()

    def test_a_configuration_of_git_that_was_empty(self, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
        configuration = repo.root.parent / "gitconfig"
        write(repo.root.parent, {"gitconfig": "", "names": "c.py\n"})
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
        repo.write({"app/c.py": ""})
        learn()
        assert knows()
        configuration.write_text(f"[core]\n\texcludesFile = {repo.root.parent}/names\n")
        assert not knows()
        assert check() == plain()

    def test_a_file_that_becomes_one_of_the_base_again(self, repo: Repo) -> None:
        """Git sees another rename when an ignored file comes back."""
        words = f"import app.b\n{WORDS}"
        repo.write({"app/a.py": words, "gen/deep/g.py": f"{words}Y = 1\n", ".gitignore": "gen/\n"})
        repo.git("add", "-f", "gen/deep/g.py")
        repo.commit({ALLOWANCES: allow("app.a -> app.b")})
        repo.git("rm", "-q", "--cached", "gen/deep/g.py")
        modules = '["app.a", "app.b", "app.z"]'
        repo.write(
            {
                "layerguard.toml": AB.replace('["app.a", "app.b"]', modules) + "allow-empty = true\n",
                "gen/deep/g.py": None,
                "app/a.py": None,
                "app/z.py": f"{words}Y = 1\n",
            }
        )
        assert "is no longer needed" in learn()[1]
        assert knows()
        repo.write({"gen/deep/g.py": ""})
        assert not knows()
        assert "is of a module that moved: now 'app.z -> app.b'" in check()[1]

    def test_a_text_by_which_git_sees_another_rename(self, repo: Repo) -> None:
        repo.commit({"app/a.py": f"import app.b\n{WORDS}", ALLOWANCES: allow("app.a -> app.b")})
        modules = '["app.a", "app.b", "app.z"]'
        repo.write(
            {
                "layerguard.toml": AB.replace('["app.a", "app.b"]', modules) + "allow-empty = true\n",
                "app/a.py": None,
                "app/z.py": f"import app.b\n{WORDS}X = 1\n",
                "notes.txt": "something else\n",
            }
        )
        assert "is of a module that moved: now 'app.z -> app.b'" in learn()[1]
        assert knows()
        repo.write({"notes.txt": f"import app.b\n{WORDS}"})
        assert not knows()
        assert "is no longer needed" in check()[1]


class TestMemory:
    def test_an_edited_file_is_the_only_one_that_is_parsed(self, project: Path, parsed: list[bytes]) -> None:
        learn()
        assert len(parsed) == 3
        parsed.clear()
        write(project, {"app/b.py": "import app\n"})
        assert learn()[0] == 1
        assert parsed == [b"import app\n"]

    def test_with_new_times_none_is(self, project: Path, parsed: list[bytes]) -> None:
        learn()
        parsed.clear()
        for path in project.rglob("*"):
            os.utime(path, (1, 1))
        assert check() == learn()
        assert parsed == []

    def test_one_that_moved_is_not(self, project: Path, parsed: list[bytes]) -> None:
        learn()
        parsed.clear()
        (project / "app/a.py").rename(project / "app/new.py")
        learn()
        assert parsed == []
        assert check() == plain()

    def test_what_was_there_before_is_remembered(self, project: Path, parsed: list[bytes]) -> None:
        learn()
        write(project, {"app/a.py": "import json\n"})
        learn()
        parsed.clear()
        write(project, {"app/a.py": BROKEN["app/a.py"]})
        assert learn()[0] == 1
        assert parsed == []

    def test_a_string_is_resolved_anew(self, project: Path, parsed: list[bytes]) -> None:
        """What a string names depends on what another file binds."""
        protected = AB.replace("independence", "protected").replace(', "app.b"', "") + "importers = []\n"
        write(project, {"layerguard.toml": protected, "app/a.py": "", "app/b.py": "X = 'app.a.thing'\n"})
        assert learn() == plain()
        parsed.clear()
        write(project, {"app/a.py": "thing = 1\n"})
        said = learn()
        assert parsed == [b"thing = 1\n"]
        assert said == plain()
        assert said[0] == 1

    def test_findings_that_are_lost_are_found_again(self, project: Path) -> None:
        learn()
        for name in ("verdict", "findings"):
            cached(project, name).unlink()
        assert learn() == plain()

    def test_old_findings_are_forgotten(self, project: Path) -> None:
        for number in range(20):
            write(project, {"app/a.py": f"import m{number}\n"})
            check()
        assert cached(project, "findings").stat().st_size < 2000


class TestFolder:
    def test_it_says_what_it_is(self, project: Path) -> None:
        learn()
        made = project / FOLDER
        assert files_in(made) == [
            ".gitignore",
            *(f"{__version__}/{name}" for name in (SEAL, "findings", "layout", "outlines", "verdict")),
            "CACHEDIR.TAG",
        ]
        assert (made / ".gitignore").read_text() == NOBODY_ELSE
        assert (made / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")

    def test_what_is_lost_of_it_comes_back(self, repo: Repo) -> None:
        learn()
        for name in (".gitignore", "CACHEDIR.TAG"):
            (repo.root / FOLDER / name).unlink()
        repo.write({"app/a.py": "import json\n"})
        assert learn()[2] == ""
        assert knows()
        assert repo.git("status", "--short") == "M app/a.py"

    @pytest.mark.parametrize("in_project", [True, False])
    @pytest.mark.parametrize("by_option", [True, False])
    def test_it_may_be_elsewhere(
        self, in_project: bool, by_option: bool, repo: Repo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = repo.root / "mine" if in_project else repo.root.parent / "mine"
        words = ["--cache-dir", str(folder)] if by_option else []
        if not by_option:
            monkeypatch.setenv(VARIABLE, str(folder))
        learn(*words)
        assert knows(*words)
        assert not (repo.root / FOLDER).exists()
        assert (folder / __version__).is_dir()
        assert repo.git("status", "--short") == ""
        clean = ["clean", *words]
        assert call(main, clean) == (0, f"removed {folder}\n", "")
        assert call(main, clean) == (0, f"there is no cache at {folder}\n", "")
        assert not folder.exists()

    def test_a_folder_with_something_in_it_stays_as_it_is(self, repo: Repo) -> None:
        """Not even the project root itself is harmed, when it is named as the place of the cache."""
        repo.commit({"logs/.keep": ""})
        repo.write({"app/c.py": "import app.b\n"})
        (repo.root / "empty").mkdir()
        expected = plain()
        before = files_in(repo.root)
        assert learn("--cache-dir", ".") == expected
        assert knows("--cache-dir", ".")
        assert repo.git("status", "--short") == "?? app/c.py"
        assert call(main, ["clean", "--cache-dir", "."])[0] == 0
        assert files_in(repo.root) == before
        assert (repo.root / "empty").is_dir()

    def test_clean_leaves_what_is_not_the_cache(self, project: Path) -> None:
        learn()
        write(project / FOLDER, {".gitignore": "mine\n", "other/verdict-x": "", "9.9/x": "", "mine.txt": ""})
        assert call(main, ["clean"]) == (0, f"removed {project / FOLDER}\n", "")
        assert files_in(project / FOLDER) == [".gitignore", "9.9/x", "mine.txt", "other/verdict-x"]
        assert call(main, ["clean"]) == (0, f"there is no cache at {project / FOLDER}\n", "")

    def test_clean_tells_what_it_cannot_do(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        learn()

        def rmtree(_: object) -> None:
            raise OSError(errno.EACCES, "Permission denied")

        monkeypatch.setattr("shutil.rmtree", rmtree)
        status, out, err = call(main, ["clean"])
        assert (status, out) == (2, "")
        assert err == f"error: the cache '{project / FOLDER}' cannot be removed: Permission denied.\n"

    def test_it_is_bounded(self, project: Path) -> None:
        settle()
        for number in range(20):
            check(*["app"] * number)
        assert files_in(project / FOLDER / __version__).count("verdict") == 16
        assert knows(*["app"] * 19)

    def test_nothing_is_kept_when_that_is_asked(self, project: Path) -> None:
        plain()
        assert not (project / FOLDER).exists()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "head": lambda data: data[:10],
    "half": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + b"x",
    "bit": lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
    "other": lambda _: b"something else altogether\n" * 9,
}


class TestTrouble:
    @pytest.mark.parametrize("how", DAMAGES)
    @pytest.mark.parametrize("name", ["verdict", "findings", "outlines"])
    def test_damage_is_mended(self, how: str, name: str, project: Path) -> None:
        expected = learn()
        file = cached(project, name)
        file.write_bytes(DAMAGES[how](file.read_bytes()))
        cached(project, "verdict").write_bytes(b"")
        write(project, {"app/new.py": ""})
        status, out, err = learn()
        assert (status, out) == plain()[:2]
        note = f"note: the file '{file.name}' in the cache is damaged, and was not used.\n"
        assert err == ("" if name == "verdict" else note) + expected[2]
        assert knows()
        write(project, {"app/new.py": "import os\n"})
        assert check() == plain()

    @pytest.mark.parametrize("name", ["verdict", "findings", "outlines"])
    def test_a_folder_in_its_place(self, name: str, project: Path) -> None:
        expected = learn()
        file = cached(project, name)
        file.unlink()
        file.mkdir()
        write(project, {"app/a.py": BROKEN["app/a.py"] + "\n"})
        status, out, err = learn()
        assert (status, out) == expected[:2]
        assert "note: the cache cannot be written: Is a directory.\n" in err

    def test_another_format_of_before(self, project: Path) -> None:
        learn()
        for name in ("verdict", "findings", "outlines"):
            file = cached(project, name)
            data = file.read_bytes()
            kind = data.split(b"\n")[2].decode()
            parts = unpack(data, kind)
            assert parts is not None
            file.write_bytes(pack(f"{kind} of before", [bytes(part) for part in parts]))
        assert not knows()
        assert learn() == plain()
        assert knows()

    def test_a_folder_that_cannot_be_written(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = plain()

        def mkdir(*_: object, **__: object) -> None:
            raise OSError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr(Path, "mkdir", mkdir)
        note = "note: the cache cannot be written: Read-only file system.\n"
        assert check() == (*expected[:2], note + expected[2])
        assert not (project / FOLDER).exists()

    def test_a_cache_that_can_be_read_and_not_written(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        learn()

        def mkstemp(**_: object) -> None:
            raise OSError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr("tempfile.mkstemp", mkstemp)
        assert knows()
        write(project, {"app/a.py": "import os\n"})
        expected = plain()
        note = "note: the cache cannot be written: Read-only file system.\n"
        assert check() == (*expected[:2], note + expected[2])

    @pytest.mark.parametrize("made_before", [True, False])
    def test_a_full_disk(self, made_before: bool, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Full(io.FileIO):
            def write(self, data: object) -> int:
                super().write(bytes(data)[:7])  # type: ignore[call-overload]
                raise OSError(errno.ENOSPC, "No space left on device")

        if made_before:
            learn()
        write(project, {"app/a.py": "import os\n"})
        settle()
        before = {path: path.read_bytes() for path in (project / FOLDER).rglob("*") if path.is_file()}
        expected = plain()
        with monkeypatch.context() as patch:
            patch.setattr("os.fdopen", Full)
            said = check()
        note = "note: the cache cannot be written: No space left on device.\n"
        assert said == (*expected[:2], note + expected[2])
        after = {path: path.read_bytes() for path in (project / FOLDER).rglob("*") if path.is_file()}
        assert after == before
        assert learn() == plain()
        assert knows()

    def test_a_cache_that_cannot_be_read(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = learn()

        def forbid(*_: object) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr("layerguard.start.known.find_entry", forbid)
        monkeypatch.setattr("layerguard.cache.unpack", forbid)
        note = "note: the cache cannot be read: Permission denied.\n"
        assert check() == (*expected[:2], note + expected[2])
        assert project.is_dir()

    def test_a_run_that_is_killed_while_it_writes(self, project: Path) -> None:
        learn()
        before = files_in(project / FOLDER)
        write(project, {"app/a.py": "import os\n"})
        script = (
            "import os, signal, sys, layerguard.cache\n"
            "layerguard.cache.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
            "sys.argv = ['layerguard', 'check']\n"
            "from layerguard.start import main\n"
            "main()\n"
        )
        ended = subprocess.run([sys.executable, "-c", script], cwd=project, check=False, capture_output=True)
        assert ended.returncode == -signal.SIGKILL
        (left,) = (project / FOLDER / __version__).glob("*.tmp")
        assert [*before, left.relative_to(project / FOLDER).as_posix()] == sorted(
            files_in(project / FOLDER), key=lambda path: path.endswith(".tmp")
        )
        assert learn() == plain()
        assert left.exists()
        os.utime(left, (0, 0))
        write(project, {"app/a.py": "import app.b\n"})
        assert learn() == plain()
        assert files_in(project / FOLDER) == before

    def test_a_key_that_holds_what_separates_the_notes(self, project: Path) -> None:
        entry = '"app.a\\u0000x -> app.b" = { review-by = 2020-01-01 }\n'
        write(project, {ALLOWANCES: f"version = 1\n[allow.ab]\n{entry}"})
        learn()
        assert check() == plain()


@pytest.fixture
def runs(project: Path) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """What starts a run in a process of its own; none outlives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        command = [*PROGRAM, "check", "--output-format", "concise"]
        process = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


class TestAtOnce:
    def test_runs_while_a_file_changes(
        self, project: Path, runs: Callable[[], subprocess.Popen[bytes]]
    ) -> None:
        texts = (BROKEN["app/a.py"], "import json\n")
        answers = set()
        for text in texts:
            write(project, {"app/a.py": text})
            answers.add(plain("--output-format", "concise")[:2])
        going = [runs() for _ in range(6)]
        number = 0
        while any(process.poll() is None for process in going):
            number += 1
            write(project.parent, {"next": texts[number % 2]})
            (project.parent / "next").replace(project / "app/a.py")
        for process in going:
            out, err = process.communicate()
            if b"was changed while it was read" not in err:
                assert (process.returncode, out.decode()) in answers
        for text in texts:
            write(project, {"app/a.py": text})
            assert check() == plain()
            assert learn() == plain()
            assert knows()

    def test_runs_that_make_the_cache(
        self, project: Path, runs: Callable[[], subprocess.Popen[bytes]]
    ) -> None:
        expected = plain("--output-format", "concise")
        said = [(process.communicate(), process.returncode) for process in [runs() for _ in range(5)]]
        assert {(code, out.decode(), err.decode()) for (out, err), code in said} == {expected}
        assert learn() == plain()
        assert knows()
        assert not list((project / FOLDER).rglob("*.tmp"))


def forge(root: Path, folder: str) -> None:
    """Put a cache into a folder that says of every file that it is empty, and that all contracts are kept."""
    clean = write(root.parent / "clean", CLEAN)
    report = layerguard.check(clean)
    write(root, {f"{folder}/.gitignore": "", f"{folder}/{__version__}/{SEAL}": ""})
    place = root / folder / __version__
    if folder != FOLDER:
        shutil.copytree(root / FOLDER / __version__, place, dirs_exist_ok=True)
    file = next(place.glob("findings-*"))
    data = file.read_bytes()
    kind = data.split(b"\n")[2].decode()
    parts = unpack(data, kind)
    assert parts is not None
    digests, lengths, blob = map(bytes, parts)
    names = [digests[start : start + SIZE] for start in range(0, len(digests), SIZE)]
    ends = [0, *accumulate(memoryview(lengths).cast("I"))]
    blobs = [blob[begin:end] for begin, end in pairwise(ends)]
    nothing = blobs[names.index(digest_of(b""))]
    many = array("I", [len(nothing)] * len(names)).tobytes()
    file.write_bytes(pack(kind, [digests, many, nothing * len(names)]))
    for old in (*place.glob("outlines-*"), *place.glob("verdict-*")):
        old.unlink()
    key = key_of(str(root), (), (), None, show_allowed=False)
    for seal in (b"", b"\0" * 32):
        entry = to_bytes(key, seal, NOTHING, outcome(report, "full"))
        Path(place_of(str(place), key)).write_bytes(entry)


NOTHING = Basis([], [], b"", b"", {}, marks=b"", indexes={}, day="", ways=(), tops=(), stores=(), recent=b"")


class TestForged:
    def test_a_commit_cannot_bring_a_cache_along(self, repo: Repo) -> None:
        learn()
        forge(repo.root, FOLDER)
        repo.git("add", "-f", FOLDER)
        repo.commit()
        expected = plain()
        assert expected[0] == 1
        note = f"note: git tracks '{FOLDER}/{__version__}/', so this cache is not used.\n"
        assert learn() == (*expected[:2], note + expected[2])
        assert check()[0] == 1

    def test_nor_one_behind_a_link(self, repo: Repo) -> None:
        learn()
        forge(repo.root, "data")
        shutil.rmtree(repo.root / FOLDER)
        (repo.root / FOLDER).symlink_to("data")
        repo.git("add", "-f", "-A", "data", FOLDER)
        repo.commit()
        expected = plain()
        assert expected[0] == 1
        note = f"note: git tracks 'data/{__version__}/', so this cache is not used.\n"
        assert learn() == (*expected[:2], note + expected[2])

    def test_nor_one_that_lies_outside_the_project(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        repo = start(tmp_path / "top", {f"inside/{path}": text for path, text in BROKEN.items()})
        root = repo.root / "inside"
        monkeypatch.chdir(root)
        learn()
        forge(root, "data")
        (root / "data").rename(repo.root / "data")
        shutil.rmtree(root / FOLDER)
        (root / FOLDER).symlink_to("../data")
        repo.git("add", "-f", "-A", ".")
        repo.commit()
        expected = plain()
        assert expected[0] == 1
        note = f"note: '{FOLDER}' is a link, so it is not used.\n"
        assert learn() == (*expected[:2], note + expected[2])

    def test_a_copy_of_a_cache_is_no_outcome(self, project: Path) -> None:
        """As one that a CI system has kept; what was found in the files is still good."""
        learn()
        shutil.copytree(project / FOLDER, project.parent / "copy")
        shutil.rmtree(project / FOLDER)
        shutil.copytree(project.parent / "copy", project / FOLDER)
        assert not knows()
        assert learn() == plain()
        assert json.loads(check("--output-format", "json")[1])["summary"]["violations"] == 1
