"""Which files lie below a folder, and of what kind they are; nothing is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from layerguard import git
from layerguard.names import SOURCES, folders_of, parent, shown

_NOT_WALKED = frozenset({"__pycache__", "build", "dist", "node_modules"})


class Inventory(Struct):
    """The files of a project by their paths, relative to its root and with `/`, as the system names them.

    `regular` are files, `links` those that lead to one, with the path of that; `problems` are paths that
    cannot be read, with the reason. `folders` are those of the files, and all above them; "" is the root.

    `loose` are further links, which lead to no file, but might.

    In a checkout, `strangers` are the folders beside these, which hold none of the files today; `ignores` are
    the files that say what git ignores, and `checkouts` the folders of nested repositories.
    """

    regular: list[str] = []
    links: dict[str, str] = {}
    problems: dict[str, str] = {}
    loose: list[str] = []
    folders: list[str] = []
    strangers: list[str] = []
    ignores: list[str] = []
    checkouts: list[str] = []
    in_git: bool = False


def take_inventory(root: Path) -> Inventory:
    """Find the files of a project.

    In a git checkout git says which belong to it, elsewhere a walk that leaves out what is usually not meant.
    Raises UserError when git refuses.
    """
    listed = git.list_files(root)
    found = Inventory()
    inside = os.path.realpath(root) + os.sep
    if listed is None:
        _walk(f"{root}/", "", inside, found)
        return found
    by_folder: dict[str, list[str]] = {}
    for path in listed:
        by_folder.setdefault(parent(path.rstrip("/")), []).append(path)
    for folder, paths in by_folder.items():
        _look_at(f"{root}/", folder, paths, inside, found)
    folders = {*found.folders, *folders_of(listed)}
    # A folder that holds no file of its own was not looked at.
    for folder in folders.difference(by_folder, found.folders):
        _look_at(f"{root}/", folder, (), inside, found)
    found.folders = sorted(folders)
    found.strangers = sorted(set(found.strangers) - folders)
    found.in_git = True
    return found


def _look_at(prefix: str, folder: str, paths: Iterable[str], inside: str, found: Inventory) -> None:
    """Sort the listed paths of one folder by what they are: one that ends with `/` is a folder to walk."""
    entries: dict[str, os.DirEntry[str]] = {}
    try:
        with os.scandir(prefix + folder) as scan:
            entries = {entry.name: entry for entry in scan}
    except OSError:
        pass  # each path will tell
    _note_strangers(folder, entries, found)
    for path in paths:
        if path.endswith("/"):
            _walk(prefix, path, inside, found)
            continue
        entry = entries.get(path[path.rfind("/") + 1 :])
        if entry is not None and entry.is_file(follow_symlinks=False):
            found.regular.append(path)
        else:
            _look_closely(prefix, path, inside, found)


def _note_strangers(folder: str, entries: Mapping[str, os.DirEntry[str]], found: Inventory) -> None:
    start = f"{folder}/" if folder else ""
    for name, entry in entries.items():
        if name == ".git":
            if folder:
                found.checkouts.append(folder)
        elif name == ".gitignore":
            found.ignores.append(start + name)
        elif entry.is_dir(follow_symlinks=False):
            found.strangers.append(start + name)


def _look_closely(prefix: str, path: str, inside: str, found: Inventory) -> None:
    try:
        mode = os.lstat(prefix + path).st_mode
    except (FileNotFoundError, NotADirectoryError):  # tracked, but deleted
        return
    except OSError as error:
        found.problems[path] = f"the file cannot be read: {error.strerror}"
        return
    if stat.S_ISREG(mode):
        found.regular.append(path)
    elif stat.S_ISLNK(mode):
        _follow(prefix, path, inside, found)


def _walk(prefix: str, folder: str, inside: str, found: Inventory) -> None:
    """Find all in a folder (empty, or ending with `/`) that git does not look into."""
    try:
        with os.scandir(prefix + folder) as scan:
            entries = list(scan)
    except FileNotFoundError:
        return
    except OSError as error:
        found.problems[folder] = f"the folder cannot be read: {error.strerror}"
        return
    found.folders.append(folder.rstrip("/"))
    if folder and "pyvenv.cfg" in [entry.name for entry in entries]:
        return
    add = found.regular.append
    for entry in entries:
        name = entry.name
        if entry.is_file(follow_symlinks=False):
            add(folder + name)
        elif entry.is_symlink():
            _follow(prefix, folder + name, inside, found)
        elif entry.is_dir(follow_symlinks=False) and name[0] != "." and name not in _NOT_WALKED:
            _walk(prefix, f"{folder}{name}/", inside, found)


def _follow(prefix: str, path: str, inside: str, found: Inventory) -> None:
    """Note where a link to a file leads; a link to a folder is left alone."""
    try:
        mode = Path(prefix + path).stat().st_mode
    except OSError:
        if path.endswith(SOURCES):
            target = shown(str(Path(prefix + path).readlink()))
            found.problems[path] = f"broken link to '{target}'"
        else:
            found.loose.append(path)
        return
    if not stat.S_ISREG(mode):
        if path.endswith(SOURCES):
            found.loose.append(path)
    else:
        target = os.path.realpath(prefix + path)
        found.links[path] = target.removeprefix(inside).replace(os.sep, "/")
