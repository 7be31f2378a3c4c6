"""What was the outcome of a run, and what it depends on: the entry of the cache that makes a run needless.

An entry holds all that a check has read, as names with the numbers that the system keeps of them
(see `snapshots`). Where none has changed, the outcome is the same; where only sources have, it may be the
same still (see `standing`). Loaded by every command before anything else, so that it imports nothing that
takes time.
"""

from __future__ import annotations

import os
import sys
import time
from binascii import crc32

from layerguard import __version__
from layerguard.snapshots import SEAL, bytes_of, joined, numbers_of, pack, text_of, texts_of, unpack
from layerguard.surroundings import find_git, git_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from layerguard.snapshots import Buffer

FOLDER = ".layerguard_cache"
"""The folder of the cache, in the project root."""
VARIABLE = "LAYERGUARD_CACHE_DIR"
_KIND = f"verdict {__version__} {sys.version} {__file__}".replace("\n", " ")
_PARTS = (
    *("key", "facts", "asked", "paths", "numbers", "digests", "flags", "alike", "indexes"),
    *("ways", "tops", "stores", "recent"),
    *("notes", "marks", "form", "text", "report", "seal"),
)
ANY = "*"
"""Among the first components of names: a name may have any."""
YOUNG, LINKED, OPENED = 1, 2, 4
"""Flags of a source: it may change while its numbers stay, since it was just written; the same, since it is
behind a link; what stands in it beyond its outline (see `Resolver.outline`) was looked at."""


class Verdict:
    """The outcome of a run: notes for standard error, the report as text in one format, and as msgpack."""

    def __init__(
        self, notes: Sequence[str], marks: Iterable[str], form: str, text: str, report: bytes
    ) -> None:
        """Keep it.

        `marks` are `failed` and `weakened`, as far as the report says so; `form` is the format of the text.
        """
        self.notes = list(notes)
        self.marks = set(marks)
        self.form = form
        self.text = text
        self.report = report

    def fails(self, flags: Collection[str]) -> bool:
        """Tell whether a run with these flags fails."""
        if "exit_zero" in flags:
            return False
        return "failed" in self.marks or ("weakened" in self.marks and "strict_contracts" in flags)


class Basis:
    """What an outcome depends on.

    `paths` are absolute, with their `numbers`, those of the sources first. `digests` has the digest of each
    source (zeros where it is not known), `flags` what is to be known of it besides, a byte each: see `YOUNG`,
    `LINKED` and `OPENED`. `variables` are those of the environment that were asked for, with the answers;
    with a `day` the outcome may be another on any other one.

    `marks` tell of each of the other paths whether it is alike, though its numbers are not (see `likeness`),
    and `indexes` are those of git among them, with the folders that they are asked for.

    `ways` are those to name a module that count, `tops` the first components of all names that the check may
    look at. `stores` has the names and the kinds of the two files of the cache where the outlines and the
    findings are; `recent` has findings that are not there (see `standing.bytes_of_recent`).
    """

    def __init__(
        self,
        paths: Sequence[str],
        numbers: Sequence[int],
        digests: bytes,
        flags: bytes,
        variables: Mapping[str, str | None],
        *,
        marks: bytes,
        indexes: Mapping[str, str],
        day: str,
        ways: Iterable[str],
        tops: Iterable[str],
        stores: Sequence[str],
        recent: bytes,
    ) -> None:
        """Keep it."""
        self.paths = paths
        self.numbers = numbers
        self.digests = digests
        self.flags = flags
        self.variables = variables
        self.marks = marks
        self.indexes = indexes
        self.day = day
        self.ways = sorted(ways)
        self.tops = sorted(tops)
        self.stores = stores
        self.recent = recent


def key_of(
    folder: str,
    paths: Sequence[str],
    contracts: Sequence[str],
    base: str | None,
    show_allowed: bool,  # noqa: FBT001 - one of several things that a run asks for
) -> str:
    """Return what tells runs apart: the current folder and what is asked for."""
    last = ["" if base is None else f"={base}", "all" if show_allowed else ""]
    return "\0".join([folder, *paths, "", *contracts, "", *last])


