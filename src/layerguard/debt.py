"""Tells how much is tolerated: how many allowances there are, whose, since when, and how that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from layerguard import git
from layerguard.allowances import Allowances, Entry, parse_allowances, read_allowances
from layerguard.config import Config, load_config
from layerguard.errors import UserError
from layerguard.merging import locate
from layerguard.owners import Owners, find_owners
from layerguard.reporters.base import count, dump_json, plain
from layerguard.sources import read_tree

VERSION = 1
_OLDEST = 10
_WIDEST_BAR = 40
_LATEST = 253402300799  # the last second of the year 9999
_PARTS = " ▏▎▍▌▋▊▉"
_NOBODY = "no owner"


class Item(msgspec.Struct, frozen=True):
    """An allowance: the file of its importer ("" where there is none), that file's owners, and its age.

    `since` is when its line was written as it is, `commit` by which commit; both empty when that is unknown.
    """

    entry: Entry
    file: str
    owners: tuple[str, ...]
    since: str = ""
    commit: str = ""


class Change(msgspec.Struct, frozen=True):
    """A commit that changed the allowance file, and how many entries there were then; None: not readable."""

    commit: str
    date: str
    allowances: int | None


class Debt(msgspec.Struct, frozen=True):
    """All that `layerguard debt` tells. Times are those of the commits, in UTC, as ISO 8601 has them.

    `contracts` are the ids of the configuration, and then those that only the allowance file has; `owners` is
    the path of the CODEOWNERS file; `history` has the newest commit last.
    """

    path: str
    contracts: tuple[str, ...]
    items: tuple[Item, ...]
    owners: str
    history: tuple[Change, ...]
    notes: tuple[str, ...]


def measure(root: Path | str = ".", *, last: int = 20) -> Debt:
    """Return the debt of the project that holds `root`, with the last `last` commits that changed it.

    Raises UserError when the configuration, the allowance file or the checkout cannot be read.
    """
    config = load_config(Path(root))
    allowances = read_allowances(config.root, config.allowances, named=config.allowances_named)
    top, way = git.find_top(config.root)
    owners = find_owners(Path(top))
    folder, name = locate(config.root, config.allowances)
    written = _written(folder, name, config.allowances)
    files = _files(config, allowances)
    items = []
    for entry in allowances.entries:
        file = files.get(entry.importer, "")
        since, commit = written.get((entry.contract, entry.key), ("", ""))
        items.append(Item(entry, file, owners.of(way + file) if owners and file else (), since, commit))
    ids = dict.fromkeys(contract.id for contract in config.contracts)
    return Debt(
        path=config.allowances,
        contracts=tuple(ids | dict.fromkeys(entry.contract for entry in allowances.entries)),
        items=tuple(items),
        owners=owners.path if owners else "",
        history=tuple(_history(folder, name, config.allowances, last)),
        notes=tuple(_notes(config, allowances, owners)),
    )


def _files(config: Config, allowances: Allowances) -> dict[str, str]:
    """Return the file of each importer that exists. A text file is its own importer."""
    if not allowances.entries:
        return {}
    tree = read_tree(config.root, config.source_roots, config.exclude, config.path)
    modules = {name: module.path for name, module in tree.modules.items() if module.has_file}
    return {path: path for path in tree.files} | modules


def _written(folder: Path, name: str, path: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Return when the line of each entry was written, and by which commit; as of `HEAD`."""
    lines = git.list_lines(folder, name) if git.is_checkout(folder) else []
    try:
        text = b"\n".join(line for _, _, line in lines).decode("utf-8")
        entries = parse_allowances(text, path).entries if lines else ()
    except (UnicodeDecodeError, UserError):  # the file that counts is that of the work tree
        return {}
    return {
        (entry.contract, entry.key): (_iso(lines[entry.line - 1][1]), lines[entry.line - 1][0])
        for entry in entries
    }


def _history(folder: Path, name: str, path: str, last: int) -> Iterator[Change]:
    versions = git.list_versions(folder, name, last) if git.is_checkout(folder) else []
    blobs = git.read_blobs(folder, {blob for _, _, blob in versions if blob})
    for commit, seconds, blob in reversed(versions):
        number: int | None = 0
        if blob:
            try:
                number = len(parse_allowances(blobs[blob].decode("utf-8"), path).entries)
            except (UnicodeDecodeError, UserError):
                number = None
        yield Change(commit, _iso(seconds), number)


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(min(max(seconds, 0), _LATEST), UTC).isoformat()


