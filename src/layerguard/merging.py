"""Merges allowance files as what they are: sets of entries. For git's merge driver, and for a conflict."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import msgspec

from layerguard import git
from layerguard.allowances import Allowances, Entry, parse_allowances
from layerguard.allowances.rewriting import rewrite
from layerguard.config import load_config
from layerguard.errors import UserError
from layerguard.files import write_text
from layerguard.regex import regex
from layerguard.toml import parse_toml, read_text

_MARKER = regex(r"^(?:<{7,}|={7,}|>{7,}|\|{7,})(?: .*)?(?:\n|\Z)", re.MULTILINE)
_BASE, _OURS, _THEIRS = 1, 2, 3

Identity = tuple[str, str]


class Resolved(msgspec.Struct, frozen=True):
    """A conflict that is mended: how many entries stay, and how many of the common ancestor's go."""

    path: str
    kept: int
    removed: int
    notes: tuple[str, ...] = ()
    changed: bool = True

    def __str__(self) -> str:
        """Tell what was done, in one line."""
        return f"resolved: kept {self.kept}, removed {self.removed}"


def merge(base: str, ours: str, theirs: str, path: str) -> str:
    """Return the allowance file that two sides make of a common one; `path` is what messages call it.

    An entry stays if both sides have it, or if one side has it and `base` has not: what either side removed
    is gone. What one side alone changed of an entry (reason, ticket, date) is taken; of two changes the one
    with the earlier `review-by`, else ours. The text is that of `ours`, with its comments, order and line
    ends; entries and tables of `theirs` are put in where they belong by name.

    An empty `base` has no entries. Raises UserError when a text is no allowance file.
    """
    old = _ancestor(base, path)
    mine, other = _by_identity(ours, f"{path} (ours)"), _by_identity(theirs, f"{path} (theirs)")
    gone = [entry for identity, entry in mine.items() if identity in old and identity not in other]
    text = rewrite(Allowances(path, ours, tuple(mine.values())), gone)
    lines = _split(text)
    foreign = _split(theirs)
    for identity, entry in _by_identity(text, path).items():
        if identity in other and _theirs_wins(old.get(identity), entry, other[identity]):
            line = lines[entry.line - 1]
            before, after = line[: len(line) - len(line.lstrip())], line[len(line.rstrip("\r\n")) :]
            lines[entry.line - 1] = before + foreign[other[identity].line - 1].strip() + after
    added = [entry for identity, entry in other.items() if identity not in old and identity not in mine]
    if added:
        lines = _with_entries(lines, added, foreign, path)
    merged = "".join(lines)
    parse_allowances(merged, path)  # a table that is written in an odd way may be there twice now
    return merged


def merge_files(base: Path, ours: Path, theirs: Path) -> None:
    """Merge three files as git's merge driver is asked to, and write the result to `ours`.

    Raises UserError when one is no allowance file; `ours` is then as it was.
    """
    name = "the allowance file"
    sides = {"base": base, "ours": ours, "theirs": theirs}
    texts = {side: read_text(file, f"{name} ({side})") for side, file in sides.items()}
    write_text(ours, merge(texts["base"], texts["ours"], texts["theirs"], name))


def resolve_conflict(root: Path | str = ".", *, write: bool = True) -> Resolved:
    """Mend the merge conflict in the allowance file, from the three versions in git's index.

    The file is written (not with `write=False`), the index stays as it is. Raises UserError when the file is
    in no conflict, or in one that is not about its entries.
    """
    config = load_config(Path(root))
    path = config.allowances
    folder, name = locate(config.root, path)
    git.find_commit(folder, "HEAD")  # tells of a checkout that git refuses to read
    stages = git.list_stages(folder, name) if git.is_checkout(folder) else {}
    if not stages:
        raise UserError(
            f"{path}: git knows of no merge conflict in this file.", "There is nothing to resolve."
        )
    if len(stages) == 1:
        raise UserError(
            f"{path}: the merge conflict is about the file's name: git has one version of it here.",
            "Give the file one name, and `git add` it.",
        )
    blobs = git.read_blobs(folder, set(stages.values()))
    texts = {stage: _decode(blobs[blob], path) for stage, blob in stages.items()}
    base, ours, theirs = (texts.get(stage, "") for stage in (_BASE, _OURS, _THEIRS))
    if _OURS not in stages or _THEIRS not in stages:
        # One side deleted the file, and so all that was in it; the layout is that of the side that has it.
        ours, theirs = ours or theirs, "version = 1\n"
    merged = merge(base, ours, theirs, path)
    if write:
        write_text(config.root / path, merged)
    before, after = set(_ancestor(base, path)), set(_by_identity(merged, path))
    new = len(after - before)
    notes = [f"{new} of them {'is' if new == 1 else 'are'} not in the common ancestor's file."] if new else []
    if write:
        notes.append(f"it is not staged: look at it, then `git add {path}`.")
    return Resolved(path, len(after), len(before - after), tuple(notes))


