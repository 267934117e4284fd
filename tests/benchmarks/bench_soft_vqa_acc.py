"""Speed of soft accuracy. Run: pytest tests/benchmarks/bench_soft_vqa_acc.py, or ratios.py for the ratios."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lookcheck.metrics.soft_vqa_acc import compute

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = _module(HERE / "vqa_generator.py")
reference = _module(HERE.parent / "metrics" / "soft_vqa_acc" / "reference.py")


def _seconds(call: Callable[[], Any], times: int = 1) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def ratios() -> list[dict[str, Any]]:
    """Measured figures with their limits; all of one run, so that they hold on any machine."""
    import evaluate

    predictions, references = generator.zipf_questions()
    # One run each: a second one would profit from the hashes that the first left in the strings.
    fast = _seconds(lambda: compute(predictions, references))
    slow = _seconds(lambda: reference.evaluate(predictions, references))
    result = [
        _row(f"soft_vqa_acc: {len(predictions):,} questions, seconds", fast, 3.0, "info"),
        _row(f"soft_vqa_acc: step-by-step reference on {len(predictions):,}, seconds", slow, 78.0, "info"),
        _row("soft_vqa_acc: times faster than the reference", slow / fast, 39.0, "at least"),
    ]
    few_predictions, few_references = predictions[:5_000], references[:5_000]
    del predictions, references
    predictions, references = generator.distinct_questions(40_000)
    fast = _seconds(lambda: compute(predictions, references))
    slow = _seconds(lambda: reference.evaluate(predictions, references))
    result.append(_row("soft_vqa_acc: times faster, all strings distinct", slow / fast, 5.0, "at least"))
    metric = evaluate.load(str(REPOSITORY / "metrics" / "soft_vqa_acc"))
    direct = _seconds(lambda: compute(few_predictions, few_references), times=3)
    module = _seconds(lambda: metric.compute(predictions=few_predictions, references=few_references), times=3)
    # The allowance of one second is for evaluate's own writing and reading of the rows.
    result.append(_row("soft_vqa_acc: evaluate, 5,000 rows, seconds", module, 2 * direct + 1, "at most"))
    return result


def _row(name: str, measured: float, limit: float, rule: str) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "rule": rule}


@pytest.fixture(scope="module")
def questions() -> tuple[list[str], list[list[str]]]:
    made: tuple[list[str], list[list[str]]] = generator.zipf_questions()
    return made


def test_vqa_v2_size(benchmark: Any, questions: tuple[list[str], list[list[str]]]) -> None:
    result = benchmark.pedantic(compute, args=questions, rounds=3)
    assert len(result["per_sample"]) == generator.QUESTIONS


def test_both_agree_on_a_tenth(questions: tuple[list[str], list[list[str]]]) -> None:
    predictions, references = questions[0][:21_435], questions[1][:21_435]
    fast = [row["score"] for row in compute(predictions, references)["per_sample"]]
    assert fast == pytest.approx(reference.evaluate(predictions, references), abs=1e-9)
