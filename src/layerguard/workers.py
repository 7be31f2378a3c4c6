"""Spreads work over processes where that pays and is safe; elsewhere it is done one after the other."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import FileIO
from typing import BinaryIO, NoReturn, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_ENOUGH = 100
"""With fewer items, starting processes takes longer than they save."""
_MOST = 8
"""No more processes than these."""
_CHUNK = 40
_SIZE = 4
"""The bytes of a number in a file."""


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
    starts = range(0, len(items), _CHUNK)

    def work(chunk: int) -> list[Result]:
        return [*map(function, items[starts[chunk] : starts[chunk] + _CHUNK])]

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
    """Processes that read the numbers of chunks from one file, and leave what they make of them in others.

    To read from a file that was opened once moves its place for all of them (POSIX, `fork`).

    Leaving it ends those that are still at work.
    """

    def __init__(self, size: int, chunks: int, work: Callable[[int], bytes]) -> None:
        """Start them, as many as `size`; the numbers are below `chunks`."""
        self._chunks = chunks
        self._files: list[BinaryIO] = []
        self._running: list[int] = []
        self._numbers: FileIO | None = None
        try:
            # Where the system has no room for them, or for more of them, those that there are do it.
            with suppress(OSError):
                for _ in range(size):
                    self._numbers = self._numbers or self._numbered()
                    self._start(work)
        except BaseException:
            self.__exit__()
            raise

    def _start(self, work: Callable[[int], bytes]) -> None:
        file = os.fdopen(os.memfd_create("layerguard"), "w+b")
        self._files.append(file)
        process = os.fork()
        if not process:
            self._serve(work, file)
        self._running.append(process)

    def _numbered(self) -> FileIO:
        """Return a file with all numbers; not a pipe, which may have no room for them."""
        file = FileIO(os.memfd_create("layerguard"), "r+")
        file.write(b"".join([chunk.to_bytes(_SIZE, "big") for chunk in range(self._chunks)]))
        file.seek(0)
        return file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        for file in self._files:
            file.close()
        if self._numbers:
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
        if not self._numbers:
            yield from range(self._chunks)
            return
        while number := self._numbers.read(_SIZE):
            yield int.from_bytes(number, "big")

    def results(self) -> Iterator[tuple[int, bytes]]:
        """Wait for the processes; yield what they made, with the number of the chunk."""
        for process, file in zip([*self._running], self._files, strict=False):
            os.waitpid(process, 0)
            self._running.remove(process)
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
