"""Finds the configuration and turns it into typed values, with every complaint about it."""

from __future__ import annotations

import glob
import os
import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from layerguard.config.declarations import Registry, find_ids, read_contract, read_registry
from layerguard.config.settings import DEFAULT_CONTRACTS, KEYS, Settings, check_settings
from layerguard.contracts import Contract
from layerguard.errors import UserError
from layerguard.tables import describe, known, read_table, suggest
from layerguard.toml import read_bytes, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN_FILE = "layerguard.toml"
SHARED_FILE = "pyproject.toml"


class Config(Struct, frozen=True):
    """The whole configuration of a project, read and checked."""

    root: Path
    """The project root, absolute: all other paths here are relative to it and have `/`."""
    path: str
    """The configuration file."""
    source_roots: tuple[str, ...] | None
    """Globs of the source roots as they are written; None for the default rule."""
    exclude: tuple[str, ...]
    """Gitignore patterns of what is not analysed."""
    contracts: tuple[Contract, ...]
    """Every contract, in the order of the files and of the places in them."""
    contract_files: tuple[str, ...]
    """Globs of the files that hold contracts, as they are written."""
    allowances: str
    """The allowance file."""
    allowances_named: bool
    """Whether the configuration names the allowance file, so that it has to exist."""
    base: str | None
    """The revision to compare with, where the configuration names one."""
    registries: tuple[Registry, ...]
    """The declared registries, in the order of the files and of the places in them."""
    places: dict[str, tuple[str, int]]
    """By the contract's id: the file that holds it, and the line of its `id` in that file."""
    own_files: frozenset[str]
    """The files that were read for this, and the allowance file: the names in them are no mentions."""


def find_root(start: Path) -> tuple[Path, str]:
    """Return the project root at or above `start` and the name of the configuration file in it.

    Raises UserError when there is none.
    """
    try:
        folder = Path(os.path.abspath(start))  # noqa: PTH100 (a `..` is taken as it is written, links are kept)
    except FileNotFoundError:
        raise UserError(
            "the current folder does not exist any more.", "Change to the project's folder."
        ) from None
    if not folder.exists():
        raise UserError(f"'{start}': there is no such folder.")
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / OWN_FILE):
            return candidate, OWN_FILE
        if (candidate / SHARED_FILE).is_file() and _is_ours(candidate / SHARED_FILE):
            return candidate, SHARED_FILE
    raise UserError(
        f"no configuration: neither '{OWN_FILE}' nor a '{SHARED_FILE}' with [tool.layerguard] "
        f"is in '{folder}' or in a folder above it.",
        f"Write a '{OWN_FILE}' into the project's root folder.",
    )


def load_config(start: Path) -> Config:
    """Read the configuration of the project that holds `start`, with all its contract files.

    Raises UserError for every fault in it (the message names the file, the contract and the key), and when
    there is no contract at all.
    """
    config = read_config(*find_root(start))
    if not config.contracts:
        files = " or ".join(config.contract_files)
        raise UserError(
            f"{config.path}: no contract: neither this file nor {files} holds any.",
            "Write a [[contract]] table with an 'id' and a 'kind'.",
        )
    return config


def read_config(root: Path, name: str) -> Config:
    """Read the configuration from the file `name` in the folder `root`; it may be without contracts."""
    values, text = read_toml(root / name, name)
    if name == SHARED_FILE:
        values = values["tool"]["layerguard"]
        if not isinstance(values, dict):
            raise UserError(f"{name}: [tool.layerguard] must be a table, not {describe(values)}.")
    settings = read_table(_without_tables(values, name), Settings, name)
    check_settings(settings, name)
    tables = [(name, text, values)]
    for path in _contract_files(root, settings, name):
        values, text = read_toml(root / path, path)
        _check_contract_file(values, path, settings, name)
        tables.append((path, text, values))
    contracts, places = _read_contracts(tables)
    return Config(
        root=root,
        path=name,
        source_roots=settings.source_roots,
        exclude=settings.exclude,
        contracts=contracts,
        contract_files=settings.contracts,
        allowances=posixpath.normpath(settings.allowances),
        allowances_named="allowances" in tables[0][2],
        base=settings.base,
        registries=tuple(
            read_registry(table, path, number)
            for path, _, values in tables
            for number, table in enumerate(_tables(values, "registry", path), 1)
        ),
        places=places,
        own_files=frozenset({path for path, _, _ in tables} | {posixpath.normpath(settings.allowances)}),
    )


