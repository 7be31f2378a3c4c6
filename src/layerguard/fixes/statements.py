"""Fixes of `from … import …`: the module, the names, and what must become a statement of its own.

A relative import stays relative as long as the new module is in the same top-level package, with as many
dots as that takes; otherwise it becomes absolute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from layerguard.code import Code
from layerguard.fixes.base import Edit, Place, Project, Refusal, offset, refuse_split
from layerguard.imports.statements import Statement
from layerguard.regex import regex

_AS = regex(r"\s+as\s+\w+")
_COMMA = regex(r"\s*,")
_LAZY = regex(r"lazy[ \t\f]+\Z")


class _Name(NamedTuple):
    """One name of the statement: where it is written, with and without its `as`, and what becomes of it.

    `parent` and `name` are its new module and its name there; both are what they were where it stays.
    """

    start: int
    name_end: int
    end: int
    parent: str
    name: str
    bound: str
    stays: bool

    @property
    def item(self) -> str:
        """What stands for it between `import` and the comma."""
        return self.name if self.name == self.bound else f"{self.name} as {self.bound}"


class _Frame(NamedTuple):
    """The statement as text: where it begins (`lazy` aside), its bracket opens (or -1), and it ends."""

    start: int
    opening: int
    end: int
    lazy: str
    indent: str | None
    """The blanks before a statement that has its lines for itself; None for one that shares a line."""


def fix_from(
    code: Code,
    statement: Statement,
    places: Sequence[Place],
    *,
    module: str,
    package: str,
    project: Project,
) -> Iterator[Edit]:
    """Yield the edits of one statement; `places` name its module, or some of its names.

    `module` is the whole name of the module that it imports from, `package` that of the importer's package.
    Raises Refusal where one of its names has no right answer.
    """
    names = list(_new_names(code, statement, places, module, project))
    if all(name.stays for name in names):
        return
    bound = [name.bound for name in names]
    if len(set(bound)) < len(bound):
        raise Refusal("the statement binds a name twice")
    parents = list(dict.fromkeys(name.parent for name in names))
    kept = module if module in parents else next((parent for parent in parents if parent), "")
    relative = package if statement.module.startswith(".") else ""
    frame = _frame(code, statement, names[-1].end)
    if not kept:
        if _has_comment(code, frame.start, frame.end):
            raise Refusal("comments stand between the names")
        yield Edit(frame.start, frame.end, f"; {frame.lazy}".join(_statement("", names, "")))
        return
    if kept != module:
        yield _module_edit(code, statement, _written(kept, relative))
    for written, name in zip(statement.names or (), names, strict=True):
        if name.parent == kept and name.name != written.name:
            as_it_is = name.end > name.name_end
            yield Edit(name.start, name.name_end, name.name if as_it_is else name.item)
    gone = [number for number, name in enumerate(names) if name.parent != kept]
    if not gone:
        return
    comments: list[str] = []
    for run in _runs(gone):
        yield from _removals(code, names, run, frame, comments)
    added = [
        frame.lazy + line
        for parent in parents
        if parent != kept
        for line in _statement(parent, [name for name in names if name.parent == parent], relative)
    ]
    yield _addition(code, frame, added, comments)


def _new_names(
    code: Code, statement: Statement, places: Sequence[Place], module: str, project: Project
) -> Iterator[_Name]:
    at_module = [place for place in places if place.start == statement.offset]
    for written in statement.names or ():
        start = offset(code.text, written.span.line, written.span.column)
        name_end = offset(code.text, written.span.end_line, written.span.end_column)
        alias = _AS.match(code.masked, name_end)
        whole = f"{module}.{written.name}"
        # A name with an entry of its own in a contract's table is a place of its own.
        contracts = [
            contract
            for place in places
            for contract in place.contracts
            if place.start == start
            or (place in at_module and contract.covering(whole) == contract.covering(module))
        ]
        if written.name == "*":
            for place in at_module:
                refuse_split(place, module)
            new = project.moved(contracts, module, module=True)
            parent, name = new or module, "*"
        else:
            new = project.moved(contracts, whole)
            parent, _, name = new.rpartition(".") if new else (module, "", written.name)
        end = alias.end() if alias else name_end
        yield _Name(start, name_end, end, parent, name, written.bound, not new)


def _frame(code: Code, statement: Statement, last: int) -> _Frame:
    masked, text = code.masked, code.text
    start = masked.rfind("from", 0, statement.offset)
    module_end = offset(code.text, statement.span.end_line, statement.span.end_column)
    opening = masked.index("import", module_end) + len("import")
    bracket = masked.find("(", opening, last)
    end = masked.index(")", last) + 1 if bracket >= 0 else last
    line_start = masked.rfind("\n", 0, start) + 1
    lazy = _LAZY.search(masked, line_start, start)
    before = text[line_start : lazy.start() if lazy else start]
    line_end = masked.find("\n", end)
    after = masked[end : line_end if line_end >= 0 else len(masked)]
    alone = not before.strip() and not after.strip()
    return _Frame(start, bracket, end, "lazy " if lazy else "", before if alone else None)


def _statement(parent: str, names: Sequence[_Name], relative: str) -> list[str]:
    """Return the statements that import names from a module, or top-level modules where that is empty."""
    if parent:
        return [f"from {_written(parent, relative)} import {', '.join(name.item for name in names)}"]
    return [f"import {name.item}" for name in names]


def _written(module: str, package: str) -> str:
    """Return a module's name as it is written in a package, "" for an absolute import."""
    parts, here = module.split("."), package.split(".")
    if not package or parts[0] != here[0]:
        return module
    same = next(
        (n for n, (one, other) in enumerate(zip(parts, here, strict=False)) if one != other),
        min(len(parts), len(here)),
    )
    return "." * (len(here) - same + 1) + ".".join(parts[same:])


