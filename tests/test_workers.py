from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from layerguard import workers
from layerguard.workers import spread as spread_over

MANY = range(1000)


def spread(function: Callable[[int], Any], items: Sequence[int]) -> Iterator[Any]:
    return spread_over(function, items, pickle.dumps, pickle.loads)


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes be used whatever the machine has, and whatever threads the test runner has."""
    monkeypatch.setattr(workers, "_processors", lambda: 2)
    monkeypatch.setattr(workers, "_may_fork", lambda: True)


def doubled(number: int) -> tuple[int, int]:
    return number * 2, os.getpid()


def ends_process(parent: int, number: int) -> int:
    if number == 500 and os.getpid() != parent:
        os._exit(9)
    return number * 2


def fails(number: int) -> int:
    if number == 500:
        raise ValueError("no")
    return number


def interrupt_handler(_: int) -> object:
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def slow(number: int) -> int:
    time.sleep(0.001)
    return number


@pytest.mark.usefixtures("forking")
class TestProcesses:
    def test_results_come_in_order_and_from_elsewhere(self) -> None:
        results = list(spread(doubled, MANY))
        assert [result for result, _ in results] == [2 * number for number in MANY]
        assert os.getpid() not in {process for _, process in results}

    def test_few_items_are_done_here(self) -> None:
        assert list(spread(doubled, range(399))) == [(2 * number, os.getpid()) for number in range(399)]
        assert os.getpid() not in {process for _, process in spread(doubled, range(400))}

    def test_a_process_that_the_system_ends_takes_nothing_along(self) -> None:
        assert list(spread(partial(ends_process, os.getpid()), MANY)) == [2 * number for number in MANY]

    def test_a_fault_comes_through(self) -> None:
        results: list[int] = []
        with pytest.raises(ValueError, match=r"^no$"):
            results.extend(spread(fails, MANY))
        assert results == list(range(480))
        assert multiprocessing.active_children() == []

    def test_an_interrupt_is_left_to_the_first_process(self) -> None:
        assert set(spread(interrupt_handler, MANY)) == {True}
        assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN

    def test_whoever_stops_early_leaves_no_process(self) -> None:
        results = spread(slow, range(100_000))
        assert isinstance(results, Iterator)
        assert next(results) == 0
        del results
        assert multiprocessing.active_children() == []


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
