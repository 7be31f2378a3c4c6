"""Reads TOML files; every way in which that can fail is told with the file and the line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import tomli

from layerguard.errors import UserError
from layerguard.regex import regex

if TYPE_CHECKING:
    from pathlib import Path

_MARKER = regex(r"^(?:<{7}|={7}|>{7}|\|{7})(?: .*)?$", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"


def read_bytes(path: Path, shown: str) -> bytes:
    """Return what is in a file; raise UserError, which calls it `shown`, when it cannot be read."""
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise UserError(f"{shown}: this is a folder, not a file.") from None
    except FileNotFoundError:
        reason = "this link leads to no file" if path.is_symlink() else "there is no such file"
        raise UserError(f"{shown}: {reason}.") from None
    except OSError as error:
        raise UserError(f"{shown}: the file cannot be read: {error.strerror or error}.") from error


def read_text(path: Path, shown: str) -> str:
    r"""Return the text of a file in UTF-8, its line ends (`\n` or `\r\n`) as they are.

    `shown` is what messages call the file. Raises UserError when it cannot be read.
    """
    data = read_bytes(path, shown)
    if data.startswith(_BOM):
        raise UserError(
            f"{shown}: line 1, column 1: the file starts with a byte order mark, which TOML does not allow.",
            "Save it as UTF-8 without a byte order mark.",
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise UserError(
            f"{shown}: {_place(before)}: the file is not UTF-8 (byte 0x{data[error.start]:02x}).",
            "Save it as UTF-8.",
        ) from None


def read_toml(path: Path, shown: str) -> tuple[dict[str, Any], str]:
    """Return the values of a TOML file, and its text.

    Raises UserError, with the line, when the file cannot be read or is no TOML; the markers of a merge
    conflict are called by their name.
    """
    text = read_text(path, shown)
    return parse_toml(text, shown), text


def parse_toml(text: str, shown: str) -> dict[str, Any]:
    """Return the values of a TOML text; raise UserError with the line when it is none."""
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        marker = _MARKER.search(text.replace("\r\n", "\n"))
        if marker:
            line = text.replace("\r\n", "\n").count("\n", 0, marker.start()) + 1
            raise UserError(
                f"{shown}: line {line}, column 1: a merge conflict is not resolved here: '{marker[0]}'.",
                "Resolve the conflict and remove its markers.",
            ) from None
        raise UserError(f"{shown}: line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise UserError(f"{shown}: line 1, column 1: the values are nested too deeply.") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise UserError(f"{shown}: line 1, column 1: {error}.") from None


def _place(before: str) -> str:
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")  # rfind gives -1 in the first line
    return f"line {line}, column {column}"
