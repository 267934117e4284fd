"""The gradio page, laid out as in a Space, started in its own process and scored through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

METRIC = Path(__file__).parents[3] / "metrics" / "grove"

pytestmark = pytest.mark.app


def test_paste_upload_and_complaint(address: str, tmp_path: Path) -> None:
    from gradio_client import Client, handle_file

    client = Client(address, verbose=False)
    half, whole = {"size": [2, 4], "counts": "044"}, {"size": [2, 4], "counts": "08"}
    predictions = json.dumps([{"id": 1, "verdict": "yes", "masks": [half]}])
    references = (
        json.dumps({"id": 1, "masks": [whole], "task": "ocr"}) + '\n{"id": 2, "masks": [], "task": "ocr"}'
    )
    options = (0.1, "wrong", "keep")
    figures, rows, signature = client.predict(
        predictions, None, references, None, *options, api_name="/score"
    )
    shown = {row[0]: row[1:] for row in figures["data"]}
    # sqrt(0.5), and sqrt(0.1) for the sample without an answer and without evidence.
    assert shown["all"] == ["51.17", "50.00", "75.00", "2"] or shown["all"] == ["51.17", "50.00", "75.00", 2]
    assert shown["with evidence"][0] == "70.71"
    assert shown["without evidence"][0] == "31.62"
    assert shown["task: ocr"][0] == "51.17"
    assert shown["without looking: all wrong"][0] == "10.00"
    assert rows["data"][0] == ["1", "yes", "50.00", "70.71", "1 / 1"]
    assert signature.endswith("|n:2|unjudged:1|version:2.0.0")
    upload = tmp_path / "p.jsonl"
    upload.write_text(json.dumps({"id": 2, "verdict": "yes", "masks": []}))
    figures, _, _ = client.predict("", handle_file(upload), references, None, *options, api_name="/score")
    assert {row[0]: row[1] for row in figures["data"]}["without evidence"] == "100.00"
    for bad, said in (
        ('{"id": 9, "verdict": "yes", "masks": []}', "'9' is not in the references"),
        ('{"id": 1, "verdict": "yes"}', "masks are None"),
        ('{"id": 1, "verdict": "maybe", "masks": []}', "the verdict is 'maybe'"),
        ('{"verdict": "yes"}', "no id"),
        ("{", "not valid JSON"),
        ("", "no records"),
    ):
        with pytest.raises(Exception, match=said):
            client.predict(bad, None, references, None, *options, api_name="/score")
