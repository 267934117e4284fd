"""`lookcheck score salart-vqa` on real and on hostile files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from lookcheck.scripts import console
from lookcheck.scripts.score.__main__ import app

QUESTIONS = ("q1", "q2", "q3", "q4")
LABELS = [
    {"row_id": "a", "image_role": "artifact", "q1_answer": "yes", "q2_answer": "A", "q3_answer": "B"}
    | {"q4_answer": "C", "artifact_type": "count", "pair_id": "p1"},
    {"row_id": "b", "image_role": "clean_reference", "q1_answer": "no", "q2_answer": "E", "q3_answer": "E"}
    | {"q4_answer": "E", "artifact_type": None, "pair_id": "p2"},
    {"row_id": "c", "image_role": "paired_generated_counterpart", "q1_answer": None, "q2_answer": "E"}
    | {"q3_answer": "E", "q4_answer": "E", "artifact_type": None, "pair_id": "p1"},
]
ANSWERS: list[dict[str, Any]] = [
    {"row_id": "c", "q1": None, "q2": "E", "q3": "E", "q4": "E"},
    {"row_id": "a", "q1": "yes", "q2": "A", "q3": "D", "q4": "C"},
    {"row_id": "b", "q1": "no", "q2": "E", "q3": "E", "q4": "E"},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def score(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["score", "salart-vqa", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        console.run(app)
    return int(ended.value.code or 0)


def run(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    answers: list[dict[str, Any]],
    *more: object,
    labels: list[dict[str, Any]] = LABELS,
) -> int:
    files = (
        "--references",
        write(folder / "labels.jsonl", labels),
        "--predictions",
        write(folder / "model.jsonl", answers),
    )
    return score(monkeypatch, *files, *more)


def test_json_joins_by_id_and_carries_types_and_pairs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "out.json"
    assert run(monkeypatch, tmp_path, ANSWERS, "--json", "--output", whole) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["artifact_q1"], shown["artifact_all_1_4"], shown["overall_all_2_4"]) == (1.0, 0.0, 2 / 3)
    assert shown["failure_attribution"]["localisation"] == 1.0
    assert shown["by_artifact_type"]["count"]["q4_right_q3_wrong"] == 1.0
    assert "per_sample" not in shown
    rows = json.loads(whole.read_text())["per_sample"]
    assert [(row["id"], row["group"]) for row in rows] == [("a", "p1"), ("b", "p2"), ("c", "p1")]


def test_the_metrics_own_field_names_work_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = [
        {"id": row["row_id"], "role": row["image_role"], **{q: row[f"{q}_answer"] for q in QUESTIONS}}
        for row in LABELS
    ]
    assert run(monkeypatch, tmp_path, ANSWERS, "--json", labels=labels) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["overall_all_2_4"] == 2 / 3
    assert shown["by_artifact_type"] is None


def test_the_table_shows_baselines_in_80_columns_and_counts_aloud(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "out.csv"
    # The last record of an id wins: the first answer to b was wrong.
    answers = [{**ANSWERS[2], "q1": "yes"}, ANSWERS[1], {**ANSWERS[2], "q4": "E or A"}]
    assert run(monkeypatch, tmp_path, answers, "--output", table) == 0
    out = capsys.readouterr().out
    lines = out.split("\n")
    figures = {
        cells[1].strip(): [c.strip() for c in cells[2:5]]
        for cells in (x.split("│") for x in lines)
        if cells[1:]
    }
    assert figures["artifact: Q1"] == ["100.00", "0.00", "50.00"]
    assert figures["real: Q1"] == ["100.00", "100.00", "50.00"]
    assert figures["overall: Q2 to Q4 all right"] == ["0.00", "66.67", "0.80"]
    assert figures["artifact: then Q2 or Q3 wrong"] == ["100.00", "–", "–"]
    assert max(len(line) for line in lines if line[:1] in "┏┃┡│└") <= 80
    assert "records replaced by a later one of the same id: 1 (in " in out
    assert "images without a record, counted as wrong: 1 of 3 (33.33 %) (in " in out
    assert "missing answers, counted as wrong: 3 (Q1 0, Q2 1, Q3 1, Q4 1)" in out
    assert "unparsed answers, counted as wrong: 1 (Q1 0, Q2 0, Q3 0, Q4 1)" in out
    assert 'Do not rank by the overall rows: "no, E, E, E" without looking reaches 50.00 and 66.67' in out
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    figures_of = {(row["kind"], row["name"]): (row["n"], row["value"]) for row in rows}
    assert len(figures_of) == len(rows) == 16 + 2 * 10 + 5 + 3 * 12
    assert figures_of["score", "overall_q1"] == ("2", "1.0")
    assert figures_of["score", "overall_all_2_4"] == ("3", "0.0")
    assert figures_of["baseline", "constant/overall_q1"] == ("2", "0.5")
    assert figures_of["baseline", "random/overall_q1"] == ("2", "0.5")
    assert figures_of["score", "localisation"] == ("1", "1.0")
    assert figures_of["artifact_type", "count/q4_right_q3_wrong"] == ("1", "1.0")
    assert ("baseline", "constant/all_right") not in figures_of
    # Of the three Q4 the second was not given as one letter and the third is missing.
    assert figures_of["score", "overall_q4"] == ("3", repr(1 / 3))
    assert figures_of["baseline", "constant/overall_q4"] == ("3", repr(2 / 3))


def test_control_without_the_image(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blind = write(tmp_path / "blind.jsonl", [{"row_id": "b", "q4": "E"}, {"row_id": "a", "q4": "F"}])
    assert run(monkeypatch, tmp_path, ANSWERS, "--no-image", blind) == 0
    out = capsys.readouterr().out
    assert "ignored" not in out
    assert "Q4 without the image: 33.33 % pick F; of the other 2, 50.00 % right and 50.00 % as with" in out


def test_an_answer_to_the_question_never_asked_is_said_aloud(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path, [{**ANSWERS[0], "q1": "yes"}, *ANSWERS[1:]]) == 0
    assert "never asked and ignored: 1" in capsys.readouterr().out


def test_json_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [
        {"row_id": row["row_id"], **{q: json.dumps({"answer": row[f"{q}_answer"]}) for q in QUESTIONS}}
        for row in LABELS
    ]
    assert run(monkeypatch, tmp_path, answers, "--parser", "json", "--json") == 0
    assert json.loads(capsys.readouterr().out)["overall_all_2_4"] == 1.0
    assert run(monkeypatch, tmp_path, answers, "--json") == 0
    assert json.loads(capsys.readouterr().out)["overall_all_2_4"] == 0.0


def test_a_trace_of_thoughts_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [{**ANSWERS[1], "q2": '<think>{"answer": "B"}</think>{"answer": "A"}'}, *ANSWERS[::2]]
    answers[0] |= {q: json.dumps({"answer": LABELS[0][f"{q}_answer"]}) for q in ("q1", "q3")}
    answers[0]["q4"] = '<think>{"answer": "C"} maybe'
    assert run(monkeypatch, tmp_path, answers, "--parser", "json") == 0
    out = capsys.readouterr().out
    assert "2 answers have a trace of thoughts: read behind it; 1 are cut in it and not read\n" in out
    assert "|thinking:strip|" in out
    assert run(monkeypatch, tmp_path, answers, "--parser", "json", "--thinking", "keep") == 0
    out = capsys.readouterr().out
    assert "2 answers have a trace of thoughts: read as they stand\n" in out
    assert run(monkeypatch, tmp_path, answers, "--thinking", "drop") == 2
    assert capsys.readouterr().err == "error: thinking is 'drop'; expected one of strip, keep\n"


def test_rows_without_a_type_or_a_pair_are_said_aloud(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One row without them must not take figures by type or groups from all others in silence."""
    another = {**LABELS[0], "row_id": "d", "artifact_type": None}
    labels = [*LABELS, another]
    labels[1] = {**LABELS[1], "pair_id": None}
    assert run(monkeypatch, tmp_path, ANSWERS, "--json", labels=labels) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["by_artifact_type"] is None
    assert "no artifact_type, so no figures by type: 1 of 2 (50.00 %) (id 'd')" in shown["notes"]
    assert "no pair_id, so no groups in the rows: 1 of 4 (25.00 %) (id 'b')" in shown["notes"]


