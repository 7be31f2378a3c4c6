"""Asks git: which files belong to the project. The only module that runs git.

Git is run in a fixed environment and never so that it would start a program which the repository names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from layerguard.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

# What `git rev-parse --local-env-vars` lists, less GIT_CONFIG_PARAMETERS and GIT_CONFIG_COUNT: a CI system
# sets safe.directory with these. In a hook the others speak of the commit that is being made, or of a
# repository that is not the one of the root.
_LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
_OPTIONS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_UNREADABLE = re.compile(r"^warning: could not open directory '(.*)/': ", re.MULTILINE)


def is_missing(root: Path) -> bool:
    """Tell whether `root` is in a git checkout, but no git is installed that could be asked."""
    return shutil.which("git") is None and _checkout(root) is not None


def list_files(root: Path) -> list[str] | None:
    """Return the files that git tracks below `root`, and those that it neither tracks nor ignores, sorted.

    The paths are relative to `root` and have `/`; bytes that are no UTF-8 are surrogates, as `os.fsdecode`
    makes them. The files of submodules and nested repositories are among them; deleted files may be. A path
    that ends with `/` is a folder which git does not look into: the caller has to.

    Returns None where git has no say: outside a checkout, in a folder that the enclosing repository ignores,
    without git. Raises UserError where there is a checkout that git refuses to read.
    """
    if shutil.which("git") is None:
        return None
    done = _run(root, "ls-files", "-t", "--stage", "-z", "--cached", "--others", "--exclude-standard")
    if done.returncode:
        checkout = _checkout(root)
        if checkout is None:
            return None
        raise _refusal(done.stderr, checkout)
    files: set[str] = set()
    nested: list[str] = []
    tracked = False
    for entry in os.fsdecode(done.stdout).split("\0")[:-1]:
        if entry.startswith("? "):  # "? path", and "? path/" for a repository in the repository
            path = entry[2:]
            is_nested = path.endswith("/")
        else:  # "H 100644 <hash> 0\tpath"; the mode 160000 is a submodule
            tracked = True
            path = entry[entry.index("\t") + 1 :]
            is_nested = entry.startswith("160000", 2)
        if is_nested:
            nested.append(path.rstrip("/"))
        else:
            files.add(path)
    if not tracked and _run(root, "check-ignore", "-q", ".").returncode == 0:
        return None
    for folder in nested:
        files.update(_list_nested(root, folder))
    files.update(_unreadable(root, done.stderr))
    return sorted(files)


def _unreadable(root: Path, stderr: bytes) -> list[str]:
    """Return the folders that git could not list; it warns of them by their path from the checkout's top."""
    checkout = _checkout(root)
    prefix = "" if checkout in {None, root} else f"{root.relative_to(str(checkout)).as_posix()}/"
    paths = _UNREADABLE.findall(os.fsdecode(stderr))
    return [f"{path.removeprefix(prefix)}/" for path in paths if path.startswith(prefix)]


def _list_nested(root: Path, folder: str) -> list[str]:
    if not os.path.lexists(root / folder / ".git"):
        return [f"{folder}/"]  # a submodule that is not checked out; git would list the outer repository
    found = list_files(root / folder)
    return [f"{folder}/"] if found is None else [f"{folder}/{path}" for path in found]


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    environment |= {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }
    environment.pop("LANGUAGE", None)
    command = ("git", *_OPTIONS, *arguments)
    return subprocess.run(  # noqa: S603 (the arguments are fixed)
        command, cwd=root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )


def _checkout(root: Path) -> Path | None:
    """Return the nearest folder at or above `root` that holds a `.git`."""
    return next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)


def _refusal(stderr: bytes, checkout: Path) -> UserError:
    told = stderr.decode("utf-8", "replace").strip()
    first = told.splitlines()[0] if told else "git failed and said nothing"
    hint = f"Run `git status` in '{checkout}' to see what is wrong."
    if "dubious ownership" in first:
        hint = f"If you trust it: git config --global --add safe.directory '{checkout}'"
    return UserError(f"'{checkout}' is a git checkout, but git does not read it: {first}", hint)
