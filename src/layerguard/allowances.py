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
from layerguard.toml import parse_toml, read_text

VERSION = 1
_HEADER = re.compile(r"\s*\[\s*allow\s*\.\s*(?:\"([^\"]*)\"|'([^']*)'|([\w-]+))\s*\]\s*(?:#.*)?")
_KEY = re.compile(r"[^\s*](?:[^*]*[^\s*])? -> [^\s*()]+(?: \((?:typing|dynamic|string)\))?")
_FORM = 'Write it as "importer:scope -> imported" = {}; a mark such as (typing) may follow.'


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
        return self.key.split(" -> ")[0].partition(":")[0]


class Allowances(msgspec.Struct, frozen=True):
    """The allowance file as it stands. `text` is empty where there is none."""

    path: str
    text: str = ""
    entries: tuple[Entry, ...] = ()


class Judgement(msgspec.Struct, frozen=True):
    """What the allowances say of the violations: each one marked, the stale entries, those in use."""

    violations: tuple[Violation, ...]
    used: tuple[Entry, ...]
    stale: tuple[Entry, ...]
    unknown: tuple[Entry, ...]


def read_allowances(root: Path, path: str, *, named: bool) -> Allowances:
    """Read the allowance file; one that is missing is empty, unless the configuration names it.

    Raises UserError for anything that is not a whole, valid allowance file: it is never taken for empty.
    """
    if not named and not (root / path).exists() and not (root / path).is_symlink():
        return Allowances(path)
    text = read_text(root / path, path)
    return parse_allowances(text, path)


def parse_allowances(text: str, path: str) -> Allowances:
    """Read the text of an allowance file; `path` is what messages call it. Raises UserError."""
    values = parse_toml(text, path)
    version = values.get("version")
    if version != VERSION or isinstance(version, bool):
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


def _entry(path: str, lines: dict[tuple[str, str], int], contract: str, key: str, value: object) -> Entry:
    line = lines.get((contract, key))
    if line is None:
        raise UserError(
            f"{path}: the allowance '{key}' of '{contract}' does not stand on a line of its own.",
            f"Write it below [allow.{contract}], as one line.",
        )
    where = f"{path}: line {line}: the allowance '{key}'"
    if "*" in key:
        raise UserError(f"{where} holds a wildcard; an allowance names one import.", _FORM)
    if not _KEY.fullmatch(key):
        raise UserError(f"{where} is none.", _FORM)
    try:
        options = msgspec.convert(value, _Options)
    except msgspec.ValidationError as error:
        raise UserError(
            f"{where}: {str(error).replace('`', chr(39))}.",
            "Its table may hold 'reason', 'ticket' (texts) and 'review-by' (a date).",
        ) from None
    return Entry(contract, key, line, options.reason, options.ticket, options.review_by)


def _find_lines(text: str) -> dict[tuple[str, str], int]:
    """Return the line of each entry, by contract and key."""
    lines: dict[tuple[str, str], int] = {}
    contract = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("["):
            header = _HEADER.fullmatch(line.rstrip("\r"))
            contract = _contract(header) if header else ""
        elif contract and line.lstrip()[:1] in {'"', "'"}:
            try:
                values: dict[str, Any] = parse_toml(line, "")
            except UserError:
                continue
            for key in values:
                lines.setdefault((contract, key), number)
    return lines


def _contract(header: re.Match[str]) -> str:
    return next((part for part in header.groups() if part), "")


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
        message = f"the allowance '{entry.key}' is no longer needed"
        if entry.contract in frozen:
            message = f"the contract is frozen, so the allowance '{entry.key}' allows nothing"
        found.append(_complaint("LG201", message, path, entry, "Run `layerguard ratchet`, which removes it."))
    for entry in judgement.unknown:
        message = f"the allowance '{entry.key}' is of contract '{entry.contract}', which there is not"
        hint = "Mend the contract's id, or run `layerguard ratchet`, which removes the allowance."
        found.append(_complaint("LG203", message, path, entry, hint))
    return found


def _complaint(code: str, message: str, path: str, entry: Entry, hint: str) -> Violation:
    place = Location(path, entry.line, 1, entry.line, 1)
    return Violation(code, message, place, contract=entry.contract, hint=hint)


def remove_entries(allowances: Allowances, entries: Collection[Entry]) -> str:
    """Return the file's text without the lines of these entries, and without tables that this leaves empty.

    Every other line stays as it is: comments, reasons, order.
    """
    gone = {entry.line for entry in entries}
    emptied = {entry.contract for entry in entries} - {
        entry.contract for entry in allowances.entries if entry.line not in gone
    }
    lines = allowances.text.splitlines(keepends=True)
    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        if number in gone:
            continue
        header = _HEADER.fullmatch(line.rstrip("\r\n"))
        if (
            header
            and next((part for part in header.groups() if part), "") in emptied
            and _is_bare(lines, number, gone)
        ):
            while kept and not kept[-1].strip():
                kept.pop()
            continue
        kept.append(line)
    return "".join(kept)


def _is_bare(lines: list[str], header: int, gone: Collection[int]) -> bool:
    """Tell whether nothing stays below a table's header (a line from 1) but blank lines."""
    for number, line in enumerate(lines[header:], header + 1):
        if line.lstrip().startswith("["):
            return True
        if line.strip() and number not in gone:
            return False
    return True
