"""Runs git, in a fixed environment and never so that it would start a program which the repository names."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from layerguard.errors import UserError
from layerguard.surroundings import LOCAL_TO_GIT

_OPTIONS = (
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.splitIndex=false",
)
WHOLE = "If this is a partial clone, run: git fetch --refetch --no-filter origin"


def is_missing(root: Path) -> bool:
    """Tell whether `root` is in a git checkout, but no git is installed that could be asked."""
    return shutil.which("git") is None and find_checkout(root) is not None


def is_checkout(root: Path) -> bool:
    """Tell whether `root` belongs to a git checkout, and git is there to be asked."""
    if _has_none(root) or run(root, "rev-parse", "--show-prefix").returncode:
        return False
    return not is_ignored(root)


def is_ignored(root: Path) -> bool:
    """Tell whether `root` lies in a git checkout that ignores it, so that it is no part of it."""
    if _has_none(root) or run(root, "check-ignore", "-q", ".").returncode:
        return False
    return not run(root, "ls-files", "-z", "--cached").stdout


def _has_none(root: Path) -> bool:
    """Tell whether there is no git to be asked, or nothing that it could be asked about."""
    return shutil.which("git") is None or find_checkout(root) is None


def run(
    root: Path, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git in `root` with these arguments; `variables` are added to its environment."""
    environment = {name: value for name, value in os.environ.items() if name not in LOCAL_TO_GIT}
    environment |= {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # A partial clone would fetch what it lacks, by programs that the repository names (older versions of
        # git know the second variable only).
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }
    environment.pop("LANGUAGE", None)
    environment |= variables or {}
    command = ("git", *_OPTIONS, *arguments)
    return subprocess.run(  # noqa: S603 (the arguments are fixed)
        command, cwd=root, env=environment, input=stdin, capture_output=True, check=False
    )


def checked(done: subprocess.CompletedProcess[bytes]) -> bytes:
    """Return what git wrote; raise UserError where it failed."""
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise UserError(f"git could not read an earlier commit: {told[-1]}", WHOLE)
    return done.stdout


def find_checkout(root: Path) -> Path | None:
    """Return the nearest folder at or above `root` that holds a `.git`, as far up as git would look."""
    named = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(folder) for folder in named if folder}
    for folder in (root, *root.parents):
        if folder != root and os.path.realpath(folder) in ceilings:
            return None
        if os.path.lexists(folder / ".git"):
            return folder
    return None


def refusal(stderr: bytes, checkout: Path) -> UserError:
    """Return what is to be raised where git refuses to read a checkout, and said this."""
    told = stderr.decode("utf-8", "replace").strip()
    first = told.splitlines()[0] if told else "git failed and said nothing"
    hint = f"Run `git status` in '{checkout}' to see what is wrong."
    if "dubious ownership" in first:
        hint = f"If you trust it: git config --global --add safe.directory '{checkout}'"
    return UserError(f"'{checkout}' is a git checkout, but git does not read it: {first}", hint)
