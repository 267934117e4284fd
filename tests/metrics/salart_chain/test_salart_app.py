"""The gradio page, laid out as in a Space, started in its own process and scored through."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

METRIC = Path(__file__).parents[3] / "metrics" / "salart_chain"

pytestmark = pytest.mark.app


def test_paste_upload_and_complaint(address: str, tmp_path: Path) -> None:
    from gradio_client import Client, handle_file

    client = Client(address, verbose=False)
    predictions = (
        '{"row_id": 2, "q1": "no", "q2": "E", "q3": "E", "q4": "E"}\n'
        '{"row_id": 1, "q1": "yes", "q2": "B", "q3": "A", "q4": "C or D"}'
    )
    references = json.dumps(
        [
            {"row_id": 1, "role": "artifact", "q1": "yes", "q2": "B", "q3": "A", "q4": "C"},
            {
                "row_id": 2,
                "image_role": "clean_reference",
                **{"q1_answer": "no", "q2_answer": "E", "q3_answer": "E", "q4_answer": "E"},
            },
            {"row_id": 3, "role": "paired_generated_counterpart", "q2": "E", "q3": "E", "q4": "E"},
        ]
    )
    figures, rows, signature, _ = client.predict(
        predictions, None, references, None, "strict", api_name="/score"
    )
    shown = {row[0]: row[1:] for row in figures["data"]}
    assert shown["artifact_q1"] == ["100.00", "0.00", "50.00", "1 of 1"]
    assert shown["artifact_all_1_4"] == ["0.00", "0.00", "0.40", "0 of 1"]
    assert shown["generated_all_2_4"] == ["0.00", "100.00", "0.80", "0 of 1"]
    assert shown["overall_all_2_4"] == ["33.33", "66.67", "0.80", "1 of 3"]
    assert shown["artifact images: evidence"] == ["100.00", "", "", "1 of 1"]
    assert shown["missing answers"][-1] == "3"
    assert shown["unparsed answers"][-1] == "1"
    assert rows["data"][0] == ["1", "artifact", "right", "right", "right", "wrong", "evidence"]
    assert rows["data"][2][2] == "not asked"
    assert signature.endswith("|n:3|missing:3|unparsed:1|no_image:no|version:2.0.0")

    upload = tmp_path / "p.jsonl"
    upload.write_text('{"id": 1, "q1": "{\\"answer\\": \\"yes\\"}", "q2": "B", "q3": "A", "q4": "C"}')
    figures, *_ = client.predict("", handle_file(upload), references, None, "json", api_name="/score")
    shown = {row[0]: row[1:] for row in figures["data"]}
    assert shown["artifact_q1"][0] == "100.00"
    assert shown["artifact_all_2_4"][0] == "0.00"
    for bad, said in (
        ('{"row_id": 9, "q1": "yes"}', "'9' is not in the references"),
        ('{"row_id": 1, "q1": 3}', "q1 is 3"),
        ('{"row_id": 1, "Q1": "yes"}', "predictions, line 1: the id '1' has none of the fields"),
        ('{"q1": "yes"}', "no row_id or id"),
        ("{", "not valid JSON"),
        ("", "no records"),
    ):
        with pytest.raises(Exception, match=said):
            client.predict(bad, None, references, None, "strict", api_name="/score")


def test_in_a_browser(narrow: Any, tmp_path: Path) -> None:
    predictions, references = (
        '{"row_id": 1, "q1": "yes", "q2": "B", "q3": "A", "q4": "C"}',
        '{"row_id": 1, "role": "artifact", "q1": "yes", "q2": "B", "q3": "A", "q4": "C"}\n'
        '{"row_id": 2, "role": "clean_reference", "q1": "no", "q2": "E", "q3": "E", "q4": "E"}',
    )
    narrow.fill(predictions, references.replace('"no"', '"yes"'))
    narrow.score()
    assert "references, line 2: id '2': the key of q1 is 'yes'" in narrow.complaint()
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
    assert [row["id"] for row in rows] == [row["id"] for row in whole["per_sample"]]
    assert [row["score"] for row in rows] == ["1.0", "0.0"]
    assert whole["overall_all_1_4"] == 0.5
    for address in ("https://arxiv.org/abs/2606.12671", "/datasets/ORGANISATION/salart_vqa", "/README.md"):
        assert narrow.page.locator(f"a[href*='{address}']").count() == 1
    assert narrow.overflow() <= 0
