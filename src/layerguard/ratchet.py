"""The ratchet: rewrites the allowance file so that it shrinks, and takes over the debt of a new contract."""

from __future__ import annotations

from pathlib import Path

import msgspec

from layerguard.allowances.growth import old_debt
from layerguard.allowances.rewriting import add_entries, rewrite
from layerguard.errors import UserError
from layerguard.files import write_text
from layerguard.keeping import Keeper
from layerguard.reading import Progress
from layerguard.run import examine
from layerguard.tables import quoted


class Ratcheted(msgspec.Struct, frozen=True):
    """What the ratchet did to the allowance file, or would do: how many entries went, moved and stayed."""

    path: str
    removed: int
    moved: int
    kept: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it in words."""
        return f"removed {self.removed}, moved {self.moved}, kept {self.kept}"

    @property
    def changed(self) -> bool:
        """Whether the file is not as it was."""
        return bool(self.removed or self.moved)


class Adopted(msgspec.Struct, frozen=True):
    """How many allowances a contract took over, and how many violations it could not."""

    path: str
    added: int
    left: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say it in words."""
        if not self.left:
            return f"adopted {self.added}"
        stay = "stays a violation" if self.left == 1 else "stay violations"
        return f"adopted {self.added}; {self.left} did not stand in the base's code and {stay}"

    @property
    def changed(self) -> bool:
        """Whether the file is not as it was."""
        return self.added > 0


def ratchet(
    root: Path | str = ".",
    *,
    base: str | None = None,
    write: bool = True,
    progress: Progress | None = None,
    keeper: Keeper | None = None,
) -> Ratcheted:
    """Remove the allowances that are no longer needed, rewrite those of modules that moved, add none.

    `base` and `keeper` are those of `check`. With `write=False` the file stays as it is. Raises UserError
    when the check cannot be made.
    """
    found = examine(root, base=base, progress=progress, keeper=keeper)
    allowances, judgement = found.allowances, found.judgement
    renamed = {**judgement.moved, **judgement.renamed}
    gone = [each for each in judgement.stale if (each.contract, each.key) not in renamed]
    gone += judgement.unknown
    if (gone or renamed) and write:
        write_text(found.config.root / allowances.path, rewrite(allowances, gone, renamed))
    kept = len(allowances.entries) - len(gone) - len(renamed)
    unseen = kept - len(judgement.used)
    notes = [*(keeper.cache.notes if keeper else ()), *found.tree.noted]
    if unseen:
        bad = quoted(sorted({problem.path for problem in found.reading.problems}))
        notes.append(
            f"{unseen} allowance{'s' * (unseen != 1)} could not be judged and stay{'s' * (unseen == 1)}, "
            f"since not all was analysed: {bad}."
        )
    return Ratcheted(allowances.path, len(gone), len(renamed), kept, tuple(notes))


def adopt(
    contract: str,
    root: Path | str = ".",
    *,
    base: str | None = None,
    write: bool = True,
    progress: Progress | None = None,
) -> Adopted:
    """Write the allowances of a contract that the base does not have: of what stood in the base's code.

    Outside git, and where there is no commit yet, everything is taken over. Raises UserError when the base
    has the contract, and when the check cannot be made.
    """
    found = examine(root, contracts=[contract], base=base, progress=progress)
    past, allowances, chosen = found.past, found.allowances, found.contracts[0]
    if past and contract in past.contracts:
        base_name = past.base.commit[:7]
        raise UserError(
            f"the contract '{contract}' is in {base_name} already, so it takes no more allowances.",
            "Mend the imports, or make a contract with another id.",
        )
    if chosen.frozen:
        raise UserError(f"the contract '{contract}' is frozen: it takes no allowances.")
    keys = {each.key for each in found.judgement.violations if each.key and not each.allowed}
    stood = old_debt(keys, past, found.moves(), chosen) if past else frozenset(keys)
    if stood and write:
        write_text(found.config.root / allowances.path, add_entries(allowances, contract, stood))
    return Adopted(allowances.path, len(stood), len(keys) - len(stood))
