"""The environment that the tools are installed in, and what a reader must know of the machine."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import re
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.scenarios import Tools

CHECKOUT = Path(__file__).parent.parent
_PINS = Path(__file__).with_name("requirements.txt")
_NAMES = ("layerguard", "import-linter", "grimp", "tach", "ruff")
_VERSIONS = (
    f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {_NAMES!r}}}))"
)


def install(work: Path) -> Tools:
    """Return the tools: the pinned ones, and layerguard as it is in this checkout, as users install it."""
    folder = work / "venv"
    scripts = folder / "bin"
    python = str(scripts / "python")
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    if not scripts.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([*pip, "--requirement", str(_PINS), str(CHECKOUT)], check=True)
    # The version does not change with the code, so pip would keep what it has.
    subprocess.run([*pip, "--force-reinstall", "--no-deps", str(CHECKOUT)], check=True)
    return Tools(scripts)


def head(tools: Tools) -> list[str]:
    """Return lines about the time, the machine and the versions; nothing that names the machine."""
    asked = subprocess.run(tools.command("python", "-c", _VERSIONS), check=True, capture_output=True)
    versions = json.loads(asked.stdout)
    revision = _revision()
    return [
        f"- Date: {dt.datetime.now(dt.UTC):%Y-%m-%d}",
        f"- Machine: {_processor()}, {len(os.sched_getaffinity(0))} cores, {_memory()} GB of memory",
        f"- System: {platform.system()} {platform.release()}",
        f"- Python: {platform.python_version()}",
        *(f"- {name}: {versions[name]}{revision if name == 'layerguard' else ''}" for name in _NAMES),
    ]


def _revision() -> str:
    asked = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"],
        cwd=CHECKOUT,
        check=False,
        capture_output=True,
    )
    return f" ({asked.stdout.decode().strip()})" if asked.returncode == 0 else ""


def _processor() -> str:
    if sys.platform == "linux":
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def _memory() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
