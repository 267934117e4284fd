"""`lookcheck score vqa` from files to figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def _write(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lookcheck.scripts", "score", "vqa", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)


REFERENCES: list[dict[str, Any]] = [
    {"question_id": 1, "answers": ["yes"] * 9 + ["no"], "question_type": "is the", "answer_type": "yes/no"},
    {
        "question_id": 2,
        "answers": [{"answer": "cat", "answer_id": at} for at in range(2)] + [{"answer": "a dog"}] * 8,
        "question_type": "what",
        "answer_type": "other",
    },
    {"question_id": 3, "answers": ["2"] * 10, "question_type": "how many", "answer_type": "number"},
    {
        "question_id": 4,
        "answers": ["no"] * 6 + ["yes"] * 4,
        "question_type": "is the",
        "answer_type": "yes/no",
    },
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    predictions = [
        {"id": "3", "answer": "2"},
        {"id": "2", "prediction": "The cat."},
        {"id": 1, "answer": "yes"},
    ]
    return _write(tmp_path / "r.jsonl", REFERENCES), _write(tmp_path / "p.jsonl", predictions)


def test_table_json_and_files(files: tuple[Path, Path], tmp_path: Path) -> None:
    both = ("--references", files[0], "--predictions", files[1])
    shown = _run(*both, "--output", tmp_path / "o.json", "--output", tmp_path / "o.csv")
    assert shown.returncode == 0, shown.stderr
    # 1.0, .6, 1.0 and a missing answer.
    assert "65.00" in shown.stdout
    assert "always yes" in shown.stdout
    assert "1 of 4 (25.00 %) questions have no prediction" in shown.stdout
    assert (
        "metric:soft_vqa_acc|mode:official|exact_match:any|missing_rule:wrong|thinking:keep|n:4|missing:1|version:"
        in shown.stdout
    )
    whole = json.loads((tmp_path / "o.json").read_text())
    assert [row["score"] for row in whole["per_sample"]] == [1.0, 0.6, 1.0, 0.0]
    assert [row["id"] for row in whole["per_sample"]] == ["1", "2", "3", "4"]
    assert whole["by_question_type"]["is the"] == {"score": 0.5, "n": 2}
    # "yes" stands 13 times, "2" ten times.
    assert "always 'yes', the most frequent" in shown.stdout
    constant = {"answer": "yes", "soft_vqa_acc": 0.5, "exact_match": 0.5}
    assert whole["baselines"] == {"always_yes": constant, "most_frequent": constant}
    rows = (tmp_path / "o.csv").read_text().split("\n")
    assert rows[:5] == [
        "kind,name,n,value",
        "score,soft_vqa_acc,4,0.65",
        "score,exact_match,4,0.75",
        "baseline,always_yes/soft_vqa_acc,4,0.5",
        "baseline,always_yes/exact_match,4,0.5",
    ]
    assert "question_type,is the/soft_vqa_acc,2,0.5" in rows
    assert "answer_type,yes/no/soft_vqa_acc,2,0.5" in rows
    printed = _run(*both, "--json", "--mode", "simple", "--exact-match", "most_frequent")
    result = json.loads(printed.stdout)
    assert result["soft_vqa_acc"] == pytest.approx((1 + 2 / 3 + 1 + 0) / 4)
    assert result["exact_match"] == 0.5
    assert "per_sample" not in result


def test_joined_by_id_never_by_line(files: tuple[Path, Path], tmp_path: Path) -> None:
    turned = _write(tmp_path / "turned.jsonl", REFERENCES[::-1])
    first = json.loads(_run("--references", files[0], "--predictions", files[1], "--json").stdout)
    second = json.loads(_run("--references", turned, "--predictions", files[1], "--json").stdout)
    assert first == second


def test_real_cases_through_the_command(shared_data: Path) -> None:
    path = shared_data / "vqa" / "soft_accuracy_oracle.jsonl"
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    # The oracle's records hold both sides, under the names that the command takes.
    for mode in ("official", "ungated"):
        run = _run(
            "--references", path, "--predictions", path, "--mode", mode, "--missing", "compared", "--json"
        )
        assert run.returncode == 0, run.stderr
        expected = sum(case[mode] for case in cases) / len(cases)
        assert json.loads(run.stdout)["soft_vqa_acc"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("references", "predictions", "said"),
    [
        (REFERENCES, [{"id": 9, "answer": "x"}], "p.jsonl:1: the id '9' is not in"),
        (REFERENCES, [{"id": 1, "answer": None}], "p.jsonl:1: id '1' has no 'answer'"),
        (REFERENCES, [{"id": 1, "answer": 2}], "p.jsonl:1: id '1' has answer 2; expected a string"),
        (REFERENCES, [{"id": 1, "text": "x"}], "p.jsonl:1: id '1' needs one field 'prediction' or 'answer'"),
        (REFERENCES, [{"id": 1, "answer": "x", "prediction": "y"}], "needs one field"),
        (
            REFERENCES,
            [{"id": 1, "answer": "x"}, {"id": "1", "answer": "y"}],
            "p.jsonl:2: the id '1' stands twice",
        ),
        ([{"id": 1, "answers": []}], [{"id": 1, "answer": "x"}], "r.jsonl:1: id '1' has answers []"),
        ([{"id": 1, "answers": "yes"}], [{"id": 1, "answer": "x"}], "id '1' has answers 'yes'"),
        ([{"id": 1, "answers": ["a", 2]}], [{"id": 1, "answer": "x"}], "has the reference answer 2"),
        ([{"id": 1, "answers": [{"a": 1}]}], [{"id": 1, "answer": "x"}], "has the reference answer {'a': 1}"),
        (
            [{"id": 1, "answers": ["a"], "answer_type": "other"}, {"id": 2, "answers": ["a"]}],
            [{"id": 1, "answer": "x"}],
            "r.jsonl:2: id '2' has no 'answer_type'",
        ),
    ],
)
def test_bad_input_ends_in_one_line(references: Any, predictions: Any, said: str, tmp_path: Path) -> None:
    output = tmp_path / "o.json"
    run = _run(
        "--references",
        _write(tmp_path / "r.jsonl", references),
        "--predictions",
        _write(tmp_path / "p.jsonl", predictions),
        "--output",
        output,
    )
    assert run.returncode == 2
    assert said in run.stderr
    assert run.stderr.count("\n") == 1
    assert run.stdout == ""
    assert not output.exists()


def test_unknown_mode_and_output(files: tuple[Path, Path], tmp_path: Path) -> None:
    both = ("--references", files[0], "--predictions", files[1])
    run = _run(*both, "--mode", "strict")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "mode is 'strict'; expected one of official, ungated, simple" in run.stderr
    assert _run(*both, "--output", tmp_path / "o.txt").returncode == 2
