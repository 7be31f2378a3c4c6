from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from layerguard import workers
from layerguard.workers import spread as spread_over

MANY = range(1000)


def spread(function: Callable[[int], Any], items: Sequence[int]) -> list[Any]:
    return spread_over(function, items, pickle.dumps, pickle.loads)


def has_children() -> bool:
    """Tell whether a process that was started here has not been waited for."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes be used whatever the machine has, and whatever threads the test runner has."""
    monkeypatch.setattr(workers, "_processors", lambda: 2)
    monkeypatch.setattr(workers, "_may_fork", lambda: True)


def doubled(number: int) -> tuple[int, int]:
    time.sleep(0.0001)
    return number * 2, os.getpid()


def ends_process(parent: int, number: int) -> int:
    time.sleep(0.0001)
    if number > 200 and os.getpid() != parent:
        os._exit(9)
    return number * 2


def fails(parent: int, number: int) -> int:
    time.sleep(0.0001)
    if number > 500 and os.getpid() != parent:
        raise ValueError("elsewhere")
    if number == 900:
        raise ValueError("here")
    return number


def interrupt_handler(_: int) -> tuple[int, bool]:
    time.sleep(0.0001)
    return os.getpid(), signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def interrupts(parent: int, number: int) -> int:
    time.sleep(0.0001)
    if number > 200 and os.getpid() == parent:
        raise KeyboardInterrupt
    return number


@pytest.mark.usefixtures("forking")
class TestProcesses:
    def test_results_come_in_order_from_here_and_elsewhere(self) -> None:
        results = spread(doubled, MANY)
        assert [result for result, _ in results] == [2 * number for number in MANY]
        processes = {process for _, process in results}
        assert os.getpid() in processes
        assert len(processes) == 2
        assert not has_children()

    def test_few_items_are_done_here(self) -> None:
        few = range(workers._ENOUGH - 1)
        assert spread(doubled, few) == [(2 * number, os.getpid()) for number in few]
        assert spread(doubled, ()) == []

    def test_many_items(self) -> None:
        many = range(100_000)
        assert spread(int, many) == [*many]

    def test_a_process_that_the_system_ends_takes_nothing_along(self) -> None:
        assert spread(partial(ends_process, os.getpid()), MANY) == [2 * number for number in MANY]
        assert not has_children()

    def test_a_result_that_was_not_written_to_its_end(self) -> None:
        """A process that is ended leaves what its buffer has written so far: some of a result."""

        def encode(results: list[int]) -> bytes:
            return pickle.dumps(results).ljust(5000)

        work = partial(ends_process, os.getpid())
        assert spread_over(work, MANY, encode, pickle.loads) == [2 * number for number in MANY]

    @pytest.mark.parametrize("name", ["fork", "memfd_create"])
    def test_no_room_for_another_process(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def forbid(*_: object) -> int:
            raise BlockingIOError

        monkeypatch.setattr(os, name, forbid)
        assert {process for _, process in spread(doubled, MANY)} == {os.getpid()}

    def test_a_fault_is_raised_here(self) -> None:
        with pytest.raises(ValueError, match=r"^here$"):
            spread(partial(fails, os.getpid()), MANY)
        assert not has_children()

    def test_an_interrupt_is_left_to_the_first_process(self) -> None:
        found = dict(spread(interrupt_handler, MANY))
        assert found.pop(os.getpid()) is False
        assert list(found.values()) == [True]
        assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN

    def test_an_interrupt_leaves_no_process(self) -> None:
        with pytest.raises(KeyboardInterrupt):
            spread(partial(interrupts, os.getpid()), range(100_000))
        assert not has_children()

    def test_progress(self) -> None:
        told: list[int] = []
        spread_over(doubled, MANY, pickle.dumps, pickle.loads, told.append)
        assert told[0] in {0, 40}
        assert told == sorted(told)
        assert set(told) <= {*range(0, 1000, 40)}


def test_one_processor_does_all_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_may_fork", lambda: True)
    monkeypatch.setattr(workers, "_processors", lambda: 1)
    assert {process for _, process in spread(doubled, MANY)} == {os.getpid()}


def test_beside_other_threads_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_processors", lambda: 2)
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        assert {process for _, process in spread(doubled, MANY)} == {os.getpid()}
    finally:
        over.set()
        other.join()


@pytest.mark.parametrize(("platform", "threads", "may"), [("linux", 1, 1), ("darwin", 1, 0), ("linux", 2, 0)])
def test_where_a_fork_is_safe(monkeypatch: pytest.MonkeyPatch, platform: str, threads: int, may: int) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr("threading.active_count", lambda: threads)
    assert workers._may_fork() is bool(may)


def test_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(os, "sched_getaffinity"):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 4, 5})
        assert workers._processors() == 3
        monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert workers._processors() == 1
