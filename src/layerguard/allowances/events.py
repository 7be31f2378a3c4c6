"""Reads the file in which GitHub Actions describes the event that started a run.

Its keys are those of GitHub's page "Webhook events and payloads".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from layerguard.errors import UserError
from layerguard.regex import regex

HASH = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")

_Kind = TypeVar("_Kind")

_HINT = "Name the base yourself, with --base or LAYERGUARD_BASE."


class Push(msgspec.Struct, frozen=True):
    """A push: the hash of the branch's tip before it (all zeros for a new branch), and the default branch.

    `forced` tells of a push that left commits out, as after a rebase.
    """

    before: str
    forced: bool
    default_branch: str


class _Repository(msgspec.Struct):
    default_branch: str


class _PushEvent(msgspec.Struct):
    before: str
    repository: _Repository
    forced: bool = False


class _Group(msgspec.Struct):
    base_sha: str


class _GroupEvent(msgspec.Struct):
    merge_group: _Group


def read_push(path: str, read: Callable[[str], bytes]) -> Push:
    """Read a `push`. Raises UserError when the file is missing or is no such event."""
    event = _decode(path, read, _PushEvent)
    return Push(_commit(path, "before", event.before), event.forced, event.repository.default_branch)


def read_merge_group(path: str, read: Callable[[str], bytes]) -> str:
    """Return the hash of the commit that a merge group was put on. Raises UserError as `read_push` does."""
    return _commit(path, "merge_group.base_sha", _decode(path, read, _GroupEvent).merge_group.base_sha)


def _decode(path: str, read: Callable[[str], bytes], kind: type[_Kind]) -> _Kind:
    if not path:
        raise UserError("GITHUB_EVENT_PATH is not set, so what was before this run is not known.", _HINT)
    try:
        return msgspec.json.decode(read(path), type=kind)
    except OSError as error:
        raise _trouble(path, f"cannot be read: {error.strerror or error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _trouble(path, f"is not the event that GitHub describes: {error}") from error


def _commit(path: str, key: str, value: str) -> str:
    if not HASH.fullmatch(value):
        raise _trouble(path, f"names no commit as '{key}'")
    return value


def _trouble(path: str, what: str) -> UserError:
    return UserError(f"'{path}' (GITHUB_EVENT_PATH) {what}.", _HINT)
