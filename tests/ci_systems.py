"""Environments as CI systems set them, after printed ones of real runs and the vendors' pages."""

from __future__ import annotations

TIP = "b9173d9402ae3abca09f0b45b524a7567df05811"
BEFORE = "faaf3a986cf77f46a40af16186a31f2c54737eae"
MERGE = "fabce0da324c977490b1d9e682c3bcaa6e96494b"
SOURCE = "db49327fe5e5bfea81fb88cdbbf24e283538c395"
TARGET = "dc78d69a83b22190ba68b13bde0c1a2eaedd5f0a"
ZEROS = "0" * 40
QUEUED = f"gh-readonly-queue/release/2.x/pr-75-{TARGET}"

GITHUB = {
    "CI": "true",
    "GITHUB_ACTION": "__run_2",
    "GITHUB_ACTIONS": "true",
    "GITHUB_ACTOR": "octocat",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_BASE_REF": "",
    "GITHUB_EVENT_NAME": "push",
    "GITHUB_EVENT_PATH": "/home/runner/work/_temp/_github_workflow/event.json",
    "GITHUB_HEAD_REF": "",
    "GITHUB_JOB": "lint",
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_REF_NAME": "main",
    "GITHUB_REF_TYPE": "branch",
    "GITHUB_REPOSITORY": "acme/shop",
    "GITHUB_RUN_ID": "135716608",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_SHA": TIP,
    "GITHUB_WORKSPACE": "/home/runner/work/shop/shop",
    "RUNNER_OS": "Linux",
}
PUSH = {
    "ref": "refs/heads/main",
    "before": BEFORE,
    "after": TIP,
    "created": False,
    "deleted": False,
    "forced": False,
    "base_ref": None,
    "compare": "https://github.com/acme/shop/compare/faaf3a986cf7...b9173d9402ae",
    "repository": {"id": 1, "full_name": "acme/shop", "default_branch": "main", "master_branch": "main"},
    "commits": [{"id": TIP, "message": "Take it apart", "distinct": True}],
}
GROUP = {
    "action": "checks_requested",
    "merge_group": {
        "head_sha": MERGE,
        "head_ref": f"refs/heads/{QUEUED}",
        "base_sha": TARGET,
        "base_ref": "refs/heads/release/2.x",
        "head_commit": {"id": MERGE},
    },
    "repository": {"id": 1, "full_name": "acme/shop", "default_branch": "main"},
}
GITLAB = {
    "CI": "true",
    "CI_COMMIT_BEFORE_SHA": BEFORE,
    "CI_COMMIT_BRANCH": "main",
    "CI_COMMIT_REF_NAME": "main",
    "CI_COMMIT_SHA": TIP,
    "CI_COMMIT_TITLE": "Take it apart",
    "CI_DEFAULT_BRANCH": "main",
    "CI_JOB_ID": "111560648",
    "CI_JOB_NAME": "layerguard",
    "CI_PIPELINE_SOURCE": "push",
    "CI_PROJECT_DIR": "/builds/acme/shop",
    "CI_PROJECT_PATH": "acme/shop",
    "CI_SERVER": "yes",
    "CI_SERVER_VERSION": "17.2.1",
    "GITLAB_CI": "true",
}
MERGE_REQUEST = {key: value for key, value in GITLAB.items() if key != "CI_COMMIT_BRANCH"} | {
    "CI_COMMIT_BEFORE_SHA": ZEROS,
    "CI_COMMIT_REF_NAME": "apart",
    "CI_MERGE_REQUEST_DIFF_BASE_SHA": BEFORE,
    "CI_MERGE_REQUEST_EVENT_TYPE": "detached",
    "CI_MERGE_REQUEST_IID": "43",
    "CI_MERGE_REQUEST_REF_PATH": "refs/merge-requests/43/head",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "apart",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release/2.x",
    "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "",
    "CI_PIPELINE_SOURCE": "merge_request_event",
}
AZURE = {
    "AGENT_JOBNAME": "Job",
    "AGENT_NAME": "Hosted Agent",
    "BUILD_BUILDID": "4",
    "BUILD_REASON": "IndividualCI",
    "BUILD_REPOSITORY_PROVIDER": "GitHub",
    "BUILD_REPOSITORY_URI": "https://github.com/acme/shop",
    "BUILD_SOURCEBRANCH": "refs/heads/main",
    "BUILD_SOURCEBRANCHNAME": "main",
    "BUILD_SOURCEVERSION": TIP,
    "SYSTEM_TEAMPROJECT": "shop",
    "TF_BUILD": "True",
}
AZURE_PULL = AZURE | {
    "BUILD_REASON": "PullRequest",
    "BUILD_SOURCEBRANCH": "refs/pull/89/merge",
    "BUILD_SOURCEBRANCHNAME": "merge",
    "BUILD_SOURCEVERSION": MERGE,
    "SYSTEM_PULLREQUEST_ISFORK": "False",
    "SYSTEM_PULLREQUEST_PULLREQUESTID": "540266026",
    "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER": "89",
    "SYSTEM_PULLREQUEST_SOURCEBRANCH": "apart",
    "SYSTEM_PULLREQUEST_SOURCECOMMITID": SOURCE,
    "SYSTEM_PULLREQUEST_TARGETBRANCH": "release/2.x",
}
BITBUCKET = {
    "BITBUCKET_BRANCH": "apart",
    "BITBUCKET_BUILD_NUMBER": "5",
    "BITBUCKET_CLONE_DIR": "/opt/atlassian/pipelines/agent/build",
    "BITBUCKET_COMMIT": TIP,
    "BITBUCKET_REPO_FULL_NAME": "acme/shop",
    "BITBUCKET_WORKSPACE": "acme",
    "CI": "true",
}
BUILDKITE = {
    "BUILDKITE": "true",
    "BUILDKITE_BRANCH": "apart",
    "BUILDKITE_BUILD_NUMBER": "1514",
    "BUILDKITE_COMMIT": TIP,
    "BUILDKITE_PIPELINE_DEFAULT_BRANCH": "main",
    "BUILDKITE_PIPELINE_PROVIDER": "github",
    "BUILDKITE_PULL_REQUEST": "false",
    "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "",
    "BUILDKITE_PULL_REQUEST_REPO": "",
    "BUILDKITE_SOURCE": "webhook",
    "BUILDKITE_TAG": "",
    "CI": "true",
}
JENKINS = {
    "BRANCH_IS_PRIMARY": "true",
    "BRANCH_NAME": "main",
    "BUILD_NUMBER": "1337",
    "BUILD_TAG": "jenkins-shop-main-1337",
    "BUILD_URL": "https://jenkins.example.com/job/shop/job/main/1337/",
    "GIT_BRANCH": "main",
    "GIT_COMMIT": TIP,
    "GIT_PREVIOUS_COMMIT": SOURCE,
    "GIT_PREVIOUS_SUCCESSFUL_COMMIT": BEFORE,
    "GIT_URL": "https://git.example.com/shop.git",
    "JENKINS_HOME": "/var/jenkins_home",
    "JENKINS_URL": "https://jenkins.example.com/",
    "JOB_NAME": "shop/main",
    "WORKSPACE": "/var/jenkins_home/workspace/shop_main",
}
CIRCLECI = {
    "CI": "true",
    "CIRCLECI": "true",
    "CIRCLE_BRANCH": "apart",
    "CIRCLE_BUILD_NUM": "1337",
    "CIRCLE_JOB": "lint",
    "CIRCLE_PROJECT_REPONAME": "shop",
    "CIRCLE_PROJECT_USERNAME": "acme",
    "CIRCLE_PULL_REQUEST": "https://github.com/acme/shop/pull/43",
    "CIRCLE_REPOSITORY_URL": "git@github.com:acme/shop.git",
    "CIRCLE_SHA1": TIP,
}
ALL = [GITHUB, GITLAB, MERGE_REQUEST, AZURE, AZURE_PULL, BITBUCKET, BUILDKITE, JENKINS, CIRCLECI]
