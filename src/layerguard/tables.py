"""Turns the tables of a TOML file into typed values, and says in plain words what is wrong with them."""

from __future__ import annotations

import re
from datetime import date, datetime, time
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import inspect

from layerguard.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Table = TypeVar("Table", bound=msgspec.Struct)


def read_table(values: Mapping[str, Any], table: type[Table], where: str) -> Table:
    """Convert a TOML table to a Struct.

    `where` starts every message: the file, and the contract where there is one. Raises UserError for an
    unknown key, a missing one, and a value of the wrong type at any depth.
    """
    fields = _fields(table)
    for key in values:
        if key not in fields:
            raise UserError(f"{where}: unknown key '{key}'.", suggest(key, fields) or known(fields))
    for key, field in fields.items():
        if field.required and key not in values:
            raise UserError(f"{where}: the key '{key}' is missing.")
    try:
        # TOML has dates of its own: a string is none.
        return msgspec.convert(dict(values), table, builtin_types=(datetime, date, time))
    except msgspec.ValidationError as error:
        for key, value in values.items():
            _check(where, key, value, inspect.type_info(fields[key].type))
        raise UserError(f"{where}: {_plain(str(error))}.") from None


@cache
def _fields(table: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    """Return the fields of a Struct by their keys; found out once: an allowance file has many tables."""
    return {field.encode_name: field for field in msgspec.structs.fields(table)}


def suggest(word: str, known_words: Iterable[str]) -> str:
    """Return "Did you mean 'x'?" for the nearest of the known words, or nothing."""
    import difflib  # noqa: PLC0415 - heavy, and only needed for a mistake

    near = difflib.get_close_matches(word, list(known_words), n=1, cutoff=0.6)
    return f"Did you mean '{near[0]}'?" if near else ""


def known(words: Iterable[str]) -> str:
    """Return a sentence that lists the known words."""
    return f"Known are {quoted(words)}."


def quoted(words: Iterable[str]) -> str:
    """Return the words in single quotes with commas between them."""
    return ", ".join(f"'{word}'" for word in words)


def describe(value: object) -> str:
    """Say in TOML's words what kind of value this is: "a string", "a list", "a table"."""
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    return next((words for kind, words in _WORDS if isinstance(value, kind)), "a time")


_WORDS: tuple[tuple[type, str], ...] = (
    (str, "a string"),
    (int, "an integer"),
    (float, "a number"),
    (dict, "a table"),
    (list, "a list"),
    (datetime, "a date with a time"),
    (date, "a date"),
)


def _check(where: str, key: str, value: object, wanted: inspect.Type) -> None:
    """Say which value has the wrong type: msgspec's own message speaks of Python's types and of paths."""
    for place, item, inner in _parts(value, wanted):
        if isinstance(inner, inspect.LiteralType) and isinstance(item, str):
            if item not in inner.values:
                words = [str(word) for word in inner.values]
                verb = "hold" if place else "be"
                message = f"{where}: '{key}' cannot {verb} '{item}'; known are {quoted(words)}."
                raise UserError(message, suggest(item, words))
        elif not _fits(item, inner):
            but = f", but {place} is {describe(item)}" if place else f", not {describe(item)}"
            in_list = isinstance(inner, inspect.VarTupleType) and isinstance(item, str)
            hint = f'Write {key} = ["{item}"].' if in_list else ""
            raise UserError(f"{where}: '{key}' must be {_phrase(wanted)}{but}.", hint)


def _parts(value: object, wanted: inspect.Type) -> Iterator[tuple[str, object, inspect.Type]]:
    """Yield a value and then what is in it: what to call it, the value, the type it should have."""
    wanted = _bare(wanted)
    yield "", value, wanted
    if isinstance(wanted, inspect.VarTupleType) and isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield f"item {number}", item, _bare(wanted.item_type)
    if isinstance(wanted, inspect.DictType) and isinstance(value, dict):
        for name, item in value.items():
            yield f"the value of '{name}'", item, _bare(wanted.value_type)


def _bare(wanted: inspect.Type) -> inspect.Type:
    """Take away what is around a type: a description, and the None of a key that may be left out."""
    while isinstance(wanted, inspect.Metadata):
        wanted = wanted.type
    if isinstance(wanted, inspect.UnionType):
        return _bare(next(t for t in wanted.types if not isinstance(t, inspect.NoneType)))
    return wanted


def _fits(value: object, wanted: inspect.Type) -> bool:
    if isinstance(value, bool):  # Python's booleans are integers, TOML's are not
        return isinstance(wanted, inspect.BoolType)
    if isinstance(value, datetime):  # which Python takes for a date
        return False
    return isinstance(value, _kind(wanted)[0])


def _phrase(wanted: inspect.Type) -> str:
    wanted = _bare(wanted)
    if isinstance(wanted, inspect.VarTupleType):
        return f"a list of {_kind(_bare(wanted.item_type))[2]}"
    if isinstance(wanted, inspect.DictType):
        return f"a table of {_kind(_bare(wanted.value_type))[2]}"
    return _kind(wanted)[1]


def _kind(wanted: inspect.Type) -> tuple[type, str, str]:
    """Return what tomli makes of a value of this type, and the words for one and for many."""
    if isinstance(wanted, (inspect.StrType, inspect.LiteralType)):
        return str, "a string", "strings"
    if isinstance(wanted, inspect.BoolType):
        return bool, "true or false", "booleans"
    if isinstance(wanted, inspect.IntType):
        return int, "an integer", "integers"
    if isinstance(wanted, inspect.VarTupleType):
        return list, "a list", "lists"
    if isinstance(wanted, inspect.DateType):
        return date, "a date", "dates"
    return dict, "a table", "tables"


def _plain(raw: str) -> str:
    """Turn what msgspec says of a value out of bounds around: the key comes first."""
    return re.sub(r"^(.*) - at '\$\.(.*)'$", r"'\2': \1", raw.replace("`", "'"))
