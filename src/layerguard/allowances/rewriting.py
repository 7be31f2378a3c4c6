"""Changes the lines of the allowance file; what is not meant stays as it is: comments, reasons, order."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from layerguard.allowances import VERSION, Allowances, Entry, contract_of, split_lines
from layerguard.regex import regex

INTRODUCTION = (
    "# Tolerated for now. `layerguard ratchet` removes lines; none is ever added to an existing contract."
)
_KEY_TOKEN = regex(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")


def add_entries(allowances: Allowances, contract: str, keys: Collection[str]) -> str:
    """Return the file's text with entries for a contract in its table, made where needed; both sorted."""
    end = "\r\n" if "\r\n" in allowances.text else "\n"
    new = {key: f"{_quoted(key)} = {{}}{end}" for key in sorted(keys)}
    lines = split_lines(allowances.text or f"{INTRODUCTION}\nversion = {VERSION}\n")
    if not lines[-1].endswith("\n"):
        lines[-1] += end
    tables = {contract_of(line): number for number, line in enumerate(lines) if contract_of(line)}
    if contract in tables:
        places = {entry.key: entry.line - 1 for entry in allowances.entries if entry.contract == contract}
        last = max(places.values(), default=tables[contract]) + 1
        for key in reversed(new):
            following = [line for other, line in places.items() if other > key]
            lines.insert(min(following, default=last), new[key])
        return "".join(lines)
    following = [number for name, number in tables.items() if name > contract]
    if not following:
        return "".join([*lines, end, f"[allow.{contract}]{end}", *new.values()])
    before = min(following)
    while lines[before - 1].lstrip().startswith("#"):  # the comment of the table that follows
        before -= 1
    return "".join([*lines[:before], f"[allow.{contract}]{end}", *new.values(), end, *lines[before:]])


def _quoted(key: str) -> str:
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


def rewrite(
    allowances: Allowances, entries: Collection[Entry], renamed: Mapping[tuple[str, str], str] | None = None
) -> str:
    """Return the file's text without the lines of these entries, and without tables that this leaves empty.

    `renamed` gives new keys to entries, by contract and key. Everything else stays as it is: comments,
    reasons, order.
    """
    renamed = renamed or {}
    keys = {
        entry.line: renamed[entry.contract, entry.key]
        for entry in allowances.entries
        if (entry.contract, entry.key) in renamed
    }
    gone = {entry.line for entry in entries}
    emptied = {entry.contract for entry in entries} - {
        entry.contract for entry in allowances.entries if entry.line not in gone
    }
    lines = split_lines(allowances.text)
    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        if number in gone:
            continue
        if contract_of(line) in emptied and _is_bare(lines, number, gone):
            while kept and not kept[-1].strip():
                kept.pop()
            continue
        # Whatever way the old key is written in, with escapes for instance, the new one takes its place.
        new = keys.get(number)
        token = _KEY_TOKEN.search(line) if new is not None else None
        kept.append(f"{line[: token.start()]}{_quoted(new)}{line[token.end() :]}" if token and new else line)
    return "".join(kept)


def _is_bare(lines: list[str], header: int, gone: Collection[int]) -> bool:
    """Tell whether nothing stays below a table's header (a line from 1) but blank lines."""
    for number, line in enumerate(lines[header:], header + 1):
        if line.lstrip().startswith("["):
            return True
        if line.strip() and number not in gone:
            return False
    return True
