"""The folder as a module of `evaluate`: alone, offline, without this package; and its README's example."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

METRIC = Path(__file__).parents[3] / "metrics" / "perturbed_pope"


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
nan = float("nan")
metric = evaluate.load("metrics/perturbed_pope")
said = []
# The first row has numbers that evaluate would take for others' type: integers, and NaN.
P = {"text": "Yes", "logp_yes": -1, "logp_no": -3, "entity_rank": 2, "entity_prob": 0.5}
N = {"text": "No.", "logp_yes": -2.5, "logp_no": -0.25, "entity_rank": 0, "entity_prob": nan}
Q = {"text": "Not sure", "logp_yes": nan, "logp_no": nan, "entity_rank": 0, "entity_prob": nan}
A = {"label": "yes", "condition": "original", "parent_id": "", "split": "random"}
M = {"label": "yes", "condition": "black_mask", "parent_id": "x", "split": "random"}
good = {"predictions": [P, N, Q], "references": [A, M, {**M, "parent_id": "gone"}]}
for change in (
    {"predictions": [], "references": []},
    {"predictions": [P, N, {**Q, "text": 3}]},
    {"predictions": [{**P, "text": None}, N, Q]},
    {"predictions": [P, N, None]},
    {"predictions": [P, N, {"text": "yes"}]},
    {"predictions": [P, {**N, "entity_rank": 2.5}, Q]},
    {"predictions": [P, {**N, "entity_rank": True}, Q]},
    {"predictions": [P, {**N, "logp_no": nan}, Q]},
    {"predictions": [P, N, {**Q, "entity_rank": 1, "entity_prob": 2.0}]},
    {"references": [A, M, {**M, "label": 1}]},
    {"references": [A, {**M, "parent_id": None}, M]},
    {"references": [A]},
    {"parser": "lenient"},
    {"unparsed": "keep"},
    {"ids": ["x", "x", "y"]},
    {"groups": [1, 2, None]},
):
    try:
        metric.compute(**{**good, **change})
        said.append("no error")
    except ValueError as error:
        said.append(str(error))
options = {"ids": ["x", "y", "z"], "groups": [7, 7, 8], "parser": "official", "unparsed": "drop"}
result = metric.compute(**good, **options)
for prediction, reference in zip(good["predictions"], good["references"]):
    metric.add(prediction=prediction, reference=reference)
print(json.dumps([said, result, metric.compute(**options), metric._compute(**good, **options)]))
"""
    said, result, added, direct = json.loads(run_alone(code, tmp_path))
    beginnings = [
        "predictions is empty",
        "index 2: text is 3",
        "index 0: text is None",
        "index 2: the prediction is None",
        "index 2: the prediction has the fields ['text']",
        "index 1: entity_rank is 2.5",
        "index 1: entity_rank is True",
        "index 1: logp_yes is -2.5, but logp_no is nan",
        "index 2: entity_prob is 2.0",
        "index 2: the label is 1",
        "index 1: parent_id is None",
        "references has 1 items, but there are 3 predictions",
        "parser is 'lenient'",
        "unparsed is 'keep'",
        "index 1: the id 'x' stands twice",
        "id 2: groups holds None",
    ]
    assert [text.startswith(start) for text, start in zip(said, beginnings, strict=True)] == [True] * 16, said
    assert result["by_condition"]["black_mask"]["random"]["yes_ratio"] == 0.5
    assert result["paired"]["black_mask"]["random"]["margin_shift_mean"] == -4.25
    assert result["paired"]["black_mask"]["random"]["unpaired"] == 1
    assert result["evidence_reliance"]["black_mask"]["share"] == 1.0
    assert result["by_condition"]["original"]["random"]["mean_probability"] == 0.5
    assert [row["group"] for row in result["per_sample"]] == [7, 7, 8]
    assert (
        "|parser:official|unparsed_rule:drop|missing_rule:wrong|thinking:keep|n:3|missing:0|unparsed:0|unpaired:1|"
        in result["signature"]
    )
    assert added == result == direct
