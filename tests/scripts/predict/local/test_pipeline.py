"""Order, bounds and ends of the threads that prepare pictures; what is computed together."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookcheck.dataset_builders.requests.request import Measure, Request
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.local.backend import LocalBackend
from lookcheck.scripts.predict.local.batches import cut
from lookcheck.scripts.predict.local.pipeline import Pipeline


def test_results_come_in_order_and_errors_in_their_place() -> None:
    def prepare(job: int) -> int:
        # Later jobs are done sooner.
        time.sleep(0.002 * (10 - job))
        if job == 4:
            raise ValueError("four")
        return job * job

    found = list(Pipeline(prepare, threads=4).run([[0, 1, 2], [], [3, 4, 5, 6], [7, 8, 9]]))
    assert [[str(item) for item in batch] for batch in found] == [
        ["0", "1", "4"], [], ["9", "four", "25", "36"], ["49", "64", "81"]
    ]  # fmt: skip
    assert isinstance(found[2][1], ValueError)


def test_no_more_is_ready_than_the_next_batch_needs() -> None:
    made, lock = 0, threading.Lock()

    def prepare(job: int) -> int:
        nonlocal made
        with lock:
            made += 1
        return job

    taken, most = 0, 0
    for batch in Pipeline(prepare, threads=2).run([range(n, n + 5) for n in range(0, 500, 5)]):
        taken += len(batch)
        # Give the threads all the time that they could use.
        time.sleep(0.002)
        most = max(most, made - taken)
    assert made == 500
    # The next batch's five at most, as they are more than two for each thread.
    assert most == 5


def test_is_prepared_while_the_batch_is_worked_on() -> None:
    started = threading.Event()

    def prepare(job: int) -> int:
        if job == 1:
            started.set()
        return job

    run = Pipeline(prepare, threads=1).run([[0], [1]])
    next(run)
    assert started.wait(10)
    run.close()


def test_given_up_leaves_no_thread() -> None:
    before = threading.active_count()
    run = Pipeline(lambda job: job, threads=3).run([[number] for number in range(100)])
    next(run)
    run.close()
    assert threading.active_count() == before


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 60)), min_size=1, max_size=40),
    st.integers(1, 200),
    st.booleans(),
)
def test_batches_hold_whole_pictures(rows: list[tuple[int, int]], most: int, by_rows: bool) -> None:
    """Every row once; within the room; a picture in several batches only where it fills them alone."""
    from pathlib import Path

    from lookcheck.dataset_builders.requests.request import Picture

    pictures = [None, *(Picture(Path(), None, "", str(number), (1, 1)) for number in range(1, 6))]
    requests = [Request("a", picture=pictures[picture]) for picture, _ in rows]
    weights = {index: weight for index, (_, weight) in enumerate(rows)}
    batches = cut(requests, weights, most, by_rows=by_rows)
    assert sorted(index for batch in batches for index in batch) == list(range(len(rows)))
    for batch in batches:
        size = len(batch) if by_rows else len(batch) * max(weights[index] for index in batch)
        assert size <= most or len(batch) == 1
        assert [weights[index] for index in batch] == sorted(
            (weights[index] for index in batch), reverse=True
        )
    for picture in range(1, 6):
        held = [
            {rows[index][0] for index in batch}
            for batch in batches
            if any(rows[index][0] == picture for index in batch)
        ]
        assert len(held) == 1 or all(pictures_of == {picture} for pictures_of in held)


def test_a_picture_is_decoded_prepared_and_encoded_once(
    vlm_folder: Any, pictures: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lookcheck.scripts.predict.local import pictures as module
    from lookcheck.scripts.predict.local.answering import Answerer
    from lookcheck.scripts.predict.local.features import Encoder

    counts = {"decoded": 0, "prepared": 0, "encoded": 0}
    opened, encode = module.opened, Encoder.encode
    backend = LocalBackend(str(vlm_folder("qwen2_5_vl")), None, Place(device="cpu"))
    processor = backend._checkpoint.processor.image_processor
    preprocess = type(processor).preprocess

    def counting(name: str, call: Any, number: Any = lambda *arguments: 1) -> Any:
        def counted(*arguments: Any, **options: Any) -> Any:
            counts[name] += number(*arguments)
            return call(*arguments, **options)

        return counted

    monkeypatch.setattr(module, "opened", counting("decoded", opened))
    monkeypatch.setattr(type(processor), "preprocess", counting("prepared", preprocess))
    monkeypatch.setattr(Encoder, "encode", counting("encoded", encode, lambda self, some: len(some)))
    assert Answerer is not None
    requests = [
        Request(f"Is there a dog? {turn}", picture=picture, max_new_tokens=0, measure=Measure(("yes",)))
        for picture in pictures
        for turn in range(6)
    ]
    ask(backend, requests)
    assert counts == {"decoded": 3, "prepared": 3, "encoded": 3}
