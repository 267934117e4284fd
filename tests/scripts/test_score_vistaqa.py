"""`lookcheck score vistaqa` as a person runs it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
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
        "By task, percent",
        "│ counting │ 1 │ 100.00 │",
        "judge:me",
        "3 samples: 2 with evidence, 1 without",
    ):
        assert shown in run.stdout
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["grove"] == pytest.approx((0.5**0.5 + 1 + 0.1**0.5) / 3)
    assert [row["id"] for row in result["per_sample"]] == ["1", "b", "c"]
    with (tmp_path / "r.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["kind", "name", "n", "value"]
    figures = {(row["kind"], row["name"]): row for row in rows}
    assert len(figures) == len(rows)
    assert float(figures["score", "grove"]["value"]) == result["grove"]
    assert float(figures["baseline", "all_wrong/grove"]["value"]) == pytest.approx(0.1)
    assert figures["task", "ocr/mask_score"] == {
        "kind": "task",
        "name": "ocr/mask_score",
        "n": "2",
        "value": "0.75",
    }
    assert figures["score", "without_evidence"]["n"] == "1"
    assert figures["cross_table", "right/high"]["n"] == "2"
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
    assert "1 of 3 (33.33 %) samples have no prediction" in run.stdout
    assert "1 of 3 (33.33 %) answers are missing and count as wrong" in run.stdout
    assert "n:3|unjudged:1" in run.stdout


def test_missing_answers_failed_requests_and_undecided_replies_are_three_things(tmp_path: Path) -> None:
    """What a verdict file says of its rows without a verdict decides, and the file of answers where it has none."""
    head = {"format": 2, "deciding": {"judge": {"model": "m", "method": "logprob"}}, "known": {}}
    statuses = {"1": "failed", "b": "undecided"}
    rows = [{"id": id, "verdict": "none", "status": status} for id, status in statuses.items()]
    verdicts = write(tmp_path / "v.jsonl", [{"lookcheck_judge": head}, *rows])
    bare = [{key: value for key, value in answer.items() if key != "verdict"} for answer in ANSWERS]

    def scored(unjudged: str) -> Any:
        return score(tmp_path, LABELS, bare, "--verdicts", str(verdicts), "--unjudged", unjudged)

    for named in ("wrong", "missing,undecided,failed"):
        run = scored(named)
        assert run.returncode == 0, run.stderr
        for said in (
            "are missing",
            "are not decided by the judge",
            "could not be judged (the request failed)",
        ):
            assert f"1 of 3 (33.33 %) answers {said} and count as wrong" in " ".join(run.stdout.split())
    for named, said in (
        ("missing", "2 samples have no verdict for another reason than missing, the first: '1' (failed)"),
        ("missing,failed", "1 samples have no verdict for another reason than missing,failed, the first: 'b' (undecided)"),
        ("failed,undecided", "1 samples have no verdict for another reason than failed,undecided, the first: 'c' (missing)"),
        ("mising", "--unjudged mising: 'mising' is none of error, wrong, missing, undecided, failed"),
    ):  # fmt: skip
        run = scored(named)
        assert (run.returncode, run.stderr) == (2, f"error: {said}\n")
    assert scored("error").returncode == 2


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
        (LABELS, [{**ANSWERS[0], "verdict": "Y"}], [], "p.jsonl:1: id 'c': the verdict is 'Y'"),
        # A complaint of the metric names the file whose line is at fault.
        (
            LABELS,
            [ANSWERS[0], {**ANSWERS[1], "masks": [{"size": [2, 4], "counts": [9]}]}, ANSWERS[2]],
            [],
            "p.jsonl:2: id '1': predicted mask 0",
        ),
        (
            [*LABELS[:2], {**LABELS[2], "masks": [{"size": [2, 4], "counts": [9]}]}],
            ANSWERS,
            [],
            "r.jsonl:3: id 'c': reference mask 0",
        ),
        ([{"id": 1}], [ANSWERS[1]], [], "r.jsonl:1: id '1' has no 'masks'"),
        ([LABELS[0], {"id": "b", "masks": []}], ANSWERS[1:], [], "r.jsonl:2: id 'b' has no 'task'"),
        (LABELS, ANSWERS, ["--epsilon", "2"], "epsilon is 2"),
        (LABELS, ANSWERS, ["--judge", "a|b"], "judge is 'a|b'"),
        (LABELS, ANSWERS, ["--output", "x.txt"], "ending in .json, .csv, .md or .tex"),
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


def _rename_labels(folder: Path, change: Callable[[list[str]], list[str]]) -> None:
    """Other names of the tasks in the schema of each file; the rows stay as they are."""
    for path in (folder / "data").glob("*.parquet"):
        table = pq.read_table(path, partitioning=None)
        info = json.loads(table.schema.metadata[b"huggingface"])
        task = info["info"]["features"]["task"]
        task["names"] = change(task["names"])
        pq.write_table(table.replace_schema_metadata({b"huggingface": json.dumps(info)}), path)


def test_a_built_folder_gives_the_references(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lookcheck.scripts.cli"]
    built = tmp_path / "built"
    subprocess.run([*command, "build", "vistaqa", "--source", "sample", "--output", str(built)], check=True)
    lines, tasks = [], {}
    for path in sorted((built / "data").glob("*.parquet")):
        for row in pq.read_table(path, columns=["id", "masks_rle"]).to_pylist():
            lines.append(json.dumps({"id": row["id"], "masks": row["masks_rle"], "verdict": "yes"}))
            tasks[row["id"]] = path.name.split("-")[0]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    score = [*command, "score", "vistaqa", "--predictions", str(tmp_path / "answers.jsonl"), "--json"]
    score += ["--per-sample", str(tmp_path / "rows.jsonl"), "--dataset"]
    done = subprocess.run([*score, str(built)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["grove"], result["mask_score"], result["without_evidence"]["n"]) == (1.0, 1.0, 18)
    names = ["identification", "attribute", "ocr", "spatial", "counting", "comparison"]
    assert set(result["by_task"]) == set(names)

    def shown() -> dict[str, str]:
        rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
        return {row["id"]: row["task"] for row in rows}

    assert shown() == tasks
    # A card that states no digest: with one, files that were changed are refused.
    card = built / "README.md"
    lines = card.read_text().splitlines(keepends=True)
    card.write_text("".join(line for line in lines if not line.startswith("  description: files ")))
    # The file's own schema says what its labels mean, not a list in the code.
    _rename_labels(built, lambda found: found[::-1])
    subprocess.run([*score, str(built)], capture_output=True, check=True)
    mirrored = dict(zip(names, names[::-1], strict=True))
    assert shown() == {id: mirrored[task] for id, task in tasks.items()}
    _rename_labels(built, lambda found: found[:-1])
    done = subprocess.run([*score, str(built)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "comparison-00000-of-00001.parquet row 0: task: the label 5 is past the 5 names" in done.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run([*score, str(empty)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected a folder of lookcheck build vistaqa" in done.stderr
