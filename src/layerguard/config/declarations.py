"""Reads the tables `[[contract]]` and `[[registry]]`: typed values, each of them checked."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from layerguard.config.pattern_syntax import (
    find_fault,
    find_fault_in_list,
    find_fault_in_name,
    find_fault_in_paths,
)
from layerguard.config.settings import KEYS
from layerguard.contracts import KINDS, Contract
from layerguard.contracts.seeds import Plant
from layerguard.errors import UserError
from layerguard.regex import regex
from layerguard.tables import describe, known, quoted, read_table, suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

PATTERNS = frozenset(
    {"containers", "exhaustive-ignores", "generated", "modules", "packages", "sources", "targets"}
)
"""The keys of contracts that hold patterns of modules."""

SCOPED_PATTERNS = frozenset({"exclude-importers", "importers"})
"""The keys of contracts that hold patterns which may name a scope."""

PATHS = frozenset({"text"})
"""The keys of contracts that hold gitignore patterns."""

MAY_BE_EMPTY = frozenset(
    {"importers", "exclude-importers", "containers", "exhaustive-ignores", "generated", "plant", "text"}
)
"""The lists that mean something with nothing in them; a contract with another empty list is about nothing."""

LOADING = ("import", "dynamic")
"""The ways to name a module that load it."""

_ID = regex(r"[a-z0-9-]+")
_TEXT_OF_TEMPLATE = regex(r"[\w.:-]*")
_FIELD_OF_TEMPLATE = regex(r"0|[1-9][0-9]*|key")
_TOKEN = regex(
    r'''"""(?:\\[\s\S]|[^\\])*?"""|\'\'\'[\s\S]*?\'\'\''''
    r"""|(?<![\w.-])(?:id|"id"|'id')[ \t]*=[ \t]*(?P<quote>["'])(?P<id>[a-z0-9-]*)(?P=quote)"""
    r"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*"""
    r"""|^[ \t]*\[\[?(?P<header>[ \t]*[\w-]+[\w. \t-]*)\]""",
    re.MULTILINE,
)


class Registry(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a module whose rows hold parts of module names; each row counts as a `dynamic` import."""

    module: Annotated[str, Meta(description="The module that holds the table, by its dotted name.")]
    name: Annotated[str, Meta(description="The table's name: a module-level dict, list or tuple.")]
    template: Annotated[
        str,
        Meta(
            description="The module that a row names. `{0}`, `{1}` … are the texts of the row (of a tuple or "
            "list; `{0}` is the whole value of a plain string), `{key}` is its key in a dict: "
            "`app.models.{0}.{1}`."
        ),
    ]


def read_contract(values: Mapping[str, Any], path: str, number: int) -> Contract:
    """Make a contract of the table at `number` (from 1) in the file `path`.

    Raises UserError, naming the file, the contract and the key, for any fault in it.
    """
    name = values.get("id")
    where = f"{path}: contract '{name}'" if isinstance(name, str) else f"{path}: contract number {number}"
    kind = _read_kind(values, where)
    options = {key: value for key, value in values.items() if key != "kind"}
    for key in options:
        if key in KEYS and key not in KINDS[kind].__struct_encode_fields__:
            hint = f"'{key}' is a key of the whole configuration: write it above the first [[contract]]."
            raise UserError(f"{where}: unknown key '{key}'.", hint)
    _check_plants(options.get("plant"), where)
    contract = read_table(options, KINDS[kind], where)
    if not _ID.fullmatch(contract.id):
        raise UserError(f"{where}: 'id' must be made of a-z, 0-9 and '-' (not '{contract.id}').")
    _check_reach(contract, where)
    for key, value in options.items():
        _check_option(key, value, where)
    problems = getattr(contract, "problems", None)
    for key, message in problems() if problems else ():
        raise UserError(f"{where}: '{key}': {message}")
    return contract


def _read_kind(values: Mapping[str, Any], where: str) -> str:
    kind = values.get("kind")
    if kind is None:
        for key in values:
            if suggest(key, ["kind"]) and key not in Contract.__struct_encode_fields__:
                raise UserError(f"{where}: unknown key '{key}'.", "Did you mean 'kind'?")
        raise UserError(f"{where}: the key 'kind' is missing.", known(KINDS))
    if not isinstance(kind, str):
        raise UserError(f"{where}: 'kind' must be a string, not {describe(kind)}.", known(KINDS))
    if kind not in KINDS:
        raise UserError(f"{where}: unknown kind '{kind}'.", suggest(kind, KINDS) or known(KINDS))
    return kind


def _check_reach(contract: Contract, where: str) -> None:
    """Refuse a reach that the kind does not know, or with which the contract would look at nothing."""
    if contract.reach not in contract.reaches:
        raise UserError(
            f"{where}: 'reach' cannot be '{contract.reach}' for a contract of kind '{contract.kind}'; "
            f"it can be {quoted(contract.reaches)}."
        )
    if contract.reach == "load":
        for key, have, wanted in (("when", contract.when, ("load",)), ("via", contract.ways, LOADING)):
            if not set(have) & set(wanted):
                what = " or ".join(f"'{word}'" for word in wanted)
                raise UserError(
                    f"{where}: '{key}' leaves out {what}, but with reach = \"load\" nothing else counts."
                )


def read_registry(values: Mapping[str, Any], path: str, number: int) -> Registry:
    """Make a registry of the table at `number` (from 1) in the file `path`; raise UserError for any fault."""
    where = f"{path}: registry number {number}"
    registry = read_table(values, Registry, where)
    fault, hint = find_fault_in_name(registry.module)
    if fault:
        raise UserError(f"{where}: 'module': '{registry.module}' {fault}.", hint)
    if not registry.name.isidentifier():
        raise UserError(f"{where}: 'name': '{registry.name}' is not the name of a variable.")
    fault = _fault_in_template(registry.template)
    if fault:
        hint = "It holds dotted names with {0}, {1} … or {key} in them, such as app.models.{0}."
        raise UserError(f"{where}: 'template': '{registry.template}' {fault}.", hint)
    return registry


def find_ids(text: str) -> defaultdict[str, list[int]]:
    """Return by x the lines (from 1) at which `id = "x"` stands in a TOML text, in a table of a contract."""
    lines: defaultdict[str, list[int]] = defaultdict(list)
    inside = True
    for token in _TOKEN.finditer(text):
        if token["header"]:  # another tool's table, or one such as [contract.modules], may have an `id` too
            header = re.sub(r"\s", "", token["header"]).removeprefix("tool.layerguard")
            inside = header.removeprefix(".") in {"", "contract"}
        elif token["id"] and inside:
            lines[token["id"]].append(text.count("\n", 0, token.start()) + 1)
    return lines


def _check_plants(plants: object, where: str) -> None:
    """Check each [[contract.plant]]; that they are a list of tables at all is checked with the contract."""
    for number, values in enumerate(plants if isinstance(plants, list) else [], 1):
        if not isinstance(values, dict):
            return
        plant = read_table(values, Plant, f"{where}: plant {number}")
        fault, hint = find_fault_in_name(plant.module)
        if fault:
            raise UserError(f"{where}: plant {number}: 'in': '{plant.module}' {fault}.", hint)
        if not plant.code.strip():
            raise UserError(f"{where}: plant {number}: 'code' is empty, so that nothing is planted.")


def _check_option(key: str, value: object, where: str) -> None:
    """Check a value whose type is right already for what it says."""
    if value in ([], {}) and key not in MAY_BE_EMPTY:
        raise UserError(f"{where}: '{key}' is empty, so that the contract is about nothing.")
    fault, hint = "", ""
    if key in PATTERNS | SCOPED_PATTERNS and isinstance(value, list):
        fault, hint = find_fault_in_list(value, scoped=key in SCOPED_PATTERNS)
    elif key in PATTERNS and isinstance(value, dict):
        fault, hint = _fault_in_moves(value)
    elif key in PATHS and isinstance(value, list):
        fault = find_fault_in_paths(value)
    if fault:
        raise UserError(f"{where}: '{key}': {fault}.", hint)


def _fault_in_moves(moves: Mapping[str, str]) -> tuple[str, str]:
    for old, new in moves.items():
        for name in (old, new) if new else (old,):
            fault, hint = find_fault_in_name(name)
            if fault:
                return f"'{name}' {fault}", hint
    return "", ""


def _fault_in_template(template: str) -> str:
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        return f"is no template: {error}"
    for text, field, specification, conversion in parts:
        if not _TEXT_OF_TEMPLATE.fullmatch(text):
            return f"holds '{text}', which is no part of a module's name"
        if field is None:
            continue
        if not _FIELD_OF_TEMPLATE.fullmatch(field) or specification or conversion:
            return "holds a placeholder that is neither a number nor 'key'"
    if all(field is None for _, field, _, _ in parts):
        return "holds no placeholder, so that every row would name the same module"
    fault, _ = find_fault(
        "".join(text + ("x" if field is not None else "") for text, field, _, _ in parts), scoped=True
    )
    return fault
