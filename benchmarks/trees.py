"""The nouns of the benchmarks: a tree of code that is measured, and the contracts that it is checked for."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

KINDS = {
    "layers": ("layers",),
    "forbidden": ("sources", "targets"),
    "independence": ("modules",),
}
"""Of each kind of contract that every tool knows in some way, the options that name modules."""


@dataclasses.dataclass(frozen=True)
class Contract:
    """A contract in the words of layerguard; the chains of imports count, as they do for import-linter."""

    id: str
    kind: str
    options: Mapping[str, Sequence[str]]
    reach: str = "transitive"

    @property
    def bans(self) -> Mapping[str, Sequence[str]]:
        """Return what each module must not import directly: all that tach and ruff can look at."""
        found: dict[str, Sequence[str]] = {}
        if self.kind == "forbidden":
            return dict.fromkeys(self.options["sources"], self.options["targets"])
        (name,) = KINDS[self.kind]
        members = self.options[name]
        for place, member in enumerate(members):
            others = (
                members[:place] if self.kind == "layers" else [each for each in members if each != member]
            )
            if others:
                found[member] = others
        return found


@dataclasses.dataclass(frozen=True)
class Tree:
    """A folder with Python packages at its top."""

    name: str
    folder: Path
    roots: Sequence[str]
    releases: Sequence[str] = ()

    def code(self) -> list[Path]:
        """Return every Python file, sorted."""
        return sorted(
            Path(above, name)
            for root in self.roots
            for above, _, names in os.walk(self.folder / root)
            for name in names
            if name.endswith(".py")
        )
