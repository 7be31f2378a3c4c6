"""Tells whether what decides which files there are is as it was, though it was written anew.

A folder is when it holds the same names, of the same kinds: many editors put a new file in the place of the
old one. The index of git is when it has the same paths: `git add` of an edited file changes no more than its
hash. The folder beside it is when nothing in it has changed but the index, locks and the message of a commit:
every other file may be the name of a revision.
"""

from __future__ import annotations

import os

from layerguard.snapshots import WIDTH, are_young, numbers_of
from layerguard.stores import SIZE, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

NO_MARK = bytes(SIZE)
"""In place of a mark: the path must have the numbers that it had."""
_MOST = 64
"""Where more of the paths have other numbers, they are not compared: that takes as long as a check."""


def marks_of(paths: Sequence[str], marked: Collection[str], indexes: Mapping[str, str], moment: int) -> bytes:
    """Return the marks of paths, one behind the other; `NO_MARK` for those that are not to be `marked`.

    `indexes` has the folder, by the path of its index, that git is asked for. What was written at or after
    the `moment` gets no mark: it may be another by now than it was for the check.
    """
    marks = [_mark(path, indexes) if path in marked else NO_MARK for path in paths]
    for place in are_young(numbers_of(paths), moment):
        marks[place] = NO_MARK
    return b"".join(marks)


def _mark(path: str, indexes: Mapping[str, str]) -> bytes:
    """Return what stands for the names in a folder or, of the index of git, for the paths in it.

    `NO_MARK` where that cannot be told.
    """
    if path in indexes:
        from pathlib import Path  # noqa: PLC0415 - only for this, as what follows

        from layerguard.git import describe_index  # noqa: PLC0415

        told = describe_index(Path(indexes[path]))
        return NO_MARK if told is None else digest_of(told)
    try:
        with os.scandir(path) as scan:
            if any(os.path.dirname(index) == path for index in indexes):  # noqa: PTH120 - no pathlib here
                names = sorted([_told_by_numbers(entry) for entry in scan if not _is_noise(entry.name)])
            else:
                names = sorted([_told(entry) for entry in scan])
    except OSError:
        return NO_MARK
    return digest_of("\0".join(names).encode("utf-8", "surrogateescape"))


def are_alike(
    paths: Sequence[str],
    before: Sequence[int],
    numbers: Sequence[int],
    marks: bytes,
    indexes: Mapping[str, str],
) -> bool:
    """Tell whether paths are as they were with the numbers `before`, as far as their marks say."""
    others = sorted({place // WIDTH for place in range(len(numbers)) if before[place] != numbers[place]})
    if len(others) > _MOST:
        return False
    kept = {place: marks[place * SIZE : (place + 1) * SIZE] for place in others}
    if NO_MARK in kept.values():
        return False
    return all(_mark(paths[place], indexes) == mark for place, mark in kept.items())


def _told(entry: os.DirEntry[str]) -> str:
    """Return the name of an entry and its kind; of a link also where it leads to. Raises OSError."""
    if entry.is_symlink():
        return f"{entry.name}\0link {os.readlink(entry.path)}"  # noqa: PTH115 - no pathlib here
    if entry.is_dir():
        return f"{entry.name}\0folder"
    return entry.name if entry.is_file() else f"{entry.name}\0other"


def _told_by_numbers(entry: os.DirEntry[str]) -> str:
    """Return the same with the numbers of a file, or of a link."""
    is_folder = entry.is_dir(follow_symlinks=False)
    return _told(entry) if is_folder else f"{entry.name}\0{numbers_of([entry.path])}"


def _is_noise(name: str) -> bool:
    """Tell whether a name in git's folder is that of the index, of a lock, or of a message."""
    return name in {"index", "COMMIT_EDITMSG"} or name.endswith(".lock") or name.startswith("next-index-")
