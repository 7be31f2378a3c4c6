"""What git's own files are, as far as they decide which files belong to the project and what its past is."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from layerguard.git.running import find_checkout, run

_OF_WORK_TREE = ("HEAD", "index", "config.worktree", "commondir", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD")
_SHARED = (
    "config",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/grafts",
    "objects/info/alternates",
    "refs",
)


def state_files(root: Path) -> list[str] | None:
    """Return the files and folders whose change can make git say something else about `root`, absolute.

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
    try:
        common = own / (own / "commondir").read_text("utf-8").strip()
    except OSError:
        common = own
    paths += [f"{own}/{name}" for name in _OF_WORK_TREE]
    paths += [f"{common}/{name}" for name in (*_SHARED, "reftable")]
    for folder in {own, common}:
        paths += _below(folder / "refs")
        paths += _below(folder / "reftable")
    return paths


def configuration_files(root: Path) -> list[str] | None:
    """Return the files outside the checkout that configure git, as far as it reads any here; absolute.

    Also those that it would read if they were there. None when git does not tell.
    """
    done = run(root, "config", "--list", "--show-origin", "--name-only", "-z")
    excludes = run(root, "config", "--path", "core.excludesFile")
    if done.returncode:
        return None
    found = {text[5:] for text in os.fsdecode(done.stdout).split("\0") if text.startswith("file:")}
    home = Path.home()
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    found |= {f"{home}/.gitconfig", f"{settings}/config", f"{settings}/ignore", "/etc/gitconfig"}
    if excludes.returncode == 0:
        found.add(os.path.expanduser(os.fsdecode(excludes.stdout).rstrip("\n")))  # noqa: PTH111 - a text
    return sorted(os.path.join(root, path) for path in found)  # noqa: PTH118 - one may be absolute


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


def _below(folder: Path) -> Iterator[str]:
    """Yield a folder and all that is in it."""
    for place, folders, files in os.walk(folder):
        yield place
        yield from (f"{place}/{name}" for name in sorted([*folders, *files]))
