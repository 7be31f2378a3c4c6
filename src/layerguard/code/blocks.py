"""The blocks around a place in a file: its scope, when it runs, and whether it may fail.

Read from logical lines and their indentation alone, so that the syntax inside them does not matter.
A line whose next line is indented deeper opens a block; the line itself says what kind it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import NamedTuple

from layerguard.code import Code
from layerguard.code.conditions import truth
from layerguard.model import When
from layerguard.regex import regex

_ROUND = str.maketrans("[]{}", "()()")
_HEADER = regex(
    r"(?:async[ \t\f]+)?(def|class|if|elif|else|try|except|finally|with|for|while|match|case)(?!\w)[ \t\f]*"
)
_OPENER = regex(
    r"\n([ \t\f]*+)(?:async|class|case|def|elif|else|except|finally|for|if|match|try|while|with)(?!\w)"
)
_NAME = regex(r"\w+")
_COLON = regex(r"[(\[{]|[)\]}]|:(?!=)|(?<!\w)lambda(?!\w)")
_AFTER_LAMBDA = regex(r"[(\[{]|[)\]}]|[:,]")
_LAMBDA = regex(r"(?<!\w)lambda(?!\w)")
_SUPPRESS = regex(r"(?<!\w)suppress\s*\(([^()]*)\)")
_DOTTED = regex(r"\w+(?:\s*\.\s*\w+)*")
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class Around(NamedTuple):
    """What is around a place. `guarded`: a `try` or `suppress` handles its ImportError."""

    scope: str = ""
    deferred: bool = False
    typing: bool = False
    guarded: bool = False

    @property
    def when(self) -> When:
        """When code there runs."""
        if self.typing:
            return "typing"
        return "deferred" if self.deferred else "load"


class _Lines(NamedTuple):
    """The logical lines of a file, each a number into these lists."""

    starts: list[int]
    """The offset at which the line's code begins."""
    parents: list[int]
    """The line that opens the block around this one; -1 at module level."""
    previous: list[int]
    """The line before this one in the same block, -1 for the first."""


class Blocks:
    """The blocks of one file. `typing_names` are the expressions that mean typing.TYPE_CHECKING."""

    def __init__(self, code: Code, typing_names: Collection[str]) -> None:
        """Read nothing yet: most files need nothing of this."""
        self._code = code
        self._masked = code.masked
        self._typing_names = typing_names
        self._bodies: dict[int, Around] = {}

    def around(self, offset: int) -> Around:
        """Tell what is around an offset, which stands in code or at the start of a string."""
        lines = self._lines
        number = bisect_right(lines.starts, offset) - 1
        if number < 0:
            return Around()
        around = self._body(lines.parents[number])
        header = _HEADER.match(self._masked, lines.starts[number])
        if header and offset >= header.end():
            colon = self._colon(header.end(), offset)
            if colon >= 0:
                around = self._inside(around, number, header, colon)
        if not around.deferred and self._in_lambda(lines.starts[number], offset):
            around = around._replace(deferred=True)
        return around

    def around_line(self, start: int) -> Around:
        """Tell what is around a statement that begins a line, which `start` is the offset of."""
        return self._headers.around_line(start)

    @cached_property
    def _headers(self) -> _Headers:
        return _Headers(self._code, self._typing_names)

    @cached_property
    def _lines(self) -> _Lines:
        starts: list[int] = []
        parents: list[int] = []
        previous: list[int] = []
        around: list[int] = []  # the numbers of the lines that are still open, outermost first
        widths: list[int] = []  # and their indentations
        depth = start = 0
        for line in self._masked.translate(_ROUND).split("\n"):
            code = line.lstrip(" \t\f")
            if code and not depth:
                blank = len(line) - len(code)
                width = _width(line[:blank])
                number = len(starts)
                if widths and widths[-1] == width:  # the next line of the same block, as most are
                    previous.append(around[-1])
                    parents.append(parents[-1])
                    around[-1] = number
                else:
                    before = -1
                    while widths and widths[-1] >= width:
                        last = around.pop()
                        if widths.pop() == width:
                            before = last
                    previous.append(before)
                    parents.append(around[-1] if around else -1)
                    around.append(number)
                    widths.append(width)
                starts.append(start + blank)
            if "(" in code or ")" in code:
                depth += code.count("(") - code.count(")")
            start += len(line) + 1
        return _Lines(starts, parents, previous)

    @cached_property
    def _next(self) -> dict[int, int]:
        return {before: number for number, before in enumerate(self._lines.previous) if before >= 0}

    def stands_alone(self, offset: int) -> bool:
        """Tell whether the string that begins at an offset is a statement of its own, such as a docstring."""
        starts = self._lines.starts
        number = bisect_right(starts, offset) - 1
        if starts[number] != offset:
            header = self._header(number)
            colon = self._colon(header.end(), offset) if header else -1
            if colon < 0 or self._masked[colon + 1 : offset].strip():
                return False
        end = starts[number + 1] if number + 1 < len(starts) else len(self._masked)
        return not self._masked[offset:end].partition(";")[0].strip(' \t\f\n"')

    def module_lines(self) -> Iterator[str]:
        """Yield the masked logical lines at module level: those in no function and no class."""
        starts = self._lines.starts
        for number, (start, parent) in enumerate(zip(starts, self._lines.parents, strict=True)):
            if not self._body(parent).scope:
                end = starts[number + 1] if number + 1 < len(starts) else len(self._masked)
                yield self._masked[start:end]

    def scopes(self) -> Iterator[str]:
        """Yield the scope of each function and class of the file."""
        for number, start in enumerate(self._lines.starts):
            header = _HEADER.match(self._masked, start)
            if header and header[1] in {"def", "class"}:
                yield self._body(number).scope

    def line_start(self, offset: int) -> int:
        """Return the offset at which the logical line of `offset` begins."""
        return self._lines.starts[max(0, bisect_right(self._lines.starts, offset) - 1)]

    def _body(self, number: int) -> Around:
        """Tell what is around the body of the block that a line opens."""
        if number < 0:
            return Around()
        known = self._bodies.get(number)
        if known is None:
            known = self._body(self._lines.parents[number])
            header = self._header(number)
            if header:
                known = self._inside(known, number, header, self._colon(header.end(), len(self._masked)))
            self._bodies[number] = known
        return known

    def _header(self, number: int) -> re.Match[str] | None:
        return _HEADER.match(self._masked, self._lines.starts[number])

    def _colon(self, start: int, stop: int) -> int:
        """Return the offset of the colon that ends a header, -1 when there is none before `stop`."""
        depth = lambdas = 0
        for match in _COLON.finditer(self._masked, start, stop):
            part = match[0]
            if part in "([{":
                depth += 1
            elif part in ")]}":
                depth -= 1
            elif depth == 0:
                if part != ":":
                    lambdas += 1
                elif lambdas:
                    lambdas -= 1
                else:
                    return match.start()
        return -1

    def _inside(self, around: Around, number: int, header: re.Match[str], colon: int) -> Around:
        word, text = header[1], self._masked[header.end() : colon]
        if word in {"def", "class"}:
            name = _NAME.match(text)
            if not name:
                return around
            scope = f"{around.scope}.{name[0]}" if around.scope else name[0]
            if word == "class":
                return around._replace(scope=scope)
            return around._replace(scope=scope, deferred=True, guarded=False)
        if word in {"if", "elif", "else"}:
            if self._never_runs(number, word, text):
                return around._replace(typing=True)
        elif (word == "try" and self._handles_import_error(number)) or (
            word == "with" and any(_catches(match[1]) for match in _SUPPRESS.finditer(text))
        ):
            return around._replace(guarded=True)
        return around

    def _never_runs(self, number: int, word: str, condition: str) -> bool:
        """Tell whether a branch is for type checkers alone, by its own condition or those before it."""
        if word != "else" and truth(condition, self._typing_names) is False:
            return True
        while word != "if":
            number = self._lines.previous[number]
            header = self._header(number) if number >= 0 else None
            if not header or header[1] not in {"if", "elif"}:
                return False
            word = header[1]
            colon = self._colon(header.end(), len(self._masked))
            if truth(self._masked[header.end() : colon], self._typing_names) is True:
                return True
        return False

    def _handles_import_error(self, number: int) -> bool:
        following = self._next.get(number)
        while following is not None:
            header = self._header(following)
            if not header or header[1] != "except":
                return False
            if _catches(self._masked[header.end() : self._colon(header.end(), len(self._masked))], bare=True):
                return True
            following = self._next.get(following)
        return False

    def _in_lambda(self, start: int, offset: int) -> bool:
        for found in _LAMBDA.finditer(self._masked, start, offset):
            depth, in_body = 0, False
            for match in _AFTER_LAMBDA.finditer(self._masked, found.end(), offset):
                part = match[0]
                if part in "([{":
                    depth += 1
                elif part in ")]}":
                    depth -= 1
                    if depth < 0:
                        break
                elif depth == 0 and part == ":":
                    if in_body:
                        break
                    in_body = True
                elif depth == 0 and part == "," and in_body:
                    break
            else:
                if in_body:
                    return True
        return False


