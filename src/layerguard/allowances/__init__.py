"""The allowance file: which violations are tolerated for now, which of these entries are no longer needed.

The file is TOML with one entry a line, so that a line can be removed and everything around it stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from layerguard.errors import UserError
from layerguard.model import Location, Violation
from layerguard.regex import regex
from layerguard.tables import describe, read_table
from layerguard.toml import parse_toml, read_text

VERSION = 1
_HEADER = regex(r"\s*\[\s*allow\s*\.\s*(?:\"([^\"]*)\"|'([^']*)'|([\w-]+))\s*\]\s*(?:#.*)?")
_KEY = regex(r"[^\s*](?:[^*]*[^\s*])? -> [^\s*()]+(?: \((?:typing|dynamic|string)\))?")
_USUAL = regex(r'"([^"\\\x00-\x1f\x7f]*)" = \{\}')
"""The line of an entry without options, in the form in which `ratchet` writes it."""
_FORM = 'Write it as "importer:scope -> imported" = {}; a mark such as (typing) may follow.'


Lines = dict[tuple[str, str], tuple[int, object]]


class _Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    reason: str = ""
    ticket: str = ""
    review_by: date | None = None


class Entry(msgspec.Struct, frozen=True):
    """One allowance: the contract, the identity of the violation (`Violation.key`), and its line (from 1)."""

    contract: str
    key: str
    line: int
    reason: str = ""
    ticket: str = ""
    review_by: date | None = None

    @property
    def importer(self) -> str:
        """The importer, without its scope."""
        # The path of a text file may hold an arrow, a module's name cannot.
        return self.key.rpartition(" -> ")[0].partition(":")[0]

    @property
    def package(self) -> str:
        """The package that holds what is imported; empty where that is a top-level name."""
        return self.key.rpartition(" -> ")[2].partition(" ")[0].rpartition(".")[0]


class Allowances(msgspec.Struct, frozen=True):
    """The allowance file as it stands. `text` is empty where there is none."""

    path: str
    text: str = ""
    entries: tuple[Entry, ...] = ()


class Judgement(msgspec.Struct, frozen=True):
    """What the allowances say of the violations.

    Each violation is marked; `used` are the entries in use, `stale` those that allow nothing, `unknown` those
    of unknown contracts. `moved` are stale entries, by contract and key, of modules that moved, with
    their new keys: what these name is allowed until the entry is rewritten. `renamed` are likewise those that
    look like the entry of a function that was renamed; they allow nothing.
    """

    violations: tuple[Violation, ...]
    used: tuple[Entry, ...]
    stale: tuple[Entry, ...]
    unknown: tuple[Entry, ...]
    moved: dict[tuple[str, str], str] = {}
    renamed: dict[tuple[str, str], str] = {}


def read_allowances(root: Path, path: str, *, named: bool) -> Allowances:
    """Read the allowance file; one that is missing is empty, unless the configuration names it.

    Raises UserError for anything that is not a whole, valid allowance file: it is never taken for empty.
    """
    if not (root / path).exists() and not (root / path).is_symlink():
        if named:
            raise UserError(
                f"{path}: there is no such file, but 'allowances' in the configuration names it.",
                f"Write it, with the line version = {VERSION}, or take the key out.",
            )
        return Allowances(path)
    text = read_text(root / path, path)
    return parse_allowances(text, path)


def parse_allowances(text: str, path: str) -> Allowances:
    """Read the text of an allowance file; `path` is what messages call it. Raises UserError."""
    values = parse_toml(text, path)
    version = values.get("version")
    if type(version) is not int or version != VERSION:
        said = "has no 'version'" if version is None else f"has the version '{version}'"
        raise UserError(f"{path}: the allowance file {said}.", f"This layerguard reads version = {VERSION}.")
    for key in values:
        if key not in {"version", "allow"}:
            raise UserError(
                f"{path}: unknown key '{key}'.", "An allowance file holds 'version' and [allow.…] tables."
            )
    allow = values.get("allow", {})
    if not isinstance(allow, dict):
        raise UserError(f"{path}: 'allow' must be a table.", "Write [allow.contract-id].")
    lines = _find_lines(text)
    entries = []
    for contract, table in allow.items():
        if not isinstance(table, dict):
            raise UserError(f"{path}: 'allow.{contract}' must be a table.", f"Write [allow.{contract}].")
        entries += [_entry(path, lines, contract, key, value) for key, value in table.items()]
    return Allowances(path, text, tuple(sorted(entries, key=lambda entry: entry.line)))


def _entry(path: str, lines: Lines, contract: str, key: str, value: object) -> Entry:
    line, whole = lines.get((contract, key), (0, None))
    # A line that holds only a part of the entry could not be removed for the whole of it.
    if not line or whole != value:
        raise UserError(
            f"{path}: the allowance '{key}' of '{contract}' does not stand on a line of its own.",
            f"Write it below [allow.{contract}], as one line.",
        )
    is_key = "*" not in key and _KEY.fullmatch(key)
    if is_key and value == {}:
        return Entry(contract, key, line)
    where = f"{path}: line {line}: the allowance '{key}'"
    if "*" in key:
        raise UserError(f"{where} holds a wildcard; an allowance names one import.", _FORM)
    if not is_key:
        raise UserError(f"{path}: line {line}: '{key}' is no allowance.", _FORM)
    if not isinstance(value, dict):
        raise UserError(f"{where} must be a table, not {describe(value)}.", f'Write "{key}" = {{}}.')
    options = read_table(value, _Options, where)
    return Entry(contract, key, line, options.reason, options.ticket, options.review_by)


def _find_lines(text: str) -> Lines:
    """Return the line of each entry and the value that it has there, by contract and key."""
    lines: Lines = {}
    contract = ""
    for number, line in enumerate(split_lines(text), 1):
        content = line.strip()
        if content.startswith("["):
            contract = contract_of(content)
        elif contract and content[:1] in {'"', "'"}:
            usual = _USUAL.fullmatch(content)
            if usual:
                lines.setdefault((contract, usual[1]), (number, {}))
                continue
            try:
                values: dict[str, Any] = parse_toml(content, "")
            except UserError:
                continue
            for key, value in values.items():
                lines.setdefault((contract, key), (number, value))
    return lines


def split_lines(text: str) -> list[str]:
    """Return the lines with their ends, as TOML counts them: no other character ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def contract_of(line: str) -> str:
    """Return the contract whose table a line begins; empty for any other line."""
    header = _HEADER.fullmatch(line.strip())
    return next((part for part in header.groups() if part), "") if header else ""


