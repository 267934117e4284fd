"""Speed of the judge with SmolLM2-135M: what each part gains over greedy replies one by one."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lookcheck.scripts.judge.decision import MAX_NEW_TOKENS, NO_FORMS, YES_FORMS
from lookcheck.scripts.judge.engine import Engine
from lookcheck.scripts.judge.render import Renderer
from lookcheck.scripts.models.forms import single_tokens

TESTS = Path(__file__).resolve().parents[1]
# The slow ways are measured on every third row.
ROWS, EVERY, ROUNDS = 36, 3, 2
BATCH = 4


def _smollm() -> ModuleType:
    path = TESTS / "scripts" / "judge" / "smollm.py"
    spec = importlib.util.spec_from_file_location("bench_smollm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prepared() -> tuple[Callable[[bool], Engine], list[list[int]]]:
    """Makes engines with or without the shared prefix; and the prompts of 36 cases, longest first."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # Two threads are slower than one for a model of this size.
    torch.set_num_threads(1)
    folder = _smollm().folder()
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    renderer = Renderer(tokenizer, "smol")
    lines = (TESTS / "data" / "judge_cases.jsonl").read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line][:: len(lines) // ROWS][:ROWS]
    rows = renderer.ids([(case["question"], case["answer"], case["prediction"]) for case in cases])
    yes, no = (list(single_tokens(tokenizer, forms).values()) for forms in (YES_FORMS, NO_FORMS))

    def engine(share: bool) -> Engine:
        prefix = renderer.prefix if share else None
        return Engine(model, yes=yes, no=no, pad=0, stop=[tokenizer.eos_token_id], prefix=prefix)

    return engine, sorted((row for row in rows if isinstance(row, list)), key=len, reverse=True)


def ratios() -> list[dict[str, Any]]:
    """Measured figures with their limits; all of one run, so that they hold on any machine."""
    try:
        engine, rows = prepared()
    except Exception as error:
        if type(error).__name__ != "Unavailable":
            raise
        print(f"judge: not measured, {error}")
        return []
    whole, sharing, few = engine(False), engine(True), rows[::EVERY]
    ways: dict[str, tuple[int, Callable[[], Any]]] = {
        "generate": (len(few), lambda: [whole.generate([row], MAX_NEW_TOKENS) for row in few]),
        "one pass": (len(few), lambda: [whole.first([row]) for row in few]),
        "batched": (len(few), lambda: in_batches(whole, few)),
        "prefix": (len(few), lambda: [sharing.first([row]) for row in few]),
        # Computing the prefix is part of the work.
        "all": (len(rows), lambda: in_batches(engine(True), rows)),
    }
    best = dict.fromkeys(ways, float("inf"))
    # In turns, so that a busy moment of the machine meets all; the best of each. The time of the
    # processor: there is one thread, and what others do on the machine is not the judge's.
    for _ in range(ROUNDS):
        for name, (count, way) in ways.items():
            start = time.process_time()
            way()
            best[name] = min(best[name], (time.process_time() - start) / count)

    def row(name: str, measured: float, limit: float, rule: str = "info") -> dict[str, Any]:
        return {"name": f"judge: {name}", "measured": measured, "limit": limit, "rule": rule}

    return [
        row("batched logprob with the shared prefix, times generate", best["generate"] / best["all"], 4, "at least"),
        row("gain of no generation", best["generate"] / best["one pass"], 1.2),
        row("gain of the shared prefix", best["one pass"] / best["prefix"], 3.3),
        row("gain of batching, with the prefix", best["prefix"] / best["all"], 1.1),
        row("gain of batching, without the prefix", best["one pass"] / best["batched"], 0.9),
        row("judgements a second of one core", 1 / best["all"], 5.5),
    ]  # fmt: skip


def in_batches(engine: Engine, rows: list[list[int]]) -> None:
    for begin in range(0, len(rows), BATCH):
        engine.first(rows[begin : begin + BATCH])


@pytest.mark.model
def test_batched_with_prefix(benchmark: Any) -> None:
    engine, rows = prepared()
    sharing = engine(True)
    benchmark.pedantic(in_batches, args=(sharing, rows), rounds=3)


@pytest.mark.model
def test_generate_one_by_one(benchmark: Any) -> None:
    engine, rows = prepared()
    whole = engine(False)
    benchmark.pedantic(lambda: [whole.generate([row], MAX_NEW_TOKENS) for row in rows[::EVERY]], rounds=1)