def _is_ours(path: Path) -> bool:
    """Tell whether a `pyproject.toml` configures layerguard; another tool's broken file is not our affair."""
    data = read_bytes(path, SHARED_FILE)
    if b"layerguard" not in data:
        return False
    try:
        tool = read_toml(path, SHARED_FILE)[0].get("tool")
    except UserError:
        if b"tool.layerguard" in data:
            raise
        return False
    return isinstance(tool, dict) and "layerguard" in tool


def _without_tables(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the plain keys of the configuration; say more about the usual slips than "unknown key"."""
    settings = {key: value for key, value in values.items() if key not in {"contract", "registry"}}
    if "tool" in settings:
        raise UserError(
            f"{name}: unknown key 'tool'.", "Here the keys stand at the top, without [tool.layerguard]."
        )
    for key in settings:
        if key not in KEYS:
            raise UserError(f"{name}: unknown key '{key}'.", suggest(key, KEYS) or known(KEYS))
    return settings


def _contract_files(root: Path, settings: Settings, name: str) -> list[str]:
    """Return the files that `contracts` names, sorted, less the allowance and the configuration file."""
    found: set[str] = set()
    for pattern in settings.contracts:
        magic = glob.has_magic(pattern)
        paths = glob.glob(pattern, root_dir=root, recursive=True) if magic else [pattern]  # noqa: PTH207
        if not magic and not os.path.lexists(root / pattern):
            raise UserError(f"{name}: 'contracts': '{pattern}': there is no such file.")
        if not paths and settings.contracts != DEFAULT_CONTRACTS:
            raise UserError(f"{name}: 'contracts': '{pattern}' matches no file.")
        found.update(posixpath.normpath(path.replace(os.sep, "/")) for path in paths)
    return sorted(found - {name, posixpath.normpath(settings.allowances)})


def _check_contract_file(values: Mapping[str, Any], path: str, settings: Settings, name: str) -> None:
    """Refuse whatever is no contract and no registry, and a file that holds neither."""
    if "allow" in values:
        raise UserError(
            f"{path}: this looks like an allowance file, but the allowance file is '{settings.allowances}'.",
            f"Name it in '{name}': allowances = \"{path}\".",
        )
    for key in values:
        if key not in {"contract", "registry"}:
            hint = f"It belongs into '{name}'." if key in KEYS else suggest(key, ("contract", "registry"))
            raise UserError(f"{path}: unknown key '{key}'.", hint or known(("contract", "registry")))
    if not values:
        raise UserError(f"{path}: this file holds no contract and no registry.")


def _tables(values: Mapping[str, Any], key: str, path: str) -> list[dict[str, Any]]:
    """Return the tables of `[[contract]]` or `[[registry]]`."""
    tables = values.get(key, [])
    if isinstance(tables, list) and all(isinstance(table, dict) for table in tables):
        return tables
    header = f"tool.layerguard.{key}" if path == SHARED_FILE else key
    what = "a list of other things" if isinstance(tables, list) else describe(tables)
    raise UserError(
        f"{path}: '{key}' must be a list of tables, not {what}.", f"Write [[{header}]], with two brackets."
    )


def _read_contracts(
    tables: list[tuple[str, str, dict[str, Any]]],
) -> tuple[tuple[Contract, ...], dict[str, tuple[str, int]]]:
    contracts: list[Contract] = []
    places: dict[str, tuple[str, int]] = {}
    for path, text, values in tables:
        lines = find_ids(text)
        for number, table in enumerate(_tables(values, "contract", path), 1):
            contract = read_contract(table, path, number)
            line = lines[contract.id].pop(0) if lines[contract.id] else 1
            if contract.id in places:
                first = "{}, line {}".format(*places[contract.id])
                raise UserError(
                    f"{path}: contract '{contract.id}', line {line}: this id is taken by {first}."
                )
            contracts.append(contract)
            places[contract.id] = (path, line)
    return tuple(contracts), places
