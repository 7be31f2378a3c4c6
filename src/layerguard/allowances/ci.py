"""What CI systems say in their environment: that there is one, and what the code under check came from.

Each function names the page of the vendor's documentation that its variables are taken from. Nothing here
runs git: whoever asks resolves the branch or the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from layerguard.allowances.events import HASH, read_merge_group, read_push
from layerguard.regex import regex
from layerguard.surroundings import is_set

_NO_COMMIT = regex(r"0+")
_MERGE_REF = regex(r"refs/pull/\d+/merge")
_QUEUE = regex(r"(?:refs/heads/|origin/)?gh-readonly-queue/(.+)/pr-\d+-[0-9a-f]+")

# `CI` is what all but Azure Pipelines, TeamCity and older versions of Jenkins set.
_MARKS = (
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "TF_BUILD",
    "BITBUCKET_BUILD_NUMBER",
    "BUILDKITE",
    "CIRCLECI",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "CODEBUILD_BUILD_ID",
)


class CiBase(msgspec.Struct, frozen=True):
    """What a CI system names as the state before the change; `branch` or `commit` is set, never both.

    `variable` is the variable that named it, for messages. `branch` is the target branch without
    `refs/heads/`; `commit` is a full hash. `merge_commit` is the hash that HEAD has while the system's own
    merge of the target branch (first parent) and the change is checked out, "" when there is no such merge:
    where HEAD is that commit and has two parents, the first is the base.
    """

    system: str
    variable: str
    branch: str = ""
    commit: str = ""
    merge_commit: str = ""


def in_ci(environment: Mapping[str, str]) -> bool:
    """Tell whether this is a run in a CI system, as far as the environment says so."""
    return bool(ci_variable(environment))


def ci_variable(environment: Mapping[str, str]) -> str:
    """Return the variable by which a CI system is known, for messages; "" outside one."""
    return next((mark for mark in _MARKS if is_set(environment, mark)), "")


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


def ci_base(environment: Mapping[str, str], read: Callable[[str], bytes] = _read) -> CiBase | None:
    """Return what the CI system compares with; None without such a system, or when it names nothing.

    `read` returns the bytes of a file, or raises OSError. Raises UserError where the system describes its
    event in a file that cannot be read or understood: to go on would be to pass in silence.
    """
    if is_set(environment, "GITHUB_ACTIONS"):
        return _github(environment, read)
    for mark, base in _SYSTEMS.items():
        if is_set(environment, mark):
            return base(environment)
    return None


def _github(environment: Mapping[str, str], read: Callable[[str], bytes]) -> CiBase | None:
    """Read GitHub Actions: "Variables reference", "Events that trigger workflows".

    `pull_request` checks out `refs/pull/N/merge`, and GITHUB_SHA is that merge; `pull_request_target` checks
    out the base branch, and GITHUB_SHA is its tip. The base of a merge group is the group before it in the
    queue. A tag, a schedule and a run by hand change no branch, and name nothing.
    """
    system, ref = "GitHub Actions", environment.get("GITHUB_REF", "")
    if target := environment.get("GITHUB_BASE_REF", ""):
        merge = environment.get("GITHUB_SHA", "") if _MERGE_REF.fullmatch(ref) else ""
        return CiBase(system, "GITHUB_BASE_REF", branch=_short(target), merge_commit=merge)
    event, path = environment.get("GITHUB_EVENT_NAME", ""), environment.get("GITHUB_EVENT_PATH", "")
    if event == "merge_group":
        return CiBase(system, "GITHUB_EVENT_PATH", commit=read_merge_group(path, read))
    if event != "push" or not ref.startswith("refs/heads/"):
        return None
    if target := _queue_target(ref):
        return CiBase(system, "GITHUB_REF", branch=target)
    push = read_push(path, read)
    is_default = _short(ref) == push.default_branch
    # After a rebase the old tip is in no clone, and its merge base with HEAD is older than what the branch
    # now stands on: growth would be seen that came from the default branch.
    if _NO_COMMIT.fullmatch(push.before) or (push.forced and not is_default):
        return None if is_default else CiBase(system, "GITHUB_EVENT_PATH", branch=push.default_branch)
    return CiBase(system, "GITHUB_EVENT_PATH", commit=push.before)


def _gitlab(environment: Mapping[str, str]) -> CiBase | None:
    """Read GitLab CI: "Predefined CI/CD variables reference".

    In a merged results pipeline and in a merge train, CI_MERGE_REQUEST_TARGET_BRANCH_SHA is what the merge
    request was merged into: the target branch's tip, or the merge request before it in the train. It is
    empty in a detached pipeline. So no parent has to be guessed; a fast-forward train has no merge at all.
    CI_COMMIT_BEFORE_SHA is all zeros for a new branch and for a pipeline that nobody pushed.
    """
    system = "GitLab CI"
    merged_into = environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "")
    if HASH.fullmatch(merged_into):
        return CiBase(system, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA", commit=merged_into)
    for variable in ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME"):
        if target := environment.get(variable, ""):
            return CiBase(system, variable, branch=_short(target))
    if environment.get("CI_COMMIT_TAG"):
        return None
    before = environment.get("CI_COMMIT_BEFORE_SHA", "")
    if HASH.fullmatch(before) and not _NO_COMMIT.fullmatch(before):
        return CiBase(system, "CI_COMMIT_BEFORE_SHA", commit=before)
    default = environment.get("CI_DEFAULT_BRANCH", "")
    if not default or default == environment.get("CI_COMMIT_BRANCH"):
        return None
    return CiBase(system, "CI_DEFAULT_BRANCH", branch=default)


def _azure(environment: Mapping[str, str]) -> CiBase | None:
    """Read Azure Pipelines: "Use predefined variables".

    The target branch is `refs/heads/main` for Azure Repos and `main` for GitHub. BUILD_SOURCEVERSION is the
    merge while BUILD_SOURCEBRANCH is `refs/pull/N/merge`. Of a push it does not say what was before.
    """
    system, ref = "Azure Pipelines", environment.get("BUILD_SOURCEBRANCH", "")
    if target := environment.get("SYSTEM_PULLREQUEST_TARGETBRANCH", ""):
        merge = environment.get("BUILD_SOURCEVERSION", "") if _MERGE_REF.fullmatch(ref) else ""
        if merge == environment.get("SYSTEM_PULLREQUEST_SOURCECOMMITID"):
            merge = ""  # a branch that is built as it is may end with a merge too, the other way round
        return CiBase(system, "SYSTEM_PULLREQUEST_TARGETBRANCH", branch=_short(target), merge_commit=merge)
    return _queued(environment, system, "BUILD_SOURCEBRANCH")


def _bitbucket(environment: Mapping[str, str]) -> CiBase | None:
    """Read Bitbucket Pipelines: "Variables and secrets".

    A pull request's pipeline merges the destination into the source, so the first parent of HEAD is the
    change itself, and no base. BITBUCKET_PR_DESTINATION_COMMIT is a hash of 12 characters only.
    """
    target = environment.get("BITBUCKET_PR_DESTINATION_BRANCH", "")
    return (
        CiBase("Bitbucket Pipelines", "BITBUCKET_PR_DESTINATION_BRANCH", branch=_short(target))
        if target
        else None
    )


def _buildkite(environment: Mapping[str, str]) -> CiBase | None:
    """Read Buildkite: "Environment variables".

    BUILDKITE_MERGE_QUEUE_BASE_COMMIT is a merge base already; the base branch of a build that is for no pull
    request is the empty text. Of a push Buildkite does not say what was before.
    """
    system = "Buildkite"
    base = environment.get("BUILDKITE_MERGE_QUEUE_BASE_COMMIT", "")
    if HASH.fullmatch(base):
        return CiBase(system, "BUILDKITE_MERGE_QUEUE_BASE_COMMIT", commit=base)
    for variable in ("BUILDKITE_MERGE_QUEUE_BASE_BRANCH", "BUILDKITE_PULL_REQUEST_BASE_BRANCH"):
        if target := environment.get(variable, ""):
            return CiBase(system, variable, branch=_short(target))
    return _queued(environment, system, "BUILDKITE_BRANCH")


def _jenkins(environment: Mapping[str, str]) -> CiBase | None:
    """Read Jenkins: "Global Variable Reference", and "Environment variables" of the Git plugin.

    Jenkins merges a change request itself, with a fast-forward where it can, so the first parent of HEAD
    tells nothing. Of a branch it knows what it built before: the last commit that passed is the base, since
    with GIT_PREVIOUS_COMMIT, the last one built, a growth would fail once and then be the state before.
    """
    system = "Jenkins"
    if target := environment.get("CHANGE_TARGET", ""):
        return CiBase(system, "CHANGE_TARGET", branch=_short(target))
    if environment.get("TAG_NAME"):
        return None
    if queued := _queued(environment, system, "BRANCH_NAME"):
        return queued
    before = environment.get("GIT_PREVIOUS_SUCCESSFUL_COMMIT", "")  # "null" where a pipeline copied it
    return CiBase(system, "GIT_PREVIOUS_SUCCESSFUL_COMMIT", commit=before) if HASH.fullmatch(before) else None


def _circleci(environment: Mapping[str, str]) -> CiBase | None:
    """Read CircleCI: "Project values and variables".

    No variable names a target branch or an earlier commit; CIRCLE_PULL_REQUEST is an address. The pipeline
    value `pipeline.git.base_revision` has to be handed on as LAYERGUARD_BASE.
    """
    return _queued(environment, "CircleCI", "CIRCLE_BRANCH")


_SYSTEMS: dict[str, Callable[[Mapping[str, str]], CiBase | None]] = {
    "GITLAB_CI": _gitlab,
    "TF_BUILD": _azure,
    "BITBUCKET_BUILD_NUMBER": _bitbucket,
    "BUILDKITE": _buildkite,
    "JENKINS_URL": _jenkins,
    "CIRCLECI": _circleci,
}


def _queued(environment: Mapping[str, str], system: str, variable: str) -> CiBase | None:
    target = _queue_target(environment.get(variable, ""))
    return CiBase(system, variable, branch=target) if target else None


def _queue_target(ref: str) -> str:
    """Return the branch that GitHub's merge queue built a branch for: other systems see that branch only."""
    queue = _QUEUE.fullmatch(ref)
    return queue[1] if queue else ""


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")
