"""Paths as the user gives them, and as a report has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from layerguard.errors import UserError


def relative_paths(project: Path, root: Path | str, paths: Sequence[Path | str]) -> tuple[str, ...]:
    """Return paths as the report has them: relative to the project root, with `/`; "" for the root itself."""
    found = []
    for path in paths:
        absolute = os.path.abspath(os.path.join(root, path))  # noqa: PTH100, PTH118 - `..` as it is written
        if not os.path.lexists(absolute):
            raise UserError(f"'{path}': there is no such file or folder.")
        relative = os.path.relpath(absolute, project).replace(os.sep, "/")
        if relative == ".." or relative.startswith("../"):
            raise UserError(f"'{path}' is outside the project root '{project}'.")
        found.append("" if relative == "." else relative)
    return tuple(found)


def is_below(path: str, wanted: Iterable[str]) -> bool:
    """Tell whether a path is one of the wanted ones, or in one."""
    return any(not each or path == each or path.startswith(f"{each}/") for each in wanted)
