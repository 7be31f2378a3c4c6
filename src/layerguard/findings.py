"""A check before it is told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec

from layerguard.allowances import Allowances, Entry, Judgement
from layerguard.allowances.moves import Moves
from layerguard.allowances.past import Past
from layerguard.config import Config
from layerguard.contracts import Contract
from layerguard.graph import Graph
from layerguard.paths import is_below
from layerguard.reading import Reading
from layerguard.sources import Tree


class Findings(msgspec.Struct, frozen=True):
    """A check before it is told: what the report, the ratchet and `explain` are made of."""

    config: Config
    contracts: tuple[Contract, ...]
    tree: Tree
    reading: Reading
    graph: Graph
    allowances: Allowances
    judgement: Judgement
    past: Past | None
    wanted: tuple[str, ...]
    moves: Callable[[], Moves]
    environment: Mapping[str, str]

    def concerns(self, entry: Entry) -> bool:
        """Tell whether the importer of an entry is at the wanted paths."""
        paths = {source.path for source in self.tree.sources if source.module == entry.importer}
        module = self.tree.modules.get(entry.importer)
        paths.add(module.path if module else entry.importer)
        return any(is_below(path, self.wanted) for path in paths)

    def texts(self, module: str) -> list[bytes]:
        """Return the bytes of the files that a module has."""
        return texts_of(self.tree, module)


def texts_of(tree: Tree, module: str) -> list[bytes]:
    """Return the bytes of the files that a module has."""
    return [tree.open(source) for source in tree.sources if source.module == module]


def judged_entries(
    allowances: Allowances,
    chosen: Collection[Contract],
    tree: Tree,
    reading: Reading,
    wanted: tuple[str, ...],
) -> Iterator[Entry]:
    """Yield the entries that the run has looked at: only they may be called stale.

    What a file that could not be analysed imports is unknown, and so is what is reached by way of it.
    """
    alone = {contract.id: contract.judges_alone for contract in chosen}
    bad = {problem.path for problem in reading.problems}
    paths: dict[str, set[str]] = {name: {module.path} for name, module in tree.modules.items()}
    for source in tree.sources:
        paths.setdefault(source.module, set()).add(source.path)
    # An unreadable folder may hold the importers that seem to be gone.
    hides = not bad <= {path for files in paths.values() for path in files}
    everything = not wanted or is_below(allowances.path, wanted)
    for entry in allowances.entries:
        if entry.contract not in alone or (bad and not alone[entry.contract]):
            continue
        files = paths.get(entry.importer, {entry.importer})
        # Which names a package binds is known from its `__init__`.
        binding = paths.get(entry.package, set())
        if (files | binding) & bad or (hides and entry.importer not in paths):
            continue
        if not (everything or any(is_below(path, wanted) for path in files)):
            continue
        yield entry
