"""Apply a function to many jobs in several processes, in order and within bounded memory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import wait
from typing import Any, TypeVar

from lookcheck.dataset_builders.core.interrupts import interrupts_held

J = TypeVar("J")
R = TypeVar("R")

Track = Callable[[str, int], Callable[[], None]]
"""Called with a description and a total; returns what is called after each step."""

# Jobs in flight for each process: enough to keep it busy while the parent writes.
WINDOW = 4


def no_track(_description: str, _total: int) -> Callable[[], None]:
    """Show no progress."""
    return lambda: None


@contextmanager
def process_pool(num_proc: int) -> Iterator[ProcessPoolExecutor | None]:
    """Processes for several `ordered_map` in turn: each takes seconds to start. None for one process."""
    if num_proc <= 1:
        yield None
        return
    # Not fork: the parent has threads (progress display, pyarrow).
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(num_proc, mp_context=context, initializer=_die_with_parent)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def ordered_map(
    function: Callable[[J], R],
    jobs: Iterable[J],
    num_proc: int = 1,
    pool: ProcessPoolExecutor | None = None,
) -> Iterator[R]:
    """Yield ``function(job)`` for each job, in the order of the jobs.

    Parameters
    ----------
    function : callable
        Must be picklable if `num_proc` is above 1 (a module's function, or a partial of one).
    jobs : iterable
        Taken as needed: at most ``4 * num_proc`` results wait at a time.
    num_proc : int
        Processes; 1 works in this process.
    pool : ProcessPoolExecutor, optional
        From `process_pool`, with `num_proc` processes or more; started and ended here if not given.

    Examples
    --------
    >>> list(ordered_map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if num_proc <= 1:
        yield from map(function, jobs)
        return
    if pool is None:
        with process_pool(num_proc) as own:
            yield from ordered_map(function, jobs, num_proc, own)
        return
    rest = iter(jobs)
    waiting: deque[Future[R]] = deque()
    try:
        with interrupts_held():
            waiting.extend(pool.submit(function, job) for job in islice(rest, WINDOW * num_proc))
        while waiting:
            result = waiting.popleft().result()
            for job in islice(rest, 1):
                with interrupts_held():
                    waiting.append(pool.submit(function, job))
            yield result
    finally:
        for future in waiting:
            future.cancel()


def _die_with_parent() -> None:
    """End this process when its parent is killed: it would wait for work for ever."""
    # Ctrl-C reaches all processes of a terminal; the parent ends these in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
