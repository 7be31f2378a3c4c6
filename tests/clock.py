"""Waits for the file system's clock, by which a cache tells old files from young ones."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def settle() -> None:
    """Wait until all that was written so far has an earlier time than what is written next."""
    with tempfile.TemporaryDirectory(prefix="clock-") as folder:
        probe = Path(folder) / "probe"
        probe.write_bytes(b"")
        start = probe.stat().st_ctime_ns
        while probe.stat().st_ctime_ns <= start:
            os.utime(probe)
