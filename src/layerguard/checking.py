"""What `layerguard check` does once it is known what is asked for."""

from __future__ import annotations

from pathlib import Path

from layerguard import run
from layerguard.asked import Asked
from layerguard.keeping import open_keeper, outcome
from layerguard.snapshots import Glance
from layerguard.terminal import Progress, deliver


def check(asked: Asked, glance: Glance | None = None) -> int:
    """Check the project that holds the current folder, tell what was found, and return the status.

    `glance` has the numbers of files that this run has asked for. Raises UserError when the check cannot be
    made.
    """
    keeper = None if "no_cache" in asked.flags else open_keeper(asked.values.get("cache_dir"), glance)
    base, show_allowed = asked.values.get("base"), "show_allowed" in asked.flags
    with Progress() as progress:
        report = run.check(
            Path(),
            paths=asked.paths,
            contracts=asked.contracts,
            base=base,
            show_allowed=show_allowed,
            progress=progress,
            keeper=keeper,
        )
    verdict = outcome(report, asked.form)
    if keeper:
        keeper.keep(verdict, (asked.paths, asked.contracts, base, show_allowed))
    notes = [*(keeper.notes if keeper else ()), *verdict.notes]
    deliver(notes, verdict.text, asked.values.get("output_file"))
    return int(verdict.fails(asked.flags))