def judge(
    violations: Iterable[Violation],
    allowances: Allowances,
    *,
    known: Collection[str],
    frozen: Collection[str],
    judged: Collection[Entry],
) -> Judgement:
    """Mark the violations that an entry allows, and find the entries that allow nothing.

    `known` are the ids of all contracts, `frozen` of those that take no entry. Only entries in `judged` may
    be called stale: the others speak of what was not looked at.
    """
    entries = {
        (entry.contract, entry.key): entry for entry in allowances.entries if entry.contract not in frozen
    }
    used: dict[tuple[str, str], Entry] = {}
    marked = []
    for violation in violations:
        identity = (violation.contract, violation.key)
        entry = entries.get(identity) if violation.key else None
        if entry:
            used[identity] = entry
            marked.append(msgspec.structs.replace(violation, allowed=True))
        else:
            marked.append(violation)
    idle = [entry for entry in allowances.entries if (entry.contract, entry.key) not in used]
    return Judgement(
        tuple(marked),
        tuple(used.values()),
        tuple(entry for entry in idle if entry.contract in known and entry in judged),
        tuple(entry for entry in idle if entry.contract not in known),
    )


def complaints(judgement: Judgement, path: str, frozen: Collection[str]) -> list[Violation]:
    """Return LG201 for each stale entry and LG203 for each one of an unknown contract."""
    found = []
    for entry in judgement.stale:
        identity = (entry.contract, entry.key)
        message = f"the allowance '{entry.key}' is no longer needed"
        hint = "Run `layerguard ratchet`, which removes it."
        if entry.contract in frozen:
            message = f"the contract is frozen, so the allowance '{entry.key}' allows nothing"
        elif identity in judgement.moved:
            message = (
                f"the allowance '{entry.key}' is of a module that moved: now '{judgement.moved[identity]}'"
            )
            hint = "Run `layerguard ratchet`, which rewrites it."
        elif identity in judgement.renamed:
            new = judgement.renamed[identity]
            message = f"the allowance '{entry.key}' is no longer needed; it looks like that of '{new}'"
            hint = "Run `layerguard ratchet`, which rewrites it."
        found.append(complaint("LG201", message, path, entry, hint))
    for entry in judgement.unknown:
        message = f"the allowance '{entry.key}' is of contract '{entry.contract}', which does not exist"
        hint = "Mend the contract's id, or run `layerguard ratchet`, which removes the allowance."
        found.append(complaint("LG203", message, path, entry, hint))
    return found


def complaint(code: str, message: str, path: str, entry: Entry, hint: str) -> Violation:
    """Tell of an entry of the allowance file, at its line."""
    place = Location(path, entry.line, 1, entry.line, 1)
    return Violation(code, message, place, contract=entry.contract, hint=hint)
