"""`layerguard check --fix`: puts the new names of removed modules where the old ones are.

The places are the violations of `removed` contracts. Each fix is an edit of the stretch that names the
module, so everything else in the file stays, byte for byte. What has no one right answer is left, with why.
"""

from __future__ import annotations

import importlib.util
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from layerguard.contracts.removed import Removed
from layerguard.errors import UserError
from layerguard.files import write_bytes
from layerguard.findings import Findings
from layerguard.fixes.base import Project
from layerguard.fixes.diff import unified
from layerguard.fixes.page import Left, Mended, mend
from layerguard.model import Violation
from layerguard.names import shown
from layerguard.paths import is_below
from layerguard.reading import Progress
from layerguard.reporters.base import count
from layerguard.run import examine

_MOST_ROUNDS = 10


class Fixed(msgspec.Struct, frozen=True):
    """What was fixed, or would be: the new bytes of each file by its path, beside the old ones.

    `places` and `allowed` are numbers: of all places fixed, and of those that an allowance tolerated.
    `left` are the places that have a new name and were not fixed, in order.
    """

    files: dict[str, tuple[bytes, bytes]]
    places: int
    allowed: int
    left: tuple[Left, ...]

    def diff(self) -> str:
        """Return the changes as a unified diff."""
        return "".join(unified(path, *self.files[path]) for path in sorted(self.files))

    def lines(self, *, write: bool) -> Iterator[str]:
        """Tell what was done, or (without `write`) would be: what is left and why, and what comes next."""
        for each in self.left:
            place = each.location
            yield f"{place.path}:{place.line}:{place.column}: not fixed: {each.reason}."
        if not self.places and not self.left:
            yield "There is nothing to fix."
        elif self.places:
            verb = "Fixed" if write else "Would fix"
            yield f"{verb} {count(self.places, 'place')} in {count(len(self.files), 'file')}."
        if self.allowed:
            had = f"{count(self.allowed, 'place')} of them had an allowance"
            yield f"note: {had}: `layerguard ratchet` is due."


def fix(
    root: Path | str = ".",
    *,
    paths: Sequence[Path | str] = (),
    contracts: Collection[str] = (),
    write: bool = True,
    progress: Progress | None = None,
) -> Fixed:
    """Fix the violations at `paths`, of the contracts with these ids; all where there are none.

    Without `write` nothing is written. Raises UserError when libcst is missing, when the check cannot be
    made, and when a file cannot be written.
    """
    if importlib.util.find_spec("libcst") is None:
        raise UserError("fixes need libcst, which is not installed.", "Run `pip install 'layerguard[fix]'`.")
    files: dict[str, tuple[bytes, bytes]] = {}
    places = allowed = 0
    left: tuple[Left, ...] = ()
    # Another round tells what is left by the lines of now, and takes what the one before laid open.
    for _ in range(_MOST_ROUNDS if write else 1):
        found = examine(root, paths=paths, contracts=contracts, compare=False, progress=progress)
        pages = _mended(found)
        left = tuple(each for page in pages for each in page.left)
        changed = {page.path: page for page in pages if page.new != page.old}
        for path, page in changed.items():
            files[path] = (files[path][0] if path in files else page.old, page.new)
            places += len(page.fixed)
            allowed += sum(page.fixed.values())
        if not changed:
            break
        if write:
            _write(list(changed.values()))
    return Fixed(files, places, allowed, left)


def _mended(found: Findings) -> list[Mended]:
    removed = {each.id: each for each in found.contracts if isinstance(each, Removed)}
    by_path: dict[str, list[Violation]] = {}
    for violation in found.judgement.violations:
        if found.wanted and not is_below(violation.location.path, found.wanted):
            continue
        if violation.code == Removed.code and violation.contract in removed:
            by_path.setdefault(violation.location.path, []).append(violation)
    if not by_path:
        return []
    sources = {source.path: source for source in found.tree.sources}
    files = {shown(path): found.config.root / path for path in found.tree.files}
    files |= {path: source.file for path, source in sources.items()}
    # What a link makes Python code is no text besides.
    real = {os.path.realpath(source.file): path for path, source in sources.items()}
    known = frozenset([*found.tree.files, *(each.path for each in found.graph.modules.values())])
    project = Project(
        found.graph,
        known,
        frozenset(str(above) for path in known for above in PurePosixPath(path).parents),
        tuple(sorted(found.tree.roots, key=lambda each: (-len(each), each))),
    )
    return [
        mend(path, files[path], violations, removed, source=sources.get(path), project=project)
        for path, violations in sorted(by_path.items())
        if real.get(os.path.realpath(files[path]), path) == path
    ]


def _write(pages: Collection[Mended]) -> None:
    """Write every file, or none where one of them is read-only."""
    for page in pages:
        if not stat.S_IMODE(page.file.stat().st_mode) & 0o222:
            raise UserError(f"'{page.path}' is read-only; nothing was written.")
    written: list[str] = []
    for page in pages:
        try:
            write_bytes(page.file, page.new)
        except UserError as error:
            done = f"These files were fixed before it: {', '.join(written)}." if written else ""
            raise UserError(error.message, done) from error
        written.append(page.path)
