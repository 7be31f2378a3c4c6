"""JUnit's XML, which most CI systems show as test results: one test for each contract."""

from __future__ import annotations

from collections import defaultdict
from xml.sax.saxutils import escape, quoteattr

from layerguard.model import CODES, Report, Violation
from layerguard.reporters.base import count, details, heading, plain


def render(report: Report) -> str:
    """Return one test suite; a violation that belongs to no contract fails a test named as its code."""
    kinds = {result.id: result.kind for result in report.contracts}
    found: dict[tuple[str, str], list[Violation]] = {(kind, name): [] for name, kind in kinds.items()}
    others: defaultdict[tuple[str, str], list[Violation]] = defaultdict(list)
    for violation in report.violations:
        name = violation.contract
        if name in kinds:
            found[kinds[name], name].append(violation)
        else:
            others[CODES.get(violation.code, "layerguard"), violation.code].append(violation)
    cases = [*found.items(), *sorted(others.items(), key=lambda item: item[0][1])]
    lines = [line for (kind, name), violations in cases for line in _case(kind, name, violations)]
    failed = sum(any(map(_fails, violations)) for _, violations in cases)
    totals = f'tests="{len(cases)}" failures="{failed}" errors="0"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuites name="layerguard" {totals}>',
            f'  <testsuite name="layerguard" {totals} skipped="0">',
            *lines,
            "  </testsuite>",
            "</testsuites>\n",
        ]
    )


def _fails(violation: Violation) -> bool:
    return violation.severity == "error" and not violation.allowed


def _case(kind: str, name: str, violations: list[Violation]) -> list[str]:
    opening = f"    <testcase classname={quoteattr(plain(kind))} name={quoteattr(plain(name))}"
    if not violations:
        return [f"{opening}/>"]
    lines = [f"{opening}>"]
    failures = [violation for violation in violations if _fails(violation)]
    if failures:
        # One failure for all: GitLab and others show only the first of a test.
        message = quoteattr(count(len(failures), "violation"))
        kinds = quoteattr(plain(", ".join(sorted({violation.code for violation in failures}))))
        lines.append(f"      <failure message={message} type={kinds}>{_text(failures)}</failure>")
    others = [violation for violation in violations if not _fails(violation)]
    if others:
        lines.append(f"      <system-out>{_text(others)}</system-out>")
    return [*lines, "    </testcase>"]


def _text(violations: list[Violation]) -> str:
    lines = []
    for violation in violations:
        lines.append(heading(violation))
        lines += [f"  {line}" for part in details(violation) for line in part]
    return escape("\n".join(lines))
