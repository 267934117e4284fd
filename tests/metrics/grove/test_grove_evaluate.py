"""The folder as a module of `evaluate`: alone, offline, without this package; and its README's example."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

METRIC = Path(__file__).parents[3] / "metrics" / "grove"


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
metric = evaluate.load("metrics/grove")
said = []
M = {"size": [2, 4], "counts": "044"}
P = {"verdict": "yes", "masks": [M]}
R = {"masks": [M]}
good = {"predictions": [P, P], "references": [R, R]}
for change in (
    {"predictions": [], "references": []},
    {"predictions": [P, {**P, "verdict": "maybe"}]},
    {"predictions": [{**P, "verdict": None}, P]},
    {"predictions": [P, None]},
    {"predictions": [P, {**P, "masks": [{"size": [2, 4], "counts": "043"}]}]},
    {"predictions": [P, {**P, "masks": [{"size": [2, 4.5], "counts": "044"}]}]},
    {"predictions": [P, {**P, "masks": [{"size": [2, 4], "counts": [0, 4, 4]}]}]},
    {"references": [R]},
    {"epsilon": 7},
    {"ids": ["x", "x"]},
    {"predictions": [P, {**P, "verdict": "none"}]},
):
    try:
        metric.compute(**{**good, **change})
        said.append("no error")
    except ValueError as error:
        said.append(str(error))
good["predictions"] = [P, {"verdict": "none", "masks": []}]
options = {"ids": ["x", "y"], "groups": [7, 7], "tasks": ["ocr", "spatial"], "unjudged": "wrong", "judge": "me"}
result = metric.compute(**good, **options)
for prediction, reference in zip(good["predictions"], good["references"]):
    metric.add(prediction=prediction, reference=reference)
print(json.dumps([said, result, metric.compute(**options)]))
"""
    said, result, added = json.loads(run_alone(code, tmp_path))
    beginnings = [
        "predictions is empty",
        "index 1: the verdict is 'maybe'",
        "index 0: the verdict is None",
        "index 1: the prediction is None",
        "id 1: predicted mask 0: the runs sum to 7, but the size [2, 4] has 8 pixels",
        "index 1: a mask is",
        "index 1: a mask is",
        "references has 1 items, but there are 2 predictions",
        "epsilon is 7",
        "index 1: the id 'x' stands twice",
        "1 of 2 samples have the verdict 'none' (id 1)",
    ]
    assert [text.startswith(start) for text, start in zip(said, beginnings, strict=True)] == [True] * 11, said
    assert result["grove"] == (1 + 0.1) / 2
    assert result["by_task"]["spatial"]["grove"] == 0.1
    assert result["signature"].endswith("|judge:me|n:2|unjudged:1|missing_rule:wrong|missing:0|version:2.1.0")
    assert [row["group"] for row in result["per_sample"]] == [7, 7]
    assert added == result
