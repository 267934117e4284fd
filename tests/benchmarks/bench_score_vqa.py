"""How much memory a million questions take from files to figures, against the files' size.

Run with ratios.py, or with pytest by naming this file.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUESTIONS = 1_000_000
PORTION = 100_000
# Of one child: its peak, and before that the interpreter's with the command's modules alone. Not getrusage:
# it counts the parent, too, from which the child was forked.
PEAK = """
import sys
from lookcheck.scripts.score.__main__ import app
import lookcheck.metrics.soft_vqa_acc
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("VmHWM"))
before = peak()
app(sys.argv[1:], standalone_mode=False)
print(before, peak(), file=sys.stderr)
"""


def write(folder: Path, questions: int) -> int:
    """Write references and predictions as JSON Lines; their size in bytes."""
    spec = importlib.util.spec_from_file_location("vqa_generator", HERE / "vqa_generator.py")
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    with (folder / "r.jsonl").open("w") as labels, (folder / "p.jsonl").open("w") as answers:
        for start in range(0, questions, PORTION):
            rows = zip(*generator.zipf_questions(min(PORTION, questions - start), seed=start), strict=True)
            for id, (prediction, reference) in enumerate(rows, start=start):
                label = {"question_id": id, "answers": reference, "question_type": f"type {id % 65}"}
                labels.write(json.dumps(label) + "\n")
                answers.write(json.dumps({"question_id": id, "answer": prediction}) + "\n")
    return sum((folder / name).stat().st_size for name in ("r.jsonl", "p.jsonl"))


def ratios(questions: int = QUESTIONS) -> list[dict[str, Any]]:
    """Measured figures with their limits."""
    with tempfile.TemporaryDirectory(prefix="lookcheck-bench-") as name:
        size = write(Path(name), questions)
        command = [sys.executable, "-c", PEAK, "vqa", "--references", "r.jsonl", "--predictions", "p.jsonl"]
        done = subprocess.run([*command, "--json"], cwd=name, capture_output=True, text=True, check=True)
    before, peak = (1024 * int(number) for number in done.stderr.split()[-2:])
    return [
        {
            "name": f"score vqa, {questions:,} questions: memory over the files' size",
            "measured": (peak - before) / size,
            "limit": 8,
            "rule": "at most",
        }
    ]


def test_limits() -> None:
    for row in ratios():
        print(row)
        assert row["measured"] <= row["limit"], row
