"""The gradio page, laid out as in a Space, started in its own process and scored through."""

from __future__ import annotations

import json
from pathlib import Path

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
    figures, rows, signature = client.predict(
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
    figures, _, _ = client.predict(
        "", handle_file(upload), references, None, "ungated", "most_frequent", api_name="/score"
    )
    assert figures["data"][0] == ["soft accuracy", "53.33", 3]
    for bad, said in (
        ('{"id": 9, "prediction": "x"}', "'9' is not in the references"),
        ('{"id": 1, "prediction": null}', "the prediction is None"),
        ("{", "not valid JSON"),
        ("", "no records"),
    ):
        with pytest.raises(Exception, match=said):
            client.predict(bad, None, references, None, "official", "any", api_name="/score")
