from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest
from history import ALLOWANCES, PLAIN, WORDS, Repo, grown, start, told, without_git
from projects import AB, run, write

from layerguard import check
from layerguard.allowances import bases
from layerguard.allowances.bases import Base, find_base
from layerguard.errors import UserError

OLD, NEW = "app.a.m -> app.b.x", "app.a.m -> app.b.y"


def line(repo: Repo, names: str) -> dict[str, str]:
    """Make commits in a row, each with a branch that is named as it is; return their hashes."""
    found = {}
    for name in names:
        found[name] = repo.commit({"README": f"{name}\n"}, name)
        repo.git("branch", name)
    return found


def fetch_of(error: UserError) -> list[str]:
    """The arguments of the `git fetch` that an error names."""
    assert error.hint.startswith("Run: git ")
    return shlex.split(error.hint.removeprefix("Run: git "))


def mended(repo: Repo, base: str | None = None, environment: dict[str, str] | None = None) -> Base:
    """The base, which cannot be read before the command that the error names has run."""
    with pytest.raises(UserError) as caught:
        find_base(repo.root, base, None, environment or {})
    repo.git(*fetch_of(caught.value))
    found = find_base(repo.root, base, None, environment or {})
    assert found
    return found


def test_what_names_the_base_in_this_order(tmp_path: Path) -> None:
    repo = start(tmp_path)
    commits = line(repo, "abcde")
    ci = {"GITLAB_CI": "true", "CI_COMMIT_BEFORE_SHA": commits["c"]}
    own = {"LAYERGUARD_BASE": "b"}
    assert find_base(tmp_path, "a", "d", own | ci) == Base(commits["a"], "a (--base)")
    assert find_base(tmp_path, None, "d", own | ci) == Base(commits["b"], "b (LAYERGUARD_BASE)")
    assert find_base(tmp_path, None, "d", ci) == Base(
        commits["c"], f"{commits['c']} (CI_COMMIT_BEFORE_SHA, GitLab CI)"
    )
    assert find_base(tmp_path, None, "d", {}) == Base(commits["d"], "d (base in the configuration)")
    assert find_base(tmp_path, None, None, {}) == Base(commits["e"], "HEAD")
    assert find_base(tmp_path, None, None, {"LAYERGUARD_BASE": ""}) == Base(commits["e"], "HEAD")


def test_the_report_names_it_and_counts(tmp_path: Path) -> None:
    repo = start(tmp_path, PLAIN | {"layerguard.toml": f'base = "main"\n{AB}'})
    commit = repo.head
    repo.branch("work").write({"app/a/m.py": "", ALLOWANCES: "version = 1\n"}).commit()
    report = repo.check()
    assert (report.base, report.allowed_before, report.summary.allowed) == (commit, 1, 0)
    assert f"0 allowed (1 fewer than at {commit[:7]})" in run(tmp_path, "check").stdout.decode()


@pytest.mark.parametrize("moves_on", ["shrinks", "grows"])
def test_the_merge_base_and_never_the_tip(tmp_path: Path, moves_on: str) -> None:
    repo = start(tmp_path)
    forked = repo.head
    if moves_on == "shrinks":
        repo.commit({"app/a/m.py": "", ALLOWANCES: "version = 1\n"})
    else:
        repo.write({"app/b/y.py": "import app.a.m\n"}).allow(OLD, "app.b.y -> app.a.m").commit()
    repo.branch("work", forked).commit({"README": "x\n"})
    report = repo.check("main")
    assert (report.violations, report.base) == ((), forked)
    repo.write({"app/b/y.py": "import app.a.m\n"}).allow(OLD, "app.b.y -> app.a.m").commit()
    assert grown(repo.check("main")) == ["app.b.y -> app.a.m"]


