"""Runs one command and writes down what it took: `launch.py RESULT OUTPUT SECONDS COMMAND...`.

A small process of its own, because the peak memory that the system tells of a program is at least that of the
process which started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time


def main() -> None:
    """Run the command with its output in a file."""
    result, output, seconds, *command = sys.argv[1:]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setpgroup=0)
    late: list[int] = []

    def stop(number: int, _frame: object) -> None:
        late.append(number)
        os.killpg(pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, float(seconds))
    try:
        _, status, usage = os.wait4(pid, 0)
    except KeyboardInterrupt:
        os.killpg(pid, signal.SIGKILL)
        raise
    wall = time.perf_counter() - start
    signal.setitimer(signal.ITIMER_REAL, 0)
    with open(result, "w") as file:  # noqa: PTH123 - pathlib would make this process larger
        json.dump(
            {
                "wall": wall,
                "cpu": usage.ru_utime + usage.ru_stime,
                "peak": usage.ru_maxrss / 1024,
                "status": os.waitstatus_to_exitcode(status),
                "timed_out": bool(late),
            },
            file,
        )


main()
