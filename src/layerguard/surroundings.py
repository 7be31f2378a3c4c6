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
