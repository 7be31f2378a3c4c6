"""What holds for every test."""

from __future__ import annotations

import os

import pytest

_READ_BY_LAYERGUARD = ("CI", "GITHUB_", "GITLAB_", "LAYERGUARD_", "GIT_", "FORCE_COLOR", "CLICOLOR")
_CI = ("TF_BUILD", "JENKINS_URL", "BUILDKITE", "BITBUCKET_", "TEAMCITY_", "CODEBUILD_")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test depend on the CI system, the terminal or the git configuration that it runs under."""
    for name in list(os.environ):
        if name.startswith((*_READ_BY_LAYERGUARD, *_CI)):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "spec")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "spec@example.invalid")
