"""Tells whether a pattern is one at all, so that a slip of the pen is told, not just matches nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layerguard.regex import regex
from layerguard.tables import quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_NO_PART_OF_A_NAME = regex(r"[\s/\\:;,|()\[\]{}<>!?'\"#=&]")
_FILE = regex(r"^\.?[/\\]|[/\\]")


def find_fault(pattern: str, *, scoped: bool = False) -> tuple[str, str]:
    """Return what is wrong with a pattern and a hint, both empty for a sound one.

    With `scoped` it may name a scope behind a colon, as patterns of importers do.
    """
    text = pattern.removeprefix("!")
    module, colon, scope = text.partition(":")
    if _FILE.search(text):
        return "is a path; modules are named with dots", f"Did you mean '{_dotted(pattern)}'?"
    if not text:
        return "names nothing", ""
    if colon and not scoped:
        hint = "Only 'importers' and 'exclude-importers' may name a function or class of a module."
        return "names a scope behind ':'", hint
    if colon and not scope:
        return "names no scope behind its ':'", f"Did you mean '{pattern.removesuffix(':')}'?"
    return _fault_in(module) or (_fault_in(scope) if colon else None) or ("", "")


def find_fault_in_list(patterns: Sequence[str], *, scoped: bool = False) -> tuple[str, str]:
    """Return what is wrong with a list of them (its first fault) and a hint, both empty for a sound one."""
    for pattern in patterns:
        fault, hint = find_fault(pattern, scoped=scoped)
        if fault:
            return f"'{pattern}' {fault}", hint
    if patterns and all(pattern.startswith("!") for pattern in patterns):
        return f"it only takes away ({quoted(patterns)}), and there is nothing to take it from", ""
    return "", ""


def find_fault_in_name(name: str) -> tuple[str, str]:
    """Return what is wrong with a name of one module, which has no wildcards; both empty for a sound one."""
    if "*" in name or name.startswith("!"):
        return "is a pattern; here one module is named", ""
    return find_fault(name)


def find_fault_in_paths(patterns: Collection[str]) -> str:
    """Return what is wrong with a list of gitignore patterns (the first fault); empty for a sound list."""
    if not patterns:
        return ""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - heavy, and few projects have such patterns
    from pathspec.patterns.gitignore import GitIgnorePatternError  # noqa: PLC0415 - the same

    for pattern in patterns:
        try:
            sound = any(line.include is not None for line in GitIgnoreSpec.from_lines([pattern]).patterns)
        except GitIgnorePatternError:
            sound = False
        if not sound:
            return f"'{pattern}' is not a gitignore pattern"
    return ""


def _fault_in(name: str) -> tuple[str, str] | None:
    if name.startswith("."):
        return "starts with a dot; modules are named from the top", ""
    wrong = _NO_PART_OF_A_NAME.search(name)
    if wrong:
        what = "a space" if wrong[0].isspace() else f"'{wrong[0]}'" if wrong[0] != "'" else "a quote"
        return f"holds {what}, which is no part of a module's name", ""
    for component in name.split("."):
        if not component:
            return "has an empty component", ""
        if "**" in component and component != "**":
            return "has '**' as a part of a component; '**' stands alone between dots", ""
    return None


def _dotted(pattern: str) -> str:
    mark = "!" if pattern.startswith("!") else ""
    path = re.sub(r"\.pyw?$", "", pattern.removeprefix("!").replace("\\", "/").strip("./"))
    return mark + path.removesuffix("/__init__").replace("/", ".")
