"""`lookcheck score vistaqa` as a person runs it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HALF = {"size": [2, 4], "counts": "044"}
WHOLE = {"size": [2, 4], "counts": [0, 8]}
LABELS = [
    {"id": 1, "masks": [WHOLE], "task": "ocr", "domain": "math"},
    {"id": "b", "masks": [], "task": "counting", "domain": "math"},
    {"id": "c", "masks": [HALF], "task": "ocr", "domain": "indoor"},
]
ANSWERS = [
    {"id": "c", "verdict": "no", "masks": [HALF]},
    {"id": 1, "verdict": "yes", "masks": [HALF]},
    {"id": "b", "verdict": "yes", "masks": []},
]


def write(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def score(
    folder: Path, labels: list[Any] = LABELS, answers: list[Any] = ANSWERS, *options: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lookcheck.scripts.cli", "score", "vistaqa"]
    files = [
        "--references",
        str(write(folder / "r.jsonl", labels)),
        "--predictions",
        str(write(folder / "p.jsonl", answers)),
    ]
    return subprocess.run([*command, *files, *options], capture_output=True, text=True, cwd=folder)


def test_table_json_and_csv(tmp_path: Path) -> None:
    run = score(tmp_path, LABELS, ANSWERS, "--output", "r.json", "--output", "r.csv", "--judge", "me")
    assert run.returncode == 0, run.stderr
    for shown in (
        "67.44",
        "no mask, always right",
        "task counting",
        "judge:me",
        "3 samples: 2 with evidence, 1 without",
    ):
        assert shown in run.stdout
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["grove"] == pytest.approx((0.5**0.5 + 1 + 0.1**0.5) / 3)
    assert [row["id"] for row in result["per_sample"]] == ["1", "b", "c"]
    with (tmp_path / "r.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert float(rows["predictions"]["Grove"]) == result["grove"]
    assert float(rows["all wrong, wrong masks"]["Grove"]) == pytest.approx(0.1)
    shown = json.loads(score(tmp_path, LABELS, ANSWERS, "--json").stdout)
    assert shown["grove"] == result["grove"]
    assert "per_sample" not in shown


def test_missing_answers_are_an_error_or_counted_aloud(tmp_path: Path) -> None:
    run = score(tmp_path, LABELS, ANSWERS[:2])
    assert run.returncode == 2
    assert run.stderr == (
        "error: 1 of 3 samples have the verdict 'none' (id 'b'); "
        "judge them, or count them as wrong with unjudged='wrong'\n"
    )
    run = score(tmp_path, LABELS, ANSWERS[:2], "--unjudged", "wrong")
    assert run.returncode == 0
    assert "1 samples have no prediction" in run.stdout
    assert "1 answers are missing or not judged and count as wrong" in run.stdout
    assert "n:3|unjudged:1" in run.stdout


def test_verdicts_from_their_own_file(tmp_path: Path) -> None:
    bare = [{key: value for key, value in answer.items() if key != "verdict"} for answer in ANSWERS]
    verdicts = write(
        tmp_path / "v.jsonl", [{"id": answer["id"], "verdict": answer["verdict"]} for answer in ANSWERS]
    )
    separate = score(tmp_path, LABELS, bare, "--verdicts", str(verdicts), "--json")
    assert separate.returncode == 0, separate.stderr
    assert json.loads(separate.stdout) == json.loads(score(tmp_path, LABELS, ANSWERS, "--json").stdout)
    both = score(tmp_path, LABELS, ANSWERS, "--verdicts", str(verdicts))
    assert both.returncode == 2
    assert "has a verdict here and in --verdicts" in both.stderr


@pytest.mark.parametrize(
    ("labels", "answers", "options", "said"),
    [
        (
            LABELS,
            [*ANSWERS, {"id": "z", "verdict": "yes", "masks": []}],
            [],
            "p.jsonl:4: the id 'z' is not in",
        ),
        (LABELS, [*ANSWERS, ANSWERS[0]], [], "p.jsonl:4: the id 'c' stands twice"),
        (LABELS, [{"id": 1, "masks": []}], [], "p.jsonl:1: id '1' has no 'verdict'"),
        (LABELS, [{"id": 1, "verdict": "yes"}], ["--unjudged", "wrong"], "p.jsonl:1: id '1' has no 'masks'"),
        (LABELS, [{**ANSWERS[0], "verdict": "Y"}], [], "id 'c': the verdict is 'Y'"),
        ([{"id": 1}], [ANSWERS[1]], [], "r.jsonl:1: id '1' has no 'masks'"),
        ([LABELS[0], {"id": "b", "masks": []}], ANSWERS[1:], [], "r.jsonl:2: id 'b' has no 'task'"),
        (LABELS, ANSWERS, ["--epsilon", "2"], "epsilon is 2"),
        (LABELS, ANSWERS, ["--judge", "a|b"], "judge is 'a|b'"),
        (LABELS, ANSWERS, ["--output", "x.txt"], "ending in .json or .csv"),
    ],
)
def test_refusals_are_one_line_and_write_nothing(
    tmp_path: Path, labels: list[Any], answers: list[Any], options: list[str], said: str
) -> None:
    run = score(tmp_path, labels, answers, "--output", "r.json", *options)
    assert run.returncode == 2, run.stdout
    assert said in run.stderr
    assert run.stderr.count("\n") == 1
    assert not (tmp_path / "r.json").exists()


def test_a_built_folder_gives_the_references(tmp_path: Path) -> None:
    import json
    import subprocess
    import sys

    import pyarrow.parquet as pq

    command = [sys.executable, "-m", "lookcheck.scripts.cli"]
    built = tmp_path / "built"
    subprocess.run([*command, "build", "vistaqa", "--source", "sample", "--output", str(built)], check=True)
    lines = []
    for path in sorted((built / "data").glob("*.parquet")):
        for row in pq.read_table(path, columns=["id", "masks_rle"]).to_pylist():
            lines.append(json.dumps({"id": row["id"], "masks": row["masks_rle"], "verdict": "yes"}))
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    score = [*command, "score", "vistaqa", "--references", str(built)]
    score += ["--predictions", str(tmp_path / "answers.jsonl"), "--json"]
    done = subprocess.run(score, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["grove"], result["mask_score"], result["without_evidence"]["n"]) == (1.0, 1.0, 18)
    assert set(result["by_task"]) == {
        "identification",
        "attribute",
        "ocr",
        "spatial",
        "counting",
        "comparison",
    }
    empty = tmp_path / "empty"
    empty.mkdir()
    score[6] = str(empty)
    done = subprocess.run(score, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected a folder of lookcheck build vistaqa" in done.stderr
