"""Makes the report of what a check has found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import msgspec

from layerguard.allowances import Judgement, complaints
from layerguard.allowances.ci import in_ci
from layerguard.allowances.growth import find_growth
from layerguard.allowances.weakening import find_less_read, find_weaker
from layerguard.code.decoding import Unreadable, decode
from layerguard.contracts import Contract
from layerguard.findings import Findings
from layerguard.git import is_checkout, is_ignored, is_missing
from layerguard.model import ContractResult, Location, Report, Summary, Violation, fingerprint
from layerguard.paths import is_below
from layerguard.sources import Problem


def tell(found: Findings, *, show_allowed: bool = False) -> Report:
    """Return the report; with `show_allowed` it holds the allowed violations too."""
    told = sorted(_all(found), key=lambda violation: violation.order)
    results = tuple(_result(contract, told, found.judgement) for contract in found.contracts)
    shown = (violation for violation in told if show_allowed or not violation.allowed)
    violations = tuple(_finished(found.config.root, shown))
    found.tree.opened.update(f"{found.config.root}/{each.location.path}" for each in violations)
    summary, past = _summary(found, told, results), found.past
    if past is None:
        return Report(summary, results, violations, notes=tuple(_notes(found)))
    ids = {contract.id for contract in found.contracts}
    return Report(
        summary,
        results,
        violations,
        base=past.base.commit,
        allowed_before=sum(entry.contract in ids for entry in past.allowances.entries),
        notes=(*_notes(found), *past.notes),
        weakened=(
            *find_weaker(past.contracts, {each.id: each for each in found.config.contracts}),
            *(find_less_read(past.config, found.config) if past.config else ()),
        ),
    )


def _all(found: Findings) -> Iterator[Violation]:
    frozen = {contract.id for contract in found.contracts if contract.frozen}
    told = [
        *found.judgement.violations,
        *(_unanalysed(problem) for problem in found.reading.problems),
        *complaints(found.judgement, found.allowances.path, frozen),
    ]
    if found.past:
        told += find_growth(
            found.allowances,
            found.past,
            found.moves,
            found.contracts,
            found.texts,
            rewritten={*found.judgement.moved, *found.judgement.renamed},
        )
    lines = {entry.line for entry in found.allowances.entries if found.wanted and found.concerns(entry)}
    for violation in told:
        # What is told of an entry belongs to the paths of its importer too.
        is_entry = violation.code.startswith("LG2") and violation.location.line in lines
        if not found.wanted or is_entry or is_below(violation.location.path, found.wanted):
            yield violation


def _summary(found: Findings, told: Iterable[Violation], results: tuple[ContractResult, ...]) -> Summary:
    files = {source.path for source in found.tree.sources} | {problem.path for problem in found.tree.problems}
    kept = sum(result.kept for result in results)
    return Summary(
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
            fingerprint=fingerprint(violation, seen[identity]) if seen[identity] else identity,
        )
        seen[identity] += 1


def _notes(found: Findings) -> Iterator[str]:
    yield from found.tree.noted
    if found.past is None:
        yield f"whether the allowance file has grown was not checked: {_why_no_base(found.config.root)}."
    elif found.past.base.name == "HEAD" and in_ci(found.environment):
        yield "nothing names a base here, so only what is not committed was checked for growth: see --base."
    for contract in found.contracts:
        for pattern in contract.looked_at_packages:
            outside = not found.graph.owns(pattern) and not found.graph.matches(pattern)
            if outside and not pattern.startswith("!") and not contract.allow_empty:
                yield f"the contract '{contract.id}' looks at '{pattern}', which is no module of the project."
    today = datetime.now(UTC).date()
    for entry in found.allowances.entries:
        if entry.review_by and entry.review_by < today and not found.wanted:
            yield (
                f"{found.allowances.path}:{entry.line}: warning: the allowance '{entry.key}' "
                f"was to be reviewed by {entry.review_by}"
            )


def _why_no_base(root: Path) -> str:
    if is_missing(root):
        return "git was not found"
    if is_ignored(root):
        return "git ignores this folder"
    return "there is no commit yet" if is_checkout(root) else "this is no git checkout"
