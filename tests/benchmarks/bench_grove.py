"""Speed of Grove: pytest tests/benchmarks/bench_grove.py, or ratios.py for the ratios."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from pycocotools import mask as coco
from scipy.optimize import linear_sum_assignment

from lookcheck.metrics.grove import compute

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLES, INSTANCES, HEIGHT, WIDTH = 1157, 5, 1080, 1920

Rows = list[dict[str, Any]]


def blob(draw: np.random.Generator) -> dict[str, Any]:
    """A wavy ellipse of 1920×1080, as a compressed encoding of about 1.3 kB."""
    y, x = np.ogrid[:HEIGHT, :WIDTH]
    dy = (y - draw.uniform(100, HEIGHT - 100)) / draw.uniform(60, 400)
    dx = (x - draw.uniform(100, WIDTH - 100)) / draw.uniform(60, 500)
    filled = dy**2 + dx**2 < 1 + 0.15 * np.sin(9 * np.arctan2(dy, dx))
    encoded = coco.encode(np.asfortranarray(filled, dtype=np.uint8))
    return {"size": [HEIGHT, WIDTH], "counts": encoded["counts"].decode()}


def samples(n: int = SAMPLES, instances: int = INSTANCES) -> tuple[Rows, Rows]:
    """Predictions and references of `n` samples; every mask is an object of its own."""
    draw = np.random.default_rng(2605)
    pool = [blob(draw) for _ in range(200)]

    def pick() -> Rows:
        return [dict(pool[index]) for index in draw.integers(0, len(pool), instances)]

    return [{"verdict": "yes", "masks": pick()} for _ in range(n)], [{"masks": pick()} for _ in range(n)]


def bare(predictions: Rows, references: Rows) -> None:
    """Only what has to be: pycocotools' IoU and scipy's matching, no check, no result."""
    for prediction, reference in zip(predictions, references, strict=True):
        iou = coco.iou(prediction["masks"], reference["masks"], [0] * len(reference["masks"]))
        linear_sum_assignment(iou, maximize=True)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def ratios() -> list[dict[str, Any]]:
    """Measured figures with their limits; all of one run, so that they hold on any machine."""
    import evaluate

    rows = samples()
    # In turns, so that a busy moment of the machine meets both; the median of the nine ratios.
    pairs = [(_seconds(lambda: bare(*rows)), _seconds(lambda: compute(*rows))) for _ in range(9)]
    whole = min(seconds for _, seconds in pairs)
    ratio = median(seconds / floor for floor, seconds in pairs)
    few = samples(5_000, 1)
    metric = evaluate.load(str(REPOSITORY / "metrics" / "grove"))
    direct = min(_seconds(lambda: compute(*few)) for _ in range(3))
    module = min(_seconds(lambda: metric.compute(predictions=few[0], references=few[1])) for _ in range(3))
    return [
        {
            "name": "grove: 1,157 × 5×5 masks of 1920×1080, seconds",
            "measured": whole,
            "limit": 0.4,
            "rule": "info",
        },
        {
            "name": "grove: times bare IoU and matching",
            "measured": ratio,
            "limit": 1.5,
            "rule": "at most",
        },
        {
            "name": "grove: evaluate, 5,000 rows, seconds",
            "measured": module,
            "limit": 2 * direct + 1,
            "rule": "at most",
        },
    ]


def test_whole(benchmark: Any) -> None:
    result = benchmark.pedantic(compute, args=samples(), rounds=3)
    assert len(result["per_sample"]) == SAMPLES


def test_bare(benchmark: Any) -> None:
    benchmark.pedantic(bare, args=samples(), rounds=3)
