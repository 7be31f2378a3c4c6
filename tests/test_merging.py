from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from projects import AB, allow, run, write

from layerguard.allowances import parse_allowances
from layerguard.errors import UserError
from layerguard.merging import merge, resolve_conflict

PATH = "contracts/allowances.toml"
EMPTY = "version = 1\n"
DRIVER = f"'{sys.executable}' -m layerguard merge-driver %O %A %B"

Identities = frozenset[tuple[str, str]]


def git(folder: Path, *arguments: str, status: int = 0) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def entries(text: str) -> Identities:
    return frozenset((entry.contract, entry.key) for entry in parse_allowances(text, PATH).entries)


def keys(text: str) -> list[str]:
    return [entry.key for entry in parse_allowances(text, PATH).entries]


class TestMerge:
    def test_what_either_side_removed_is_gone(self) -> None:
        base = allow("a -> b", "c -> d", "e -> f")
        assert merge(base, allow("c -> d", "e -> f"), allow("a -> b", "c -> d"), PATH) == allow("c -> d")

    def test_what_one_side_added_stays(self) -> None:
        assert keys(merge(allow("b -> x"), allow("b -> x", "c -> x"), allow("a -> x", "b -> x"), PATH)) == [
            "a -> x",
            "b -> x",
            "c -> x",
        ]

    def test_an_entry_that_one_side_moves_and_the_other_keeps(self) -> None:
        base = allow("a -> x", "b -> x")
        assert merge(base, base, allow("b -> x", "new -> x"), PATH) == allow("b -> x", "new -> x")
        assert merge(base, allow("b -> x", "new -> x"), allow("a -> x"), PATH) == allow("new -> x")

    def test_the_layout_of_ours_survives(self) -> None:
        base = allow("a -> b", "gone -> b")
        ours = (
            "# Ours.\n\nversion = 1  # one\n\n# About ab.\n[ allow . 'ab' ] # by role\n# First.\n"
            "  'c -> b'   =  {}  # why\n\n# Second.\n\"a -> b\" = { reason = 'r' }\n# The end."
        )
        theirs = (
            'version = 1\n[allow.aa] # theirs\n  "p -> q" = {} # new\n\n'
            '[allow.ab]\n"a -> b" = {}\n\'b -> b\' = {}\n"z -> b" = {}\n\n[allow.zz]\n"p -> q" = {}\n'
        )
        assert merge(base, ours, theirs, PATH) == (
            '# Ours.\n\nversion = 1  # one\n\n[allow.aa] # theirs\n"p -> q" = {} # new\n\n'
            "# About ab.\n[ allow . 'ab' ] # by role\n'b -> b' = {}\n# First.\n"
            "  'c -> b'   =  {}  # why\n\n# Second.\n\"a -> b\" = { reason = 'r' }\n"
            '"z -> b" = {}\n# The end.\n\n[allow.zz]\n"p -> q" = {}\n'
        )

    def test_tables_without_blank_lines_and_in_no_order(self) -> None:
        ours = 'version = 1\n[allow.x]\n"a -> b" = {}\n[allow.d]\n"a -> b" = {}'
        theirs = (
            'version = 1\n[allow.x]\n"b -> b" = {}\n[allow.c]\n"a -> b" = {}\n"b -> b" = {}\n'
            '[allow.d]\n"c -> b" = {}'
        )
        assert merge("", ours, theirs, PATH) == (
            'version = 1\n\n[allow.c]\n"a -> b" = {}\n"b -> b" = {}\n\n'
            '[allow.x]\n"a -> b" = {}\n"b -> b" = {}\n[allow.d]\n"a -> b" = {}\n"c -> b" = {}\n'
        )

    def test_the_line_ends_are_those_of_ours(self) -> None:
        ours = allow("a -> b").replace("\n", "\r\n")
        theirs = allow("a -> b", "c -> d")
        assert merge(allow("a -> b"), ours, theirs, PATH) == theirs.replace("\n", "\r\n")
        assert merge(ours, theirs, ours, PATH) == theirs

    @pytest.mark.parametrize(
        ("base", "ours", "theirs", "expected"),
        [
            ("{}", "{}", "{ reason = 'r' }", "{ reason = 'r' }"),
            ("{}", "{ reason = 'r' }", "{}", "{ reason = 'r' }"),
            ("{ ticket = 'T' }", "{ ticket = 'T' }", "{}", "{}"),
            ("{ ticket = 'T' }", "{ ticket = 'U' }", "{ ticket = 'V' }", "{ ticket = 'U' }"),
            (
                "{}",
                "{ review-by = 2027-02-01 }",
                "{ review-by = 2027-01-01, reason = 'r' }",
                "{ review-by = 2027-01-01, reason = 'r' }",
            ),
            ("{}", "{ reason = 'r' }", "{ review-by = 2027-01-01 }", "{ review-by = 2027-01-01 }"),
            ("{}", "{ review-by = 2027-01-01 }", "{ reason = 'r' }", "{ review-by = 2027-01-01 }"),
        ],
    )
    def test_what_is_said_of_an_entry(self, base: str, ours: str, theirs: str, expected: str) -> None:
        texts = [f'version = 1\n[allow.ab]\n  "a -> b" = {each}' for each in (base, ours, theirs)]
        assert (
            merge(texts[0], texts[1], texts[2], PATH) == f'version = 1\n[allow.ab]\n  "a -> b" = {expected}'
        )

    @pytest.mark.parametrize(
        ("texts", "message"),
        [
            (
                ("x", EMPTY, EMPTY),
                f"{PATH} (base): line 1, column 2: Expected '=' after a key in a key/value pair.",
            ),
            ((EMPTY, "", EMPTY), f"{PATH} (ours): the allowance file has no 'version'."),
            ((EMPTY, EMPTY, "version = 2"), f"{PATH} (theirs): the allowance file has the version '2'."),
        ],
    )
    def test_what_is_no_allowance_file(self, texts: tuple[str, str, str], message: str) -> None:
        with pytest.raises(UserError) as caught:
            merge(*texts, PATH)
        assert caught.value.message == message

    def test_the_markers_in_a_base_that_git_merged_do_not_count(self) -> None:
        base = (
            'version = 1\n[allow.ab]\n<<<<<<<<< Temporary merge branch 1\n"a -> b" = {}\n=========\n'
            '"c -> d" = {}\n>>>>>>>>> Temporary merge branch 2\n"e -> f" = {}\n'
        )
        assert merge(base, allow("a -> b", "e -> f"), allow("c -> d", "e -> f"), PATH) == allow("e -> f")


