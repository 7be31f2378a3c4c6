"""Small projects on disk, and layerguard as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = [sys.executable, "-m", "layerguard"]

AB = """\
[[contract]]
id = "ab"
kind = "independence"
modules = ["app.a", "app.b"]
because = "They are sold apart."
hint = "Ask app.base."
"""

UNCHECKED = "whether the allowance file has grown was not checked: this is no git checkout."
"""What a check of these projects notes: they are in no git checkout."""

BROKEN = {
    "layerguard.toml": AB,
    "app/__init__.py": "",
    "app/a.py": "import os\n\nimport app.b\n",
    "app/b.py": "",
}
"""One violation of `ab`, at line 3 and column 8 of `app/a.py`."""


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files (line ends as they are) below a folder, and return it."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def allow(*keys: str, contract: str = "ab") -> str:
    """The text of an allowance file with these entries."""
    return "\n".join(["version = 1", "", f"[allow.{contract}]", *(f'"{key}" = {{}}' for key in keys), ""])


def run(
    root: Path, *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run layerguard in a folder and return its status and its bytes."""
    return subprocess.run(
        [*PROGRAM, *words],
        cwd=root,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        check=False,
        timeout=60,
    )
