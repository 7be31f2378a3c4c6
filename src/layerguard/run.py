"""The straight line: configuration, sources, imports, graph, contracts, allowances, report."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from layerguard.allowances import Allowances, judge, read_allowances
from layerguard.allowances.bases import VARIABLE, find_base
from layerguard.allowances.growth import follow
from layerguard.allowances.moves import Moves
from layerguard.allowances.past import Past
from layerguard.config import Config, load_config
from layerguard.contracts import Contract
from layerguard.errors import UserError
from layerguard.findings import Findings, judged_entries, texts_of
from layerguard.graph import Graph
from layerguard.imports.mentions import Mentions
from layerguard.keeping import Keeper
from layerguard.model import Location, Report, Violation
from layerguard.paths import relative_paths
from layerguard.reading import Progress, Reading, binder, read_imports
from layerguard.sources import Tree, read_tree
from layerguard.tables import known, suggest
from layerguard.telling import tell
from layerguard.texts import with_mentions
from layerguard.tops import tops_of


def check(
    root: Path | str = ".",
    *,
    paths: Sequence[Path | str] = (),
    contracts: Collection[str] = (),
    base: str | None = None,
    show_allowed: bool = False,
    progress: Progress | None = None,
    keeper: Keeper | None = None,
) -> Report:
    """Check the project that holds `root` against its contracts.

    `paths` (relative to `root`) limit what is reported, not what is read; `contracts` are the ids of those to
    check, all where there are none. `base` is the revision whose allowance file may not be outgrown, before
    all that else names one. With `show_allowed` the report holds the allowed violations too. `progress` is
    called with the number of files read so far, and of all. `keeper` knows what earlier checks have found; by
    default none is asked.
    Raises UserError when the check cannot be made.
    """
    found = examine(root, paths=paths, contracts=contracts, base=base, progress=progress, keeper=keeper)
    return tell(found, show_allowed=show_allowed)


def examine(
    root: Path | str,
    *,
    paths: Sequence[Path | str] = (),
    contracts: Collection[str] = (),
    base: str | None = None,
    compare: bool = True,
    progress: Progress | None = None,
    keeper: Keeper | None = None,
) -> Findings:
    """Go down the line as far as the judgement; the arguments are those of `check`.

    Without `compare` nothing is compared with a base.
    """
    config = load_config(Path(root))
    chosen = choose(config.contracts, contracts)
    wanted = relative_paths(config.root, root, paths)
    environment: Mapping[str, str] = keeper.environment if keeper else os.environ
    point = find_base(config.root, base, config.base, environment) if compare else None
    past = Past(config.root, point, config) if point else None
    allowances = read_allowances(config.root, config.allowances, named=config.allowances_named)
    if keeper:
        revisions = (base, config.base, environment.get(VARIABLE), point.name if point else None)
        texts = any("text" in contract.ways and contract.mentioned for contract in chosen)
        renames = past if past and allowances.entries else None
        tree = keeper.tree(config, files=texts or renames is not None)
        # By these git tells which files were renamed.
        others = renames.not_shared(tree.inventory.regular) if renames else ()
        dated = any(entry.review_by for entry in allowances.entries)
        keeper.take(config, tree, wanted, revisions, others=others, texts=texts, dated=dated)
    else:
        tree = read_tree(config.root, config.source_roots, config.exclude, config.path)
    graph, reading = _read(config, chosen, tree, progress, keeper)
    violations = [each for contract in chosen for each in _violations(contract, graph, allowances, config)]
    frozen = {contract.id for contract in chosen if contract.frozen}
    judgement = judge(
        violations,
        allowances,
        known={contract.id for contract in config.contracts},
        frozen=frozen,
        judged=set(judged_entries(allowances, chosen, tree, reading, wanted)),
    )
    moves = cache(partial(_moves, config, tree, past))
    judgement = follow(judgement, allowances.entries, moves, past, partial(texts_of, tree), frozen=frozen)
    return Findings(
        config, chosen, tree, reading, graph, allowances, judgement, past, wanted, moves, environment
    )


def _read(
    config: Config,
    contracts: Collection[Contract],
    tree: Tree,
    progress: Progress | None,
    keeper: Keeper | None,
) -> tuple[Graph, Reading]:
    """Read the imports that the contracts ask for, and make the graph of them."""
    via = {way for contract in contracts for way in contract.ways}
    outside = {name for contract in contracts for name in contract.targeted}
    memory = keeper.memory(tree, via, outside, tops_of(contracts, tree)) if keeper else None
    reading = read_imports(tree, config.registries, via, outside, progress, memory)
    old = {name for contract in contracts if "text" in contract.ways for name in contract.mentioned}
    imports = reading.imports
    if old:
        tree.open_all()
        imports = with_mentions(imports, config.root, tree, Mentions(old, tree.roots), config.own_files)
    return Graph(tree.modules, imports, binder(tree)), reading


def _moves(config: Config, tree: Tree, past: Past | None) -> Moves:
    """Return where modules went, by the tables of `removed` contracts and git's renames since the base."""
    tables: dict[str, str] = {}
    for contract in config.contracts:
        # What is still there has not moved, whatever a table says.
        tables |= {old: new for old, new in contract.moves.items() if old not in tree.modules}
    renames: dict[str, str] = {}
    if past:
        tree.open_all()  # git compares what the files hold
        modules = {source.path: source.module for source in tree.sources}
        for old_path, new_path in past.renames():
            old, new = past.module_of(old_path), modules.get(new_path, "")
            renames[old_path] = new_path
            if old and new and old not in tree.modules and new not in past.modules:
                renames[old] = new
    return Moves(tables, renames, past.modules if past else (), tree.modules)


def choose(contracts: tuple[Contract, ...], wanted: Collection[str]) -> tuple[Contract, ...]:
    """Return the contracts with the wanted ids, all where none is; raise UserError for an unknown id."""
    ids = [contract.id for contract in contracts]
    for name in wanted:
        if name not in ids:
            raise UserError(f"there is no contract '{name}'.", f"{suggest(name, ids)} {known(ids)}".strip())
    return tuple(contract for contract in contracts if not wanted or contract.id in wanted)


def _violations(
    contract: Contract, graph: Graph, allowances: Allowances, config: Config
) -> Iterator[Violation]:
    tolerated = {entry.key for entry in allowances.entries if entry.contract == contract.id}
    yield from contract.check(graph, frozenset() if contract.frozen else frozenset(tolerated))
    if contract.allow_empty:
        return
    path, line = config.places[contract.id]
    for pattern in contract.empty_patterns(graph):
        yield Violation(
            "LG301",
            f"the pattern '{pattern}' matches nothing",
            Location(path, line, 1, line, 1),
            contract=contract.id,
            because=contract.because,
            hint="Mend the pattern, or say `allow-empty = true` where that is meant.",
        )
