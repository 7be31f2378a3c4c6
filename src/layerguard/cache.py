"""The cache: a folder in the project root with what earlier runs have found out.

It may be lost, damaged, out of date or impossible to write at any time: then a run takes longer, and that is
all. Every file in it is written whole or not at all, and holds a checksum. A cache that git tracks is not
used, so that no commit can bring one along.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from binascii import crc32
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from layerguard import __version__
from layerguard.errors import UserError
from layerguard.snapshots import SEAL, pack, unpack
from layerguard.verdicts import FOLDER, VARIABLE

if TYPE_CHECKING:
    from layerguard.snapshots import Buffer

_IGNORE = "# Made by layerguard.\n*\n"
_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder is a cache, made by layerguard: https://bford.info/cachedir/\n"
)
_OURS = re.compile(r"(?:verdict|findings|outlines|layout)-[0-9a-f]{8}|\.gitignore|\..*\.tmp")
_MOST = 16
"""How many entries of one kind are kept."""
_OLD = 3600
"""After how many seconds a temporary file is one that a killed run has left behind."""
_COARSE = 2_000_000_000
"""By how many ns a file system's clock may be late that counts whole seconds, or is another machine's."""
_TICK = 0.02
"""A bit more, in s, than the time between two ticks of such a clock on the systems that are known."""


class Cache:
    """The cache of one project; all of it can fail without harm. `notes` are for standard error."""

    def __init__(self, folder: Path) -> None:
        """Use the folder, which need not be there yet."""
        self.top = folder
        self.folder = folder / __version__
        self.notes: list[str] = []
        self.has_made = False
        """Whether the folder, or what marks it, was made by this run."""

    def read(self, name: str, kind: str) -> list[memoryview] | None:
        """Return the parts of one of its files; None where there is none of this kind that is whole."""
        try:
            return unpack((self.folder / name).read_bytes(), kind)
        except FileNotFoundError:
            return None
        except ValueError:
            self._say(f"the file '{name}' in the cache is damaged, and was not used.")
        except OSError as error:
            self._say(f"the cache cannot be read: {error.strerror or error}.")
        return None

    def write(self, name: str, data: bytes) -> None:
        """Write one of its files, or replace it."""
        try:
            self._make()
            _write(self.folder / name, data)
        except OSError as error:
            self._say(f"the cache cannot be written: {error.strerror or error}.")

    def write_parts(self, name: str, kind: str, parts: Sequence[Buffer]) -> None:
        """Write one of its files, made of parts."""
        self.write(name, pack(kind, parts))

    def tidy(self) -> None:
        """Remove the oldest entries where there are many, and what killed runs have left behind."""
        try:
            entries = [(entry.stat().st_mtime, entry) for entry in os.scandir(self.folder)]
        except OSError:
            return
        now = time.time()
        for prefix in ("verdict-", "findings-", "outlines-", "layout-"):
            ours = sorted((when, entry.path) for when, entry in entries if entry.name.startswith(prefix))
            for _, path in ours[:-_MOST]:
                _remove(path)
        for when, entry in entries:
            if entry.name.endswith(".tmp") and now - when > _OLD:
                _remove(entry.path)

    def moment(self, root: Path) -> int:
        """Return the time now, in ns, by the clock of the file system; 0 where the cache cannot be written.

        What was written before has an earlier time, the folder of the cache itself included.
        """
        try:
            self._make()
            device = root.lstat().st_dev
            made = max(folder.lstat().st_ctime_ns for folder in (root, self.top, self.top.parent))
            for _ in range(3):
                handle, path = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=self.folder)
                found = os.fstat(handle)
                os.close(handle)
                _remove(path)
                now = found.st_mtime_ns
                is_coarse = now % 1_000_000 == 0 or found.st_dev != device
                if is_coarse or made < now:
                    return now - _COARSE if is_coarse else now
                time.sleep(_TICK)
        except OSError as error:
            self._say(f"the cache cannot be written: {error.strerror or error}.")
        return 0

    def _make(self) -> None:
        # A folder that somebody else has made, and put something into, is not marked as a cache.
        is_ours = self.top.name == FOLDER or not self.top.is_dir() or not any(self.top.iterdir())
        self.folder.mkdir(parents=True, exist_ok=True)
        files = {self.folder / SEAL: _IGNORE}
        if is_ours:
            files |= {self.top / ".gitignore": _IGNORE, self.top / "CACHEDIR.TAG": _TAG}
        for path, text in files.items():
            if not path.exists():
                self.has_made = True
                _write(path, text.encode())

    def _say(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def written_by(*globs: str) -> str:
    """Return what tells one version of some modules of this package from another; the globs name them."""
    folder = Path(__file__).parent
    files = [file for glob in globs for file in sorted(folder.glob(glob))]
    return f"{crc32(b''.join([file.read_bytes() for file in files])):08x}"


def find_cache(root: Path, asked: str | None) -> Path:
    """Return the folder of the cache: the one asked for, that of LAYERGUARD_CACHE_DIR, or the usual one."""
    named = asked or os.environ.get(VARIABLE)
    return Path(os.path.abspath(named)) if named else root / FOLDER  # noqa: PTH100 - links stay as they are


def clean(folder: Path) -> bool:
    """Remove the cache; return whether there was one. Raises UserError when it cannot be removed."""
    try:
        versions = [path for path in sorted(folder.glob("*")) if path.is_dir() and _is_ours(path)]
        for path in versions:
            shutil.rmtree(path)
        marks = [path for name, text in _MARKS.items() if _holds(path := folder / name, text)]
        for path in marks:
            path.unlink()
        if marks and not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise UserError(f"the cache '{folder}' cannot be removed: {error.strerror or error}.") from error
    return bool(versions or marks)


_MARKS = {".gitignore": _IGNORE, "CACHEDIR.TAG": _TAG}


def _is_ours(folder: Path) -> bool:
    if not _holds(folder / SEAL, _IGNORE):
        return False
    return all(path.is_file() and _OURS.fullmatch(path.name) for path in folder.iterdir())


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _write(path: Path, data: bytes) -> None:
    """Write a file that is whole or not there. Raises OSError."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
        temporary = ""
    finally:
        if temporary:
            _remove(temporary)


def _remove(path: str) -> None:
    with suppress(OSError):
        Path(path).unlink()