def locate(root: Path, path: str) -> tuple[Path, str]:
    """Return the folder in which git is to be asked about a file, and its name there.

    That is its own folder, which may be a submodule's or behind a link; `root` when there is no such folder.
    """
    file = root / path
    return (file.parent, file.name) if file.parent.is_dir() else (root, path)


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: a version of the file in git's index is not UTF-8.") from error


def _ancestor(text: str, path: str) -> dict[Identity, Entry]:
    # Where two branches have several common ancestors, git merges these first and leaves the markers of that
    # conflict in the text. All that stands between them was there once.
    text = _MARKER.sub("", text.replace("\r\n", "\n"))
    return _by_identity(text, f"{path} (base)") if text.strip() else {}


def _by_identity(text: str, path: str) -> dict[Identity, Entry]:
    return {(entry.contract, entry.key): entry for entry in parse_allowances(text, path).entries}


def _split(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _theirs_wins(base: Entry | None, ours: Entry, theirs: Entry) -> bool:
    before, mine, other = (_metadata(base) if base else ("", "", None)), _metadata(ours), _metadata(theirs)
    if other in {before, mine}:
        return False
    return mine == before or (theirs.review_by or date.max) < (ours.review_by or date.max)


def _metadata(entry: Entry) -> tuple[str, str, date | None]:
    return entry.reason, entry.ticket, entry.review_by


def _with_entries(lines: list[str], added: Iterable[Entry], foreign: list[str], path: str) -> list[str]:
    """Put entries of the other file (with the lines `foreign`) in among these lines, sorted by name."""
    end = "\r\n" if lines[0].endswith("\r\n") else "\n"
    headers, titles = _headers(lines), _headers(foreign)
    present = parse_allowances("".join(lines), path).entries
    # Both by the number of lines that stand before them.
    rows: dict[int, list[str]] = {}
    tables: dict[int, dict[str, list[str]]] = {}
    for entry in sorted(added, key=lambda entry: (entry.contract, entry.key)):
        text = foreign[entry.line - 1].strip() + end
        if entry.contract in headers:
            place = _place_of_row(present, headers[entry.contract], entry)
            rows.setdefault(place, []).append(text)
        else:
            place = _place_of_table(lines, headers, entry.contract)
            title = foreign[titles[entry.contract] - 1].strip() + end
            tables.setdefault(place, {}).setdefault(title, []).append(text)
    result: list[str] = []
    for number in range(len(lines) + 1):
        if result and (number in rows or number in tables) and not result[-1].endswith("\n"):
            result[-1] += end
        result += rows.get(number, ())
        for title, texts in tables.get(number, {}).items():
            result += [end] * bool(result and result[-1].strip()) + [title, *texts]
        following = lines[number : number + 1]
        result += [end] * (number in tables and bool("".join(following).strip())) + following
    return result


def _place_of_row(present: Iterable[Entry], header: int, entry: Entry) -> int:
    """Return how many lines stand before a new entry: up to the last one before the first greater one."""
    place = header
    for neighbour in present:
        if neighbour.contract == entry.contract:
            if neighbour.key > entry.key:
                break
            place = neighbour.line
    return place


def _headers(lines: list[str]) -> dict[str, int]:
    """Return the line (from 1) at which each contract's table begins."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("["):
            table = parse_toml(line.strip(), "").get("allow")
            found |= dict.fromkeys(table if isinstance(table, dict) else (), number)
    return found


def _place_of_table(lines: list[str], headers: dict[str, int], contract: str) -> int:
    """Return how many lines stand before a new table: up to the first one of a greater name, or all."""
    place = min((number for name, number in headers.items() if name > contract), default=0) - 1
    if place < 0:
        return len(lines)
    while place and lines[place - 1].lstrip().startswith("#"):  # the comment of the table that follows
        place -= 1
    return place