def _notes(config: Config, allowances: Allowances, owners: Owners | None) -> Iterator[str]:
    path = config.allowances
    folder, name = locate(config.root, path)
    if not allowances.text:
        yield f"there is no '{path}', so nothing is allowed."
    if git.is_missing(config.root):
        yield "git is not installed: nothing is known of the past."
    elif not git.is_checkout(folder):
        yield "this is no git checkout: nothing is known of the past."
    elif git.is_shallow(folder):
        yield "the checkout has only a part of its history: dates and numbers from before are not known."
    if git.is_checkout(folder) and allowances.text and not git.list_lines(folder, name):
        yield f"'{path}' is not committed yet: nothing is known of its past."
    if allowances.entries and not owners:
        yield "there is no CODEOWNERS file, so nobody owns an allowance."


def to_text(debt: Debt, width: int = 80) -> str:
    """Return the debt in words and bars, which `width` bounds; it has no colours."""
    return "\n".join(plain(line).rstrip() for line in _lines(debt, width)) + "\n"


def _lines(debt: Debt, width: int) -> Iterator[str]:
    yield f"{count(len(debt.items), 'allowance')} in {debt.path}"
    if debt.items:
        yield from ("", *_table(debt), "", "The oldest:", *_oldest(debt.items))
    if debt.history:
        number = len(debt.history)
        commits = "commit" if number == 1 else f"{number} commits"
        yield from ("", f"After the last {commits} that changed the file:", *_bars(debt.history, width))


def _table(debt: Debt) -> Iterator[str]:
    """Yield a row for each contract that has allowances: number, date of the oldest, owners."""
    rows = [("allowances", "oldest", "contract", "owners")]
    for contract in debt.contracts:
        items = _of(debt, contract)
        if items:
            owned = ", ".join(f"{owner or _NOBODY} {number}" for owner, number in _owned(items))
            rows.append((str(len(items)), _oldest_date(items)[:10] or "-", contract, owned))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for number, date, contract, owned in rows:
        yield f"  {number:>{widths[0]}}  {date:<{widths[1]}}  {contract:<{widths[2]}}  {owned}"


def _oldest(items: Iterable[Item]) -> Iterator[str]:
    dated = sorted(items, key=lambda item: (item.since or "~", item.entry.line))
    for item in dated[:_OLDEST]:
        owned = ", ".join(item.owners) or _NOBODY
        yield f"  {item.since[:10] or '-':<10}  {item.entry.key}  [{item.entry.contract}]  {owned}"


def _bars(history: tuple[Change, ...], width: int) -> Iterator[str]:
    highest = max((change.allowances or 0 for change in history), default=0)
    digits = len(str(highest))
    room = max(min(width - digits - 25, _WIDEST_BAR), 1)
    for change in history:
        eighths = (change.allowances or 0) * room * 8 // max(highest, 1)
        if change.allowances:
            eighths = max(eighths, 1)
        bar = "█" * (eighths // 8) + _PARTS[eighths % 8].strip()
        number = "?" if change.allowances is None else str(change.allowances)
        yield f"  {change.date[:10]}  {change.commit[:7]}  {number:>{digits}}  {bar}"


def _of(debt: Debt, contract: str) -> list[Item]:
    return [item for item in debt.items if item.entry.contract == contract]


def _owned(items: Iterable[Item]) -> list[tuple[str, int]]:
    """Return the owners with the number of allowances of each, most first; "" is nobody, and last."""
    counted = Counter(owner for item in items for owner in (item.owners or ("",)))
    return sorted(counted.items(), key=lambda pair: (not pair[0], -pair[1], pair[0]))


def _oldest_date(items: Iterable[Item]) -> str:
    return min((item.since for item in items if item.since), default="")


def to_json(debt: Debt) -> str:
    """Return the debt as one JSON object, version 1; `schemas/debt.schema.json` is its JSON Schema."""
    return dump_json(
        {
            "version": VERSION,
            "path": debt.path,
            "allowances": len(debt.items),
            "contracts": [
                {
                    "id": contract,
                    "allowances": len(items),
                    "oldest": _oldest_date(items) or None,
                    "owners": [
                        {"owner": owner or None, "allowances": number} for owner, number in _owned(items)
                    ],
                }
                for contract in debt.contracts
                for items in [_of(debt, contract)]
            ],
            "entries": [_entry(item) for item in debt.items],
            "codeowners": debt.owners or None,
            "history": [asdict(change) for change in debt.history],
            "notes": list(debt.notes),
        }
    )


def _entry(item: Item) -> dict[str, object]:
    entry = item.entry
    return {
        "contract": entry.contract,
        "key": entry.key,
        "line": entry.line,
        "file": item.file or None,
        "owners": list(item.owners),
        "since": item.since or None,
        "commit": item.commit or None,
        "reason": entry.reason or None,
        "ticket": entry.ticket or None,
        "review_by": entry.review_by.isoformat() if entry.review_by else None,
    }