def _module_edit(code: Code, statement: Statement, written: str) -> Edit:
    start = statement.offset
    end = offset(code.text, statement.span.end_line, statement.span.end_column)
    # `from.old import x` and `from .import old` have no blank, which a name needs.
    before = " " if code.masked[start - 1].isalnum() and not written.startswith(".") else ""
    after = " " if code.masked[end].isalnum() and not written.endswith(".") else ""
    return Edit(start, end, before + written + after)


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _removals(
    code: Code, names: Sequence[_Name], run: Sequence[int], frame: _Frame, comments: list[str]
) -> Iterator[Edit]:
    """Yield the edits that take neighbouring names out of a statement; a name's own line goes as a whole."""
    lines = [_own_line(code, names[number], frame) for number in run]
    if all(lines) and frame.indent is not None:
        for start, end, comment in (line for line in lines if line):
            comments += [comment] if comment else []
            yield Edit(start, end, "")
        return
    first, last = names[run[0]], names[run[-1]]
    if run[-1] + 1 < len(names):
        start, end = first.start, names[run[-1] + 1].start
    else:
        start, end = names[run[0] - 1].end, last.end
    if _has_comment(code, start, end):
        raise Refusal("comments stand between the names")
    yield Edit(start, end, "")


def _own_line(code: Code, name: _Name, frame: _Frame) -> tuple[int, int, str] | None:
    """Return the line that a name in brackets has for itself, and the comment on it."""
    text, masked = code.text, code.masked
    if frame.opening < 0:
        return None
    start = text.rfind("\n", 0, name.start) + 1
    comma = _COMMA.match(masked, name.end)
    after = comma.end() if comma else name.end
    end = text.find("\n", after)
    end = end if end >= 0 else len(text)
    if text[start : name.start].strip() or masked[after:end].strip() or end > frame.end:
        return None
    if _has_comment(code, name.start, after):
        return None
    return start, end + 1, text[after:end].strip()


def _addition(code: Code, frame: _Frame, added: Sequence[str], comments: Sequence[str]) -> Edit:
    """Return the edit that puts statements behind one: on lines of their own where it has that, too."""
    if frame.indent is None:
        return Edit(frame.end, frame.end, "".join(f"; {line}" for line in added))
    end = code.text.find("\n", frame.end)
    end = end if end >= 0 else len(code.text)
    lines = "".join(f"\n{frame.indent}{line}" for line in added)
    return Edit(end, end, "  ".join([lines, *comments]))


def _has_comment(code: Code, start: int, end: int) -> bool:
    return any(start <= at < end for at, _ in code.comments)
