"""The official code's scores of 300 questions, which ship with the tests; the whole set lies beside the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lookcheck.metrics.soft_vqa_acc import compute

FACTS = Path(__file__).parents[2] / "data" / "vqa_official_cases.jsonl"


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FACTS.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize("mode", ["official", "ungated"])
def test_every_shipped_case(mode: str) -> None:
    known = cases()
    assert len(known) == 300
    result = compute(
        [case["prediction"] for case in known],
        [case["answers"] for case in known],
        mode=mode,
        ids=[case["id"] for case in known],
        missing="compared",
        thinking="keep",
    )
    for case, row in zip(known, result["per_sample"], strict=True):
        assert row["score"] == pytest.approx(case[mode], abs=1e-9), case
    # Both scores are among them in every usual value, and they differ where the gate is shut.
    assert {0.0, 0.3, 0.6, 0.9, 1.0} <= {round(case[mode], 9) for case in known}
    assert sum(case["official"] != case["ungated"] for case in known) > 10


def test_the_shipped_cases_are_of_the_whole_set(shared_data: Path) -> None:
    path = shared_data / "vqa" / "soft_accuracy_oracle.jsonl"
    whole = {case["id"]: case for case in map(json.loads, filter(None, path.read_text("utf-8").split("\n")))}
    for case in cases():
        assert case == {key: whole[case["id"]][key] for key in case}
