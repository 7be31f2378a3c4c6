"""Which revision the allowance file is compared with, so that it cannot outgrow it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from layerguard import git
from layerguard.ci import CiBase, ci_base
from layerguard.errors import UserError

_HASH = re.compile(r"[0-9a-f]{7,64}")
VARIABLE = "LAYERGUARD_BASE"


class Base(Struct, frozen=True):
    """A commit that the project is compared with, and what named it: `main (--base)`."""

    commit: str
    name: str


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
    given = asked or environment.get(VARIABLE)
    source = "--base" if asked else VARIABLE
    if not git.is_checkout(root):
        if given:
            raise UserError(f"{source}: '{root}' is in no git checkout, so there is no base '{given}'.")
        return None
    head = git.find_commit(root, "HEAD")
    if head is None:
        if given:
            raise UserError(f"{source}: there is no commit yet, so there is no base '{given}'.")
        return None
    if given:
        return _merge_base(root, head, _revision(given, source))
    named = ci_base(environment)
    if named:
        return _of_merge_ref(root, head, named) or _merge_base(root, head, _of_ci(named))
    if configured:
        return _merge_base(root, head, _revision(configured, "base in the configuration"))
    return Base(head, "HEAD")


def _revision(text: str, source: str) -> _Asked:
    if text.startswith("-"):
        raise UserError(f"{source}: '{text}' is no revision.")
    remote, _, branch = text.partition("/")
    known = remote == "origin" and branch
    is_hash = _HASH.fullmatch(text) is not None
    revisions = (text,) if known or is_hash else (text, f"refs/remotes/origin/{text}")
    what = text if is_hash else _refspec(branch if known else text)
    return _Asked(f"{text} ({source})", revisions, what)


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
    fetch = f"git fetch --no-tags {'--unshallow ' if shallow else ''}origin {asked.fetch}"
    commit = next((found for each in asked.revisions if (found := git.find_commit(root, each))), None)
    if commit is None:
        raise UserError(f"the base {asked.name} is not in this clone.", f"Run: {fetch}")
    base = git.find_merge_base(root, head, commit)
    if base is None and shallow:
        raise UserError(
            f"the base {asked.name} cannot be found: this clone is shallow, and its part of the history "
            "does not reach back to where the branch began.",
            f"Run: {fetch}",
        )
    if base is None:
        raise UserError(f"the base {asked.name} and HEAD have no common history.")
    return Base(base, asked.name)
