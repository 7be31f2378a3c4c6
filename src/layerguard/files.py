"""Reads files, and writes them so that they are whole or not there.

That is: a temporary file beside it, then a rename.
"""

from __future__ import annotations

import os

from layerguard.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_BINARY: int = getattr(os, "O_BINARY", 0)
_CLOSED: int = getattr(os, "O_CLOEXEC", 0)


def read_bytes(path: str) -> bytes:
    """Return the bytes of a file; what `Path.read_bytes` does in half the time. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | _BINARY | _CLOSED)
    try:
        size = os.fstat(handle).st_size
        data = os.read(handle, size + 1)
        if 0 < len(data) == size:
            return data
        parts = [data]
        # A file that grows, or one that is none, may give more.
        while data := os.read(handle, 1 << 20):
            parts.append(data)
    finally:
        os.close(handle)
    return b"".join(parts)


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` by `text`, in UTF-8, with its line ends as they are; see `write_bytes`."""
    write_bytes(path, text.encode("utf-8", "surrogatepass"))


def write_bytes(path: Path, data: bytes) -> None:
    """Replace the file at `path`, or that a link there leads to, by `data`.

    The file's permissions stay. A device or a pipe is written to, not replaced. Raises UserError when it
    cannot be written; what was there is then untouched.
    """
    import tempfile  # noqa: PLC0415 - heavy, and a check writes nothing
    from pathlib import Path  # noqa: PLC0415 - the same

    target = Path(os.path.realpath(path))
    temporary = ""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(data)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
        temporary = ""
    except FileExistsError as error:
        raise UserError(f"'{path}' cannot be written: '{target.parent}' is no folder.") from error
    except OSError as error:
        raise UserError(f"'{path}' cannot be written: {error.strerror or error}.") from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
