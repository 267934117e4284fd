"""The device benchmark: the right shape, made where it runs; counted work equal to torch's own count."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch

from lookcheck.scripts.judge import benchmark
from lookcheck.scripts.judge.engine import Engine
from lookcheck.scripts.models.speed import flops

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def model() -> Any:
    torch.set_num_threads(1)
    return benchmark.build(benchmark.TINY, "cpu")


def test_the_shape_is_qwen_s_and_nothing_passes_through_the_host() -> None:
    """On torch's meta device no memory is taken at all: 28 GB would not fit where this test runs."""
    made = benchmark.build(benchmark.SHAPE, "meta")
    assert sum(weight.numel() for weight in made.parameters()) == 14_770_033_664
    assert {weight.device.type for weight in made.parameters()} == {"meta"}


@pytest.mark.parametrize("way", benchmark.WAYS, ids=lambda way: way.name)
def test_counted_work_is_that_of_torch(model: Any, way: benchmark.Way) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    rows = benchmark.prompts(1, 120, 80, 1_000)
    model.config._attn_implementation = "eager"
    with FlopCounterMode(display=False) as counter:
        engine = Engine(model, yes=[1], no=[2], pad=0, prefix=rows[0][:80] if way.share else None)
        engine.generate(rows, way.new)
    model.config._attn_implementation = "sdpa"
    expected = flops(model.config, [len(rows[0])], 80 if way.share else 0, way.new)
    # Eager attention computes the masked half, too, which is no work that has to be done; and the
    # prefix goes through the output layer once.
    head = 2 * model.config.hidden_size * model.config.vocab_size
    spans = [(0, 80), (80, len(rows[0]))] if way.share else [(0, len(rows[0]))]
    spans += [(len(rows[0]) + step, len(rows[0]) + step + 1) for step in range(way.new - 1)]
    masked = sum((end - begin) * end - (end * (end + 1) - begin * (begin + 1)) / 2 for begin, end in spans)
    extra = 4 * model.config.num_hidden_layers * model.config.hidden_size * masked + head * way.share
    assert counter.get_total_flops() == pytest.approx(expected + extra, rel=1e-3)


def test_prompts_share_a_beginning_and_are_repeatable() -> None:
    rows = benchmark.prompts(200, 250, 190, 1_000)
    assert {tuple(row[:190]) for row in rows} == {tuple(rows[0][:190])}
    assert len({row[190] for row in rows}) > 50
    lengths = [len(row) for row in rows]
    assert lengths == sorted(lengths, reverse=True)
    assert sum(lengths) / 200 == pytest.approx(250, abs=3)
    assert rows == benchmark.prompts(200, 250, 190, 1_000)


def test_command(lookcheck: Run) -> None:
    options = (
        "--device",
        "cpu",
        "--tiny",
        "--rows",
        24,
        "--batch-size",
        4,
        "--batch-size",
        24,
        "--peak",
        0.1,
    )
    run = lookcheck("judge", "benchmark", *options, "--json")
    assert run.code == 0, run.err
    result = json.loads(run.out)
    assert (result["device"], result["dtype"], result["rows"]) == ("cpu", "float32", 24)
    assert [(row["way"], row["batch_size"]) for row in result["measurements"]] == [
        (way.name, size) for way in benchmark.WAYS for size in (4, 24)
    ]
    for row in result["measurements"]:
        assert row["judgements_per_second"] == pytest.approx(24 / row["seconds"])
        assert row["prompt_tokens_per_second"] == pytest.approx(250 * row["judgements_per_second"], rel=0.05)
        assert 0 < row["share_of_peak"] < 1
    shown = lookcheck("judge", "benchmark", *options)
    assert "judgements/s" in shown.out


def test_no_gpu_is_said(lookcheck: Run) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    run = lookcheck("judge", "benchmark")
    assert (run.code, run.err) == (
        2,
        "error: --device cuda: no GPU that torch can use; --device cpu --tiny tries it out\n",
    )
    assert lookcheck("judge", "benchmark", "--device", "cpu", "--tiny", "--prefix", 300).code == 2
