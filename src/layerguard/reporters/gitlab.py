"""A Code Quality report of GitLab, which it shows in merge requests."""

from __future__ import annotations

from layerguard.model import Report, Violation
from layerguard.reporters.base import dump_json, plain


def render(report: Report) -> str:
    """Return a JSON array with one object for each violation."""
    return dump_json([_issue(violation) for violation in report.violations])


def _issue(violation: Violation) -> dict[str, object]:
    place = violation.location
    contract = f"[{violation.contract}] " if violation.contract else ""
    because = f": {' '.join(violation.because.split())}" if violation.because.strip() else ""
    severity = "minor" if violation.severity == "warning" else "major"
    return {
        "description": plain(f"{contract}{violation.message}{because}"),
        "check_name": violation.code,
        "fingerprint": violation.fingerprint,
        "severity": "info" if violation.allowed else severity,
        "location": {"path": place.path, "lines": {"begin": place.line, "end": place.end_line}},
    }
