"""One line for each violation, and the summary."""

from __future__ import annotations

from layerguard.model import Report
from layerguard.reporters.base import heading, summary_line


def render(report: Report, *, colour: bool = False) -> str:
    """Return the first line of each violation, then the summary line."""
    lines = [heading(violation, colour=colour) for violation in report.violations]
    return "\n".join([*lines, summary_line(report)]) + "\n"
