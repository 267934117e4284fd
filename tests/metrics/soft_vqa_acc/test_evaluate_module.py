"""The folder as a module of `evaluate`: alone, offline, without this package; and its README's example."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

METRIC = Path(__file__).parents[3] / "metrics" / "soft_vqa_acc"


def test_readme_example_prints_what_it_says(run_alone: Callable[[str, Path], str], tmp_path: Path) -> None:
    text = (METRIC / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.S)
    shown = re.search(r"```text\n(.*?)```", text, re.S)
    assert code is not None
    assert shown is not None
    assert run_alone(code[1], tmp_path) == shown[1]


def test_all_options_and_complaints_through_evaluate(
    run_alone: Callable[[str, Path], str], tmp_path: Path
) -> None:
    code = """
import json
import evaluate

try:
    import lookcheck
    raise SystemExit("lookcheck can be imported")
except ImportError:
    pass
metric = evaluate.load("metrics/soft_vqa_acc")
said = []
good = {"predictions": ["Black.", "cat", ""], "references": [["black"] * 10, ["cat", "a cat", "dog"], ["x"]]}
for change in (
    {"predictions": [], "references": []},
    {"predictions": ["a", 3, "b"]},
    {"predictions": ["a", None, "b"]},
    {"predictions": [None, "a", "b"]},
    {"references": [["a"], [], ["b"]]},
    {"references": [["a"], ["b", 4], ["c"]]},
    {"references": [["a"], None, ["c"]]},
    {"references": [["a"]]},
    {"mode": "strict"},
    {"ids": ["x", "x", "y"]},
):
    try:
        metric.compute(**{**good, **change})
        said.append("no error")
    except ValueError as error:
        said.append(str(error))
options = {
    "ids": ["q1", "q2", "q3"],
    "groups": ["g", "g", "h"],
    "question_types": ["what", "what", "is"],
    "answer_types": ["other", "other", "yes/no"],
}
result = metric.compute(**good, **options, mode="ungated", exact_match="most_frequent")
for prediction, reference in zip(good["predictions"], good["references"]):
    metric.add(prediction=prediction, reference=reference)
added = metric.compute(**options, mode="ungated", exact_match="most_frequent")
print(json.dumps([said, result, added]))
"""
    said, result, added = json.loads(run_alone(code, tmp_path))
    beginnings = [
        "predictions is empty",
        "index 1: the prediction is 3",
        "index 1: the prediction is None",
        "index 0: the prediction is None",
        "index 1: the references are empty",
        "index 1: a reference answer is 4",
        "index 1: the references are None",
        "references has 1 items, but there are 3 predictions",
        "mode is 'strict'",
        "index 1: the id 'x' stands twice",
    ]
    assert [text.startswith(start) for text, start in zip(said, beginnings, strict=True)] == [True] * 10, said
    assert [row["score"] for row in result["per_sample"]] == pytest.approx([1, 4 / 9, 0])
    assert [row["group"] for row in result["per_sample"]] == ["g", "g", "h"]
    assert result["by_question_type"]["what"]["n"] == 2
    assert result["counts"] == {"n": 3, "missing": 1, "thinking": {"seen": 0, "cut": 0}}
    assert added == result