IDENTITIES = st.frozensets(
    st.tuples(st.sampled_from(["a", "b", "b-c"]), st.sampled_from([f"m{n} -> x" for n in range(5)]))
)


@st.composite
def texts(draw: st.DrawFn, end: str = "\n") -> str:
    """An allowance file in any order, with comments and blank lines anywhere."""
    chosen = draw(IDENTITIES)
    noise = st.sampled_from([[], [], [""], ["# c"], ["", "# d", ""]])
    lines = [*draw(noise), "version = 1", *draw(noise)]
    for contract in draw(st.permutations(sorted({contract for contract, _ in chosen}))):
        lines += [f"[allow.{contract}]", *draw(noise)]
        for key in draw(st.permutations(sorted(key for each, key in chosen if each == contract))):
            lines += [f'"{key}" = {{}}{draw(st.sampled_from(["", "  # e"]))}', *draw(noise)]
    return end.join(lines) + draw(st.sampled_from(["", end]))


def tidy(identities: Identities) -> str:
    """The file as layerguard writes it."""
    lines = ["version = 1"]
    for contract in sorted({contract for contract, _ in identities}):
        lines += ["", f"[allow.{contract}]"]
        lines += [f'"{key}" = {{}}' for each, key in sorted(identities) if each == contract]
    return "\n".join([*lines, ""])


