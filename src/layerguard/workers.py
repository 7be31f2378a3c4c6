"""Spreads work over processes where that pays and is safe; elsewhere it is done one after the other."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NoReturn, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_ENOUGH = 100
"""With fewer items, starting processes takes longer than they save."""
_MOST = 8
"""No more processes than these."""
_CHUNK = 40
_MOST_CHUNKS = 8000
"""So many numbers a pipe takes without anyone who reads them."""
_SIZE = 4
"""The bytes of a number that goes through a pipe or a file."""


def spread(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    encode: Callable[[list[Result]], bytes],
    decode: Callable[[bytes], list[Result]],
    progress: Callable[[int], None] | None = None,
) -> list[Result]:
    """Return what `function` makes of each item, in their order.

    Processes are only forked, so that no program is started anew (which would run the main module of whoever
    calls this), and only from a process without other threads, where a fork is safe. This process works like
    them. Results come from them as the bytes of `encode`, since pickling would take as long as the work. What
    one of them does not bring to an end is done here, so that its faults are raised here, too; and where the
    system ends one (it needs memory, say), nothing is lost.

    `progress` is called now and then with the number of items that are done, or in work.
    """
    others = 0 if len(items) < _ENOUGH or not _may_fork() else min(_processors(), _MOST) - 1
    size = max(_CHUNK, -(-len(items) // _MOST_CHUNKS))
    starts = range(0, len(items), size)

    def work(chunk: int) -> list[Result]:
        return [*map(function, items[starts[chunk] : starts[chunk] + size])]

    done: dict[int, list[Result]] = {}
    with _Team(others, len(starts), lambda chunk: encode(work(chunk))) as team:
        for chunk in team.chunks():
            if progress:
                progress(starts[chunk])
            done[chunk] = work(chunk)
        done |= {chunk: decode(data) for chunk, data in team.results()}
    return [
        result for chunk in range(len(starts)) for result in (done[chunk] if chunk in done else work(chunk))
    ]


class _Team:
    """Processes that take the numbers of chunks out of one pipe, and leave what they make of them in files.

    Leaving it ends those that are still at work.
    """

    def __init__(self, size: int, chunks: int, work: Callable[[int], bytes]) -> None:
        """Start them, as many as `size`; the numbers are below `chunks`."""
        self._chunks = chunks
        self._files: list[BinaryIO] = []
        self._running: list[int] = []
        if not size:
            return
        numbers, end = os.pipe()
        self._numbers = os.fdopen(numbers, "rb", 0)
        os.write(end, b"".join([chunk.to_bytes(_SIZE, "big") for chunk in range(chunks)]))
        os.close(end)
        for _ in range(size):
            file = os.fdopen(os.memfd_create("layerguard"), "w+b")
            self._files.append(file)
            process = os.fork()
            if not process:
                self._serve(work, file)
            self._running.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        for file in self._files:
            file.close()
        if self._files:
            self._numbers.close()

    def _serve(self, work: Callable[[int], bytes], file: BinaryIO) -> NoReturn:
        try:
            # Ctrl-C is for the process that started this one: it ends all, and without a traceback.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for chunk in self.chunks():
                data = work(chunk)
                file.write(chunk.to_bytes(_SIZE, "big") + len(data).to_bytes(_SIZE, "big") + data)
            file.flush()
        finally:
            os._exit(0)  # whatever a fault was: what is missing will be made anew

    def chunks(self) -> Iterator[int]:
        """Yield the numbers of chunks, each of which comes to one process only, in their order."""
        if not self._files:
            yield from range(self._chunks)
            return
        while number := self._numbers.read(_SIZE):
            yield int.from_bytes(number, "big")

    def results(self) -> Iterator[tuple[int, bytes]]:
        """Wait for the processes; yield what they made, with the number of the chunk."""
        for file in self._files:
            os.waitpid(self._running[0], 0)
            del self._running[0]
            file.seek(0)
            while len(head := file.read(2 * _SIZE)) == 2 * _SIZE:
                chunk, length = int.from_bytes(head[:_SIZE], "big"), int.from_bytes(head[_SIZE:], "big")
                data = file.read(length)
                if len(data) == length:  # one that was ended may not have written all
                    yield chunk, data


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _may_fork() -> bool:
    """Tell whether a fork is safe: not on macOS, nor beside other threads."""
    threading = sys.modules.get("threading")
    is_alone = threading is None or threading.active_count() == 1
    return sys.platform == "linux" and hasattr(os, "memfd_create") and is_alone
