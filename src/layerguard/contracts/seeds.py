"""What contracts are tested with: imports that are planted, and where they can be.

A contract says which imports must break it (`Seed`); how they are written and put into the project in memory
is not its affair.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import msgspec

from layerguard.graph import Graph
from layerguard.patterns import Patterns

PLANTED = "planted"
"""What new modules, and names that are made up, are called."""
SCOPE = "plant"
"""The function that holds an import which runs later."""


class Plant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Code that a contract is tested with: `[[contract.plant]]`."""

    module: str = msgspec.field(name="in")
    """The module that gets the code: an existing one, or a new one."""
    code: str
    """What is put at its end."""
    caught: bool = True
    """Whether the code breaks the contract."""


class Target(msgspec.Struct, frozen=True):
    """A module that can be imported or, with `name`, a name in it.

    `by_parent` says that `from parent import last` names it too.
    """

    module: str
    name: str = ""
    by_parent: bool = True

    @property
    def whole(self) -> str:
        """The dotted name."""
        return f"{self.module}.{self.name}" if self.name else self.module


class Seed(msgspec.Struct, frozen=True):
    """An import that must break a contract: by a module, existing or new, or by a text file.

    `content` says that whatever is taken from the target breaks it too, `prose` that a mention in a comment
    does. With `back` a second import, the other way round, is planted with it.
    """

    importer: str
    target: Target
    content: bool = True
    prose: bool = False
    in_text: bool = False
    back: bool = False


class Ground:
    """A project as a place to plant in: its graph, the modules that are analysed, the text files."""

    def __init__(self, graph: Graph, sources: Collection[str], texts: Collection[str]) -> None:
        """Keep what is there; `sources` are names of modules, `texts` are paths."""
        self.graph = graph
        self.sources = tuple(sorted(set(sources)))
        self.texts = tuple(sorted(texts))

    def first(self, wanted: Callable[[str], bool]) -> str:
        """Return the first analysed module that is wanted, or a new one at the top; empty if none is."""
        fresh = self.fresh("")
        return next(filter(wanted, self.sources), fresh if wanted(fresh) else "")

    def fresh(self, package: str) -> str:
        """Return the name of a module that the project does not have, in a package or at the top."""
        name = f"{package}.{PLANTED}" if package else PLANTED
        while self.graph.exists(name):
            name += "_"
        return name

    def importer(self, text: str, patterns: Patterns, wanted: Callable[[str], bool]) -> str:
        """Return a module that one of the patterns means, an analysed one where there is one.

        A new one is in what the pattern names, or has a name that the pattern fits. Empty if none is wanted.
        """
        one = patterns.alone(text)
        for name in self.sources:
            if name in one and name in patterns and wanted(name):
                return name
        inside = (self.fresh(name) for name in one.members(self.graph.modules))
        for name in (*inside, *one.members(self.graph.modules), fitting(text)):
            module = self.graph.modules.get(name)
            new = module is None or not module.has_file
            if new and name in one and name in patterns and wanted(name):
                return name
        return ""

    def targets(self, patterns: Patterns) -> Iterator[Target]:
        """Yield for each pattern something that it means: a module, or a name that a module may have."""
        for text in patterns.texts:
            if text.startswith("!"):
                continue
            members = (name for name in patterns.alone(text).members(self.graph.modules) if name in patterns)
            module = next(members, "")
            if module:
                yield Target(module)
            elif fitting(text) in patterns:
                yield self._absent(text)

    def _absent(self, text: str) -> Target:
        name = fitting(text)
        parent, _, last = name.rpartition(".")
        if not self.graph.owns(name):
            return Target(name)
        if "*" not in text and self.graph.exists(parent):
            return Target(parent, last)
        # Of the project's own a pattern with wildcards means modules only.
        return Target(name, by_parent=False)


def fitting(pattern: str) -> str:
    """Return a name that a pattern fits."""
    return pattern.removeprefix("!").replace("**", PLANTED).replace("*", PLANTED)
