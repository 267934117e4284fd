"""The device benchmark: the right shape, made where it runs; counted work equal to torch's own count."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import torch

from lookcheck.scripts.models.speed import flops
from lookcheck.scripts.predict import benchmark
from lookcheck.scripts.predict.local.features import Encoder


@pytest.fixture(scope="module")
def model() -> Any:
    torch.set_num_threads(1)
    return benchmark.build(benchmark.TINY_TEXT, benchmark.TINY_VISION, "cpu")


def test_the_shape_is_qwen_s_and_nothing_passes_through_the_host() -> None:
    """On torch's meta device no memory is taken at all."""
    made = benchmark.build(benchmark.TEXT, benchmark.VISION, "meta")
    assert sum(weight.numel() for weight in made.parameters()) == 8_292_166_656
    assert {weight.device.type for weight in made.parameters()} == {"meta"}


def test_counted_work_of_the_vision_tower_is_that_of_torch(model: Any) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    patches = benchmark.ROWS * benchmark.COLUMNS
    shown = {
        "pixel_values": torch.zeros(patches, 14 * 14 * 6),
        "image_grid_thw": torch.tensor([[1, benchmark.ROWS, benchmark.COLUMNS]]),
    }
    model.config.vision_config._attn_implementation = "eager"
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        Encoder(model).encode([shown])
    # 34 × 46 patches are not whole windows: those at the edge are smaller than the bound counts.
    assert benchmark.vision_flops(model.config.vision_config) == pytest.approx(
        counter.get_total_flops(), rel=0.02
    )


def test_command(model: Any) -> None:
    options = ["--device", "cpu", "--tiny", "--pictures", "3", "--questions", "2", "--tokens", "10"]
    options += ["--batch-size", "2", "--batch-size", "3", "--peak", "0.1", "--json"]
    command = [sys.executable, "-m", "lookcheck.scripts", "predict", "benchmark", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["pictures"], told["questions"], told["prompt_tokens"]) == (3, 2, 391 + 2 + 10)
    assert [row["batch_size"] for row in told["measurements"]] == [2, 3]
    work = flops(model.config.text_config, [403] * 6, 0, 1) + 3 * benchmark.vision_flops(
        model.config.vision_config
    )
    for row in told["measurements"]:
        assert row["rows_per_second"] == pytest.approx(6 / row["seconds"])
        assert row["tokens_per_second"] == pytest.approx(6 * 403 / row["seconds"])
        assert row["share_of_peak"] == pytest.approx(work / row["seconds"] / 1e11)


def test_without_a_gpu_it_says_so() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    command = [sys.executable, "-m", "lookcheck.scripts", "predict", "benchmark"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == "error: --device cuda: no GPU that torch can use; --device cpu --tiny tries it out\n"
    )
