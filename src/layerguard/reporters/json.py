"""The whole report as data, version 1; `schemas/report.schema.json` is its JSON Schema."""

from __future__ import annotations

from msgspec.structs import asdict

from layerguard.model import Report, Violation
from layerguard.reporters.base import dump_json

VERSION = 1


def render(report: Report) -> str:
    """Return one JSON object; null stands where a field has no meaning."""
    return dump_json(
        {
            "version": VERSION,
            "summary": asdict(report.summary),
            "contracts": [asdict(result) for result in report.contracts],
            "violations": [_violation(violation) for violation in report.violations],
            "base": report.base or None,
            "notes": [*report.notes, *report.weakened],
        }
    )


def _violation(violation: Violation) -> dict[str, object]:
    place = violation.location
    return {
        "code": violation.code,
        "contract": violation.contract or None,
        "severity": violation.severity,
        "message": violation.message,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "importer": violation.importer or None,
        # An import at module level has the scope "".
        "scope": violation.scope if violation.importer else None,
        "imported": violation.imported or None,
        "via": violation.via or None,
        "when": violation.when or None,
        "allowed": violation.allowed,
        "because": violation.because or None,
        "hint": violation.hint or None,
        "chain": [{**asdict(step), "named": step.named or None} for step in violation.chain],
        "sources": violation.sources,
        "fingerprint": violation.fingerprint,
    }
