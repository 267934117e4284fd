"""Pictures prepared in threads while the device computes, as many ahead as the next batch needs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

J = TypeVar("J")
P = TypeVar("P")

_MOST_THREADS = 16


class Pipeline(Generic[J, P]):
    """Runs jobs in threads, in order, a bounded number ahead of the one who takes their results.

    What is made and not yet taken is never more than the jobs of the next batch, or two for each thread:
    memory doesn't grow with the run.

    Parameters
    ----------
    prepare : callable
        From a job to its result; called in threads.
    threads : int, optional
        As many as there are processors, 16 at most, if not given.
    """

    def __init__(self, prepare: Callable[[J], P], threads: int | None = None) -> None:
        self._prepare = prepare
        self._threads = threads or min(_MOST_THREADS, os.cpu_count() or 1)

    def run(self, batches: Sequence[Sequence[J]]) -> Iterator[list[P | Exception]]:
        """Yield the results of each batch's jobs, in order; an exception stands for its job's result.

        While the one who asks works on a batch, the next ones are being prepared.
        """
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="pictures")
        jobs = (job for batch in batches for job in batch)
        waiting: deque[Future[P]] = deque()

        def fill(ahead: int) -> None:
            while len(waiting) < ahead:
                try:
                    job = next(jobs)
                except StopIteration:
                    return
                waiting.append(pool.submit(self._prepare, job))

        try:
            for number, batch in enumerate(batches):
                following = batches[number + 1] if number + 1 < len(batches) else ()
                ahead = max(2 * self._threads, len(following))
                results: list[P | Exception] = []
                for _ in batch:
                    fill(ahead)
                    try:
                        results.append(waiting.popleft().result())
                    except Exception as error:
                        results.append(error)
                fill(ahead)
                yield results
                # Not kept here while the next batch is made.
                del results
        finally:
            for future in waiting:
                future.cancel()
            pool.shutdown(wait=True, cancel_futures=True)
