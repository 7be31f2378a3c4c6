from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from layerguard import git
from layerguard.errors import UserError
from layerguard.git import listing, running

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def write(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n", encoding="utf-8")
    return root


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without files; nothing above it is one."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "project"
    folder.mkdir()
    run(folder, "init", "-q")
    return folder


def test_tracked_and_untracked_but_not_ignored(root: Path) -> None:
    write(root, "a/tracked.py", "a/untracked.py", "a/ignored.log", "forced.log", "b c/ö.py")
    (root / ".gitignore").write_text("*.log\n", encoding="utf-8")
    run(root, "add", "a/tracked.py", ".gitignore")
    run(root, "add", "-f", "forced.log")
    assert git.list_files(root) == [".gitignore", "a/tracked.py", "a/untracked.py", "b c/ö.py", "forced.log"]


def test_a_repository_behind_a_ceiling_is_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, "a/b/x.py")
    assert running.find_checkout(root / "a/b") == root
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", f"{root.parent}{os.pathsep}{root / 'a'}")
    assert running.find_checkout(root / "a/b") is None
    assert git.list_files(root / "a/b") is None
    assert running.find_checkout(root / "a") == root
    assert git.list_files(root / "a") == ["b/x.py"]


def test_a_folder_of_the_repository(root: Path) -> None:
    write(root, "a/x.py", "b/y.py")
    run(root, "add", "a")
    assert git.list_files(root / "a") == ["x.py"]
    assert git.list_files(root / "b") == ["y.py"]


def test_names_with_newlines_and_bytes(root: Path) -> None:
    write(root, "a\nb.py", "? c.py", os.fsdecode(b"\xff.py"))
    assert git.list_files(root) == ["? c.py", "a\nb.py", os.fsdecode(b"\xff.py")]
    run(root, "add", ".")
    assert git.list_files(root) == ["? c.py", "a\nb.py", os.fsdecode(b"\xff.py")]


def test_a_conflict_lists_a_file_once(root: Path) -> None:
    write(root, "x.py")
    run(root, "add", ".")
    run(root, "commit", "-qm", "x")
    for branch in ("one", "two"):
        run(root, "checkout", "-q", "-b", branch, "HEAD" if branch == "one" else "HEAD^")
        (root / "x.py").write_text(branch, encoding="utf-8")
        run(root, "commit", "-qam", branch)
    assert subprocess.run(["git", "merge", "one"], cwd=root, check=False, capture_output=True).returncode == 1
    assert git.list_files(root) == ["x.py"]


def test_outside_git(tmp_path: Path) -> None:
    write(tmp_path, "x.py")
    assert git.list_files(tmp_path) is None
    assert not git.is_missing(tmp_path)


def test_ignored_by_the_enclosing_repository(root: Path) -> None:
    (root / ".gitignore").write_text("sandbox/\n", encoding="utf-8")
    write(root, "sandbox/project/x.py")
    assert git.list_files(root / "sandbox/project") is None
    assert git.list_files(root / "sandbox") is None
    run(root, "add", "-f", "sandbox/project/x.py")
    assert git.list_files(root / "sandbox/project") == ["x.py"]


def test_an_empty_repository(root: Path) -> None:
    assert git.list_files(root) == []


def test_nested_repositories_and_submodules(root: Path) -> None:
    for name in ("sub", "nested"):
        write(root, f"{name}/x.py", f"{name}/ignored.log")
        run(root / name, "init", "-q")
        (root / name / ".gitignore").write_text("*.log\n", encoding="utf-8")
        run(root / name, "add", ".")
        run(root / name, "commit", "-qm", "x")
    write(root, "sub/deeper/y.py", "sub/new.py")
    run(root / "sub/deeper", "init", "-q")
    run(root, "add", "sub")  # a gitlink
    expected = [
        "nested/.gitignore",
        "nested/x.py",
        "sub/.gitignore",
        "sub/deeper/y.py",
        "sub/new.py",
        "sub/x.py",
    ]
    assert git.list_files(root) == expected
    shutil.rmtree(root / "sub/.git")  # the submodule is not checked out, but there are files
    assert git.list_files(root) == ["nested/.gitignore", "nested/x.py", "sub/"]


def test_the_variables_of_a_hook_do_not_count(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(root, "x.py")
    other = tmp_path / "other"
    other.mkdir()
    run(other, "init", "-q")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"):
        monkeypatch.setenv(name, str(other / ".git"))
    assert git.list_files(root) == ["x.py"]


def test_the_configuration_in_variables_counts(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(root, "x.py", "y.log")
    write(tmp_path, "ignore")
    (tmp_path / "ignore").write_text("*.log\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "ignore"))
    assert git.list_files(root) == ["x.py"]


def test_nothing_of_the_repository_is_run(root: Path, tmp_path: Path) -> None:
    write(root, "x.py")
    run(root, "add", ".")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "pager.ls-files", "core.sshCommand", "alias.ls-files"):
        run(root, "config", key, str(program))
    shutil.copy(program, root / ".git/hooks/post-index-change")
    index = (root / ".git/index").read_bytes()
    assert git.list_files(root) == ["x.py"]
    assert not (tmp_path / "ran").exists()
    assert (root / ".git/index").read_bytes() == index


def test_a_broken_checkout_is_told(tmp_path: Path) -> None:
    write(tmp_path, "a/x.py")
    (tmp_path / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        git.list_files(tmp_path / "a")
    assert caught.value.message == (
        f"'{tmp_path}' is a git checkout, but git does not read it: fatal: not a git repository: /nowhere"
    )
    assert caught.value.hint == f"Run `git status` in '{tmp_path}' to see what is wrong."


def test_another_owner_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UserError, match="fatal: detected dubious ownership in repository at") as caught:
        git.list_files(root)
    assert caught.value.hint == f"If you trust it: git config --global --add safe.directory '{root}'"


def test_without_git(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert git.list_files(root) is None
    assert git.is_missing(root)
    assert not git.is_missing(tmp_path)


def test_folders_that_git_cannot_list(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings = (
        b"warning: could not open directory 'p/it's/': Permission denied\n"
        b"warning: could not open directory 'other/': Permission denied\n"
    )
    write(root, "p/x.py")
    original = running.run

    def warn(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        done = original(folder, *arguments)
        done.stderr = warnings
        return done

    monkeypatch.setattr(listing, "run", warn)
    assert git.list_files(root) == ["other/", "p/it's/", "p/x.py"]
    assert git.list_files(root / "p") == ["it's/", "x.py"]
