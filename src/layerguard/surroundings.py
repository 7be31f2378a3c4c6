"""What the environment of a run says: which format suits it, which git there is.

Loaded by every command before anything else, so that it imports nothing that takes time.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

IN_COLOUR = " in colour"
"""What follows the name of a format in colour."""
FORMATS = ("full", "concise", "json", "github", "gitlab", "sarif", "junit")

LOCAL_TO_GIT = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
"""The variables that are kept from git: what `git rev-parse --local-env-vars` lists, less
GIT_CONFIG_PARAMETERS and GIT_CONFIG_COUNT, with which a CI system sets safe.directory. In a hook the others
speak of the commit that is being made, or of a repository that is not the one of the root."""
_ABOUT_COMMITS = (
    *("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_REFLOG_ACTION"),
    "GIT_EXEC_PATH",
)
"""What git tells a hook, by the beginning of the name: who commits and when, what with, and where git is."""
_OF_GIT = ("GIT_", "HOME", "XDG_CONFIG_HOME", "USERPROFILE")
"""The variables by which git finds its configuration, or what they begin with."""


def git_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that decide what git says of files and revisions."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_OF_GIT) and not name.startswith(_ABOUT_COMMITS) and name not in LOCAL_TO_GIT
    }


def is_set(environment: Mapping[str, str], variable: str) -> bool:
    """Tell whether a variable says yes."""
    return environment.get(variable, "").strip().lower() not in {"", "0", "false"}


def default_format(environment: Mapping[str, str]) -> str:
    """Return the output format that suits the environment: that of the CI system, else `full`."""
    if is_set(environment, "GITHUB_ACTIONS"):
        return "github"
    return "gitlab" if is_set(environment, "GITLAB_CI") else "full"


def find_git(environment: Mapping[str, str]) -> str:
    """Return the git that would be run; empty where there is none, or where only a closer look would tell."""
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder}{os.sep}git"
        if folder and os.access(path, os.X_OK) and not os.path.isdir(path):  # noqa: PTH112 - no pathlib here
            return path
    return ""
