"""The nouns that pass between the parts: places, imports, violations and the report.

Every value here is immutable. Paths are relative to the project root and have `/`;
lines and columns count from 1, columns in characters; an end column is the column
after the last character. What there is much of is left out of the garbage collection (`gc=False`): it holds
no circles.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

Via = Literal["import", "dynamic", "string", "text"]
When = Literal["load", "deferred", "typing"]
Severity = Literal["error", "warning"]
Reach = Literal["direct", "transitive", "load"]

CODES: dict[str, str] = {
    "LG101": "layers",
    "LG102": "forbidden",
    "LG103": "independence",
    "LG104": "protected",
    "LG105": "acyclic",
    "LG106": "private",
    "LG107": "removed",
    "LG108": "existing",
    "LG201": "allowance no longer needed (stale)",
    "LG202": "allowance added since the base",
    "LG203": "allowance of an unknown contract",
    "LG301": "a pattern matches nothing",
    "LG302": "a removed module exists",
    "LG401": "a file could not be analysed",
}


class Location(msgspec.Struct, frozen=True, order=True, gc=False):
    """A stretch of one file."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Name(msgspec.Struct, frozen=True, gc=False):
    """A name that a `from` import takes out of a module, where it is written."""

    name: str
    location: Location


class Import(msgspec.Struct, frozen=True, gc=False):
    """One place that names a module, with the module resolved to its whole dotted name.

    `names` are the names taken from `imported` that are no modules themselves (`*` for a
    star import); an `import a.b` has none. `guarded` imports may fail without harm: they
    stand in a `try` that handles ImportError, or only ask whether a module exists: these `asks`, and load no
    more than the packages above it. An `unknown` one is a
    string or a mention of what the project does not have: it can only be the name of what was removed.
    For a mention in text, `importer` is the path of the file.
    """

    importer: str
    scope: str
    imported: str
    via: Via
    when: When
    location: Location
    names: tuple[Name, ...] = ()
    guarded: bool = False
    unknown: bool = False
    asks: bool = False

    @property
    def mark(self) -> str:
        """What an allowance says in brackets: `dynamic`, `string`, `typing`, or nothing."""
        if self.via in {"dynamic", "string"}:
            return self.via
        return "typing" if self.when == "typing" else ""


class Module(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A module of the project. `path` is its file, or its folder where it has no file."""

    name: str
    path: str
    is_package: bool
    has_file: bool


class Step(msgspec.Struct, frozen=True, gc=False):
    """One link of a chain.

    With `as_parent`, `imported` is loaded as a parent package of `named`: of what the import there names,
    or of the importer itself, whose own parents run before it.
    """

    importer: str
    imported: str
    path: str
    line: int
    as_parent: bool = False
    named: str = ""


class Violation(msgspec.Struct, frozen=True):
    """An import that breaks a contract, or (LG2xx to LG4xx) a fault of another kind.

    A violation that is about no import has empty `importer`, `imported`, `via` and `when`.
    `key` is its identity in an allowance file (`importer[:scope] -> imported[ (mark)]`), empty
    where no allowance can name it. `sources` is the number of sources whose chains end with this import.
    `excerpt` is the text of its first line.
    """

    code: str
    message: str
    location: Location
    contract: str = ""
    severity: Severity = "error"
    importer: str = ""
    scope: str = ""
    imported: str = ""
    via: Via | Literal[""] = ""
    when: When | Literal[""] = ""
    chain: tuple[Step, ...] = ()
    sources: int = 0
    because: str = ""
    hint: str = ""
    key: str = ""
    allowed: bool = False
    excerpt: str = ""
    fingerprint: str = ""

    @property
    def order(self) -> tuple[str, int, int, str, str, str]:
        """The order of a report: path, line, column, code, contract."""
        place = self.location
        return (place.path, place.line, place.column, self.code, self.contract, self.message)


class ContractResult(msgspec.Struct, frozen=True):
    """How one contract fared: its unallowed violations and its allowances in use."""

    id: str
    kind: str
    kept: bool
    violations: int
    allowed: int


class Summary(msgspec.Struct, frozen=True):
    """What was looked at, and what came of it.

    `files` were found, `analysed` of them could be read; `allowed` and `stale` count allowances.
    """

    files: int
    analysed: int
    modules: int
    imports: int
    contracts: int
    kept: int
    broken: int
    violations: int
    allowed: int
    stale: int


class Report(msgspec.Struct, frozen=True):
    """The result of a check; reporters turn it into text.

    `violations` are sorted (`Violation.order`); allowed ones are among them only when they
    were asked for. `base` is the revision that the allowance file was compared with, and
    `allowed_before` the number of its allowances there; empty and None where nothing was compared. `weakened`
    tells of contracts that promise less than at the base.
    """

    summary: Summary
    contracts: tuple[ContractResult, ...]
    violations: tuple[Violation, ...]
    base: str = ""
    allowed_before: int | None = None
    notes: tuple[str, ...] = ()
    weakened: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether any violation that is neither allowed nor a warning was found."""
        return any(v.severity == "error" and not v.allowed for v in self.violations)


def fingerprint(violation: Violation, occurrence: int) -> str:
    """Give a name to a violation that stays the same when lines move.

    `occurrence` (from 0) tells apart violations that are otherwise the same.
    """
    identity = violation.key or f"{violation.location.path}\0{violation.message}"
    text = "\0".join((violation.code, violation.contract, identity, str(occurrence)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
