"""Runs the lanes of an experiment in turn, and looks at whether each run did what it should."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.lanes import Experiment, Lane, Result, Sample

SETTLE = 3.0
"""Seconds that are waited after files were written: a file which has just changed may change again within the
same tick of the clock, so tools do not trust their caches about it."""

_LAUNCH = Path(__file__).with_name("launch.py")
_END = 500
_VERDICTS = (
    re.compile(r"Contracts: (?P<kept>\d+) kept, (?P<broken>\d+) broken"),
    re.compile(r"(?P<broken>\d+) of (?P<all>\d+) contracts? broken"),
    re.compile(r"(?P<kept>\d+) contracts? kept"),
)
_FILES = re.compile(r"(?:Analyzed |kept.*\. |broken.*\. )(\d+)(?: of \d+)? files")
"""How many files were read. import-linter counts folders that are namespace packages too."""
_ENOUGH = 0.99
"""import-linter passes over folders without an `__init__.py` inside packages that have one."""


def measure(experiment: Experiment, runs: int, timeout: float) -> Result:
    """Run each lane in every round; a lane that was stopped once is not run again."""
    samples: dict[str, list[Sample]] = {lane.name: [] for lane in experiment.lanes}
    try:
        if experiment.warm:
            time.sleep(SETTLE)
            for lane in experiment.lanes:
                _run(lane, timeout)
        for each in range(runs):
            if experiment.before is not None:
                experiment.before(each)
                time.sleep(SETTLE)
            for lane in experiment.lanes:
                if any(sample.timed_out for sample in samples[lane.name]):
                    continue
                sample = _run(lane, timeout)
                samples[lane.name].append(sample)
                where = f"{experiment.scenario} {experiment.tree}: {lane.name}"
                print(f"{where}: {sample.wall:.2f} s {sample.wrong}", file=sys.stderr, flush=True)
    finally:
        if experiment.after is not None:
            experiment.after()
    return Result(experiment, samples)


def _run(lane: Lane, timeout: float) -> Sample:
    with tempfile.TemporaryDirectory() as folder:
        result, output = Path(folder, "result"), Path(folder, "output")
        words = [str(result), str(output), str(timeout), *lane.command]
        subprocess.run(
            [sys.executable, "-I", "-S", str(_LAUNCH), *words],
            cwd=lane.folder,
            env=_environment() | lane.environment,
            check=True,
        )
        seen = json.loads(result.read_text())
        told = output.read_text(errors="replace")
    return Sample(
        wall=seen["wall"],
        cpu=seen["cpu"],
        peak=seen["peak"],
        timed_out=seen["timed_out"],
        wrong="" if seen["timed_out"] else _wrong(lane, seen["status"], told),
    )


def _environment() -> dict[str, str]:
    """Return the environment without what would change a tool: CI systems, colours, other caches."""
    kept = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "USER")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _wrong(lane: Lane, status: int, told: str) -> str:
    if status != lane.status:
        return f"exit status {status} instead of {lane.status}: {' '.join(told[-_END:].split())}"
    verdict = read_verdict(told)
    if lane.verdict is not None and verdict != lane.verdict:
        return f"kept and broken contracts: {verdict} instead of {lane.verdict}"
    read = [int(number) for number in _FILES.findall(told)]
    if lane.verdict is not None and read and read[-1] < _ENOUGH * lane.files:
        return f"only {read[-1]} of {lane.files} files were read"
    return ""


def read_verdict(told: str) -> tuple[int, int] | None:
    """Return how many contracts are kept and broken, as layerguard and lint-imports say."""
    for pattern in _VERDICTS:
        found = pattern.search(told)
        if found:
            number = {name: int(value) for name, value in found.groupdict().items()}
            broken = number.get("broken", 0)
            return number["kept"] if "kept" in number else number["all"] - broken, broken
    return None
