"""What each CI system names as the base, in each kind of run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from ci_systems import (
    ALL,
    AZURE,
    AZURE_PULL,
    BEFORE,
    BITBUCKET,
    BUILDKITE,
    CIRCLECI,
    GITHUB,
    GITLAB,
    GROUP,
    JENKINS,
    MERGE,
    MERGE_REQUEST,
    PUSH,
    QUEUED,
    SOURCE,
    TARGET,
    ZEROS,
)

from layerguard.allowances.ci import CiBase, ci_base, ci_variable, in_ci
from layerguard.errors import UserError
from layerguard.surroundings import default_format


def github(event: object, **changed: str) -> CiBase | None:
    """What is named with this event in the file that GITHUB_EVENT_PATH names, and in no other."""
    files = {GITHUB["GITHUB_EVENT_PATH"]: json.dumps(event).encode()}
    return ci_base(GITHUB | changed, files.__getitem__)


def unread(path: str) -> bytes:
    raise AssertionError(path)


def names(environment: Mapping[str, str]) -> CiBase | None:
    """What is named without a look into any file."""
    return ci_base(environment, unread)


@pytest.mark.parametrize("environment", [{}, {"CI": "true"}, {"GITHUB_BASE_REF": "main"}, {"CI": "false"}])
def test_no_known_system_names_nothing(environment: dict[str, str]) -> None:
    assert names(environment) is None


def test_github_pull_request() -> None:
    pull = {
        "GITHUB_BASE_REF": "release/2.x",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_HEAD_REF": "apart",
        "GITHUB_REF": "refs/pull/75/merge",
        "GITHUB_REF_NAME": "75/merge",
        "GITHUB_SHA": MERGE,
    }
    assert names(GITHUB | pull) == CiBase(
        "GitHub Actions", "GITHUB_BASE_REF", branch="release/2.x", merge_commit=MERGE
    )


def test_github_pull_request_target_has_no_merge() -> None:
    """There GITHUB_SHA is the tip of the base branch, which may be a merge of its own."""
    pull = {
        "GITHUB_BASE_REF": "main",
        "GITHUB_EVENT_NAME": "pull_request_target",
        "GITHUB_HEAD_REF": "apart",
    }
    assert names(GITHUB | pull) == CiBase("GitHub Actions", "GITHUB_BASE_REF", branch="main")


def test_github_push() -> None:
    assert github(PUSH) == CiBase("GitHub Actions", "GITHUB_EVENT_PATH", commit=BEFORE)
    assert github(PUSH, GITHUB_REF="refs/heads/apart") == github(PUSH)


def test_github_push_of_a_new_branch() -> None:
    event = PUSH | {"before": ZEROS, "created": True}
    main = CiBase("GitHub Actions", "GITHUB_EVENT_PATH", branch="main")
    assert github(event, GITHUB_REF="refs/heads/apart") == main
    assert github(event) is None, "the first push of the default branch"


def test_github_push_after_a_rebase() -> None:
    """The old tip stands on an older default branch; of the default branch it is all that there is."""
    event = PUSH | {"forced": True}
    main = CiBase("GitHub Actions", "GITHUB_EVENT_PATH", branch="main")
    assert github(event, GITHUB_REF="refs/heads/apart") == main
    assert github(event) == CiBase("GitHub Actions", "GITHUB_EVENT_PATH", commit=BEFORE)


def test_github_merge_queue() -> None:
    queue = {"GITHUB_REF": f"refs/heads/{QUEUED}", "GITHUB_SHA": MERGE}
    named = github(GROUP, **queue, GITHUB_EVENT_NAME="merge_group")
    assert named == CiBase("GitHub Actions", "GITHUB_EVENT_PATH", commit=TARGET)
    # The queue's branch is pushed too, and that event does not name the branch that it is for.
    assert names(GITHUB | queue) == CiBase("GitHub Actions", "GITHUB_REF", branch="release/2.x")


@pytest.mark.parametrize(
    "changed",
    [
        {"GITHUB_REF": "refs/tags/v1", "GITHUB_REF_NAME": "v1", "GITHUB_REF_TYPE": "tag"},
        {"GITHUB_EVENT_NAME": "schedule"},
        {"GITHUB_EVENT_NAME": "workflow_dispatch", "GITHUB_REF": "refs/heads/apart"},
        {"GITHUB_EVENT_NAME": "workflow_run"},
        {"GITHUB_EVENT_NAME": "release", "GITHUB_REF": "refs/tags/v1"},
    ],
)
def test_github_events_that_change_no_branch(changed: dict[str, str]) -> None:
    assert names(GITHUB | changed) is None


@pytest.mark.parametrize(
    ("event", "content", "told"),
    [
        ("push", b"{", "is not the event that GitHub describes: "),
        ("push", b"\xff", "is not the event that GitHub describes: "),
        ("push", b'"\xff"', "is not the event that GitHub describes: "),
        ("push", b"[]", "is not the event that GitHub describes: "),
        ("push", b'{"repository": {"default_branch": "main"}}', "is not the event that GitHub describes: "),
        ("push", b'{"before": "0", "repository": {}}', "is not the event that GitHub describes: "),
        (
            "push",
            b'{"before": "--help", "repository": {"default_branch": "main"}}',
            "names no commit as 'before'.",
        ),
        ("merge_group", json.dumps(PUSH).encode(), "is not the event that GitHub describes: "),
        (
            "merge_group",
            b'{"merge_group": {"base_sha": "main"}}',
            "names no commit as 'merge_group.base_sha'.",
        ),
    ],
)
def test_an_event_that_cannot_be_understood(event: str, content: bytes, told: str) -> None:
    path = GITHUB["GITHUB_EVENT_PATH"]
    with pytest.raises(UserError) as caught:
        ci_base(GITHUB | {"GITHUB_EVENT_NAME": event}, {path: content}.__getitem__)
    assert caught.value.message.startswith(f"'{path}' (GITHUB_EVENT_PATH) {told}")
    assert caught.value.hint == "Name the base yourself, with --base or LAYERGUARD_BASE."


def test_the_event_is_read_from_the_disk(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    environment = GITHUB | {"GITHUB_EVENT_PATH": str(file)}
    with pytest.raises(UserError) as caught:
        ci_base(environment)
    assert caught.value.message == f"'{file}' (GITHUB_EVENT_PATH) cannot be read: No such file or directory."
    file.write_text(json.dumps(PUSH))
    assert ci_base(environment) == CiBase("GitHub Actions", "GITHUB_EVENT_PATH", commit=BEFORE)


def test_an_event_without_a_file() -> None:
    with pytest.raises(UserError, match=r"^GITHUB_EVENT_PATH is not set, so what was before"):
        names(GITHUB | {"GITHUB_EVENT_PATH": ""})


def test_gitlab_merge_request() -> None:
    assert names(MERGE_REQUEST) == CiBase(
        "GitLab CI", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", branch="release/2.x"
    )


@pytest.mark.parametrize("kind", ["merged_result", "merge_train", "detached"])
def test_gitlab_merged_results_and_merge_trains(kind: str) -> None:
    """Some versions say `detached` of merged results too, so the kind is not asked for."""
    environment = MERGE_REQUEST | {
        "CI_COMMIT_SHA": MERGE,
        "CI_MERGE_REQUEST_EVENT_TYPE": kind,
        "CI_MERGE_REQUEST_REF_PATH": "refs/merge-requests/43/merge",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": SOURCE,
        "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": TARGET,
    }
    assert names(environment) == CiBase("GitLab CI", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA", commit=TARGET)


def test_gitlab_pull_request_of_another_server() -> None:
    environment = GITLAB | {
        "CI_COMMIT_BRANCH": "apart",
        "CI_EXTERNAL_PULL_REQUEST_IID": "43",
        "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA": TARGET,
        "CI_PIPELINE_SOURCE": "external_pull_request_event",
    }
    assert names(environment) == CiBase(
        "GitLab CI", "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME", branch="main"
    )


def test_gitlab_push() -> None:
    assert names(GITLAB) == CiBase("GitLab CI", "CI_COMMIT_BEFORE_SHA", commit=BEFORE)


@pytest.mark.parametrize("source", ["push", "schedule", "web", "api"])
def test_gitlab_without_a_commit_before(source: str) -> None:
    environment = GITLAB | {"CI_COMMIT_BEFORE_SHA": ZEROS, "CI_PIPELINE_SOURCE": source}
    assert names(environment) is None
    assert names(environment | {"CI_COMMIT_BRANCH": "apart"}) == CiBase(
        "GitLab CI", "CI_DEFAULT_BRANCH", branch="main"
    )


def test_gitlab_tag() -> None:
    environment = {key: value for key, value in GITLAB.items() if key != "CI_COMMIT_BRANCH"}
    assert names(environment | {"CI_COMMIT_TAG": "v1", "CI_COMMIT_REF_NAME": "v1"}) is None


@pytest.mark.parametrize("target", ["release/2.x", "refs/heads/release/2.x"])
def test_azure_pull_request(target: str) -> None:
    named = names(AZURE_PULL | {"SYSTEM_PULLREQUEST_TARGETBRANCH": target})
    assert named == CiBase(
        "Azure Pipelines", "SYSTEM_PULLREQUEST_TARGETBRANCH", branch="release/2.x", merge_commit=MERGE
    )


@pytest.mark.parametrize(
    "changed", [{"BUILD_SOURCEBRANCH": "refs/heads/apart"}, {"BUILD_SOURCEVERSION": SOURCE}]
)
def test_azure_pull_request_that_is_not_merged(changed: dict[str, str]) -> None:
    named = names(AZURE_PULL | changed)
    assert named == CiBase("Azure Pipelines", "SYSTEM_PULLREQUEST_TARGETBRANCH", branch="release/2.x")


def test_bitbucket_pull_request() -> None:
    """No merge is named: its first parent would be the change. The commit is no full hash."""
    pull = {
        "BITBUCKET_COMMIT": "8d081548cabb",
        "BITBUCKET_PR_DESTINATION_BRANCH": "main",
        "BITBUCKET_PR_DESTINATION_COMMIT": "88a27cd7f221",
        "BITBUCKET_PR_ID": "2",
    }
    assert names(BITBUCKET | pull) == CiBase(
        "Bitbucket Pipelines", "BITBUCKET_PR_DESTINATION_BRANCH", branch="main"
    )


def test_buildkite_pull_request() -> None:
    pull = {
        "BUILDKITE_PULL_REQUEST": "123",
        "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
        "BUILDKITE_PULL_REQUEST_REPO": "https://github.com/acme/shop.git",
    }
    assert names(BUILDKITE | pull) == CiBase("Buildkite", "BUILDKITE_PULL_REQUEST_BASE_BRANCH", branch="main")


def test_buildkite_merge_queue() -> None:
    queue = {"BUILDKITE_BRANCH": QUEUED, "BUILDKITE_MERGE_QUEUE_BASE_BRANCH": "release/2.x"}
    assert names(BUILDKITE | queue) == CiBase(
        "Buildkite", "BUILDKITE_MERGE_QUEUE_BASE_BRANCH", branch="release/2.x"
    )
    assert names(BUILDKITE | queue | {"BUILDKITE_MERGE_QUEUE_BASE_COMMIT": TARGET}) == CiBase(
        "Buildkite", "BUILDKITE_MERGE_QUEUE_BASE_COMMIT", commit=TARGET
    )


def test_jenkins_change_request() -> None:
    change = {
        "BRANCH_NAME": "PR-24",
        "CHANGE_BRANCH": "apart",
        "CHANGE_ID": "24",
        "CHANGE_TARGET": "main",
        "CHANGE_URL": "https://github.com/acme/shop/pull/24",
        "GIT_BRANCH": "PR-24",
        "GIT_COMMIT": MERGE,
    }
    assert names(JENKINS | change) == CiBase("Jenkins", "CHANGE_TARGET", branch="main")


def test_jenkins_branch() -> None:
    """The last commit that passed: with the last one built, a growth would fail no second time."""
    assert names(JENKINS) == CiBase("Jenkins", "GIT_PREVIOUS_SUCCESSFUL_COMMIT", commit=BEFORE)
    assert names(JENKINS | {"GIT_PREVIOUS_SUCCESSFUL_COMMIT": "null"}) is None
    assert names(JENKINS | {"TAG_NAME": "v1", "BRANCH_NAME": "v1"}) is None
    first = {key: value for key, value in JENKINS.items() if not key.startswith("GIT_PREVIOUS")}
    assert names(first) is None


@pytest.mark.parametrize("environment", [AZURE, BITBUCKET, BUILDKITE, CIRCLECI])
def test_systems_that_do_not_say_what_was_before_a_push(environment: dict[str, str]) -> None:
    assert names(environment) is None


@pytest.mark.parametrize(
    ("environment", "system", "variable", "prefix"),
    [
        (AZURE, "Azure Pipelines", "BUILD_SOURCEBRANCH", "refs/heads/"),
        (BUILDKITE, "Buildkite", "BUILDKITE_BRANCH", ""),
        (CIRCLECI, "CircleCI", "CIRCLE_BRANCH", ""),
        (JENKINS, "Jenkins", "BRANCH_NAME", ""),
    ],
)
def test_branches_of_the_merge_queue_elsewhere(
    environment: dict[str, str], system: str, variable: str, prefix: str
) -> None:
    named = names(environment | {variable: f"{prefix}{QUEUED}"})
    assert named == CiBase(system, variable, branch="release/2.x")


def test_a_system_is_known_without_ci() -> None:
    """Azure Pipelines and older versions of Jenkins do not set CI."""
    for environment in ALL:
        assert in_ci(environment)
    assert [ci_variable(each) for each in (GITHUB, AZURE, JENKINS)] == ["CI", "TF_BUILD", "JENKINS_URL"]
    assert in_ci({"TEAMCITY_VERSION": "2024.12"})


@pytest.mark.parametrize("value", ["", "0", "false", "False", " "])
def test_ci_can_be_denied(value: str) -> None:
    assert not in_ci({"CI": value})
    assert not in_ci({"HOME": "/root", "TF_BUILD": value})
    assert ci_variable({"CI": value}) == ""


def test_the_format_of_the_system() -> None:
    formats = {"github": [GITHUB], "gitlab": [GITLAB, MERGE_REQUEST], "full": [AZURE, JENKINS, {}]}
    for name, environments in formats.items():
        for environment in environments:
            assert default_format(environment) == name