@pytest.mark.parametrize(
    ("answers", "labels", "more", "message"),
    [
        ([{"row_id": "x", "q1": "no"}], LABELS, [], "model.jsonl:1: the id 'x' is not in"),
        ([{"row_id": "a", "Q1": "no"}], LABELS, [], "model.jsonl:1: id 'a' has none of the fields"),
        ([{"row_id": "a", "q1": 1}], LABELS, [], "model.jsonl:1: id 'a' has q1 1; expected a string"),
        ([{"q1": "no"}], LABELS, [], "model.jsonl:1: expected one field"),
        (ANSWERS, [LABELS[0], LABELS[0]], [], "labels.jsonl:2: the id 'a' stands twice"),
        (
            ANSWERS,
            [*LABELS[:2], {**LABELS[2], "q4_answer": None}],
            [],
            "labels.jsonl:3: id 'c': the key of q4 is ''",
        ),
        (
            ANSWERS,
            [*LABELS[:2], {**LABELS[2], "image_role": "real"}],
            [],
            "labels.jsonl:3: id 'c': the role is 'real'",
        ),
        (ANSWERS, LABELS, ["--parser", "yaml"], "--parser is 'yaml'"),
        (ANSWERS, LABELS, ["--output", "x.txt"], "ending in .json, .csv, .md or .tex"),
    ],
)
def test_bad_files_end_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    answers: list[dict[str, Any]],
    labels: list[dict[str, Any]],
    more: list[str],
    message: str,
) -> None:
    assert run(monkeypatch, tmp_path, answers, *more, labels=labels) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_the_papers_row_from_the_real_files(
    monkeypatch: pytest.MonkeyPatch, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared_data / "salart"
    files = (
        "--references",
        folder / "labels.jsonl",
        "--predictions",
        folder / "predictions_claudeopus46.jsonl",
    )
    assert score(monkeypatch, *files, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert f"{100 * shown['overall_all_1_4']:.2f}" == "48.01"
    assert f"{100 * shown['baselines']['constant']['overall_all_2_4']:.2f}" == "50.00"