def test_the_branch_of_the_server_before_a_local_one(tmp_path: Path) -> None:
    """A CI system's branch is the server's; what `--base` names is the local one, if there is one."""
    one = start(tmp_path / "one")
    first = one.head
    two = one.clone(tmp_path / "two").branch("work")
    two.branch("tip").commit({"README": "x\n"})
    two.git("branch", "-f", "main", "tip")
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_BASE_REF": "main"}
    name = "main (GITHUB_BASE_REF, GitHub Actions)"
    assert find_base(two.root, None, None, environment) == Base(first, name)
    assert find_base(two.root, "main", None, {}) == Base(two.head, "main (--base)")
    two.switch("work").git("branch", "-D", "main")
    assert find_base(two.root, "main", None, {}) == Base(first, "main (--base)")


class TestMergeRef:
    """GitHub and Azure check out a merge of the pull request into its target."""

    @pytest.fixture
    def repo(self, tmp_path: Path) -> Repo:
        repo = start(tmp_path / "one").branch("work")
        repo.write({"app/b/y.py": "import app.a.m\n"}).allow(OLD, "app.b.y -> app.a.m").commit()
        repo.switch("main").commit({"README": "main moved on\n"})
        repo.git("checkout", "-q", "--detach")
        repo.merge("work")
        repo.git("update-ref", "refs/pull/7/merge", "HEAD")
        return repo

    def environment(self, merge: str) -> dict[str, str]:
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_REF": "refs/pull/7/merge",
            "GITHUB_BASE_REF": "main",
            "GITHUB_SHA": merge,
        }

    def test_its_first_parent(self, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
        environment = self.environment(repo.head)
        name = "the first parent of the merge commit (GitHub Actions)"
        main = repo.git("rev-parse", "main")
        assert find_base(repo.root, None, None, environment) == Base(main, name)
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        assert grown(repo.check()) == ["app.b.y -> app.a.m"]

    def test_two_commits_are_enough(self, repo: Repo, tmp_path: Path) -> None:
        clone = start(tmp_path / "two", {})
        clone.git("remote", "add", "origin", f"file://{repo.root}")
        clone.git("fetch", "-q", "--no-tags", "--depth=2", "origin", "+refs/pull/7/merge")
        clone.git("checkout", "-q", "--force", "FETCH_HEAD")
        found = find_base(clone.root, None, None, self.environment(clone.head))
        assert found
        assert found.commit == repo.git("rev-parse", "main")

    def test_one_commit_is_not(self, repo: Repo, tmp_path: Path) -> None:
        clone = start(tmp_path / "two", {})
        clone.git("remote", "add", "origin", f"file://{repo.root}")
        clone.git("fetch", "-q", "--no-tags", "--depth=1", "origin", "+refs/pull/7/merge")
        clone.git("checkout", "-q", "--force", "FETCH_HEAD")
        environment = self.environment(clone.head)
        with pytest.raises(UserError, match="is not in this clone") as caught:
            find_base(clone.root, None, None, environment)
        assert caught.value.hint == f"Run: git fetch --no-tags --depth=2 origin {clone.head}"
        assert mended(clone, None, environment).commit == repo.git("rev-parse", "main")

    def test_only_where_that_merge_is_checked_out(self, repo: Repo) -> None:
        """A merge of one's own, the other way round: its first parent holds what is new."""
        merge = repo.head
        main = repo.git("rev-parse", "main")
        repo.switch("work").merge("main")
        assert repo.git("rev-parse", "HEAD^1") != main
        for environment in (self.environment(merge), self.environment(""), {}):
            base = "main" if not environment else None
            found = find_base(repo.root, base, None, environment)
            assert found
            assert found.commit == main
        head = self.environment(repo.head) | {"GITHUB_REF": "refs/heads/work"}
        found = find_base(repo.root, None, None, head)
        assert found
        assert found.name == "main (GITHUB_BASE_REF, GitHub Actions)"

    def test_a_head_that_is_no_merge(self, repo: Repo) -> None:
        repo.switch("work")
        found = find_base(repo.root, None, None, self.environment(repo.head))
        assert found
        assert found.name == "main (GITHUB_BASE_REF, GitHub Actions)"


class TestNotInThisClone:
    """Each time the very command that the error names must make it work."""

    @pytest.fixture
    def repo(self, tmp_path: Path) -> Repo:
        repo = start(tmp_path / "one")
        line(repo, "ab")
        repo.git("tag", "v1", "a")
        repo.branch("feature/x")
        line(repo, "cd")
        return repo

    @pytest.mark.parametrize(
        ("base", "command"),
        [
            ("main", "fetch --no-tags --unshallow origin +refs/heads/main:refs/remotes/origin/main"),
            ("origin/main", "fetch --no-tags --unshallow origin +refs/heads/main:refs/remotes/origin/main"),
            ("refs/heads/b", "fetch --no-tags --unshallow origin +refs/heads/b:refs/remotes/origin/b"),
            ("origin/main~1", "fetch --no-tags --unshallow origin +refs/heads/main:refs/remotes/origin/main"),
            ("HEAD~1", "fetch --no-tags --unshallow origin '+refs/heads/*:refs/remotes/origin/*'"),
            ("@^", "fetch --no-tags --unshallow origin '+refs/heads/*:refs/remotes/origin/*'"),
            ("refs/tags/v1", "fetch --no-tags --unshallow origin +refs/tags/v1:refs/tags/v1"),
        ],
    )
    def test_shallow(self, repo: Repo, tmp_path: Path, base: str, command: str) -> None:
        clone = repo.clone(tmp_path / "two", "--depth=1", "--branch=feature/x")
        done = run(clone.root, "check", "--base", base)
        assert (done.returncode, done.stdout) == (2, b"")
        said = done.stderr.decode()
        assert f"the base {base} (--base) is not in this clone." in said
        assert f"hint: Run: git {command}\n" in said
        found = mended(clone, base)
        wanted = base if base != "refs/heads/b" else "b"
        assert found.commit == repo.git("rev-parse", wanted.removeprefix("origin/"))

    @pytest.mark.parametrize("length", [7, 40])
    def test_a_hash(self, repo: Repo, tmp_path: Path, length: int) -> None:
        clone = repo.clone(tmp_path / "two", "--depth=1", "--branch=feature/x")
        commit = repo.git("rev-parse", "a")
        assert mended(clone, commit[:length]).commit == commit

    def test_where_the_history_ends_too_early(self, repo: Repo, tmp_path: Path) -> None:
        repo.switch("main").commit({"README": "main\n"}, "main")
        clone = repo.clone(tmp_path / "two", "--depth=1", "--no-single-branch", "--branch=feature/x")
        with pytest.raises(UserError) as caught:
            find_base(clone.root, "origin/main", None, {})
        assert caught.value.message == (
            "the base origin/main (--base) cannot be found: this clone is shallow, and its part of the "
            "history does not reach back to where the branch began."
        )
        assert mended(clone, "origin/main").commit == repo.git("rev-parse", "b")

    def test_where_a_better_base_is_out_of_sight(self, tmp_path: Path) -> None:
        """Main's tip merges a long way and a short one; of the long one the clone lacks the end.

        The short way leads to an older common ancestor, which is not the merge base.
        """
        repo = start(tmp_path / "one")
        older = repo.head
        best = repo.commit(message="best")
        repo.branch("long")
        for message in "wxyz":
            repo.commit(message=message)
        repo.branch("short", older).commit(message="short")
        repo.git("checkout", "-q", "-B", "main", "long")
        repo.merge("short")
        repo.branch("work", best).commit(message="work")
        clone = repo.clone(tmp_path / "two", "--depth=3", "--no-single-branch", "--branch=work")
        assert clone.git("merge-base", "HEAD", "origin/main") == older
        assert mended(clone, "origin/main").commit == best

    def test_a_shallow_clone_that_is_deep_enough(self, repo: Repo, tmp_path: Path) -> None:
        clone = repo.clone(tmp_path / "two", "--depth=2", "--branch=feature/x")
        found = find_base(clone.root, "HEAD~1", None, {})
        assert found == Base(repo.git("rev-parse", "c"), "HEAD~1 (--base)")

    def test_a_single_branch(self, repo: Repo, tmp_path: Path) -> None:
        clone = repo.clone(tmp_path / "two", "--single-branch", "--branch=feature/x")
        with pytest.raises(UserError) as caught:
            find_base(clone.root, "main", None, {})
        assert caught.value.hint == (
            "Run: git fetch --no-tags origin +refs/heads/main:refs/remotes/origin/main"
        )
        assert mended(clone, "main").commit == repo.git("rev-parse", "main")

    def test_what_a_ci_system_names(self, repo: Repo, tmp_path: Path) -> None:
        clone = repo.clone(tmp_path / "two", "--depth=1", "--branch=feature/x")
        environment = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
        assert mended(clone, None, environment).commit == repo.git("rev-parse", "main")

    def test_the_commit_before_a_push(self, repo: Repo, tmp_path: Path) -> None:
        clone = repo.clone(tmp_path / "two", "--depth=1", "--branch=feature/x")
        event = tmp_path / "event.json"
        before = repo.git("rev-parse", "c")
        push = {"before": before, "forced": False, "repository": {"default_branch": "main"}}
        event.write_text(json.dumps(push), encoding="utf-8")
        environment = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_REF": "refs/heads/feature/x",
            "GITHUB_EVENT_PATH": str(event),
        }
        assert mended(clone, None, environment).commit == before

    def test_no_such_branch(self, repo: Repo) -> None:
        done = run(repo.root, "check", "--base", "no-such")
        assert done.returncode == 2
        assert b"git fetch --no-tags origin +refs/heads/no-such:refs/remotes/origin/no-such" in done.stderr

    def test_no_revision(self, repo: Repo) -> None:
        with pytest.raises(UserError, match="--base: '--all' is no revision"):
            find_base(repo.root, "--all", None, {})
        with pytest.raises(UserError, match="LAYERGUARD_BASE: '-x' is no revision"):
            find_base(repo.root, None, None, {"LAYERGUARD_BASE": "-x"})


