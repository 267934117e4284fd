"""The folder as a module of `evaluate`: alone, offline, without this package; and its README's example."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

METRIC = Path(__file__).parents[3] / "metrics" / "salart_chain"


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
metric = evaluate.load("metrics/salart_chain")
said = []
P = {"q1": "yes", "q2": "A", "q3": "B", "q4": "C"}
A = {"role": "artifact", **P}
R = {"role": "clean_reference", "q1": "no", "q2": "E", "q3": "E", "q4": "E"}
good = {"predictions": [P, P], "references": [A, R]}
for change in (
    {"predictions": [], "references": []},
    {"predictions": [P, {**P, "q3": 3}]},
    {"predictions": [{**P, "q1": None}, P]},
    {"predictions": [P, None]},
    {"predictions": [P, {"q1": "yes"}]},
    {"references": [A, {**R, "role": "real"}]},
    {"references": [{**A, "q4": "E"}, R]},
    {"references": [A]},
    {"parser": "lenient"},
    {"ids": ["x", "x"]},
    {"no_image": ["F", None]},
):
    try:
        metric.compute(**{**good, **change})
        said.append("no error")
    except ValueError as error:
        said.append(str(error))
options = {"ids": ["x", "y"], "groups": [7, 7], "artifact_types": ["count", None], "no_image": ["F", "E"]}
result = metric.compute(**good, **options)
for prediction, reference in zip(good["predictions"], good["references"]):
    metric.add(prediction=prediction, reference=reference)
print(json.dumps([said, result, metric.compute(**options)]))
"""
    said, result, added = json.loads(run_alone(code, tmp_path))
    beginnings = [
        "predictions is empty",
        "index 1: q3 is 3",
        "index 0: q1 is None",
        "index 1: the prediction is None",
        "index 1: the prediction has the fields ['q1']",
        "index 1: the role is 'real'",
        "index 0: the key of q4 is 'E'",
        "references has 1 items, but there are 2 predictions",
        "parser is 'lenient'",
        "index 1: the id 'x' stands twice",
        "id 1: no_image holds None",
    ]
    assert [text.startswith(start) for text, start in zip(said, beginnings, strict=True)] == [True] * 11, said
    assert result["artifact_all_1_4"] == 1.0
    assert result["overall_q1"] == 0.5
    assert result["generated_all_2_4"] is None
    assert result["by_artifact_type"]["count"]["artifact_q1"] == 1.0
    assert result["no_image"]["picks_f"] == 0.5
    assert [row["group"] for row in result["per_sample"]] == [7, 7]
    assert added == result
