"""What git's own files are, as far as they decide which files belong to the project and what its past is."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from layerguard.git.running import find_checkout, run

_SHAPING = ("HEAD", "index", "config.worktree", "commondir")  # without a HEAD there is no repository
_SHAPING_SHARED = ("config", "info/exclude")
_OF_REVISIONS = ("FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD")
_OF_REVISIONS_SHARED = (
    "packed-refs",
    "shallow",
    "info/grafts",
    "objects/info/alternates",
    "refs",
    "reftable",
)


def state_files(root: Path) -> list[str] | None:
    """Return the files and folders whose change can make git list other files of `root`, absolute.

    Some need not exist. Outside a checkout these are the places where one would begin. None where that
    cannot be told.
    """
    checkout = find_checkout(root)
    paths = [f"{folder}/.git" for folder in (root, *root.parents)]
    if checkout is None:
        return paths
    folders = [root, *root.parents]
    paths += [f"{folder}/.gitignore" for folder in folders[: folders.index(checkout) + 1]]
    own = _own_folder(checkout)
    if own is None:
        return None
    paths += [str(own), *(f"{own}/{name}" for name in _SHAPING)]
    return paths + [f"{_common_folder(own)}/{name}" for name in _SHAPING_SHARED]


def revision_files(root: Path) -> list[str] | None:
    """Return those whose change can give another meaning to a revision, in the same way."""
    checkout = find_checkout(root)
    if checkout is None:
        return []
    own = _own_folder(checkout)
    if own is None:
        return None
    common = _common_folder(own)
    paths = [str(own), *(f"{own}/{name}" for name in _OF_REVISIONS)]
    paths += [f"{common}/{name}" for name in _OF_REVISIONS_SHARED]
    for folder in {own, common}:
        paths += _below(folder / "refs")
        paths += _below(folder / "reftable")
    return paths


def find_index(root: Path) -> str | None:
    """Return the index that says what git tracks of `root`, absolute; None where there is no checkout."""
    checkout = find_checkout(root)
    own = _own_folder(checkout) if checkout else None
    return f"{own}/index" if own else None


def configuration_files(root: Path) -> list[str] | None:
    """Return the files outside the checkout that configure git, as far as it reads any here; absolute.

    Also those that it would read if they were there. None when git does not tell.
    """
    done = run(root, "config", "--list", "--show-origin", "-z")
    excludes = run(root, "config", "--path", "core.excludesFile")
    if done.returncode:
        return None
    found: set[str] = set()
    told = os.fsdecode(done.stdout).split("\0")
    for origin, setting in zip(told[0::2], told[1::2], strict=False):
        kind, _, file = origin.partition(":")
        if kind == "file":
            found.add(file)
        key, _, value = setting.partition("\n")
        if key.startswith("include") and key.endswith(".path"):  # it may be of a file that is not there yet
            folder = os.path.dirname(file)  # noqa: PTH120 - a text
            found.add(os.path.join(folder, os.path.expanduser(value)))  # noqa: PTH111, PTH118 - texts
    home = os.path.expanduser("~")  # noqa: PTH111 - raises nothing where there is no home
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config") / "git"
    found |= {f"{home}/.gitconfig", f"{settings}/config", f"{settings}/ignore", "/etc/gitconfig"}
    named = {os.environ.get(f"GIT_CONFIG_{scope}", "") for scope in ("GLOBAL", "SYSTEM")}  # they may be empty
    found |= named - {"", os.devnull}
    if excludes.returncode == 0:
        found.add(os.path.expanduser(os.fsdecode(excludes.stdout).rstrip("\n")))  # noqa: PTH111 - a text
    # Git tells a path relative to the top folder, where it is not absolute.
    tops = {root, find_checkout(root) or root}
    return sorted({os.path.join(top, path) for path in found for top in tops})  # noqa: PTH118 - texts


def list_ignored(root: Path, paths: Collection[str]) -> frozenset[str] | None:
    """Return those of the paths, relative to `root`, that git ignores; None when it does not tell."""
    if not paths:
        return frozenset()
    listed = os.fsencode("".join(f"{path}\0" for path in paths))
    done = run(root, "check-ignore", "--stdin", "-z", stdin=listed)
    if done.returncode > 1:
        return None
    return frozenset(os.fsdecode(done.stdout).split("\0")[:-1])


def _own_folder(checkout: Path) -> Path | None:
    """Return the folder of a checkout that holds its `HEAD`."""
    link = checkout / ".git"
    if link.is_dir():
        return link
    try:
        kind, _, target = link.read_text("utf-8").partition(":")
    except OSError:
        return None
    return checkout / target.strip() if kind == "gitdir" else None


def _common_folder(own: Path) -> Path:
    """Return the folder that all work trees of a repository share."""
    try:
        return own / (own / "commondir").read_text("utf-8").strip()
    except OSError:
        return own


def _below(folder: Path) -> Iterator[str]:
    """Yield a folder and all that is in it."""
    for place, folders, files in os.walk(folder):
        yield place
        yield from (f"{place}/{name}" for name in sorted([*folders, *files]))
