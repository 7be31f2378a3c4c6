"""Whether a file is Python at all, of any version.

The parser is that of ruff, by way of the package that mypy reads files with: it knows newer syntax than the
running interpreter and takes a fifth of the time of `ast`. Only what both refuse is refused.
"""

from __future__ import annotations

import ast
import warnings
from importlib.util import find_spec
from pathlib import Path

from layerguard.imports.base import Fault

_NEWEST = (3, 15)
"""The newest version that the parser knows; older syntax is a part of newer Python."""


def find_fault(text: str) -> Fault | None:
    """Return the first syntax error of a file's text, or None when it is Python."""
    from ast_serialize import parse  # noqa: PLC0415 - loaded by the run that needs it

    try:
        # The bodies of functions are parsed all the same, only not handed over: that saves a fifth.
        errors = parse("", text, skip_function_bodies=True, python_version=_NEWEST)[1]
    except (TypeError, ValueError) as error:  # the parser takes no lone surrogates
        return _second_opinion(text, Fault(1, 1, f"it cannot be parsed: {error}"))
    first = next((error for error in errors if error.get("blocker", False)), None)
    if first is None:
        return None
    reason = first["message"]
    return _second_opinion(text, Fault(first["line"], first["column"], f"{reason[:1].lower()}{reason[1:]}"))


def parser_size() -> int:
    """Return the size of the parser, in bytes: another release has another one."""
    spec = find_spec("ast_serialize.ast_serialize")
    return Path(spec.origin).stat().st_size if spec and spec.origin else 0


def _second_opinion(text: str, fault: Fault) -> Fault | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        # What is still open at the end of the file begins somewhere in it.
        if fault.line > text.count("\n") + bool(text.rpartition("\n")[2]) and error.lineno:
            return Fault(error.lineno, error.offset or 1, error.msg)
        return fault
    except (ValueError, RecursionError, MemoryError):
        return fault
    return None
