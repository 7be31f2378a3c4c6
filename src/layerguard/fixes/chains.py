"""Fixes of `import a.b` and `import a.b as c`.

Without `as` the statement binds `a`, and the code says `a.b.f()`: then every such chain is rewritten with it,
or neither. Which `a` is meant where is libcst's to tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider, Scope, ScopeProvider
from libcst.metadata.scope_provider import ClassScope, ImportAssignment

from layerguard.code import Code
from layerguard.fixes.base import Edit, Place, Project, Refusal, offset, old_and_new
from layerguard.graph import within
from layerguard.imports.statements import Statement
from layerguard.regex import regex

_AS = regex(r"[ \t\f]+as(?!\w)")
_BLANKS = r"[\s\\]*"


class _Chain(NamedTuple):
    """A dotted chain (`app.old.f`) in the code: its name, and the scope that it is read in.

    `start` is the offset of its first name, `ends` are those behind each of its names. One that is quoted
    (in an annotation) has no scope.
    """

    name: str
    start: int
    ends: tuple[int, ...]
    scope: Scope | None


class _Use(NamedTuple):
    """An import whose chains are to be rewritten: its module, the new one, those beside it in its scope."""

    place: Place
    module: str
    new: str
    beside: tuple[str, ...]

    @property
    def top(self) -> str:
        """The name that the import binds now."""
        return self.module.partition(".")[0]

    @property
    def leaves(self) -> bool:
        """Whether the new import binds another name."""
        return self.new.partition(".")[0] != self.top


class Meanings:
    """What the names of one file mean: its chains, and the scopes of its imports."""

    def __init__(self, code: Code) -> None:
        """Parse the code. Raises Refusal where libcst cannot."""
        try:
            tree = cst.parse_module(code.text)
        except (cst.ParserSyntaxError, RecursionError):
            raise Refusal("the file has syntax that libcst does not know") from None
        wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        self._code = code
        self._parents = wrapper.resolve(ParentNodeProvider)
        self._positions = wrapper.resolve(PositionProvider)
        self._scopes = wrapper.resolve(ScopeProvider)

    def scope_of_import(self, start: int) -> Scope:
        """Return the scope in which the import that names a module at an offset binds it."""
        for node in self._positions:
            if isinstance(node, cst.ImportAlias) and self._start(node) == start:
                scope = self._scopes.get(self._parents[node])
                if scope is not None:
                    return scope
        raise Refusal("libcst finds no import there")

    def chains(self, top: str, scope: Scope) -> Iterator[_Chain]:
        """Yield every chain that begins with a name which a scope binds; also the name alone."""
        for node in self._positions:
            if isinstance(node, cst.Name) and node.value == top and self._is_read(node):
                here = self._scopes.get(node)
                if here is not None and any(found.scope is scope for found in here[top]):
                    yield self._chain(node, here)
            elif isinstance(node, cst.SimpleString) and self._is_annotation(node):
                yield from self._quoted(node, top)

    def means_else(self, top: str, scope: Scope) -> bool:
        """Tell whether a name stands for anything but the package that imports in this scope bind to it."""
        for node in self._positions:
            if not isinstance(node, cst.Name) or node.value != top:
                continue
            if isinstance(self._parents[node], cst.Param):
                return True
            if self._is_read(node):
                here = self._scopes.get(node)
                if here is None or not _only_imported(here, top, scope):
                    return True
        return bool(scope[top]) and not _only_imported(scope, top, scope)

    def _is_read(self, node: cst.Name) -> bool:
        """Tell whether a name stands for itself: no attribute, keyword, nor part of an import."""
        parent = self._parents[node]
        if isinstance(parent, cst.Attribute) and parent.attr is node:
            return False
        if isinstance(parent, cst.Arg) and parent.keyword is node:
            return False
        if isinstance(parent, cst.NameItem):
            return False
        above = parent
        while isinstance(above, cst.Attribute):
            above = self._parents[above]
        return not isinstance(above, cst.ImportAlias | cst.ImportFrom | cst.AsName) or (
            isinstance(above, cst.AsName) and not isinstance(self._parents[above], cst.ImportAlias)
        )

    def _is_annotation(self, node: cst.CSTNode) -> bool:
        above: cst.CSTNode | None = node
        while above is not None and not isinstance(above, cst.Annotation | cst.BaseSmallStatement):
            above = self._parents.get(above)
        return isinstance(above, cst.Annotation)

    def _chain(self, node: cst.Name, scope: Scope) -> _Chain:
        names, ends = [node.value], [self._end(node)]
        below: cst.CSTNode = node
        above = self._parents[node]
        while isinstance(above, cst.Attribute) and above.value is below:
            names.append(above.attr.value)
            ends.append(self._end(above.attr))
            below, above = above, self._parents[above]
        return _Chain(".".join(names), self._start(node), tuple(ends), scope)

    def _quoted(self, node: cst.SimpleString, top: str) -> Iterator[_Chain]:
        start = self._start(node)
        for match in re.finditer(rf"(?<![\w.]){re.escape(top)}(?:\.\w+)*", node.value):
            name = match[0]
            at, ends = start + match.start(), []
            length = -1
            for part in name.split("."):
                length += len(part) + 1
                ends.append(at + length)
            yield _Chain(name, at, tuple(ends), None)

    def _start(self, node: cst.CSTNode) -> int:
        place = self._positions[node].start
        return offset(self._code.text, place.line, place.column + 1)

    def _end(self, node: cst.CSTNode) -> int:
        place = self._positions[node].end
        return offset(self._code.text, place.line, place.column + 1)


def fix_import(
    code: Code,
    statement: Statement,
    place: Place,
    others: Iterable[Statement],
    *,
    meanings: Callable[[], Meanings],
    project: Project,
) -> Iterator[Edit]:
    """Yield the edits of one module of an `import` statement, and of the chains that begin with it.

    `others` are all import statements of the file; `meanings` is called if it matters what names mean.
    Raises Refusal where the code uses what the statement binds in another way.
    """
    if place.imported != statement.module:
        raise Refusal("the name counts from the folder of the script")
    new = project.moved(place.contracts, statement.module, module=True)
    edit = Edit(place.start, place.end, new)
    if _AS.match(code.masked, place.end):
        yield edit
        return
    top = statement.bound
    plain = [each for each in others if each.names is None and each.bound == top]
    if statement.module == top and all(each.module == top for each in plain):
        yield edit if new == top else Edit(place.start, place.end, f"{new} as {top}")
        return
    meaning = meanings()
    scope = meaning.scope_of_import(place.start)
    new_top = new.partition(".")[0]
    if new_top != top and (isinstance(scope, ClassScope) or meaning.means_else(new_top, scope)):
        raise Refusal(f"'{new_top}' means something else in this file")
    if not _only_imported(scope, top, scope):
        raise Refusal(f"'{top}' is bound to something else, too")
    yield edit
    beside = (each.module for each in plain if meaning.scope_of_import(each.offset) is scope)
    use = _Use(place, statement.module, new, tuple(beside))
    for chain in meaning.chains(top, scope):
        yield from _in_chain(code, chain, use, project)


def _in_chain(code: Code, chain: _Chain, use: _Use, project: Project) -> Iterator[Edit]:
    """Yield the edit of a chain that the import serves; none for one that stays as it is."""
    place, module = use.place, use.module
    owner = max((each for each in use.beside if within(chain.name, each)), key=len, default="")
    if owner not in {"", module}:
        return
    if not any(each.covering(chain.name) for each in place.contracts):
        if chain.scope is None and not use.leaves:
            return
        if within(old_and_new(place, module)[0], chain.name):
            raise Refusal(f"'{chain.name}' is used as a value")
        if use.leaves:
            raise Refusal(f"'{chain.name}' needs '{use.top}', too")
        return
    target = project.moved(place.contracts, chain.name)
    wanted = use.new + chain.name[len(module) :] if owner else target
    together = (
        owner or within(use.new, target) or old_and_new(place, chain.name) == old_and_new(place, module)
    )
    if target != wanted or not together:
        raise Refusal(f"'{chain.name}' has moved elsewhere than '{module}'")
    old, replacement = old_and_new(place, chain.name)
    parts = old.split(".")
    end = chain.ends[len(parts) - 1]
    layout = rf"{_BLANKS}\.{_BLANKS}".join(re.escape(part) for part in parts)
    if not re.fullmatch(layout, code.text[chain.start : end]):
        raise Refusal(f"'{old}' is written in an unusual way where it is used")
    yield Edit(chain.start, end, replacement)


def _only_imported(here: Scope, name: str, scope: Scope) -> bool:
    """Tell whether a name, read in one scope, is what plain imports in the other bind to it."""
    return all(
        found.scope is scope
        and isinstance(found, ImportAssignment)
        and isinstance(found.node, cst.Import)
        and any(alias.asname is None and alias.name is found.as_name for alias in found.node.names)
        for found in here[name]
    )
