"""Speed of the chain metric: pytest tests/benchmarks/bench_salart_chain.py, or ratios.py for the ratios."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lookcheck.metrics.salart_chain import compute

REPOSITORY = Path(__file__).resolve().parents[2]
ROWS = 5_000
QUESTIONS = ("q1", "q2", "q3", "q4")

Rows = list[dict[str, str]]


def chains(n: int = ROWS) -> tuple[Rows, Rows]:
    """`n` images of the published composition with random answers; the same at every call."""
    draw = random.Random(2606)
    predictions, references = [], []
    for _ in range(n):
        role = draw.choices(
            ["artifact", "clean_reference", "paired_generated_counterpart"], weights=[475, 356, 119]
        )[0]
        first = {"artifact": "yes", "clean_reference": "no"}.get(role, "")
        rest = {question: draw.choice("ABCD") if role == "artifact" else "E" for question in QUESTIONS[1:]}
        references.append({"role": role, "q1": first, **rest})
        predictions.append(
            {
                "q1": draw.choice(["yes", "no"]) if first else "",
                **{question: draw.choice("ABCDE") for question in QUESTIONS[1:]},
            }
        )
    return predictions, references


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

    predictions, references = chains()
    metric = evaluate.load(str(REPOSITORY / "metrics" / "salart_chain"))
    direct = _seconds(lambda: compute(predictions, references))
    module = _seconds(lambda: metric.compute(predictions=predictions, references=references))
    return [
        {"name": "salart_chain: 5,000 rows, seconds", "measured": direct, "limit": 0.25, "rule": "info"},
        # The allowance of one second is for evaluate's own writing and reading of the rows.
        {
            "name": "salart_chain: evaluate, 5,000 rows, seconds",
            "measured": module,
            "limit": 2 * direct + 1,
            "rule": "at most",
        },
    ]


def test_direct(benchmark: Any) -> None:
    result = benchmark.pedantic(compute, args=chains(), rounds=3)
    assert len(result["per_sample"]) == ROWS