class TestCheckouts:
    def test_a_work_tree(self, tmp_path: Path) -> None:
        repo = start(tmp_path / "one")
        repo.git("worktree", "add", "-q", "-b", "work", str(tmp_path / "two"))
        tree = Repo(tmp_path / "two")
        tree.write({"app/b/y.py": "import app.a.m\n"}).allow(OLD, "app.b.y -> app.a.m").commit()
        assert grown(tree.check("main")) == ["app.b.y -> app.a.m"]
        tree.git("mv", "app/a/m.py", "app/a/n.py")
        tree.write({"app/b/y.py": ""}).allow(OLD)
        assert [each.message for each in tree.check("main").violations] == [
            f"the allowance '{OLD}' is of a module that moved: now 'app.a.n -> app.b.x'"
        ]

    def test_a_shallow_clone_with_a_work_tree(self, tmp_path: Path) -> None:
        repo = start(tmp_path / "one")
        repo.commit(message="two")
        clone = repo.clone(tmp_path / "two", "--depth=1")
        clone.git("worktree", "add", "-q", "-b", "work", str(tmp_path / "three"))
        assert mended(Repo(tmp_path / "three"), "HEAD~1").commit == repo.git("rev-parse", "HEAD~1")

    def test_a_submodule_is_a_project_of_its_own(self, tmp_path: Path) -> None:
        inner = start(tmp_path / "inner")
        outer = start(tmp_path / "outer", {"README": "x\n"})
        outer.git("submodule", "add", "-q", f"file://{inner.root}", "lib")
        outer.commit()
        lib = Repo(outer.root / "lib")
        lib.write({"app/b/y.py": "import app.a.m\n"}).allow(OLD, "app.b.y -> app.a.m").commit()
        assert grown(lib.check("origin/main")) == ["app.b.y -> app.a.m"]

    def test_a_submodule_in_a_project(self, tmp_path: Path) -> None:
        """What is in it is no part of the project's past; moves and growth are seen around it."""
        inner = start(tmp_path / "inner", {"x.py": f"{WORDS}\n"})
        repo = start(tmp_path / "outer")
        repo.git("submodule", "add", "-q", f"file://{inner.root}", "lib")
        repo.commit()
        repo.branch("work").git("mv", "app/a/m.py", "app/a/n.py")
        assert told(repo.check("main")) == [f"{ALLOWANCES}:4: LG201"]

    def test_a_detached_head(self, tmp_path: Path) -> None:
        repo = start(tmp_path)
        repo.git("checkout", "-q", "--detach")
        repo.write({"app/b/y.py": "import app.a.m\n"}).allow(OLD, "app.b.y -> app.a.m").commit()
        assert grown(repo.check("main")) == ["app.b.y -> app.a.m"]
        assert repo.check().violations == ()

    def test_no_commit_yet(self, tmp_path: Path) -> None:
        repo = Repo(write(tmp_path, PLAIN))
        repo.git("init", "-q", "-b", "main")
        report = repo.check()
        assert (report.violations, report.base, report.allowed_before) == ((), "", None)
        assert report.notes == (
            "whether the allowance file has grown was not checked: there is no commit yet.",
        )
        with pytest.raises(UserError) as caught:
            repo.check("main")
        assert caught.value.message == "--base: there is no commit yet, so there is no base 'main'."

    def test_files_that_are_not_tracked(self, tmp_path: Path) -> None:
        repo = start(tmp_path, {path: text for path, text in PLAIN.items() if path != ALLOWANCES})
        repo.write({"app/b/y.py": "import app.a.m\n"}).allow(OLD, "app.b.y -> app.a.m")
        assert grown(repo.check()) == [OLD, "app.b.y -> app.a.m"]

    def test_no_checkout(self, tmp_path: Path) -> None:
        write(tmp_path, PLAIN)
        assert find_base(tmp_path, None, "main", {}) is None
        with pytest.raises(UserError) as caught:
            find_base(tmp_path, None, None, {"LAYERGUARD_BASE": "main"})
        assert caught.value.message == (
            f"LAYERGUARD_BASE: '{tmp_path}' is in no git checkout, so there is no base 'main'."
        )

    @pytest.mark.parametrize("base", ["main", None])
    def test_another_owner(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str | None) -> None:
        repo = start(tmp_path)
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        with pytest.raises(UserError, match="fatal: detected dubious ownership") as caught:
            find_base(repo.root, base, None, {})
        assert caught.value.hint == f"If you trust it: git config --global --add safe.directory '{tmp_path}'"
        words = ("check", "--base", "main") if base else ("check",)
        assert run(tmp_path, *words).returncode == 2

    def test_git_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        repo = start(tmp_path / "one")
        monkeypatch.setenv("PATH", without_git(tmp_path / "bin"))
        assert shutil.which("git") is None
        with pytest.raises(UserError) as caught:
            repo.check("main")
        assert caught.value.message == "--base: git was not found, so there is no base 'main'."
        for configured, environment, name in (
            ("main", {}, "main (base in the configuration)"),
            (None, {"GITLAB_CI": "1", "CI_DEFAULT_BRANCH": "main"}, "main (CI_DEFAULT_BRANCH, GitLab CI)"),
        ):
            with pytest.raises(UserError) as caught:
                find_base(repo.root, None, configured, environment)
            assert caught.value.message == f"git was not found, so the base {name} cannot be read."
        assert find_base(repo.root, None, None, {}) is None


