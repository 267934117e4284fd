"""The gradio page, laid out as in a Space, started in its own process and scored through."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

METRIC = Path(__file__).parents[3] / "metrics" / "soft_vqa_acc"

pytestmark = pytest.mark.app


def test_paste_upload_and_complaint(address: str, tmp_path: Path) -> None:
    from gradio_client import Client, handle_file

    client = Client(address, verbose=False)
    predictions = '{"id": 1, "prediction": "Black."}\n{"id": 2, "prediction": "cat"}'
    references = json.dumps(
        [
            {"id": 1, "answers": ["black"] * 10, "answer_type": "other"},
            {"id": 2, "answers": [{"answer": "cat"}] * 2 + [{"answer": "dog"}] * 8, "answer_type": "other"},
            {"id": 3, "answers": ["no"] * 10, "answer_type": "yes/no"},
        ]
    )
    figures, rows, signature, _ = client.predict(
        predictions, None, references, None, "official", "any", api_name="/score"
    )
    assert figures["data"] == [
        ["soft accuracy", "20.00", 3],
        ["exact match", "33.33", 3],
        ["missing answers", "", 1],
        ["always 'yes'", "0.00", 3],
        # Ten times "black" and ten times "no": the first by alphabet. The gate is shut and lets it through.
        ["always 'black'", "33.33", 3],
        ["answer type: other", "30.00", 2],
        ["answer type: yes/no", "0.00", 1],
    ]
    assert [row[:2] for row in rows["data"]] == [["1", "0.00"], ["2", "60.00"], ["3", "0.00"]]
    assert (
        signature
        == "metric:soft_vqa_acc|mode:official|exact_match:any|missing_rule:wrong|thinking:keep|n:3|missing:1|version:2.0.0"
    )

    upload = tmp_path / "p.jsonl"
    upload.write_text(predictions)
    figures, *_ = client.predict(
        "", handle_file(upload), references, None, "ungated", "most_frequent", api_name="/score"
    )
    assert figures["data"][0] == ["soft accuracy", "53.33", 3]
    for bad, said in (
        ('{"id": 9, "prediction": "x"}', "'9' is not in the references"),
        (
            '{"id": 1, "prediction": null}',
            "predictions, line 1; references, line 1, record 1: id '1': the prediction is None",
        ),
        ("{", "not valid JSON"),
        ("", "no records"),
    ):
        with pytest.raises(Exception, match=said):
            client.predict(bad, None, references, None, "official", "any", api_name="/score")


def test_in_a_browser(narrow: Any, tmp_path: Path) -> None:
    predictions, references = (
        '{"id": 1, "prediction": "cat"}',
        '{"id": 1, "answers": ["cat", "cat"]}\n\n{"id": 2, "answers": ["dog"]}',
    )
    narrow.fill(predictions, references.replace('["dog"]', "[]"))
    narrow.score()
    assert "references, line 3: id '2': the references are empty" in narrow.complaint()
    path = tmp_path / "mine.jsonl"
    path.write_text(predictions, encoding="utf-8")
    narrow.upload("Predictions file", path)
    narrow.shows("Predictions: mine.jsonl")
    box = narrow.page.locator("textarea").first
    assert box.input_value() == predictions
    assert not box.is_editable()
    narrow.fill_references(references)
    narrow.score()
    whole = json.loads(narrow.download("Everything (JSON)"))
    rows = list(csv.DictReader(io.StringIO(narrow.download("Rows (CSV)"))))
    assert [row["id"] for row in rows] == ["1", "2"]
    assert [float(row["score"]) for row in rows] == [row["score"] for row in whole["per_sample"]]
    assert [row["missing"] for row in rows] == ["False", "True"]
    for address in ("https://arxiv.org/abs/1505.00468", "https://visualqa.org/download.html", "/README.md"):
        assert narrow.page.locator(f"a[href*='{address}']").count() == 1
    assert narrow.overflow() <= 0


def test_a_long_upload_is_shown_in_part_and_scored_whole(narrow: Any, tmp_path: Path) -> None:
    records = [{"id": index, "answers": ["x" * 40]} for index in range(3000)]
    for side, name, text in (
        ("Predictions", "p.json", json.dumps([{"id": row["id"], "prediction": "x"} for row in records])),
        ("References", "r.json", json.dumps(records)),
    ):
        (tmp_path / name).write_text(text)
        narrow.upload(f"{side} file", tmp_path / name)
        narrow.shows(f"{side}: {name}")
    narrow.shows("r.json, the first 100,000 characters; all of it is scored")
    assert narrow.page.locator("textarea").nth(1).input_value() == json.dumps(records)[:100_000]
    narrow.score()
    assert json.loads(narrow.download("Everything (JSON)"))["counts"]["n"] == 3000
    assert narrow.overflow() <= 0
