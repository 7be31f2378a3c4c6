"""What the formats share: text that is safe to print, a violation in words, the last line of a report."""

from __future__ import annotations

import json
import re

from layerguard.model import Report, Step, Violation
from layerguard.regex import regex

# What can drive a terminal, end a line, turn the direction of writing, or stand in no UTF-8 or XML file.
_BEYOND_ASCII = r"\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
_UNSAFE = regex(rf"[\x00-\x1f{_BEYOND_ASCII}]")
_UNSAFE_IN_JSON = regex(f"[{_BEYOND_ASCII}]")  # the others are line ends, or escaped anyway
_FULL_HASH = regex(r"[0-9a-f]{40,64}")
_SHORT_HASH = 7


def plain(text: str) -> str:
    """Replace each character that is no text by one visible character, so that columns stay true."""
    return _UNSAFE.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if character < " ":
        return chr(0x2400 + ord(character))  # the control pictures: ␀ to ␟
    return "\u2421" if character == "\x7f" else "\ufffd"


def paint(text: str, style: str, *, colour: bool) -> str:
    """Put text between the escapes of an ANSI style such as `1;31`."""
    return f"\x1b[{style}m{text}\x1b[0m" if colour else text


def shade(violation: Violation) -> str:
    """Return the ANSI style of a violation: red, yellow for a warning, dim when it is allowed."""
    if violation.allowed:
        return "2"
    return "1;33" if violation.severity == "warning" else "1;31"


def rule(violation: Violation) -> str:
    """Return the code and, in brackets, the contract if there is one."""
    contract = f" [{violation.contract}]" if violation.contract else ""
    return plain(f"{violation.code}{contract}")


def heading(violation: Violation, *, colour: bool = False) -> str:
    """Return the first line of a violation: place, code, contract, message."""
    place = violation.location
    path = paint(plain(place.path), "1", colour=colour)
    code, space, contract = rule(violation).partition(" ")
    code = paint(code, shade(violation), colour=colour)
    warning = " warning:" if violation.severity == "warning" else ""
    allowed = " (allowed)" if violation.allowed else ""
    message = plain(violation.message)
    return f"{path}:{place.line}:{place.column}: {code}{space}{contract}{warning} {message}{allowed}"


def details(violation: Violation) -> list[list[str]]:
    """Return what is to be said beyond the heading, each as its lines: `because: …`, `hint: …` and so on.

    Continuation lines stand under the text of the first one.
    """
    parts: list[tuple[str, list[str]]] = []
    chain = violation.chain
    if len(chain) > 1 or any(step.as_parent for step in chain):
        parts.append(("chain", [describe(step) for step in chain]))
    else:
        chain = ()
    if violation.sources > 1:
        parts.append(("sources", [f"{violation.sources} reach it"]))
    for label, text in (("because", violation.because), ("hint", violation.hint)):
        if text.strip():
            parts.append((label, text.strip().splitlines()))
    return [_labelled(label, lines) for label, lines in parts]


def _labelled(label: str, lines: list[str]) -> list[str]:
    indent = " " * len(f"{label}: ")
    first, *rest = [plain(line.rstrip()) for line in lines]
    return [f"{label}: {first}", *((indent + line).rstrip() for line in rest)]


def describe(step: Step) -> str:
    """Say in words what one link of a chain does, and where."""
    place = f" ({step.path}:{step.line})" if step.path else ""
    return plain(f"{what_loads(step.importer, step.imported, step.named if step.as_parent else '')}{place}")


def what_loads(importer: str, loaded: str, named: str) -> str:
    """Say how a module is loaded: by an import of it or, with `named`, as a parent package of that."""
    if not named:
        return f"{importer} imports {loaded}"
    # Before a module runs, its own parents do: no import names them.
    imports = f"{importer} imports {named}, which" if named != importer else importer
    return f"{imports} loads {loaded} as parent of {named}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where that is due."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def summary_line(report: Report) -> str:
    """Return the last line of a report: what was found, and what was looked at."""
    summary = report.summary
    counted = [violation for violation in report.violations if not violation.allowed]
    warnings = sum(violation.severity == "warning" for violation in counted)
    found = [
        count(number, noun)
        for number, noun in ((len(counted) - warnings, "violation"), (warnings, "warning"))
        if number
    ]
    if found:
        result = f"Found {' and '.join(found)}: {summary.broken} of {summary.contracts} contracts broken"
    elif summary.contracts == 1:
        result = "1 contract kept"
    else:
        result = f"All {summary.contracts} contracts kept"
    files = f"{summary.analysed} of {count(summary.files, 'file')}"
    return f"{result}, {_allowed(report)}. {files}, {count(summary.imports, 'import')}."


def _allowed(report: Report) -> str:
    allowed, before = report.summary.allowed, report.allowed_before
    if not report.base or before is None:
        return f"{allowed} allowed"
    base = report.base[:_SHORT_HASH] if _FULL_HASH.fullmatch(report.base) else plain(report.base)
    if allowed == before:
        return f"{allowed} allowed (the same as at {base})"
    change = f"{before - allowed} fewer" if allowed < before else f"{allowed - before} more"
    return f"{allowed} allowed ({change} than at {base})"


def dump_json(value: object) -> str:
    """Return JSON in which what is no text is escaped, half a surrogate pair (from an odd path) too."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
