"""`lookcheck demo`: the paper's row from the table that ships with the package."""

from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from pycocotools import mask as coco

from lookcheck.dataset_builders.salart_vqa import constants, published
from lookcheck.dataset_builders.vistaqa import demonstration
from lookcheck.scripts import console
from lookcheck.scripts.cli import app

ROW = ["99.37", "53.26", "53.89", "50.28", "7.87", "8.71", "0.00", "78.34", "33.81", "30.21"]
ATTRIBUTION = ["0.63", "18.95", "27.16", "53.26"]


def _demo(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["lookcheck", "demo", *arguments])
    with pytest.raises(SystemExit) as ended:
        console.run(app)
    return int(ended.value.code or 0)


def test_the_table_is_the_papers_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _demo(monkeypatch, "--no-samples") == 0
    out = capsys.readouterr().out
    lines = [line.split("│") for line in out.split("\n") if line.startswith("│")]
    figures = [cells[2].strip() for cells in lines]
    assert figures[:10] == ROW
    assert figures[10:14] == ATTRIBUTION
    assert figures[14:] == ["18.74", "9.47"]
    constant = {cells[1].strip(): cells[3].strip() for cells in lines}
    assert constant["overall: Q1 to Q4 all right"] == "42.84"
    assert constant["overall: Q2 to Q4 all right"] == "50.00"
    assert "answers of Gemini 3.1 Pro" in out
    assert "arXiv 2606.12671" in out
    assert max(len(line) for line in out.split("\n") if line[:1] in "┏┃┡│└") <= 80


def test_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _demo(monkeypatch, "--json", "--no-samples") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["counts"]["artifact_all_1_4"] == {"right": 253, "total": 475}
    assert shown["signature"].startswith("metric:salart_chain|parser:strict|thinking:keep|n:950|")


def test_it_builds_loads_and_scores_the_samples(tmp_path: Path) -> None:
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "COLUMNS": "80"}
    process = subprocess.run(
        [sys.executable, "-m", "lookcheck.scripts.demo"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert process.returncode == 0, process.stderr
    assert max(len(line) for line in process.stdout.split("\n") if line[:1] in "┏┃┡│└") <= 80
    rows = {}
    for line in process.stdout.split("\n"):
        cells = [cell.strip() for cell in line.split("│")]
        if len(cells) == 8:
            rows[cells[1]] = list(map(float, cells[2:7]))
    # What never looks, by hand: 48 of 66 rows have evidence.
    floor, half = 10.0, 100 * 0.1**0.5
    mixed = {name: (48 * seen + 18 * unseen) / 66 for name, seen, unseen in POLICIES}
    assert {name: rows[name][0] for name in mixed} == pytest.approx(mixed, abs=0.006)
    assert rows["all wrong"] == pytest.approx([floor, 0, 0, floor, floor])
    assert rows["no mask, always right"] == pytest.approx(
        [mixed["no mask, always right"], 100, 100 * 18 / 66, half, 100], abs=0.006
    )
    oracle = rows["noisy oracle"]
    assert all(60 < figure < 95 for figure in oracle)
    assert oracle[0] > max(mixed.values())
    assert "no, E, E, E" in process.stdout


POLICIES = (
    ("no mask, always right", 100 * 0.1**0.5, 100.0),
    ("no mask, right without evidence", 10.0, 100.0),
    ("no mask, never right", 10.0, 100 * 0.1**0.5),
    ("all wrong", 10.0, 10.0),
)


@pytest.mark.parametrize("number", range(20))
def test_the_oracle_is_noisy_and_always_the_same(number: int) -> None:
    mask = np.zeros((50, 80), np.uint8)
    mask[10:30, 20:60] = 1
    encoded = coco.encode(np.asfortranarray(mask))
    rle = {"size": [50, 80], "counts": encoded["counts"].decode()}
    found = demonstration.noisy_masks(f"row {number}", [rle] * 10)
    assert found == demonstration.noisy_masks(f"row {number}", [rle] * 10)
    assert 3 <= len(found) <= 10
    decoded = [{"size": one["size"], "counts": one["counts"].encode()} for one in found]
    overlaps = coco.iou(decoded, [encoded], [0])
    assert 0.7 < overlaps.min() <= overlaps.max() <= 1


def test_the_shipped_table_is_small_and_of_the_published_composition() -> None:
    assert published.PUBLISHED.stat().st_size < 60_000
    shipped = published.load_published()
    assert len(set(shipped.ids)) == 950
    assert Counter(row["role"] for row in shipped.references) == {
        "artifact": 475,
        "clean_reference": 356,
        "paired_generated_counterpart": 119,
    }
    assert doctest.testmod(published) == (0, 2)


def test_the_shipped_table_says_what_the_published_files_say(shared_data: Path) -> None:
    def read(name: str) -> dict[str, dict[str, str | None]]:
        text = (shared_data / "salart" / name).read_text(encoding="utf-8")
        return {row["row_id"]: row for row in map(json.loads, text.split("\n")[:-1])}

    labels, answers = read("labels.jsonl"), read("predictions_gemini31pro.jsonl")
    shipped = published.load_published()
    assert shipped.ids == list(labels)
    for row_id, reference, prediction in zip(
        shipped.ids, shipped.references, shipped.predictions, strict=True
    ):
        label, answer = labels[row_id], answers[row_id]
        assert reference["role"] == label["image_role"]
        for question in constants.QUESTIONS:
            assert reference[question] == (label[f"{question}_answer"] or "")
            assert prediction[question] == (answer.get(question) or "")


def test_the_notice_credits_the_source(repository: Path) -> None:
    notice = (repository / "NOTICE").read_text(encoding="utf-8")
    for credit in ("SalArt-VQA", "arXiv 2606.12671", "CC BY 4.0", "zhangruotian/SalArt-VQA", "MIT"):
        assert credit in notice


def test_the_shipped_verdicts_are_about_the_sample(tmp_path: Path) -> None:
    from lookcheck.dataset_builders.core.errors import InputError
    from lookcheck.dataset_builders.vistaqa.demonstration import oracle_answers, shipped_verdicts
    from lookcheck.dataset_builders.vistaqa.sample import questions

    lines = questions()
    ids = [f"{number:04d}" for number in range(1, len(lines) + 1)]
    asked, answers = [line["question"] for line in lines], [line["answer"] for line in lines]
    verdicts, judge = shipped_verdicts(ids, asked, answers)
    assert sorted(verdicts) == ids
    assert judge.startswith("smollm2-135m-instruct-q4_1@e41b4e580a2f,logprob,")
    given = oracle_answers(ids, answers)
    # The oracle says the reference or another row's answer; here the small judge tells them apart.
    assert verdicts == {
        id: "yes" if given[id] == answer else "no" for id, answer in zip(ids, answers, strict=True)
    }
    with pytest.raises(InputError, match="about another dataset"):
        shipped_verdicts(ids, ["What?", *asked[1:]], answers)