class TestTheSettingThatWasAgreedOn:
    @pytest.fixture
    def clone(self, tmp_path: Path) -> Repo:
        """A clone of a repository whose `base` is `origin/main`, one commit ahead of it."""
        one = start(tmp_path / "one", {"layerguard.toml": f'base = "origin/main"\n{AB}'})
        clone = one.clone(tmp_path / "two").branch("work")
        clone.commit()
        return clone

    def test_a_branch_does_not_choose_its_own_base(self, clone: Repo) -> None:
        main = clone.git("rev-parse", "origin/main")
        name = "origin/main (base in the configuration)"
        assert find_base(clone.root, None, "origin/main", {}) == Base(main, name)
        for configured, words in (
            ("HEAD", "where it is not 'HEAD' as here"),
            (None, "and this one has none"),
        ):
            found = find_base(clone.root, None, configured, {})
            note = f"'base' is 'origin/main' as in the configuration at origin/HEAD, {words}."
            assert found == Base(main, name, notes=(note,))

    def test_it_comes_after_all_else(self, clone: Repo) -> None:
        assert find_base(clone.root, "HEAD", "HEAD", {}) == Base(clone.head, "HEAD (--base)")

    @pytest.mark.parametrize(
        "files",
        [
            {"layerguard.toml": AB},
            {"layerguard.toml": "base = ["},
            {"layerguard.toml": "base = 1\n"},
            {"pyproject.toml": "tool = 1\n"},
            {"README": "x\n"},
        ],
    )
    def test_where_there_is_none(self, tmp_path: Path, files: dict[str, str]) -> None:
        clone = start(tmp_path / "one", files).clone(tmp_path / "two")
        found = find_base(clone.root, None, "main", {})
        assert found == Base(clone.head, "main (base in the configuration)")

    def test_in_pyproject(self, tmp_path: Path) -> None:
        files = {"pyproject.toml": '[tool.layerguard]\nbase = "origin/main"\n'}
        clone = start(tmp_path / "one", files).clone(tmp_path / "two")
        found = find_base(clone.root, None, None, {})
        assert found
        assert found.name == "origin/main (base in the configuration)"


