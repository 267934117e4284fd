"""What `evaluate` does with every metric: combined, in batches, in several processes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

METRIC = Path(__file__).parents[2] / "metrics" / "grove"
OTHERS = ("soft_vqa_acc", "salart_chain", "perturbed_pope")

ROWS = """
NAN = float("nan")
M = {"size": [2, 4], "counts": "044"}
A = {"q1": "yes", "q2": "A", "q3": "B", "q4": "C"}
POPE = {"text": "yes", "logp_yes": NAN, "logp_no": NAN, "entity_rank": 0, "entity_prob": NAN}
ROWS = {
    "grove": ({"verdict": "yes", "masks": [M]}, {"masks": [M]}, {"verdict": "maybe", "masks": [M]}),
    "soft_vqa_acc": ("cat", ["cat", "dog"], 5),
    "salart_chain": (A, {"role": "artifact", **A}, {**A, "q1": 5}),
    "perturbed_pope": (
        POPE,
        {"label": "yes", "condition": "original", "parent_id": "", "split": "random"},
        {**POPE, "text": 5},
    ),
}
"""

COMBINED = """
import json
import evaluate

found = {}
for name, (P, R, bad) in ROWS.items():
    metric = evaluate.load(f"metrics/{name}")
    together = evaluate.combine([metric])
    for _ in range(2):
        together.add(prediction=P, reference=R)
    added = together.compute()
    together.add_batch(predictions=[P, P], references=[R, R])
    said = []
    for call in (
        # The third row of all, counted from 0; named rows by their ids.
        lambda: together.add(prediction=bad, reference=R),
        lambda: metric.add_batch(predictions=[P, bad], references=[R, R]),
    ):
        try:
            call()
        except ValueError as error:
            said.append(str(error))
    batch = together.compute()
    try:
        metric.compute(predictions=[P, bad], references=[R, R], ids=["x", "y"])
    except ValueError as error:
        said.append(str(error))
    found[name] = [added == batch, len(added["per_sample"]), said]
print(json.dumps(found))
"""


def test_combined_and_complaints(run_alone: Callable[[str, Path], str], tmp_path: Path) -> None:
    for name in OTHERS:
        shutil.copytree(METRIC.parent / name, tmp_path / "metrics" / name)
    found = json.loads(run_alone(ROWS + COMBINED, tmp_path))
    assert set(found) == {"grove", *OTHERS}
    for name, (same, n, said) in found.items():
        assert (same, n) == (True, 2), name
        assert [text.split(":")[0] for text in said] == ["index 2", "index 3", "id 'y'"], said


PROCESS = """
import json, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        # evaluate imports transformers, and with it torch, wherever they are installed.
        if name.split(".")[0] == "transformers":
            raise ImportError("this process has no " + name)

sys.meta_path.insert(0, Blocker())
import evaluate

name, process = sys.argv[1], int(sys.argv[2])
P, R, _ = ROWS[name]
metric = evaluate.load(f"metrics/{name}", num_process=2, process_id=process, experiment_id="two", cache_dir="cache")
metric.add_batch(predictions=[P] * (process + 1), references=[R] * (process + 1))
said = []
for keyword in metric.per_row:
    try:
        metric.compute(**{keyword: ["a"] * 3})
    except ValueError as error:
        said.append(str(error))
result = metric.compute()
print(json.dumps([said, None if result is None else result["counts"]["n"]]))
"""


def test_keywords_of_rows_are_refused_in_several_processes(tmp_path: Path) -> None:
    """Two processes take part: the first gets all three rows, whose ids neither could name."""
    name = "soft_vqa_acc"
    shutil.copytree(METRIC.parent / name, tmp_path / "metrics" / name)
    (tmp_path / "run.py").write_text(ROWS + PROCESS)
    processes = [
        subprocess.Popen(
            [sys.executable, "run.py", name, str(number)], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        for number in (0, 1)
    ]
    outputs = [json.loads(process.communicate(timeout=600)[0].splitlines()[-1]) for process in processes]
    assert [n for _, n in outputs] == [3, None]
    for said, _ in outputs:
        assert [text.split(":")[0] for text in said] == ["ids", "groups", "question_types", "answer_types"]
        assert all("num_process=2" in text for text in said)
