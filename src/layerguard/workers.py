"""Spreads work over processes where that pays and is safe; elsewhere it is done one after the other."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_ENOUGH = 400
"""With fewer items, starting processes takes longer than they save."""
_CHUNK = 40


def spread(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    encode: Callable[[list[Result]], bytes],
    decode: Callable[[bytes], list[Result]],
) -> Iterator[Result]:
    """Yield what `function` makes of each item, in their order.

    Processes are only forked, so that no program is started anew (which would run the main module of whoever
    calls this), and only from a process without other threads, where a fork is safe. Results come from them
    as the bytes of `encode`, since pickling would take as long as the work. Where the system ends one of them
    (it needs memory, say), the rest is done here.
    """
    processes = min(_processors(), 8)
    if len(items) < _ENOUGH or processes < 2 or not _may_fork():  # noqa: PLR2004
        yield from map(function, items)
        return
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - heavy, and few runs need it

    done = 0
    try:
        for data in _in_processes(
            lambda start: encode([*map(function, items[start : start + _CHUNK])]), len(items), processes
        ):
            results = decode(data)
            yield from results
            done += len(results)
    except BrokenProcessPool:
        yield from map(function, items[done:])


def _in_processes(work: Callable[[int], bytes], number: int, processes: int) -> Iterator[bytes]:
    """Yield what `work` makes of the number of the first item of each chunk."""
    import multiprocessing  # noqa: PLC0415 - the same
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - the same

    # The work is handed on by the fork itself: nothing but numbers and bytes goes between the processes.
    _work.append(work)
    executor = ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), _leave_interrupts)
    try:
        yield from executor.map(_do, range(0, number, _CHUNK))
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
        _work.pop()


_work: list[Callable[[int], bytes]] = []


def _do(start: int) -> bytes:
    return _work[-1](start)


def _leave_interrupts() -> None:
    """Let Ctrl-C reach only the process that started this one: it ends all, and without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _may_fork() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1