def test_several_merge_bases(tmp_path: Path) -> None:
    repo = start(tmp_path)
    one = repo.commit(message="one")
    two = repo.branch("work", "HEAD~1").commit(message="two")
    repo.merge(one)
    repo.switch("main").merge(two)
    first, second = sorted((one, two))
    assert find_base(repo.root, "work", None, {}) == Base(first, "work (--base)", others=(second,))


def test_nothing_in_common(tmp_path: Path) -> None:
    repo = start(tmp_path)
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.commit({"README": "x\n"})
    with pytest.raises(UserError) as caught:
        find_base(repo.root, "main", None, {})
    assert caught.value.message == "the base main (--base) and HEAD have no common history."


def test_the_variable_is_the_one_of_the_documentation() -> None:
    assert bases.VARIABLE == "LAYERGUARD_BASE"
    assert bases.VARIABLE not in os.environ


def test_an_empty_base_is_no_base(tmp_path: Path) -> None:
    """`--base "$UNSET"` must not pass for no base at all."""
    start(tmp_path)
    with pytest.raises(UserError) as caught:
        bases.find_base(tmp_path, "", None, {})
    assert caught.value.message == "--base: '' is no revision."


def test_a_folder_that_the_checkout_ignores_is_outside_it(tmp_path: Path) -> None:
    repo = start(tmp_path, PLAIN | {".gitignore": "build/\n"})
    repo.write({f"build/real/{path}": text for path, text in PLAIN.items()})
    inner = tmp_path / "build/real"
    assert bases.find_base(inner, None, None, {}) is None
    with pytest.raises(UserError) as caught:
        bases.find_base(inner, "main", None, {})
    assert caught.value.message == f"--base: git ignores '{inner}', so there is no base 'main'."
    assert check(inner).notes == (
        "whether the allowance file has grown was not checked: git ignores this folder.",
    )
    repo.git("add", "-f", "build/real/app/a/m.py")  # what is tracked is no longer outside
    assert bases.find_base(inner, None, None, {}) is not None
