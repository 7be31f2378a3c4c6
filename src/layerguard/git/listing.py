"""Which files belong to the project."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from layerguard.git.running import find_checkout, refusal, run
from layerguard.regex import regex

_UNREADABLE = regex(r"^warning: could not open directory '(.*)/': ", re.MULTILINE)


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
    done = run(root, "ls-files", "-t", "--stage", "-z", "--cached", "--others", "--exclude-standard")
    if done.returncode:
        checkout = find_checkout(root)
        if checkout is None:
            return None
        raise refusal(done.stderr, checkout)
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
    if not tracked and run(root, "check-ignore", "-q", ".").returncode == 0:
        return None
    for folder in nested:
        files.update(_list_nested(root, folder))
    files.update(_unreadable(root, done.stderr))
    return sorted(files)


def list_untracked(root: Path) -> frozenset[str]:
    """Return those of the listed files that git does not track yet; none where git has no say."""
    if shutil.which("git") is None:
        return frozenset()
    done = run(root, "ls-files", "-z", "--others", "--exclude-standard")
    return frozenset(os.fsdecode(done.stdout).split("\0")[:-1]) if done.returncode == 0 else frozenset()


def describe_index(root: Path) -> bytes | None:
    """Return the paths that git tracks below `root`, each before a NUL; None when it does not tell."""
    done = run(root, "ls-files", "-z")
    return None if done.returncode else done.stdout


def _unreadable(root: Path, stderr: bytes) -> list[str]:
    """Return the folders that git could not list; it warns of them by their path from the checkout's top."""
    checkout = find_checkout(root)
    prefix = "" if checkout in {None, root} else f"{root.relative_to(str(checkout)).as_posix()}/"
    paths = _UNREADABLE.findall(os.fsdecode(stderr))
    return [f"{path.removeprefix(prefix)}/" for path in paths if path.startswith(prefix)]


def _list_nested(root: Path, folder: str) -> list[str]:
    if not os.path.lexists(root / folder / ".git"):
        return [f"{folder}/"]  # a submodule that is not checked out; git would list the outer repository
    found = list_files(root / folder)
    return [f"{folder}/"] if found is None else [f"{folder}/{path}" for path in found]
