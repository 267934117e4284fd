"""The gradio page, laid out as in a Space, started in its own process and scored through."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

METRIC = Path(__file__).parents[3] / "metrics" / "perturbed_pope"

pytestmark = pytest.mark.app


def test_paste_upload_and_complaint(address: str, tmp_path: Path) -> None:
    from gradio_client import Client, handle_file

    client = Client(address, verbose=False)
    predictions = (
        '{"id": "q1-mask", "text": "Yes", "logp_yes": -0.5, "logp_no": -1.5, "entity_rank": 8}\n'
        '{"id": "q1", "text": "yes", "logp_yes": -0.25, "logp_no": -2.75, "entity_rank": 2}\n'
        '{"id": 2, "text": "maybe"}'
    )
    references = json.dumps(
        [
            {"id": "q1", "label": "yes", "condition": "original", "split": "random"},
            {"id": 2, "answer": "no", "condition": "original", "parent_id": None, "split": "random"},
            {
                **{"id": "q1-mask", "label": "yes", "condition": "black_mask"},
                **{"parent_id": "q1", "split": "random"},
            },
            {
                **{"id": "q2-swap", "label": "no", "condition": "entity_swap"},
                **{"parent_id": "2", "split": "random"},
            },
        ]
    )
    options = ("strict", "wrong")
    answers, changes, ranks, rows, signature, _ = client.predict(
        predictions, None, references, None, *options, api_name="/score"
    )
    shown = {(row[0], row[1]): [str(value) for value in row[2:]] for row in answers["data"]}
    assert shown["original", "random"] == [
        *("2", "50.00", "100.00", "50.00", "0.00", "50.00"),
        *("50.00", "50.00", "50.00"),
    ]
    assert shown["black_mask", "random"][-3:] == ["100.00", "0.00", "100.00"]
    found = {row[0]: [str(value) for value in row[2:]] for row in changes["data"]}
    assert found["black_mask"] == ["1", "0", "0.00", "0.00", "1", "-1.5", "100.00"]
    assert found["entity_swap"] == ["1", "0", "0.00", "–", "–", "–", "–"]
    assert {row[0]: str(row[4]) for row in ranks["data"]} == {"original": "2", "black_mask": "8"}
    assert rows["data"][1][3:5] == ["unparsed", "wrong"]
    assert rows["data"][3][3] == "unparsed"
    assert (
        "|unparsed_rule:wrong|missing_rule:parsed|thinking:strip|n:4|missing:0|unparsed:2|unpaired:0|"
        in signature
    )
    upload = tmp_path / "p.jsonl"
    upload.write_text(
        '{"id": 2, "text": "NO"}\n{"id": "q1", "text": ""}\n'
        '{"id": "q1-mask", "text": "?"}\n{"id": "q2-swap", "text": "unknown"}'
    )
    answers, *_, rows, _, _ = client.predict(
        "", handle_file(upload), references, None, "strict", "drop", api_name="/score"
    )
    assert answers["data"][0][3] == "100.00"
    assert [row[4] for row in rows["data"]] == ["–", "right", "–", "wrong"]
    for bad, said in (
        ('{"id": 9, "text": "yes"}', "'9' is not in the references"),
        ('{"id": 2, "text": 3}', "predictions, line 1; references, line 1, record 2: id '2': text is 3"),
        ('{"id": 2, "answer": "yes"}', "none of the fields"),
        ('{"id": 2, "text": "no", "logp_yes": -1}', "give both or neither"),
        ('{"text": "yes"}', "has no id"),
        ("{", "not valid JSON"),
        ("", "no records"),
    ):
        with pytest.raises(Exception, match=said):
            client.predict(bad, None, references, None, *options, api_name="/score")
    # A missing answer is wrong; it would be a yes by the official rule, and out by the other.
    for rules, becomes in ((("official", "wrong"), "reads as yes"), (("strict", "drop"), "leaves out")):
        with pytest.raises(Exception, match=f"no text for the id 'q2-swap', which .*{becomes}"):
            client.predict(predictions, None, references, None, *rules, api_name="/score")


def test_in_a_browser(narrow: Any, tmp_path: Path) -> None:
    predictions, references = (
        '{"id": "q1", "text": "yes"}\n{"id": "m", "text": "no"}',
        '{"id": "q1", "label": "yes", "condition": "original", "split": "random"}\n'
        '{"id": "m", "label": "yes", "condition": "black_mask", "split": "random", "parent_id": "q1"}',
    )
    narrow.fill(predictions, references.replace("black_mask", "black mask"))
    narrow.score()
    assert (
        "predictions, line 2; references, line 2: id 'm': the condition is 'black mask'" in narrow.complaint()
    )
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
    assert whole["by_condition"]["black_mask"]["random"]["accuracy"] == 0
    for address in (
        "https://arxiv.org/abs/2605.22903",
        "https://arxiv.org/abs/2305.10355",
        "/datasets/ORGANISATION/perturbed_pope",
        "/README.md",
    ):
        assert narrow.page.locator(f"a[href*='{address}']").count() == 1
    assert narrow.overflow() <= 0