class _Headers(Blocks):
    """The same, read from the lines alone that can open a block: a few of all."""

    def around_line(self, start: int) -> Around:
        blank = self._masked[self._masked.rfind("\n", 0, start) + 1 : start]
        width, lines = _width(blank), self._lines
        number = bisect_right(lines.starts, start) - 1
        while number >= 0 and self._widths[number] >= width:
            number = lines.parents[number]
        return self._body(number)

    @cached_property
    def _widths(self) -> list[int]:
        """The indentation of each line; made with `_lines`."""
        return []

    @cached_property
    def _lines(self) -> _Lines:
        starts: list[int] = []
        parents: list[int] = []
        previous: list[int] = []
        around: list[int] = []  # the numbers of the lines that are still open, outermost first
        widths = self._widths
        # The first line is to begin with a line's end, too.
        text = "\n" + self._masked.translate(_ROUND)
        depth = done = 0
        for found in _OPENER.finditer(text):
            start = found.end(1)
            depth += text.count("(", done, start) - text.count(")", done, start)
            done = start
            if depth:
                continue
            width, before = _width(found[1]), -1
            while around and widths[around[-1]] >= width:
                last = around.pop()
                if widths[last] == width:
                    before = last
            previous.append(before)
            parents.append(around[-1] if around else -1)
            around.append(len(starts))
            starts.append(start - 1)
            widths.append(width)
        return _Lines(starts, parents, previous)


def _width(blank: str) -> int:
    """Return the width of an indentation as Python counts it: tabs to eight, a form feed starts anew."""
    if "\t" not in blank and "\f" not in blank:
        return len(blank)
    return len(blank[blank.rfind("\f") + 1 :].expandtabs(8))


def _catches(text: str, *, bare: bool = False) -> bool:
    """Tell whether exceptions, as an `except` or `suppress` names them, hold ImportError."""
    text = re.split(r"(?<!\w)as(?!\w)", text.lstrip("* \t"))[0]
    if bare and not text.strip():
        return True
    return any(name[0].split(".")[-1].strip() in _IMPORT_ERRORS for name in _DOTTED.finditer(text))
