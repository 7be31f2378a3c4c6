"""The straight line: configuration, sources, imports, graph, contracts, allowances, report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import msgspec

from layerguard.allowances import (
    Allowances,
    Entry,
    Judgement,
    complaints,
    judge,
    read_allowances,
    remove_entries,
)
from layerguard.code import Unreadable, decode
from layerguard.config import Config, load_config
from layerguard.contracts import Contract
from layerguard.errors import UserError
from layerguard.files import write_text
from layerguard.graph import Graph
from layerguard.imports.mentions import Mentions
from layerguard.model import ContractResult, Location, Report, Summary, Violation, fingerprint
from layerguard.reading import Progress, Reading, binder, read_imports
from layerguard.reporters.base import count
from layerguard.sources import Problem, Tree, read_tree
from layerguard.tables import known, quoted, suggest
from layerguard.texts import find_mentions


class Ratcheted(msgspec.Struct, frozen=True):
    """What the ratchet did to the allowance file, or would do: how many entries went, moved and stayed."""

    path: str
    removed: int
    moved: int
    kept: int
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the file is not as it was."""
        return bool(self.removed or self.moved)


class Findings(msgspec.Struct, frozen=True):
    """A check before it is told: what the report, the ratchet and `explain` are made of."""

    config: Config
    contracts: tuple[Contract, ...]
    tree: Tree
    reading: Reading
    graph: Graph
    allowances: Allowances
    judgement: Judgement