class TestLaws:
    @settings(max_examples=40)
    @given(texts(), st.one_of(texts(), texts("\r\n")), st.one_of(texts(), texts("\r\n")))
    def test_it_is_a_merge_of_sets(self, base: str, ours: str, theirs: str) -> None:
        b, o, t = entries(base), entries(ours), entries(theirs)
        merged = merge(base, ours, theirs, PATH)
        assert entries(merged) == (o & t) | (o - b) | (t - b)
        assert entries(merge(base, theirs, ours, PATH)) == entries(merged)

    @settings(max_examples=40)
    @given(texts(), texts(), texts())
    def test_the_comments_of_ours_stay_in_their_order(self, base: str, ours: str, theirs: str) -> None:
        comments = [line for line in ours.split("\n") if line.startswith("#")]
        merged = merge(base, ours, theirs, PATH).split("\n")
        assert [line for line in merged if line.startswith("#")] == comments

    @settings(max_examples=40)
    @given(texts(), texts(), texts(), texts())
    def test_the_order_of_merges_does_not_matter(self, base: str, one: str, two: str, three: str) -> None:
        first = merge(base, merge(base, one, two, PATH), three, PATH)
        assert entries(first) == entries(merge(base, one, merge(base, two, three, PATH), PATH))

    @settings(max_examples=40)
    @given(texts(), texts())
    def test_one_side_alone(self, base: str, ours: str) -> None:
        assert merge(base, ours, ours, PATH) == ours
        assert merge(base, ours, base, PATH) == ours
        assert entries(merge(base, base, ours, PATH)) == entries(ours)

    @settings(max_examples=40)
    @given(IDENTITIES, IDENTITIES, IDENTITIES)
    def test_what_is_tidy_stays_tidy(self, base: Identities, ours: Identities, theirs: Identities) -> None:
        merged = merge(tidy(base), tidy(ours), tidy(theirs), PATH)
        assert merged == tidy(entries(merged))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with five allowances, committed on the branch `main`."""
    folder = write(
        tmp_path / "a project",
        {
            "layerguard.toml": AB,
            "app/__init__.py": "",
            "app/a.py": "",
            "app/b.py": "",
            PATH: "# Ours.\n" + allow(*(f"m{n} -> x" for n in range(5))),
        },
    )
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "base")
    return folder


def commit(root: Path, branch: str, *lost: int, start: str = "main", to: str = "") -> None:
    """On a branch of its own, remove some entries; with `to`, rewrite them to other importers."""
    git(root, "checkout", "-q", "-B", branch, start)
    text = (root / PATH).read_text()
    for number in lost:
        line = f'"m{number} -> x" = {{}}\n'
        assert line in text
        text = text.replace(line, line.replace("m", to) if to else "")
    (root / PATH).write_text(text)
    git(root, "commit", "-qam", branch)


def use_driver(root: Path) -> None:
    (root / ".gitattributes").write_text(f"{PATH} merge=layerguard\n")
    git(root, "config", "merge.layerguard.driver", DRIVER)


class TestGit:
    def test_neighbouring_lines_with_the_driver(self, root: Path) -> None:
        use_driver(root)
        commit(root, "one", 1, 3)
        commit(root, "two", 2)
        git(root, "merge", "-q", "one", "-m", "m")
        assert (root / PATH).read_text() == "# Ours.\n" + allow("m0 -> x", "m4 -> x")
        assert git(root, "status", "--porcelain", "-uno") == ""

    def test_a_rebase_with_the_driver(self, root: Path) -> None:
        use_driver(root)
        commit(root, "one", 1)
        commit(root, "two", 2)
        commit(root, "two", 3, start="two")
        git(root, "rebase", "-q", "one")
        assert (root / PATH).read_text() == "# Ours.\n" + allow("m0 -> x", "m4 -> x")

    def test_one_side_rewrites_an_entry(self, root: Path) -> None:
        use_driver(root)
        commit(root, "one", 2, to="moved")
        commit(root, "two", 1, 3)
        git(root, "merge", "-q", "one", "-m", "m")
        assert keys((root / PATH).read_text()) == ["m0 -> x", "m4 -> x", "moved2 -> x"]

    def test_without_the_driver_resolve_does_it(self, root: Path) -> None:
        commit(root, "one", 1, 3)
        commit(root, "two", 2)
        git(root, "merge", "-q", "one", status=1)
        done = run(root, "ratchet", "--resolve", "--check")
        assert (done.returncode, done.stdout) == (1, b"resolved: kept 2, removed 3\n")
        assert "<<<<<<<" in (root / PATH).read_text()
        done = run(root / "app", "ratchet", "--resolve")
        assert (done.returncode, done.stdout) == (0, b"resolved: kept 2, removed 3\n")
        assert done.stderr == f"note: it is not staged: look at it, then `git add {PATH}`.\n".encode()
        assert (root / PATH).read_text() == "# Ours.\n" + allow("m0 -> x", "m4 -> x")
        assert git(root, "status", "--porcelain", "-uno") == f"UU {PATH}\n"
        git(root, "add", PATH)
        done = run(root, "ratchet", "--resolve")
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(
            f"error: {PATH}: git knows of no merge conflict in this file.\n".encode()
        )

    def test_a_rebase_without_the_driver(self, root: Path) -> None:
        commit(root, "one", 1)
        commit(root, "two", 2)
        git(root, "rebase", "-q", "one", status=1)
        assert str(resolve_conflict(root)) == "resolved: kept 3, removed 2"
        git(root, "add", PATH)
        git(root, "-c", "core.editor=true", "rebase", "--continue")
        assert (root / PATH).read_text() == "# Ours.\n" + allow("m0 -> x", "m3 -> x", "m4 -> x")

    def test_ci_writes_nothing(self, root: Path) -> None:
        commit(root, "one", 1)
        commit(root, "two", 2)
        git(root, "merge", "-q", "one", status=1)
        before = (root / PATH).read_bytes()
        done = run(root, "ratchet", "--resolve", environment={"CI": "true"})
        assert (done.returncode, done.stdout) == (1, b"resolved: kept 3, removed 2\n")
        assert f"note: nothing was written to {PATH}" in done.stderr.decode()
        assert (root / PATH).read_bytes() == before

    def test_both_sides_begin_the_file(self, root: Path) -> None:
        git(root, "rm", "-q", PATH)
        git(root, "commit", "-qm", "none")
        for branch, keys_ in (("one", ["a -> x", "b -> x"]), ("two", ["b -> x", "c -> x"])):
            git(root, "checkout", "-q", "-B", branch, "main")
            write(root, {PATH: allow(*keys_)})
            git(root, "add", PATH)
            git(root, "commit", "-qm", branch)
        git(root, "merge", "-q", "one", status=1)
        done = resolve_conflict(root)
        assert (done.kept, done.removed, done.notes[0]) == (
            3,
            0,
            "3 of them are not in the common ancestor's file.",
        )
        assert (root / PATH).read_text() == allow("a -> x", "b -> x", "c -> x")

    @pytest.mark.parametrize("deletes", ["one", "two"])
    def test_one_side_deletes_the_file(self, root: Path, deletes: str) -> None:
        for branch in ("one", "two"):
            commit(root, branch, 2)
            if branch == deletes:
                git(root, "rm", "-q", PATH)
                git(root, "commit", "-qm", "deleted")
        git(root, "merge", "-q", "one", status=1)
        assert str(resolve_conflict(root)) == "resolved: kept 0, removed 5"
        assert (root / PATH).read_text() == "# Ours.\nversion = 1\n"

    def test_both_sides_rename_the_file(self, root: Path) -> None:
        for branch in ("one", "two"):
            git(root, "checkout", "-q", "-B", branch, "main")
            git(root, "mv", PATH, f"{branch}.toml")
            write(root, {"layerguard.toml": f'allowances = "{branch}.toml"\n{AB}'})
            git(root, "commit", "-qam", branch)
        git(root, "merge", "-q", "one", status=1)
        git(root, "checkout", "--ours", "layerguard.toml")
        with pytest.raises(UserError, match=r"two\.toml: the merge conflict is about the file's name"):
            resolve_conflict(root)

    def test_several_common_ancestors(self, root: Path) -> None:
        commit(root, "one", 1)
        commit(root, "two", 2)
        git(root, "branch", "old-one", "one")
        for branch, other in (("one", "two"), ("two", "old-one")):
            git(root, "checkout", "-q", branch)
            git(root, "merge", "-q", other, status=1)
            resolve_conflict(root)
            git(root, "commit", "-qam", f"merge into {branch}")
        commit(root, "one", 0, start="one")
        commit(root, "two", 3, start="two")
        git(root, "merge", "-q", "one", status=1)
        assert "<<<<<<<" in git(root, "show", f":1:{PATH}")
        assert str(resolve_conflict(root)) == "resolved: kept 1, removed 4"
        assert keys((root / PATH).read_text()) == ["m4 -> x"]

    def test_a_work_tree_and_a_folder_of_the_repository(self, root: Path, tmp_path: Path) -> None:
        whole = tmp_path / "whole"
        write(whole, {f"sub/b:*/{path}": (root / path).read_text() for path in ("layerguard.toml", PATH)})
        git(whole, "init", "-q", "-b", "main")
        git(whole, "add", ".")
        git(whole, "commit", "-qm", "base")
        git(whole, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "x")
        project = tmp_path / "other/sub/b:*"
        commit(project, "one", 1, start="x")
        commit(project, "two", 2, start="x")
        git(project, "merge", "-q", "one", status=1)
        assert str(resolve_conflict(project)) == "resolved: kept 3, removed 2"

    def test_outside_git(self, tmp_path: Path) -> None:
        write(tmp_path, {"layerguard.toml": AB})
        with pytest.raises(UserError, match="git knows of no merge conflict in this file"):
            resolve_conflict(tmp_path)

    def test_a_repository_that_git_refuses(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        with pytest.raises(UserError, match="detected dubious ownership"):
            resolve_conflict(root)


class TestDriver:
    def test_a_file_that_cannot_be_read_leaves_ours_as_it_was(self, tmp_path: Path) -> None:
        write(tmp_path, {"o": EMPTY, "a": allow("a -> b"), "b": "version = 1\n[allow"})
        done = run(tmp_path, "merge-driver", "o", "a", "b")
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"error: the allowance file (theirs): line 2, column ")
        assert (tmp_path / "a").read_text() == allow("a -> b")

    def test_no_base(self, tmp_path: Path) -> None:
        write(tmp_path, {"o": "", "a": allow("a -> b"), "b": allow("c -> d")})
        done = run(tmp_path, "merge-driver", "o", "a", "b")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert (tmp_path / "a").read_text() == allow("a -> b", "c -> d")
        assert (tmp_path / "b").read_text() == allow("c -> d")

    def test_git_keeps_the_conflict_when_the_driver_fails(self, root: Path) -> None:
        use_driver(root)
        commit(root, "one", 1)
        git(root, "checkout", "-q", "-B", "two", "main")
        (root / PATH).write_text("version = 2\n")
        git(root, "commit", "-qam", "two")
        git(root, "merge", "-q", "one", status=1)
        assert (root / PATH).read_text() == "version = 2\n"
        assert git(root, "status", "--porcelain", "-uno") == f"UU {PATH}\n"


def test_adopt_and_resolve_do_not_go_together(tmp_path: Path) -> None:
    done = run(write(tmp_path, {"layerguard.toml": AB}), "ratchet", "--adopt", "ab", "--resolve")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--adopt and --resolve do not go together." in done.stderr
