"""What git is asked about earlier commits, and that nothing in the repository makes it run a program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from history import ALLOWANCES, PLAIN, WORDS, Repo, marker, start, told
from projects import AB, allow, run

from layerguard import git
from layerguard.errors import UserError
from layerguard.ratchet import ratchet


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return start(tmp_path / "project")


def test_commits(repo: Repo, tmp_path: Path) -> None:
    first, second = repo.head, repo.commit({"README": "x\n"})
    repo.git("tag", "-a", "v1", "-m", "x")
    assert [git.find_commit(repo.root, name) for name in ("HEAD", "main~1", "v1", second[:8])] == [
        second,
        first,
        second,
        second,
    ]
    missing = ("no-such", "HEAD~2", "HEAD:README", "--all", "", "0" * 40, "HEAD^{tree}")
    assert [git.find_commit(repo.root, name) for name in missing] == [None] * len(missing)
    assert git.find_commit(tmp_path, "HEAD") is None
    assert git.find_parents(repo.root, second) == [first]
    assert git.find_parents(repo.root, first) == []


def test_parents_that_a_shallow_clone_lacks(repo: Repo, tmp_path: Path) -> None:
    first = repo.head
    repo.commit({"README": "x\n"})
    clone = repo.clone(tmp_path / "clone", "--depth=1")
    assert (git.is_shallow(clone.root), git.is_shallow(repo.root)) == (True, False)
    assert git.find_parents(clone.root, clone.head) == [first]
    assert git.find_commit(clone.root, first) is None


def test_merge_bases(repo: Repo) -> None:
    first = repo.head
    one = repo.branch("one").commit(message="one")
    two = repo.branch("two", "main").commit(message="two")
    assert git.find_merge_bases(repo.root, one, two) == [first]
    repo.merge(one)
    assert git.find_merge_bases(repo.root, one, repo.head) == [one]
    repo.branch("three", one).merge(two)
    assert git.find_merge_bases(repo.root, "two", "three") == sorted([one, two])
    repo.git("checkout", "-q", "--orphan", "other")
    assert git.find_merge_bases(repo.root, one, repo.commit(message="other")) == []


def test_where_the_history_of_a_shallow_clone_ends(repo: Repo, tmp_path: Path) -> None:
    for number in range(3):
        repo.commit(message=str(number))
    assert not git.is_cut_off(repo.root, (repo.head,), repo.git("rev-parse", "HEAD~2"))
    clone = repo.clone(tmp_path / "clone", "--depth=3")
    last = clone.git("rev-parse", "HEAD~2")
    assert not git.is_cut_off(clone.root, (clone.head,), last)
    clone.branch("side", "HEAD~1").commit(message="side")
    assert not git.is_cut_off(clone.root, (clone.head, "main"), clone.git("rev-parse", "HEAD~1"))
    assert git.is_cut_off(clone.root, (last,), clone.head) is False
    assert git.is_cut_off(clone.root, (clone.head,), clone.git("commit-tree", "HEAD^{tree}", "-m", "x"))


def test_files_at_a_commit(repo: Repo) -> None:
    names = {"a/ö x.py": "1\n", "a/\tb\n.py": "2\n", f"a/{os.fsdecode(bytes([255]))}.py": "3\n"}
    for name, text in names.items():
        (repo.root / name).parent.mkdir(exist_ok=True)
        (repo.root / name).write_text(text)
    (repo.root / "a/link").symlink_to("ö x.py")
    commit = repo.commit()
    repo.commit({"a/ö x.py": "changed\n"})
    found = git.list_files_at(repo.root / "a", commit)
    assert sorted(found) == sorted([*(name[2:] for name in names), "link"])
    assert git.read_blobs(repo.root, [found["ö x.py"], found["\tb\n.py"]]) == {
        found["ö x.py"]: b"1\n",
        found["\tb\n.py"]: b"2\n",
    }
    assert set(git.list_files_at(repo.root, commit)) == {*PLAIN, *names, "a/link"}


def test_blobs_are_read_as_they_are(repo: Repo) -> None:
    data = [b"", b"\n", b"a\r\nb", b"\0\xff\n\n", b"1 blob 2\n"]
    for number, each in enumerate(data):
        (repo.root / f"{number}").write_bytes(each)
    files = git.list_files_at(repo.root, repo.commit())
    blobs = [files[str(number)] for number in range(len(data))]
    assert git.read_blobs(repo.root, blobs) == dict(zip(blobs, data, strict=True))
    assert git.read_blobs(repo.root, []) == {}
    with pytest.raises(UserError, match=f"git does not have the file '{'1' * 40}' of an earlier commit"):
        git.read_blobs(repo.root, [blobs[0], "1" * 40])


def test_a_commit_that_is_none(repo: Repo) -> None:
    with pytest.raises(UserError, match="git could not read an earlier commit: fatal: not a tree object"):
        git.list_files_at(repo.root, "1" * 40)


class TestRenames:
    def test_staged_committed_and_not_tracked(self, repo: Repo) -> None:
        expected = [("app/a/m.py", "app/a/n.py")]
        base = repo.head
        (repo.root / "app/a/m.py").rename(repo.root / "app/a/n.py")
        index = (repo.root / ".git/index").read_bytes()
        assert git.find_renames(repo.root, base) == expected
        assert (repo.root / ".git/index").read_bytes() == index
        repo.git("add", "-A")
        assert git.find_renames(repo.root, base) == expected
        repo.commit()
        assert git.find_renames(repo.root, base) == expected
        assert git.find_renames(repo.root, repo.head) == []

    def test_nothing_is_left_behind(self, repo: Repo) -> None:
        repo.git("config", "core.splitIndex", "true")
        (repo.root / "app/a/m.py").rename(repo.root / "app/a/n.py")
        before = sorted(path for path in (repo.root / ".git").rglob("*"))
        git.find_renames(repo.root, repo.head)
        assert sorted(path for path in (repo.root / ".git").rglob("*")) == before

    def test_changed_on_the_way(self, repo: Repo) -> None:
        repo.write({"app/a/m.py": None, "app/a/n.py": f"{PLAIN['app/a/m.py']}more = 1\n"})
        assert git.find_renames(repo.root, "HEAD") == [("app/a/m.py", "app/a/n.py")]
        repo.write({"app/a/n.py": "import app.b.x\n"})
        assert git.find_renames(repo.root, "HEAD") == []

    def test_a_copy_is_none(self, repo: Repo) -> None:
        repo.write({"app/a/n.py": PLAIN["app/a/m.py"]})
        assert git.find_renames(repo.root, "HEAD") == []

    def test_onto_a_file_that_was_there(self, repo: Repo) -> None:
        repo.write({"app/a/m.py": None, "app/b/y.py": PLAIN["app/a/m.py"]})
        assert git.find_renames(repo.root, "HEAD") == []

    def test_below_the_root_only(self, repo: Repo) -> None:
        repo.write({"app/a/m.py": None, "out.py": PLAIN["app/a/m.py"]})
        assert git.find_renames(repo.root / "app", "HEAD") == []
        repo.write({"out.py": None, "app/in.py": PLAIN["app/a/m.py"]})
        assert git.find_renames(repo.root / "app", "HEAD") == [("a/m.py", "in.py")]

    def test_a_folder_with_empty_files(self, repo: Repo) -> None:
        repo.commit({"app/a/q/__init__.py": "", "app/a/q/sub/__init__.py": "", "app/a/q/sub/d.py": WORDS})
        repo.git("mv", "app/a/q", "app/a/z")
        assert git.find_renames(repo.root, "HEAD") == [
            ("app/a/q/__init__.py", "app/a/z/__init__.py"),
            ("app/a/q/sub/__init__.py", "app/a/z/sub/__init__.py"),
            ("app/a/q/sub/d.py", "app/a/z/sub/d.py"),
        ]

    def test_odd_names(self, repo: Repo) -> None:
        repo.commit({"ö \t1.py": f"one\n{WORDS}", "x.py": f"two\n{WORDS[:500]}"})
        (repo.root / "ö \t1.py").rename(repo.root / "ü * [2].py")
        assert git.find_renames(repo.root, "HEAD") == [("ö \t1.py", "ü * [2].py")]
        (repo.root / "ü * [2].py").rename(repo.root / 'a\n"b.py')
        assert git.find_renames(repo.root, "HEAD") == []

    def test_ignored_files_and_links_are_no_new_files(self, repo: Repo) -> None:
        repo.commit({".gitignore": "n.py\n"})
        (repo.root / "app/a/m.py").rename(repo.root / "app/a/n.py")
        (repo.root / "link.py").symlink_to("app/a/n.py")
        assert git.find_renames(repo.root, "HEAD") == []

    def test_a_file_that_was_deleted_but_is_there(self, repo: Repo) -> None:
        repo.git("rm", "-q", "--cached", "app/a/m.py")
        repo.write({"app/a/n.py": PLAIN["app/a/m.py"]})
        assert git.find_renames(repo.root, "HEAD") == []


class TestNoProgramIsRun:
    KEYS = (
        "alias.cat-file",
        "alias.diff",
        "alias.ls-tree",
        "core.alternateRefsCommand",
        "core.askPass",
        "core.editor",
        "core.fsmonitor",
        "core.gitProxy",
        "core.pager",
        "core.sshCommand",
        "credential.helper",
        "diff.external",
        "diff.mark.command",
        "diff.mark.textconv",
        "filter.mark.clean",
        "filter.mark.process",
        "filter.mark.smudge",
        "gpg.program",
        "gpg.ssh.program",
        "interactive.diffFilter",
        "merge.mark.driver",
        "pager.cat-file",
        "pager.diff",
        "pager.diff-tree",
        "pager.ls-tree",
        "pager.rev-list",
        "remote.origin.receivepack",
        "remote.origin.uploadpack",
        "sequence.editor",
        "uploadpack.packObjectsHook",
    )
    HOOKS = (
        "applypatch-msg",
        "fsmonitor-watchman",
        "post-checkout",
        "post-index-change",
        "post-merge",
        "pre-auto-gc",
        "pre-commit",
        "reference-transaction",
        "update",
    )

    def plant(self, repo: Repo, folder: Path) -> Path:
        """Name a program in all these places; return the file that it leaves behind."""
        program, ran = marker(folder)
        for key in self.KEYS:
            repo.git("config", key, str(program))
        for hook in self.HOOKS:
            (repo.root / ".git/hooks" / hook).unlink(missing_ok=True)
            (repo.root / ".git/hooks" / hook).symlink_to(program)
        hooks = folder / "hooks"
        hooks.symlink_to(repo.root / ".git/hooks")
        repo.git("config", "core.hooksPath", str(hooks))
        for key, value in (
            ("core.untrackedCache", "true"),
            ("core.splitIndex", "true"),
            ("diff.renames", "false"),
            ("log.showSignature", "true"),
            ("filter.mark.required", "true"),
        ):
            repo.git("config", key, value)
        (repo.root / ".git/info/attributes").write_text("* filter=mark diff=mark merge=mark\n")
        ran.unlink(missing_ok=True)
        return ran

    def test_the_trap_works(self, repo: Repo, tmp_path: Path) -> None:
        ran = self.plant(repo, tmp_path)
        repo.write({"app/a/m.py": f"{PLAIN['app/a/m.py']}#\n"})
        with pytest.raises(AssertionError, match="clean filter 'mark' failed"):
            repo.git("-c", "filter.mark.process=", "add", "app/a/m.py")
        assert ran.exists()

    def test_check_and_ratchet(self, repo: Repo, tmp_path: Path) -> None:
        base = repo.commit(
            {".gitattributes": "*.py filter=mark diff=mark\n", "app/c/t.py": f"T = 1\n{WORDS}\n"}
        )
        repo.commit({"app/c/t.py": None, "app/c/s.py": f"T = 1\n{WORDS}\n"})
        ran = self.plant(repo, tmp_path)
        repo.write(
            {"app/a/m.py": None, "app/a/n.py": f"{PLAIN['app/a/m.py']}#\n", "app/b/y.py": "import os\n"}
        )
        new = '[[contract]]\nid = "new"\nkind = "forbidden"\nsources = ["app.b"]\ntargets = ["os"]\n'
        repo.write({"layerguard.toml": AB + new})
        assert told(repo.check(base)) == ["app/b/y.py:1: LG102", f"{ALLOWANCES}:4: LG201"]
        assert str(ratchet(repo.root, base=base)) == "removed 0, moved 1, kept 0"
        for words in (["check"], ["ratchet"], ["ratchet", "--adopt", "new"], ["debt"], ["explain", "ab"]):
            run(repo.root, *words, environment={"LAYERGUARD_BASE": base})
        assert not ran.exists(), ran.read_text()

    @pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
    def test_a_partial_clone_fetches_nothing_by_itself(self, repo: Repo, tmp_path: Path, kind: str) -> None:
        repo.git("config", "uploadpack.allowFilter", "true")
        repo.branch("work").write({"app/a/n.py": PLAIN["app/a/m.py"], "app/a/m.py": None}).allow().commit()
        clone = repo.clone(tmp_path / "clone", f"--filter={kind}", "--branch=work")
        ran = self.plant(clone, tmp_path)
        for url in (f"file://{repo.root}", "ssh://example.invalid/x", "ext::sh -c true"):
            clone.git("config", "remote.origin.url", url)
            with pytest.raises(UserError, match="git could not read an earlier commit: ") as caught:
                clone.check("origin/main")
            assert caught.value.hint == (
                "If this is a partial clone, run: git fetch --refetch --no-filter origin"
            )
        assert not ran.exists(), ran.read_text()

    def test_the_command_that_completes_a_partial_clone(self, repo: Repo, tmp_path: Path) -> None:
        repo.git("config", "uploadpack.allowFilter", "true")
        repo.branch("work").allow().commit()
        clone = repo.clone(tmp_path / "clone", "--filter=tree:0", "--branch=work")
        clone.git("fetch", "-q", "--refetch", "--no-filter", "origin")
        assert told(clone.check("origin/main")) == ["app/a/m.py:1: LG103"]


def test_the_language_of_the_user_does_not_matter(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANG", "LC_ALL", "LANGUAGE", "LC_MESSAGES"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UserError, match="detected dubious ownership"):
        git.find_commit(repo.root, "HEAD")


def test_variables_of_a_hook_do_not_lead_elsewhere(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = start(tmp_path / "other", {"x.py": "", "layerguard.toml": AB, ALLOWANCES: allow("a -> b")})
    for name, value in (
        ("GIT_DIR", f"{other.root}/.git"),
        ("GIT_WORK_TREE", str(other.root)),
        ("GIT_INDEX_FILE", f"{other.root}/.git/index"),
        ("GIT_OBJECT_DIRECTORY", f"{other.root}/.git/objects"),
    ):
        monkeypatch.setenv(name, value)
    report = repo.check()
    assert (report.violations, report.allowed_before) == ((), 1)
