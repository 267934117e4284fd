"""`lookcheck predict import`: answers made elsewhere become runs that are scored as any run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Lookcheck = Callable[..., Any]
Stored = Callable[..., list[dict[str, Any]]]
Import = Callable[..., Any]


@pytest.fixture
def imported(lookcheck: Lookcheck, built: dict[str, Path], tmp_path: Path) -> Import:
    """Writes lines, imports them into ``run`` and gives what the command said."""

    def run(dataset: str, format: str, records: list[Any] | Path, *more: object) -> Any:
        path = records if isinstance(records, Path) else tmp_path / "answers.jsonl"
        if not isinstance(records, Path):
            path.write_text("".join(json.dumps(record) + "\n" for record in records))
        given = ("--from", path, "--format", format, "--dataset", built[dataset], "--model", "elsewhere-7b")
        return lookcheck("predict", "import", *given, "--output", tmp_path / "run", *more)

    return run


def predictions(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]


def scores(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "scores.json").read_text())
    return found


def test_llava_answers_to_one_split_are_scored_as_they_were_given(
    lookcheck: Lookcheck, imported: Import, stored: Stored, tmp_path: Path
) -> None:
    own = [row for row in stored("perturbed_pope", "original") if row["category"] == "popular"]
    # Every fourth answer is wrong; the order is another; the prompt has the program's own words.
    answers = [
        {
            "question_id": row["id"].removeprefix("popular-"),
            "prompt": row["question"] + "\nAnswer the question using a single word or phrase.",
            "text": ("No", "Yes")[row["answer"] != (number % 4 == 0)],
        }
        for number, row in enumerate(own)
    ][::-1]
    done = imported("perturbed_pope", "llava", answers, "--split", "popular", "--condition", "original")
    assert done.returncode == 0, done.stderr
    told = (
        f"{tmp_path / 'run'}: {len(own)} of {len(own)} rows have an answer, made elsewhere by elsewhere-7b\n"
    )
    assert done.stdout == told
    scored = lookcheck("score", tmp_path / "run")
    assert scored.returncode == 0, scored.stderr
    result = scores(tmp_path / "run")
    right = sum(number % 4 != 0 for number in range(len(own)))
    assert result["by_condition"]["original"]["popular"]["accuracy"] == right / len(own)
    assert result["signature"].endswith("|protocol:pope-yes-no:1|model:elsewhere-7b|imported:llava")
    header = json.loads((tmp_path / "run" / "run.json").read_text())["lookcheck_run"]["deciding"]
    digest = hashlib.sha256((tmp_path / "answers.jsonl").read_bytes()).hexdigest()
    assert header["model"]["sha256"] == [digest]
    assert header["model"]["imported"] is True
    # Nobody here knows how it was asked.
    assert header["asked"]["decoding"] is None


def test_conditions_that_look_alike_are_refused_whole(
    imported: Import, stored: Stored, tmp_path: Path
) -> None:
    row = stored("perturbed_pope", "original")[0]
    answer = {"question": row["question"], "answer": "yes", "image": row["image_name"]}
    done = imported("perturbed_pope", "pope", [answer], "--split", row["category"])
    assert done.returncode == 2
    assert "1 fault, nothing was written" in done.stderr
    assert "[ambiguous]" in done.stderr
    assert not (tmp_path / "run").exists()
    done = imported("perturbed_pope", "pope", [answer], "--split", row["category"], "--condition", "original")
    assert done.returncode == 0, done.stderr
    line = json.loads((tmp_path / "run" / "predictions.jsonl").read_text())
    assert (line["id"], line["text"]) == (row["id"], "yes")


def test_chains_of_our_own_lines(
    lookcheck: Lookcheck, imported: Import, stored: Stored, tmp_path: Path
) -> None:
    rows = stored("salart_vqa", "images")
    parts = ("q1", "q2", "q3", "q4")
    records = [
        {"id": row["row_id"], **{part: row[f"{part}_answer"] for part in parts if row[f"{part}_answer"]}}
        for row in rows
    ]
    done = imported("salart_vqa", "lookcheck", records[::-1])
    assert done.returncode == 0, done.stderr
    scored = lookcheck("score", tmp_path / "run")
    assert scored.returncode == 0, scored.stderr
    lines = predictions(tmp_path / "run")
    assert [line["id"] for line in lines] == [row["row_id"] for row in rows]
    assert [
        {key: line[key] for key in record} for line, record in zip(lines, records, strict=True)
    ] == records


def test_words_are_read_apart_from_thoughts_and_failures_are_no_answers(
    lookcheck: Lookcheck, imported: Import, stored: Stored, tmp_path: Path
) -> None:
    first, second, third = (row["id"] for row in stored("vistaqa", "attribute")[:3])
    path = tmp_path / "table.tsv"
    path.write_text(
        "index\tprediction\n"
        f"{third}\t<think>It is\n"
        f"{first}\t<think>It is red.</think>red\n"
        f"{second}\tFailed to obtain answer via API.\n"
    )
    done = imported("vistaqa", "vlmevalkit", path, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {key: told[key] for key in ("answered", "failed", "problems")} == {
        "answered": 2,
        "failed": 1,
        "problems": {"cut thinking": 1},
    }
    lines = {line["id"]: line for line in predictions(tmp_path / "run")}
    assert (lines[first]["answer"], lines[first]["masks"]) == ("red", [])
    assert lines[second] == {"id": second, "failure": "Failed to obtain answer via API."}
    assert (lines[third]["answer"], lines[third]["problem"]) == ("", "cut thinking")
    scored = lookcheck("score", tmp_path / "run")
    assert scored.returncode == 2
    assert "is unfinished" in scored.stderr


def test_words_that_lead_to_evidence_are_refused(imported: Import, stored: Stored, tmp_path: Path) -> None:
    row = stored("vistaqa", "attribute")[0]
    path = tmp_path / "table.tsv"
    path.write_text(f"index\tprediction\n{row['id']}\tred\n")
    done = imported("vistaqa", "vlmevalkit", path, "--protocol", "vistaqa-hybrid")
    assert done.returncode == 2
    assert f"{path}:2: by --protocol vistaqa-hybrid words lead to evidence" in done.stderr
    assert not (tmp_path / "run").exists()


def test_another_file_is_another_run(imported: Import, stored: Stored, tmp_path: Path) -> None:
    id = stored("vistaqa", "attribute")[0]["id"]
    for answer in ("red", "red"):
        done = imported("vistaqa", "lookcheck", [{"id": id, "answer": answer, "masks": []}])
        assert done.returncode == 0, done.stderr
    before = (tmp_path / "run" / "predictions.jsonl").read_bytes()
    done = imported("vistaqa", "lookcheck", [{"id": id, "answer": "blue", "masks": []}])
    assert done.returncode == 2
    assert "choose another --output: model.sha256 was" in done.stderr
    assert (tmp_path / "run" / "predictions.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--split", "random", "--split", "popular"), "2 --split for 1 --from; give one for each, or none"),
        (("--split", "unheard"), "--split unheard: the rows of"),
        (("--condition", "unheard"), "no configuration 'unheard'"),
    ],
)
def test_options_that_are_wrong(
    imported: Import, more: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = imported("perturbed_pope", "lookcheck", [{"id": "random-1", "text": "x"}], *more)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "run").exists()
