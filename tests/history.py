"""Small git repositories with a project in them, for what asks about the past."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from projects import AB, allow, write

from layerguard import Report, check

ALLOWANCES = "contracts/allowances.toml"
WORDS = "\n".join(
    f'WORD_{number} = "a line by which git knows the file again: {number}"' for number in range(12)
)
"""Enough text for a file to be recognised when it moves."""
PLAIN = {
    "layerguard.toml": AB,
    ALLOWANCES: allow("app.a.m -> app.b.x"),
    "app/__init__.py": "",
    "app/a/__init__.py": "",
    "app/a/m.py": f"import app.b.x\n\n{WORDS}\n",
    "app/b/__init__.py": "",
    "app/b/x.py": "",
    "app/b/y.py": "",
}
"""A project with one violation, which is allowed."""


class Repo(NamedTuple):
    """A checkout. Every commit has the same dates, so that the hashes are the same from run to run."""

    root: Path

    def git(self, *words: str, environment: Mapping[str, str] | None = None) -> str:
        """Run git, which must not fail, and return what it says."""
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *words],
            cwd=self.root,
            env={
                **os.environ,
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_AUTHOR_DATE": "2026-01-01 12:00:00 +0000",
                "GIT_COMMITTER_DATE": "2026-01-01 12:00:00 +0000",
                **(environment or {}),
            },
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | None]) -> Repo:
        """Write files; None deletes one."""
        write(self.root, {path: text for path, text in files.items() if text is not None})
        for path, text in files.items():
            if text is None:
                (self.root / path).unlink()
        return self

    def commit(self, files: Mapping[str, str | None] | None = None, message: str = "x") -> str:
        """Write files and commit all that there is; return the commit."""
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head

    def branch(self, name: str, start: str = "HEAD") -> Repo:
        """Make a branch and check it out."""
        self.git("checkout", "-q", "-b", name, start)
        return self

    def switch(self, name: str) -> Repo:
        """Check out what there is."""
        self.git("checkout", "-q", name)
        return self

    def merge(self, name: str, *options: str) -> str:
        """Merge a branch by a merge commit, and return that."""
        self.git("merge", "-q", "--no-ff", "--no-edit", *options, name)
        return self.head

    def clone(self, to: Path, *options: str) -> Repo:
        """Clone it by its address, so that a depth counts."""
        self.git("clone", "-q", *options, f"file://{self.root}", str(to))
        return Repo(to)

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return self.git("rev-parse", "HEAD")

    def allow(self, *keys: str, contract: str = "ab") -> Repo:
        """Write the allowance file by hand."""
        return self.write({ALLOWANCES: allow(*keys, contract=contract)})

    def text(self, path: str = ALLOWANCES) -> str:
        """The text of a file."""
        return (self.root / path).read_text(encoding="utf-8")

    def check(self, base: str | None = None) -> Report:
        """Check it."""
        return check(self.root, base=base)


def start(root: Path, files: Mapping[str, str] | None = None) -> Repo:
    """Make a repository, with the first commit on `main`."""
    root.mkdir(parents=True, exist_ok=True)
    repo = Repo(root)
    repo.git("init", "-q", "-b", "main")
    repo.commit(PLAIN if files is None else files)
    return repo


def told(report: Report) -> list[str]:
    """What a report tells, `path:line: code` of each."""
    return [f"{each.location.path}:{each.location.line}: {each.code}" for each in report.violations]


def grown(report: Report) -> list[str]:
    """The entries that a report calls growth."""
    return [each.message.split("'")[1] for each in report.violations if each.code == "LG202"]


def marker(folder: Path) -> tuple[Path, Path]:
    """Make a program that leaves a file behind when it is run; return both. It hands on what it is given."""
    ran, program = folder / "ran", folder / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{ran}"\ncat\n', encoding="utf-8")
    program.chmod(0o755)
    return program, ran


def without_git(folder: Path) -> str:
    """Return a PATH on which there is everything but git."""
    folder.mkdir()
    for name in ("sh", "env"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return str(folder)
