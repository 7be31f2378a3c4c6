"""What a finder finds in one file: names as they are written, not yet resolved against the project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from layerguard.code import Code
from layerguard.code.blocks import Blocks
from layerguard.model import Via, When
from layerguard.regex import regex

_NAME = regex(r"([\w*]+)(?:\s+as\s+(\w+))?")


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A stretch of a file; lines and columns from 1, the end column after the last character."""

    line: int
    column: int
    end_line: int
    end_column: int


class WrittenName(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A name that a `from` import takes, and the name that it gets here."""

    name: str
    bound: str
    span: Span


class WrittenImport(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A module as a file names it.

    `module` is the written name, with its leading dots where it is relative. Those count from the package
    of the file or, with `anchor="module"`, from the module itself as if it were one (`package=__name__`).
    `taken` is what a `from` import takes from the module, or the text that says it, from the end of the
    module on, with comments blanked; None for the forms that take nothing. `names` are the same, read.
    `bound` is the local name of an `import … as` (else its first component).
    A `loose` name may end in names of a module (`app.x.Thing`); an `open` one is the literal beginning, less
    its dot, of a name that is built up, and counts only where it names a package. A string is `sure` to name
    something where it is given to a function that takes such names. One that `asks` loads only the packages
    above the module.
    """

    module: str
    span: Span
    via: Via = "import"
    when: When = "load"
    scope: str = ""
    taken: tuple[WrittenName, ...] | str | None = None
    bound: str = ""
    guarded: bool = False
    anchor: Literal["package", "module"] = "package"
    loose: bool = False
    open: bool = False
    sure: bool = False
    asks: bool = False

    @property
    def words(self) -> Sequence[str]:
        """The names alone; none for the forms that take none."""
        taken = self.taken
        if isinstance(taken, str):
            return [word for word, _ in _NAME.findall(taken, taken.index("import") + len("import"))]
        return [name.name for name in taken or ()]

    @property
    def names(self) -> tuple[WrittenName, ...] | None:
        """The names that a `from` import takes from the module; None for the forms that take none."""
        taken = self.taken
        return _read_names(taken, self.span) if isinstance(taken, str) else taken


def _read_names(text: str, module: Span) -> tuple[WrittenName, ...]:
    """Read ` import (a as b, c` as it stands behind a module."""
    names = []
    done = text.index("import") + len("import")
    line, column = module.end_line, module.end_column + done
    for found in _NAME.finditer(text, done):
        begin, end = found.span(1)
        news = text.count("\n", done, begin)
        line, column = line + news, begin - text.rfind("\n", done, begin) if news else column + begin - done
        name = found[1]
        names.append(WrittenName(name, found[2] or name, Span(line, column, line, column + end - begin)))
        done = begin
    return tuple(names)


class Fault(msgspec.Struct, frozen=True, array_like=True):
    """Why a file, or a line of it, could not be analysed."""

    line: int
    column: int
    reason: str


class Findings(msgspec.Struct, frozen=True, array_like=True):
    """What one file names, in the order of the file; `fault` says why nothing could be found."""

    imports: tuple[WrittenImport, ...] = ()
    fault: Fault | None = None


class Page(msgspec.Struct, frozen=True):
    """One file as the finders see it: its code, its import statements and its blocks."""

    code: Code
    statements: tuple[WrittenImport, ...]
    blocks: Blocks

    def span(self, start: int, end: int) -> Span:
        """Return the stretch between two offsets."""
        return Span(*self.code.place(start), *self.code.place(end))
