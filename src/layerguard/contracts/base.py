"""What every kind of contract has: its options, which imports it looks at, how it tells of one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, ClassVar

import msgspec

from layerguard.contracts.seeds import SCOPE, Ground, Plant, Seed
from layerguard.index import kinds_table
from layerguard.model import Import, Location, Reach, Severity, Step, Via, Violation, When
from layerguard.patterns import Importers, Patterns
from layerguard.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from layerguard.chains import Arrival
    from layerguard.graph import Graph

_importers = cache(Importers)


class Contract(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The options that every contract has. A kind adds its own, and `check`.

    A subclass is the schema of its kind: its fields are the keys in TOML, and its docstring is its
    documentation.
    """

    kind: ClassVar[str]
    code: ClassVar[str]
    default_via: ClassVar[tuple[Via, ...]] = ("import", "dynamic")
    reaches: ClassVar[tuple[Reach, ...]] = ("direct",)
    """The values of `reach` that mean something for this kind."""
    looks_at_one: ClassVar[bool] = True
    """Whether a direct contract of this kind looks at one import at a time."""
    knows_unknown: ClassVar[bool] = False
    """Whether strings count that name nothing which exists."""

    id: str
    because: str = ""
    hint: str = ""
    severity: Severity = "error"
    reach: Reach = "direct"
    via: tuple[Via, ...] | None = None
    when: tuple[When, ...] = ("load", "deferred", "typing")
    exclude_importers: tuple[str, ...] = ()
    allow_empty: bool = False
    frozen: bool = False
    plant: tuple[Plant, ...] = ()

    def check(self, graph: Graph, tolerated: frozenset[str]) -> Iterator[Violation]:
        """Yield every violation, in any order.

        `tolerated` are the keys of this contract's allowances, for a kind that chooses among several
        imports which one to blame; an allowed import is yielded all the same.
        """
        raise NotImplementedError

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the options beyond their types: the key in TOML, and a message."""
        yield from ()

    def empty_patterns(self, graph: Graph) -> Iterator[str]:
        """Yield the patterns that match nothing though they should (LG301), as they are written."""
        yield from empty_importers(graph, self.exclude_importers)

    def plants(self, ground: Ground) -> Iterator[Seed]:  # noqa: ARG002 - for the kinds
        """Yield imports that must break the contract, the most telling first; nothing where none can."""
        yield from ()

    def heeds(self, importer: str) -> bool:
        """Tell whether what is planted in a module counts, at module level and in a function."""
        excluded = _importers(self.exclude_importers)
        return not (excluded.match(importer, "") or excluded.match(importer, SCOPE))

    @property
    def ways(self) -> tuple[Via, ...]:
        """The ways to name a module that count for the contract."""
        return self.default_via if self.via is None else self.via

    @property
    def targeted(self) -> set[str]:
        """The top-level names of what must not be named: strings may name external modules among them."""
        return set()

    @property
    def mentioned(self) -> set[str]:
        """The modules of which mentions in text are looked for."""
        return set()

    @property
    def looked_at_packages(self) -> tuple[str, ...]:
        """The patterns of what the contract looks at in the project: sources, members, packages."""
        return ()

    @property
    def promises(self) -> frozenset[tuple[str, str]]:
        """Who must not import whom, where the order of the options says so; empty where their sets do."""
        return frozenset()

    @property
    def moves(self) -> dict[str, str]:
        """The new names of modules, by the old ones, as far as the contract tells them."""
        return {}

    @property
    def judges_alone(self) -> bool:
        """Whether each import breaks the contract, or does not, whatever the rest of the code imports."""
        return self.reach == "direct" and self.looks_at_one

    def looks_at(self, found: Import) -> bool:
        """Tell whether this import counts for the contract: its `via`, its `when`, its importer."""
        return (
            found.via in self.ways
            and (not found.unknown or self.knows_unknown)
            and found.when in self.when
            and not _importers(self.exclude_importers).match(found.importer, found.scope)
        )

    def looked_at(self, graph: Graph) -> Selection:
        """Return the imports that count, by place; with `reach` load only those that run on load."""
        is_left_out = _importers(self.exclude_importers).of_module if self.exclude_importers else None
        if self.reach != "load":
            table = kinds_table(self.ways, self.when, unknown=self.knows_unknown)
            return Selection(graph.imports, table, is_left_out, self.looks_at)
        ways = [way for way in self.ways if way in {"import", "dynamic"}]
        whens: list[When] = ["load"] if "load" in self.when else []
        table = kinds_table(ways, whens, unknown=self.knows_unknown)
        return Selection(graph.imports, table, is_left_out, self.looks_at, _package_asked)

    def arrived(self, arrival: Arrival) -> Violation:
        """Tell of an import that enters a place which it, or what leads to it, must not reach."""
        return self.violation(
            arrival.found,
            imported=arrival.imported,
            location=arrival.location,
            chain=arrival.chain,
            sources=arrival.units.bit_count(),
        )

    def violation(
        self,
        found: Import,
        *,
        imported: str = "",
        location: Location | None = None,
        message: str = "",
        chain: tuple[Step, ...] = (),
        sources: int = 0,
    ) -> Violation:
        """Tell of an import that breaks this contract.

        `imported` and `location` replace the import's own where a name of the module is meant.
        """
        target = imported or found.imported
        return Violation(
            code=self.code,
            message=message or f"{found.importer} {verb(found)} {target}",
            location=location or found.location,
            contract=self.id,
            severity=self.severity,
            importer=found.importer,
            scope=found.scope,
            imported=target,
            via=found.via,
            when=found.when,
            chain=chain,
            sources=sources,
            because=self.because,
            hint=self.hint,
            key=allowance_key(found, target),
        )


def verb(found: Import) -> str:
    """Say what an import does: a string or a mention only names a module."""
    return "names" if found.via in {"string", "text"} else "imports"


def _package_asked(found: Import) -> Import:
    """Return what is really loaded by who asks for a module: the package that would hold it."""
    return msgspec.structs.replace(found, imported=found.imported.rpartition(".")[0], names=())


def allowance_key(found: Import, imported: str) -> str:
    """Return the identity of an import within a contract: `importer[:scope] -> imported[ (mark)]`."""
    scope = f":{found.scope}" if found.scope else ""
    mark = f" ({found.mark})" if found.mark else ""
    return f"{found.importer}{scope} -> {imported}{mark}"


def empty_packages(graph: Graph, patterns: Collection[str]) -> Iterator[str]:
    """Yield the patterns of the project that match no module of it.

    An external pattern may match none, as long as another one makes the contract about something.
    """
    empty = [pattern for pattern in patterns if not graph.matches(pattern)]
    is_about_something = any(not each.startswith("!") and each not in empty for each in patterns)
    return (each for each in empty if not is_about_something or _belongs(graph, each.removeprefix("!")))


def empty_importers(graph: Graph, patterns: Iterable[str]) -> Iterator[str]:
    """Yield the patterns of importers that should match a module of the project, and match none.

    One whose first component is no top-level name of the project may match nothing.
    """
    for pattern in patterns:
        module = pattern.removeprefix("!").partition(":")[0]
        if _belongs(graph, module) and not graph.matches(module):
            yield pattern


def empty_targets(graph: Graph, patterns: Iterable[str]) -> Iterator[str]:
    """Yield the patterns of imported modules or names that mean nothing the project has or imports.

    External modules may be imported by nobody. A name in a module that is no package cannot be seen
    to be missing, and so it counts as there.
    """
    for pattern in patterns:
        text = pattern.removeprefix("!")
        if not _belongs(graph, text) or graph.matches(text) or graph.mentions(text):
            continue
        parent = text.rpartition(".")[0]
        holders = (graph.modules[name] for name in Patterns([parent]).members(graph.modules))
        if not any(holder.has_file and not holder.is_package for holder in holders):
            yield pattern


def _belongs(graph: Graph, pattern: str) -> bool:
    return "*" in pattern.partition(".")[0] or graph.owns(pattern)
