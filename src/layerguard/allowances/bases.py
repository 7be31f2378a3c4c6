"""Which revision the allowance file is compared with, so that it cannot outgrow it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from layerguard import git
from layerguard.allowances.ci import CiBase, ci_base
from layerguard.config import OWN_FILE, SHARED_FILE
from layerguard.errors import UserError
from layerguard.regex import regex
from layerguard.toml import parse_toml

_WHOLE_HASH = 40
_STEPS = regex(r"[~^:]|@\{")
"""What may follow a name in a revision."""
_EVERYTHING = "+refs/heads/*:refs/remotes/origin/*"
_HASH = regex(r"[0-9a-f]{7,64}")
VARIABLE = "LAYERGUARD_BASE"


class Base(Struct, frozen=True):
    """A commit that the project is compared with, and what named it: `main (--base)`.

    `others` are further merge bases, as good as this one; `notes` are what the user should be told.
    """

    commit: str
    name: str
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Asked(Struct, frozen=True):
    """A base that was asked for: what is to be tried, in this order, and what would fetch it."""

    name: str
    revisions: tuple[str, ...]
    fetch: str


def find_base(
    root: Path, asked: str | None, configured: str | None, environment: Mapping[str, str]
) -> Base | None:
    """Return the base: the merge base of HEAD and the first revision that is named.

    That is `asked` (`--base`), LAYERGUARD_BASE, what a CI system names, `configured`, and HEAD. None outside
    git and where there is no commit yet. Raises UserError when one was asked for and cannot be read.
    """
    given = environment.get(VARIABLE) if asked is None else asked
    source = VARIABLE if asked is None else "--base"
    if given is not None and not given.strip() and asked is not None:
        raise UserError("--base: '' is no revision.", "Is a variable empty that should hold one?")
    head = git.find_commit(root, "HEAD")  # also tells of a checkout that git refuses to read
    if head is not None and git.is_ignored(root):
        head = None
    if head is None:
        if given:
            raise UserError(f"{source}: {_why_nothing(root)}, so there is no base '{given}'.")
        if git.is_missing(root) and (what := _named(configured, environment)):
            raise UserError(f"git was not found, so the base {what} cannot be read.", "Install git.")
        return None
    if given:
        return _merge_base(root, head, _revision(given, source))
    named = ci_base(environment)
    if named:
        return _of_merge_ref(root, head, named) or _merge_base(root, head, _of_ci(named))
    agreed = _agreed(root, configured)
    if agreed is None:
        return Base(head, "HEAD")
    base = _merge_base(root, head, _revision(agreed, "base in the configuration"))
    if agreed == configured:
        return base
    here = f"where it is not '{configured}' as here" if configured else "and this one has none"
    return replace(base, notes=(f"'base' is '{agreed}' as in the configuration at origin/HEAD, {here}.",))


def _why_nothing(root: Path) -> str:
    if git.is_missing(root):
        return "git was not found"
    if git.is_ignored(root):
        return f"git ignores '{root}'"
    return "there is no commit yet" if git.is_checkout(root) else f"'{root}' is in no git checkout"


def _named(configured: str | None, environment: Mapping[str, str]) -> str:
    named = ci_base(environment)
    if named:
        return f"{named.branch or named.commit} ({named.variable}, {named.system})"
    return f"{configured} (base in the configuration)" if configured else ""


def _agreed(root: Path, configured: str | None) -> str | None:
    """Return `base` as the configuration has it that was agreed on: a branch does not choose its own base.

    That is the one of the remote's default branch, where the clone knows it.
    """
    commit = git.find_commit(root, "refs/remotes/origin/HEAD")
    if commit is None:
        return configured
    files = git.list_files_at(root, commit)
    name = OWN_FILE if OWN_FILE in files else SHARED_FILE
    if name not in files:
        return configured
    text = git.read_blobs(root, [files[name]])[files[name]].decode("utf-8", "replace")
    try:
        values = parse_toml(text, name)
    except UserError:
        return configured
    for key in () if name == OWN_FILE else ("tool", "layerguard"):
        values = found if isinstance(found := values.get(key), dict) else {}
    agreed = values.get("base")
    return agreed if isinstance(agreed, str) and agreed.strip() else configured


def _revision(text: str, source: str) -> _Asked:
    if text.startswith("-"):
        raise UserError(f"{source}: '{text}' is no revision.")
    is_hash = _HASH.fullmatch(text) is not None
    if is_hash:
        return _Asked(f"{text} ({source})", (text,), text if len(text) >= _WHOLE_HASH else _EVERYTHING)
    name = _STEPS.split(text)[0]
    if name in {"", "@", "HEAD"}:
        return _Asked(f"{text} ({source})", (text,), _EVERYTHING)
    if name.startswith("refs/tags/"):
        return _Asked(f"{text} ({source})", (text,), f"+{name}:{name}")
    known = name.startswith(("origin/", "refs/remotes/"))
    revisions = (text,) if known else (text, f"refs/remotes/origin/{text.removeprefix('refs/heads/')}")
    return _Asked(f"{text} ({source})", revisions, _refspec(name.removeprefix("origin/")))


def _of_ci(named: CiBase) -> _Asked:
    source = f"{named.variable}, {named.system}"
    if named.commit:
        return _Asked(f"{named.commit} ({source})", (named.commit,), named.commit)
    branch = named.branch
    # The branch as the server has it, before a local one that happens to have its name.
    revisions = (f"refs/remotes/origin/{branch}", f"refs/heads/{branch}")
    return _Asked(f"{branch} ({source})", revisions, _refspec(branch))


def _refspec(branch: str) -> str:
    name = branch.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/")
    return f"+refs/heads/{name}:refs/remotes/origin/{name}"


def _of_merge_ref(root: Path, head: str, named: CiBase) -> Base | None:
    """Return the first parent of a pull request's merge commit, where just that is checked out."""
    if not named.merge_commit or named.merge_commit != head:
        return None
    parents = git.find_parents(root, head)
    if len(parents) < 2:  # noqa: PLR2004 - a merge has two
        return None
    if git.find_commit(root, parents[0]) is None:
        raise UserError(
            f"the base, first parent of the merge commit {head[:7]} ({named.system}), is not in this clone.",
            f"Run: git fetch --no-tags --depth=2 origin {head}",
        )
    return Base(parents[0], f"the first parent of the merge commit ({named.system})")


def _merge_base(root: Path, head: str, asked: _Asked) -> Base:
    shallow = git.is_shallow(root)
    fetch = f"git fetch --no-tags {'--unshallow ' if shallow else ''}origin {shlex.quote(asked.fetch)}"
    commit = next((found for each in asked.revisions if (found := git.find_commit(root, each))), None)
    if commit is None:
        raise UserError(f"the base {asked.name} is not in this clone.", f"Run: {fetch}")
    bases = git.find_merge_bases(root, head, commit)
    # Where history ends before the two meet, a better base may be out of sight.
    if shallow and (not bases or (commit not in bases and git.is_cut_off(root, (head, commit), bases[0]))):
        raise UserError(
            f"the base {asked.name} cannot be found: this clone is shallow, and its part of the history "
            "does not reach back to where the branch began.",
            f"Run: {fetch}",
        )
    if not bases:
        raise UserError(f"the base {asked.name} and HEAD have no common history.")
    return Base(bases[0], asked.name, others=tuple(bases[1:]))