def check(
    root: Path | str = ".",
    *,
    paths: Sequence[Path | str] = (),
    contracts: Collection[str] = (),
    show_allowed: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Check the project that holds `root` against its contracts.

    `paths` (relative to `root`) limit what is reported, not what is read; `contracts` are the ids of those to
    check, all where there are none. With `show_allowed` the report holds the allowed violations too.
    `progress` is called with the number of files read so far, and of all.
    Raises UserError when the check cannot be made.
    """
    found = examine(root, paths=paths, contracts=contracts, progress=progress)
    frozen = {contract.id for contract in found.contracts if contract.frozen}
    told = [
        *found.judgement.violations,
        *(_unanalysed(problem) for problem in found.reading.problems),
        *complaints(found.judgement, found.allowances.path, frozen),
    ]
    wanted = _relative(found.config.root, root, paths)
    told = [violation for violation in told if _concerns(violation, wanted)]
    told.sort(key=lambda violation: violation.order)
    results = tuple(_result(contract, told, found.judgement) for contract in found.contracts)
    files = {source.path for source in found.tree.sources} | {problem.path for problem in found.tree.problems}
    kept = sum(result.kept for result in results)
    summary = Summary(
        files=len(files),
        analysed=len(files) - len(found.reading.unread),
        modules=len({source.module for source in found.tree.sources}),
        imports=len(found.graph.imports),
        contracts=len(results),
        kept=kept,
        broken=len(results) - kept,
        violations=sum(not violation.allowed for violation in told),
        allowed=len(found.judgement.used),
        stale=len(found.judgement.stale),
    )
    shown = (violation for violation in told if show_allowed or not violation.allowed)
    return Report(
        summary, results, tuple(_finished(found.config.root, shown)), notes=tuple(_notes(found, wanted))
    )


def ratchet(root: Path | str = ".", *, write: bool = True, progress: Progress | None = None) -> Ratcheted:
    """Remove the allowances that are no longer needed; none is ever added.

    With `write=False` the file stays as it is. Raises UserError when the check cannot be made.
    """
    found = examine(root, progress=progress)
    allowances, judgement = found.allowances, found.judgement
    gone = (*judgement.stale, *judgement.unknown)
    if gone and write:
        write_text(found.config.root / allowances.path, remove_entries(allowances, gone))
    kept = len(allowances.entries) - len(gone)
    unseen = kept - len(judgement.used)
    notes = [*found.tree.noted]
    if unseen:
        bad = quoted(sorted({problem.path for problem in found.reading.problems}))
        notes.append(
            f"{count(unseen, 'allowance')} could not be judged and stay{'s' * (unseen == 1)}, "
            f"since not all was analysed: {bad}."
        )
    return Ratcheted(allowances.path, len(gone), 0, kept, tuple(notes))


def examine(
    root: Path | str,
    *,
    paths: Sequence[Path | str] = (),
    contracts: Collection[str] = (),
    progress: Progress | None = None,
) -> Findings:
    """Go down the line as far as the judgement; the arguments are those of `check`."""
    config = load_config(Path(root))
    chosen = _choose(config.contracts, contracts)
    wanted = _relative(config.root, root, paths)
    allowances = read_allowances(config.root, config.allowances, named=config.allowances_named)
    tree = read_tree(config.root, config.source_roots, config.exclude)
    via = {way for contract in chosen for way in contract.ways}
    outside = {name for contract in chosen for name in contract.targeted}
    reading = read_imports(tree, config.registries, via, outside, progress)
    old = {name for contract in chosen if "text" in contract.ways for name in contract.mentioned}
    mentions = find_mentions(config.root, tree, Mentions(old, tree.roots), config.own_files) if old else ()
    graph = Graph(tree.modules, [*reading.imports, *mentions], binder(tree))
    violations = [each for contract in chosen for each in _violations(contract, graph, allowances, config)]
    judgement = judge(
        violations,
        allowances,
        known={contract.id for contract in config.contracts},
        frozen={contract.id for contract in chosen if contract.frozen},
        judged=set(_judged(allowances, chosen, tree, reading, wanted)),
    )
    return Findings(config, chosen, tree, reading, graph, allowances, judgement)


def _choose(contracts: tuple[Contract, ...], wanted: Collection[str]) -> tuple[Contract, ...]:
    ids = [contract.id for contract in contracts]
    for name in wanted:
        if name not in ids:
            raise UserError(f"there is no contract '{name}'.", f"{suggest(name, ids)} {known(ids)}".strip())
    return tuple(contract for contract in contracts if not wanted or contract.id in wanted)


def _violations(
    contract: Contract, graph: Graph, allowances: Allowances, config: Config
) -> Iterator[Violation]:
    tolerated = {entry.key for entry in allowances.entries if entry.contract == contract.id}
    yield from contract.check(graph, frozenset() if contract.frozen else frozenset(tolerated))
    if contract.allow_empty:
        return
    path, line = config.places[contract.id]
    for pattern in contract.empty_patterns(graph):
        yield Violation(
            "LG301",
            f"the pattern '{pattern}' matches nothing",
            Location(path, line, 1, line, 1),
            contract=contract.id,
            because=contract.because,
            hint="Mend the pattern, or say `allow-empty = true` where that is meant.",
        )


def _judged(
    allowances: Allowances,
    chosen: Iterable[Contract],
    tree: Tree,
    reading: Reading,
    wanted: tuple[str, ...],
) -> Iterator[Entry]:
    """Yield the entries that the run has looked at: only they may be called stale.

    What a file that could not be analysed imports is unknown, and so is what is reached by way of it.
    """
    alone = {contract.id: contract.judges_alone for contract in chosen}
    bad = {problem.path for problem in reading.problems}
    paths: dict[str, set[str]] = {name: {module.path} for name, module in tree.modules.items()}
    for source in tree.sources:
        paths.setdefault(source.module, set()).add(source.path)
    # An unreadable folder may hold the importers that seem to be gone.
    hides = not bad <= {path for files in paths.values() for path in files}
    everything = not wanted or _is_below(allowances.path, wanted)
    for entry in allowances.entries:
        if entry.contract not in alone or (bad and not alone[entry.contract]):
            continue
        files = paths.get(entry.importer, {entry.importer})
        # Which names a package binds is known from its `__init__`.
        binding = paths.get(entry.package, set())
        if (files | binding) & bad or (hides and entry.importer not in paths):
            continue
        if not (everything or any(_is_below(path, wanted) for path in files)):
            continue
        yield entry


def _relative(project: Path, root: Path | str, paths: Sequence[Path | str]) -> tuple[str, ...]:
    """Return paths as the report has them: relative to the project root, with `/`; "" for the root itself."""
    found = []
    for path in paths:
        absolute = os.path.abspath(os.path.join(root, path))  # noqa: PTH100, PTH118 - `..` as it is written
        if not os.path.lexists(absolute):
            raise UserError(f"'{path}': there is no such file or folder.")
        relative = os.path.relpath(absolute, project).replace(os.sep, "/")
        if relative == ".." or relative.startswith("../"):
            raise UserError(f"'{path}' is outside the project root '{project}'.")
        found.append("" if relative == "." else relative)
    return tuple(found)


def _is_below(path: str, wanted: Iterable[str]) -> bool:
    return any(not each or path == each or path.startswith(f"{each}/") for each in wanted)


def _concerns(violation: Violation, wanted: tuple[str, ...]) -> bool:
    # A stale entry is told with the paths of its importer, which `_judged` has seen to.
    return not wanted or violation.code == "LG201" or _is_below(violation.location.path, wanted)


def _unanalysed(problem: Problem) -> Violation:
    place = Location(problem.path, problem.line, problem.column, problem.line, problem.column)
    return Violation("LG401", f"could not be analysed: {problem.reason}", place)


def _result(contract: Contract, told: Iterable[Violation], judgement: Judgement) -> ContractResult:
    broken = sum(
        each.contract == contract.id and not each.allowed and not each.code.startswith("LG2") for each in told
    )
    allowed = sum(entry.contract == contract.id for entry in judgement.used)
    return ContractResult(contract.id, contract.kind, broken == 0, broken, allowed)


def _finished(root: Path, violations: Iterable[Violation]) -> Iterator[Violation]:
    """Add the source line to each violation, and the fingerprint."""
    seen: Counter[str] = Counter()

    @cache
    def lines(path: str) -> list[str]:
        try:
            data = (root / path).read_bytes()
        except OSError:
            return []
        try:
            return decode(data).split("\n")
        except Unreadable:
            return data.decode("utf-8", "replace").splitlines()

    for violation in violations:
        text = lines(violation.location.path)
        number = violation.location.line
        identity = fingerprint(violation, 0)
        yield msgspec.structs.replace(
            violation,
            excerpt=text[number - 1] if 0 < number <= len(text) else "",
            fingerprint=fingerprint(violation, seen[identity]),
        )
        seen[identity] += 1


def _notes(found: Findings, wanted: tuple[str, ...]) -> Iterator[str]:
    yield from found.tree.noted
    today = datetime.now(UTC).date()
    for entry in found.allowances.entries:
        if entry.review_by and entry.review_by < today and not wanted:
            yield (
                f"{found.allowances.path}:{entry.line}: warning: the allowance '{entry.key}' "
                f"was to be reviewed by {entry.review_by}"
            )
