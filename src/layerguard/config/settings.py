"""The keys of the configuration that belong to no contract."""

from __future__ import annotations

import posixpath
import re
from typing import Annotated

from msgspec import Meta, Struct

from layerguard.config.pattern_syntax import find_fault_in_paths
from layerguard.errors import UserError

DEFAULT_CONTRACTS = ("contracts/*.toml",)


class Settings(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The keys of `layerguard.toml`, or of `[tool.layerguard]` in `pyproject.toml`.

    The tables `[[contract]]` and `[[registry]]` stand beside them or in the files that `contracts` names.
    """

    source_roots: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="The folders that module names are counted from, relative to the project root; globs "
            "such as `packages/*/src` are allowed. The project root itself is always the last one. "
            "Default: `src`, where there is such a folder and it is no package."
        ),
    ] = None
    exclude: Annotated[
        tuple[str, ...],
        Meta(
            description="Gitignore patterns of files that are not analysed. Their modules still exist for "
            "the files that import them."
        ),
    ] = ()
    contracts: Annotated[
        tuple[str, ...],
        Meta(
            description="The files that hold contracts, relative to the project root; globs are allowed. "
            "The allowance file among them is skipped."
        ),
    ] = DEFAULT_CONTRACTS
    allowances: Annotated[
        str,
        Meta(
            description="The allowance file: the violations that are tolerated for now. When this key names "
            "it, it has to exist; otherwise a missing file is an empty one."
        ),
    ] = "contracts/allowances.toml"
    base: Annotated[
        str | None,
        Meta(description="The revision that the allowance file may not outgrow, such as `origin/main`."),
    ] = None


KEYS = (*(name.replace("_", "-") for name in Settings.__struct_fields__), "contract", "registry")
"""What may stand at the top of the configuration."""


def check_settings(settings: Settings, name: str) -> None:
    """Check what the values of the keys say; `name` is the file that holds them. Raises UserError."""
    paths = [("allowances", settings.allowances)]
    paths += [("contracts", path) for path in settings.contracts]
    paths += [("source-roots", path) for path in settings.source_roots or ()]
    for key, path in paths:
        if not path.strip():
            raise UserError(f"{name}: '{key}' names an empty path.")
        if "\\" in path:
            raise UserError(
                f"{name}: '{key}': '{path}' has a backslash.", "Paths are written with '/' on every system."
            )
        if (
            posixpath.isabs(path)
            or re.match(r"[A-Za-z]:", path)
            or posixpath.normpath(path).split("/")[0] == ".."
        ):
            raise UserError(
                f"{name}: '{key}': '{path}' is outside the project.",
                "Paths are relative to the project root.",
            )
    if settings.source_roots == ():
        raise UserError(
            f"{name}: 'source-roots' is empty.", "Leave it out, or name '.' for the project root."
        )
    fault = find_fault_in_paths(settings.exclude)
    if fault:
        raise UserError(f"{name}: 'exclude': {fault}.")
    if settings.base is not None and (not settings.base.strip() or settings.base.startswith("-")):
        raise UserError(f"{name}: 'base': '{settings.base}' is not a revision.")
