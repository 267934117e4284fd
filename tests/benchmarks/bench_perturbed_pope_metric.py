"""Speed of the perturbed POPE metric: pytest tests/benchmarks/bench_perturbed_pope_metric.py, or ratios.py."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lookcheck.metrics.perturbed_pope import CONDITIONS, SPLITS, compute

REPOSITORY = Path(__file__).resolve().parents[2]
ROWS = 5_000

Rows = list[dict[str, Any]]


def answers(n: int = ROWS) -> tuple[Rows, Rows, list[str]]:
    """`n` rows of every condition and split with random answers; the same at every call."""
    draw = random.Random(2605)
    questions = -(-n // (len(CONDITIONS) * len(SPLITS)))
    ids, predictions, references = [], [], []
    for condition in CONDITIONS:
        for split in SPLITS:
            for question in range(questions):
                ids.append(f"{split}-{question}-{condition}")
                predictions.append(
                    {
                        "text": draw.choice(
                            ["Yes, there is.", "No, there is no dog in the image.", "unknown"]
                        ),
                        "logp_yes": -0.7 - draw.expovariate(1),
                        "logp_no": -0.7 - draw.expovariate(1),
                        "entity_rank": draw.randint(1, 5_000),
                        "entity_prob": draw.random() / 100,
                    }
                )
                references.append(
                    {
                        "label": "no" if condition == "entity_swap" else ("yes", "no")[question % 2],
                        "condition": condition,
                        "parent_id": str(question),
                        "split": split,
                    }
                )
    return predictions[:n], references[:n], ids[:n]


def _seconds(call: Callable[[], Any], times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def ratios() -> list[dict[str, Any]]:
    """Measured figures with their limits; all of one run, so that they hold on any machine."""
    import evaluate

    predictions, references, ids = answers()
    metric = evaluate.load(str(REPOSITORY / "metrics" / "perturbed_pope"))
    direct = _seconds(lambda: compute(predictions, references, ids=ids))
    module = _seconds(lambda: metric.compute(predictions=predictions, references=references, ids=ids))
    return [
        {"name": "perturbed_pope: 5,000 rows, seconds", "measured": direct, "limit": 0.25, "rule": "info"},
        # The allowance of one second is for evaluate's own writing and reading of the rows.
        {
            "name": "perturbed_pope: evaluate, 5,000 rows, seconds",
            "measured": module,
            "limit": 2 * direct + 1,
            "rule": "at most",
        },
    ]


def test_direct(benchmark: Any) -> None:
    predictions, references, ids = answers()
    result = benchmark.pedantic(compute, args=(predictions, references), kwargs={"ids": ids}, rounds=3)
    assert len(result["per_sample"]) == ROWS
    assert result["counts"]["unpaired"] == 0
