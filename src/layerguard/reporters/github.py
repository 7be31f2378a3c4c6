"""Workflow commands of GitHub Actions, which shows them as annotations on the changed lines."""

from __future__ import annotations

from layerguard.model import Report, Violation
from layerguard.reporters.base import details, plain, rule, summary_line


def render(report: Report) -> str:
    """Return one `::error`, `::warning` or (allowed) `::notice` command a line, then the summary line."""
    lines = [_command(violation) for violation in report.violations]
    return "\n".join([*lines, summary_line(report)]) + "\n"


def _command(violation: Violation) -> str:
    place = violation.location
    properties: dict[str, str | int] = {"file": plain(place.path), "line": place.line}
    # The runner takes columns only for a place on one line.
    if place.end_line == place.line:
        properties |= {"col": place.column, "endLine": place.end_line, "endColumn": place.end_column}
    else:
        properties["endLine"] = place.end_line
    properties["title"] = rule(violation)
    level = "notice" if violation.allowed else violation.severity
    message = [plain(violation.message), *(line for lines in details(violation) for line in lines)]
    settings = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{level} {settings}::{_data(chr(10).join(message))}"


def _data(text: str) -> str:
    """Escape a message as the runner unescapes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a property, which also ends at a colon or comma."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
