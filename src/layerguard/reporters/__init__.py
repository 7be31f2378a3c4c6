"""The output formats. To add one: a file beside this one, a golden file, and a line in `REPORTERS`.

A reporter is a pure function of the report. Its text depends on no terminal, no locale and no clock;
names come out as they are, however long, and control characters in them as visible ones.
"""

from __future__ import annotations

import importlib
from typing import Protocol

import msgspec

from layerguard.model import Report
from layerguard.surroundings import IN_COLOUR


class Reporter(Protocol):
    """Turn a report into text that ends with a newline. Only formats for people know `colour`."""

    def __call__(self, report: Report, *, colour: bool = False) -> str:
        """Return the whole text."""


def _lazy(module: str, *, coloured: bool = False) -> Reporter:
    """Wrap the `render` of a module that is imported when the format is first used."""

    def report_as(report: Report, *, colour: bool = False) -> str:
        render = importlib.import_module(module).render
        text: str = render(report, colour=colour) if coloured else render(report)
        return text

    return report_as


REPORTERS: dict[str, Reporter] = {
    "full": _lazy("layerguard.reporters.full", coloured=True),
    "concise": _lazy("layerguard.reporters.concise", coloured=True),
    "json": _lazy("layerguard.reporters.json"),
    "github": _lazy("layerguard.reporters.github"),
    "gitlab": _lazy("layerguard.reporters.gitlab"),
    "sarif": _lazy("layerguard.reporters.sarif"),
    "junit": _lazy("layerguard.reporters.junit"),
}


def render(report: Report, form: str) -> str:
    """Return a report as text; `form` is the name of a format, which `IN_COLOUR` may follow."""
    return REPORTERS[form.removesuffix(IN_COLOUR)](report, colour=form.endswith(IN_COLOUR))


def render_again(report: bytes, form: str) -> str:
    """Return a report that was kept as msgpack as text."""
    return render(msgspec.msgpack.decode(report, type=Report), form)