def place_of(cache: str, key: str) -> str:
    """Return where the entry of a key is."""
    return f"{cache}{os.sep}verdict-{crc32(key.encode('utf-8', 'surrogateescape')):08x}"


def seal_of(cache: str) -> bytes:
    """Return what no commit and no copy can bring along: the numbers of a file that the cache has written.

    Empty where there is none.
    """
    numbers = numbers_of([f"{cache}{os.sep}{SEAL}"])
    return bytes_of(numbers) if numbers[0] >= 0 else b""


def to_bytes(key: str, seal: bytes, basis: Basis, verdict: Verdict) -> bytes:
    """Return an entry as it is kept."""
    environment = os.environ
    facts = [find_git(environment), _user(), basis.day]
    facts += [f"{name}={value}" for name, value in sorted(git_variables(environment).items())]
    asked = [name if value is None else f"{name}={value}" for name, value in sorted(basis.variables.items())]
    parts = {
        "key": key.encode("utf-8", "surrogateescape"),
        "facts": joined(facts),
        "asked": joined(asked),
        "paths": joined(basis.paths),
        "numbers": bytes_of(basis.numbers),
        "digests": basis.digests,
        "flags": basis.flags,
        "alike": basis.marks,
        "indexes": joined([text for pair in sorted(basis.indexes.items()) for text in pair]),
        "ways": joined(basis.ways),
        "tops": joined(basis.tops),
        "stores": joined(basis.stores),
        "recent": basis.recent,
        "seal": seal,
        **parts_of(verdict),
    }
    return packed(parts)


def parts_of(verdict: Verdict) -> dict[str, bytes]:
    """Return the parts of an entry that are the outcome itself."""
    return {
        "notes": joined(verdict.notes),
        "marks": joined(sorted(verdict.marks)),
        "form": verdict.form.encode(),
        "text": verdict.text.encode("utf-8", "surrogatepass"),
        "report": verdict.report,
    }


def packed(parts: Mapping[str, Buffer]) -> bytes:
    """Return the bytes of an entry that has these parts."""
    return pack(_KIND, [parts[name] for name in _PARTS])


def find_entry(data: bytes, key: str, seal: bytes) -> dict[str, memoryview] | None:
    """Return the parts of an entry, where it is that of the key, and all but the files is as it was.

    `seal` is that of the cache that holds the entry. Raises ValueError for an entry that is damaged.
    """
    parts = unpack(data, _KIND)
    if parts is None:
        return None
    entry = dict(zip(_PARTS, parts, strict=True))
    if text_of(entry["key"]) != key or not seal or entry["seal"] != seal or not _holds(entry):
        return None
    return entry


def verdict_of(entry: Mapping[str, memoryview]) -> Verdict:
    """Return the outcome that an entry holds."""
    text = str(entry["text"], "utf-8", "surrogatepass")
    form, report = text_of(entry["form"]), bytes(entry["report"])
    return Verdict(texts_of(entry["notes"]), texts_of(entry["marks"]), form, text, report)


def _holds(entry: Mapping[str, memoryview]) -> bool:
    """Tell whether the environment is the same, as far as it matters, and the day."""
    environment = os.environ
    git, user, day, *same = texts_of(entry["facts"])
    now = [f"{name}={value}" for name, value in sorted(git_variables(environment).items())]
    if now != same or git != find_git(environment) or user != _user() or day not in {"", today()}:
        return False
    for each in texts_of(entry["asked"]):
        name, equals, value = each.partition("=")
        if environment.get(name) != (value if equals else None):
            return False
    return True


def _user() -> str:
    return str(os.geteuid()) if hasattr(os, "geteuid") else ""


def today() -> str:
    """Return the date, in UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())
