"""What was the outcome of a run, and what it depends on: the entry of the cache that makes a run needless.

An entry holds all that a check has read, as names with the numbers that the system keeps of them
(see `snapshots`). Where none has changed, the outcome is the same. Loaded by every command before anything
else, so that it imports nothing that takes time.
"""

from __future__ import annotations

import os
import sys
import time
from binascii import crc32

from layerguard import __version__
from layerguard.snapshots import (
    SEAL,
    Glance,
    are_same,
    bytes_of,
    joined,
    numbers_of,
    pack,
    text_of,
    texts_of,
    unpack,
)
from layerguard.surroundings import find_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

FOLDER = ".layerguard_cache"
"""The folder of the cache, in the project root."""
VARIABLE = "LAYERGUARD_CACHE_DIR"
_KIND = f"verdict {__version__} {sys.version} {__file__}".replace("\n", " ")
_KEPT_SAME = ("GIT_", "HOME", "XDG_CONFIG_HOME", "USERPROFILE")
"""The variables by which git finds its configuration, or what they begin with."""


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

    `paths` are absolute, with their `numbers`; `digests` are those of files, by path, that have to be read to
    know whether they are the same. `variables` are those of the environment that were asked for, with the
    answers; with a `day` the outcome may be another on any other one.
    """

    def __init__(
        self,
        paths: Sequence[str],
        numbers: Sequence[int],
        digests: Mapping[str, str],
        variables: Mapping[str, str | None],
        *,
        day: str,
    ) -> None:
        """Keep it."""
        self.paths = paths
        self.numbers = numbers
        self.digests = digests
        self.variables = variables
        self.day = day


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
    digests = [text for pair in sorted(basis.digests.items()) for text in pair]
    parts = [
        key.encode("utf-8", "surrogateescape"),
        joined(facts),
        joined(asked),
        joined(basis.paths),
        bytes_of(basis.numbers),
        joined(digests),
        joined(verdict.notes),
        joined(sorted(verdict.marks)),
        verdict.form.encode(),
        verdict.text.encode("utf-8", "surrogatepass"),
        verdict.report,
        seal,
    ]
    return pack(_KIND, parts)


def find_verdict(data: bytes, key: str, seal: bytes, glance: Glance) -> Verdict | None:
    """Return the outcome that an entry holds, where it is that of the key, and nothing has changed since.

    `seal` is that of the cache that holds the entry; `glance` remembers the numbers of what it depends on.
    Raises ValueError for an entry that is damaged.
    """
    parts = unpack(data, _KIND)
    if parts is None or text_of(parts[0]) != key or not seal or parts[11] != seal:
        return None
    if not _holds(parts, glance):
        return None
    form, text = text_of(parts[8]), str(parts[9], "utf-8", "surrogatepass")
    return Verdict(texts_of(parts[6]), texts_of(parts[7]), form, text, bytes(parts[10]))


def _holds(parts: Sequence[memoryview], glance: Glance) -> bool:
    environment = os.environ
    git, user, day, *same = texts_of(parts[1])
    now = [f"{name}={value}" for name, value in sorted(git_variables(environment).items())]
    if now != same or git != find_git(environment) or user != _user() or day not in {"", today()}:
        return False
    for each in texts_of(parts[2]):
        name, equals, value = each.partition("=")
        if environment.get(name) != (value if equals else None):
            return False
    paths = texts_of(parts[3])
    if not are_same(glance.take(paths), parts[4]):
        return False
    digests = texts_of(parts[5])
    return all(_digest(path) == digest for path, digest in zip(digests[::2], digests[1::2], strict=True))


def git_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that decide what git does."""
    return {name: value for name, value in environment.items() if name.startswith(_KEPT_SAME)}


def _digest(path: str) -> str:
    from hashlib import blake2b  # noqa: PLC0415 - few entries ask for it

    try:
        with open(path, "rb") as file:  # noqa: PTH123 - no pathlib here
            return blake2b(file.read(), digest_size=16).hexdigest()
    except OSError:
        return ""


def _user() -> str:
    return str(os.geteuid()) if hasattr(os, "geteuid") else ""


def today() -> str:
    """Return the date, in UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime())
