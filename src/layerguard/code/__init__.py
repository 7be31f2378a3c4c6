"""Python source as text in which strings and comments can no longer be mistaken for code.

Every finder reads a `Code`: the decoded text, and beside it the same text, character for character, with
the insides of strings as `"` and comments as spaces. It knows no Python version: the tokens
that matter here (strings, comments, brackets, line joins) are the same in all of them.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import NamedTuple

from layerguard.code.masks import PIECE, mask_head, mask_roughly
from layerguard.regex import regex

_TOKEN = regex(PIECE, re.DOTALL)
_PREFIX = regex(r"(?<!\w)[rRbBuUfFtT]{1,2}\Z")
_LITERAL_PART = regex(r"\\N\{[^}]*\}|\\[^{}]|\{\{|\}\}|[{}\"']", re.DOTALL)
_FIELD_PART = regex(r"[\"'#()\[\]{}:]")


class StringToken(NamedTuple):
    """One string literal: offsets in the text.

    `body` is the offset after the opening quote, `close` that of the closing one. `field` is the offset of
    the first replacement field of an f-string or t-string, -1 where there is none.
    """

    start: int
    end: int
    body: int
    close: int
    prefix: str
    field: int


class Code:
    """The text of one Python file, and its masked twin."""

    def __init__(self, text: str, until: int | None = None) -> None:
        """Mask the text (`decode` gives one), or, with an offset, just what comes before it.

        The masked text ends there then, or where the string or comment ends that spans the offset; and what
        stands in the fields of f-strings, and a string's prefix, may be masked or not.
        """
        self.text = text
        self._until = len(text) if until is None else until
        self._spans: list[tuple[int, int]] = []
        self._comments: list[tuple[int, int]] = []
        self._fields: dict[int, StringToken] = {}
        self._pieces: list[str] = []
        self._done = 0
        self._placed = (0, 1)
        head = None
        if until is not None:
            head = mask_head(text, until) if until < len(text) else None
            head = mask_roughly(text, until) if head is None else head
        self._is_read = head is None
        if head is None:
            self._mask_all()
            head = "".join(self._pieces).replace("\\\n", "  ")
        self.masked = head

    @property
    def comments(self) -> list[tuple[int, int]]:
        """Where each comment begins and ends."""
        self._read()
        return self._comments

    @cached_property
    def strings(self) -> dict[int, StringToken]:
        """The string literals by the offset at which they begin, prefix included."""
        self._read()
        strings = {}
        for quote, end in self._spans:
            prefix = self._prefix(quote)
            start = quote - len(prefix)
            width = self._quotes(quote, end)
            strings[start] = self._fields.get(start) or StringToken(
                start, end, quote + width, end - width, prefix, -1
            )
        return strings

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and column, from 1, of an offset."""
        return self.line(offset), offset - self.text.rfind("\n", 0, offset)

    def line(self, offset: int) -> int:
        """Return the line, from 1, of an offset."""
        before, line = self._placed
        if offset == before:
            return line
        if offset < before:
            before, line = 0, 1
        line += self.text.count("\n", before, offset)
        self._placed = (offset, line)
        return line

    def value(self, token: StringToken) -> str:
        """Return what a string literal means; of an f-string, what stands before its first field.

        A bytes literal has no value as text: the empty string.
        """
        if "b" in token.prefix:
            return ""
        body = self.text[token.body : token.field if token.field >= 0 else token.close]
        if "f" in token.prefix or "t" in token.prefix:
            body = body.replace("{{", "{").replace("}}", "}")
        if "\\" not in body or "r" in token.prefix:
            return body
        quotes = self.text[token.close : token.end]
        try:
            return str(ast.literal_eval(f"{quotes}{body}{quotes}"))
        except (SyntaxError, ValueError):
            return ""

    def _read(self) -> None:
        if not self._is_read:
            self._is_read = True
            self._mask_all()

    def _mask_all(self) -> None:
        text, position, until = self.text, 0, self._until
        add, add_span = self._pieces.append, self._spans.append
        while position >= 0:
            resume = -1
            for match in _TOKEN.finditer(text, position):
                start, end = match.span()
                if start >= until:
                    break
                if text[start] == "#":
                    add(text[self._done : start])
                    add(" " * (end - start))
                    self._done = end
                    self._comments.append((start, end))
                elif start and text[start - 1] in "rRbBuUfFtT":
                    stop = self._mask_string(start, end)
                    if stop != end:
                        resume = stop
                        break
                elif end - start > 1:
                    add(text[self._done : start])
                    add('"' * (end - start))
                    self._done = end
                    add_span((start, end))
            position = resume
        add(text[self._done : until])

    def _blank(self, start: int, end: int, filler: str) -> None:
        self._pieces.append(self.text[self._done : start])
        self._pieces.append(filler * (end - start))
        self._done = end

    def _prefix(self, quote: int) -> str:
        found = _PREFIX.search(self.text, max(0, quote - 3), quote)
        return found[0].lower() if found else ""

    def _quotes(self, quote: int, end: int) -> int:
        """Return how many quotes open a string: 1 or 3."""
        return 3 if end - quote > 5 and self.text.startswith(self.text[quote] * 3, quote) else 1  # noqa: PLR2004

    def _mask_string(self, quote: int, end: int) -> int:
        """Mask the string that opens at `quote` and seems to end at `end`; return where it really ends."""
        text = self.text
        prefix = self._prefix(quote)
        start = quote - len(prefix)
        alone = end - quote == 1
        if ("f" in prefix or "t" in prefix) and (alone or "{" in text[quote:end]):
            # The literal stretches are blanked, the fields between them stay: they are code.
            width = self._quotes(quote, end)
            stretches = self._stretches(quote + width, text[quote] * width, "r" in prefix)
            if stretches:
                end = stretches[-1][1] + width
                field = stretches[0][1] if len(stretches) > 1 else -1
                self._spans.append((quote, end))
                self._fields[start] = StringToken(start, end, quote + width, end - width, prefix, field)
                self._blank(start, quote + width, '"')
                for stretch_start, stretch_end in stretches:
                    self._mask_field(self._done, stretch_start)
                    self._blank(stretch_start, stretch_end, '"')
                self._blank(self._done, end, '"')
                return end
        if alone:
            return end
        self._blank(start, end, '"')
        self._spans.append((quote, end))
        return end

    def _mask_field(self, start: int, end: int) -> None:
        """Mask the strings and comments inside a replacement field, whose braces stay as brackets."""
        position = start
        while match := _TOKEN.search(self.text, position, end):
            if match[0][0] == "#":
                self._blank(*match.span(), " ")
                position = match.end()
            else:
                position = self._mask_string(*match.span())

    def _stretches(self, start: int, close: str, raw: bool) -> list[tuple[int, int]]:  # noqa: FBT001
        """Return the literal stretches of an f-string, formats included; the last ends at the closing quote.

        `start` is the offset after the opening quote `close`. Empty when the string does not close.
        """
        stretches = []
        text, position, began = self.text, start, start
        while match := _LITERAL_PART.search(text, position):
            at, part = match.start(), match[0]
            if part == "{":
                stretches.append((began, at))
                spec, position = self._field_end(at + 1)
                if position < 0:
                    return []
                if spec >= 0:
                    stretches.append((spec, position - 1))
                began = position
            elif part in {'"', "'"}:
                if text.startswith(close, at):
                    stretches.append((began, at))
                    return stretches
                position = at + 1
            elif raw and part.startswith("\\N{"):
                position = at + 2
            else:
                position = match.end()
        return []

    def _field_end(self, position: int) -> tuple[int, int]:
        """Return where a field's format begins and the offset after its `}`; -1 where there is none."""
        text, depth, spec = self.text, 0, -1
        while match := _FIELD_PART.search(text, position):
            at, part = match.start(), match[0]
            position = at + 1
            if part in "([{":
                depth += 1
            elif part in ")]}":
                if depth == 0:
                    return spec, position if part == "}" else -1
                depth -= 1
            elif part == ":":
                if spec < 0 and depth == 0 and text[position : position + 1] != "=":
                    spec = at
            elif spec < 0:
                position = self._token_end(at)
                if position < 0:
                    break
        return spec, -1

    def _token_end(self, at: int) -> int:
        """Return where the string or comment that begins at `at` ends, an f-string's fields included."""
        match = _TOKEN.match(self.text, at)
        if not match:
            return -1
        before = _PREFIX.search(self.text, max(0, at - 3), at)
        alone = match.end() - at == 1
        if before and before[0].lower().strip("rbu") and (alone or "{" in match[0]):
            width = self._quotes(at, match.end())
            stretches = self._stretches(at + width, self.text[at] * width, "r" in before[0].lower())
            return stretches[-1][1] + width if stretches else -1
        return -1 if alone else match.end()
