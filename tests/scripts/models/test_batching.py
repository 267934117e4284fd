"""Batches by tokens or rows: their make-up, smaller ones while memory is short, larger ones again."""

from __future__ import annotations

import doctest
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lookcheck.scripts.models import batching
from lookcheck.scripts.models.batching import Batches, left_padded


def limited(most: int, calls: list[int]) -> Any:
    """Work that runs out of memory on more than `most` items, with the words that torch uses."""

    def call(items: Sequence[int]) -> list[int]:
        calls.append(len(items))
        if len(items) > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return [item * item for item in items]

    return call


def ones(count: int) -> dict[int, int]:
    return dict.fromkeys(range(count), 1)


def test_batches_halve_until_they_fit() -> None:
    calls: list[int] = []
    told: list[str] = []
    batches = Batches("cpu", rows=10, say=told.append)
    results = list(batches.run(list(range(10)), ones(10), limited(3, calls)))
    assert [item for part in results for item in part] == [item * item for item in range(10)]
    assert calls == [10, 5, 3, 3, 3, 1]
    assert told == [f"out of memory: batches of {size} from here on" for size in (5, 3)]


def test_one_item_that_does_not_fit_and_other_errors_are_raised() -> None:
    with pytest.raises(torch.OutOfMemoryError):
        list(Batches("cpu").run([1, 2], {1: 1, 2: 1}, limited(0, [])))

    def broken(items: Sequence[int]) -> None:
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        list(Batches("cpu").run([1, 2], {1: 1, 2: 1}, broken))


def test_tokens_that_do_not_fit_halve_and_shorter_rows_still_stand_together() -> None:
    lengths = dict(enumerate([8] * 4 + [2] * 16))
    sizes: list[int] = []

    def call(part: Sequence[int]) -> list[int]:
        sizes.append(len(part) * max(lengths[index] for index in part))
        if sizes[-1] > 16:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return list(part)

    told: list[str] = []
    batches = Batches("cuda", tokens=32, say=told.append)
    cut = batches.cut(lengths)
    assert cut == [[0, 1, 2, 3], list(range(4, 20))]
    done = [index for batch in cut for part in batches.run(batch, lengths, call) for index in part]
    assert done == list(range(20))
    assert sizes == [32, 16, 16, 16, 16]
    assert told == ["out of memory: batches of 16 tokens from here on"]


def test_the_size_comes_back_and_a_failure_makes_it_wait_longer() -> None:
    """Memory is short for the first batch, then for good at 4 rows: the size rises, falls, and waits twice."""
    told: list[tuple[int, str]] = []
    calls: list[int] = []
    batches = Batches("cpu", rows=4, say=lambda line: told.append((len(calls), line)))
    most = 2
    for _ in range(250):
        list(batches.run([0, 1, 2, 3], ones(4), limited(most, calls)))
    smaller, larger = "out of memory: batches of 2 from here on", "memory held: batches of 4 from here on"
    assert [line for _, line in told] == [smaller, larger, smaller, larger, smaller, larger, smaller]
    # 64 parts between the first pair, then 128, then 256; one failed call opens each stretch.
    assert [count for count, _ in told] == [1, 65, 66, 194, 195, 451, 452]
    most = 4
    for _ in range(300):
        list(batches.run([0, 1, 2, 3], ones(4), limited(most, calls)))
    assert batches.room == 4
    assert calls[-1] == 4


@given(
    st.lists(st.integers(1, 300), max_size=60),
    st.one_of(st.tuples(st.just(0), st.integers(1, 900)), st.tuples(st.integers(1, 9), st.none())),
)
def test_every_row_stands_in_one_batch_and_none_is_too_large(
    lengths: list[int], size: tuple[int, int | None]
) -> None:
    rows, tokens = size
    named = {f"row {index}": length for index, length in enumerate(lengths)}
    cut = Batches("cpu", rows=rows, tokens=tokens).cut(named)
    flat = [name for batch in cut for name in batch]
    assert sorted(flat) == sorted(named)
    assert [named[name] for name in flat] == sorted(lengths, reverse=True)
    for batch in cut:
        cost = len(batch) if rows else len(batch) * max(named[name] for name in batch)
        assert len(batch) == 1 or cost <= (rows or tokens or 0)
    # No batch could have taken the next row as well.
    for batch, following in itertools.pairwise(cut):
        more = len(batch) + 1 if rows else (len(batch) + 1) * max(named[name] for name in batch)
        assert more > (rows or tokens or 0), following


def test_left_padding_ends_every_row_at_the_end() -> None:
    ids, mask = left_padded([[7], [1, 2, 3]], 9)
    assert ids.tolist() == [[9, 9, 7], [1, 2, 3]]
    assert mask.tolist() == [[0, 0, 1], [1, 1, 1]]


def test_the_examples() -> None:
    assert doctest.testmod(batching).failed == 0
