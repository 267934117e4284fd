"""The gradio page, laid out as in a Space, started in its own process and scored through."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
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
    figures, rows, signature, *_ = client.predict(
        predictions, None, references, None, *options, api_name="/score"
    )
    shown = {row[0]: row[1:] for row in figures["data"]}
    # sqrt(0.5), and 0.1 for the sample of which nothing was said, not even that there is nothing.
    assert shown["all"] == ["40.36", "50.00", "25.00", "2"] or shown["all"] == ["40.36", "50.00", "25.00", 2]
    assert shown["with evidence"][0] == "70.71"
    assert shown["without evidence"][0] == "10.00"
    assert shown["task: ocr"][0] == "40.36"
    assert shown["without looking: all wrong"][0] == "10.00"
    assert rows["data"][0] == ["1", "yes", "50.00", "70.71", "1 / 1"]
    assert signature.endswith("|n:2|unjudged:1|missing_rule:wrong|missing:1|version:2.1.0")
    upload = tmp_path / "p.jsonl"
    upload.write_text(json.dumps({"id": 2, "verdict": "yes", "masks": []}))
    figures, *_ = client.predict("", handle_file(upload), references, None, *options, api_name="/score")
    assert {row[0]: row[1] for row in figures["data"]}["without evidence"] == "100.00"
    for bad, said in (
        (
            '{"id": 9, "verdict": "yes", "masks": []}',
            "predictions, line 1: the id '9' is not in the references",
        ),
        ('{"id": 1, "verdict": "yes"}', "predictions, line 1; references, line 1: id '1': .*masks are ''"),
        ('{"id": 1, "verdict": "maybe", "masks": []}', "the verdict is 'maybe'"),
        ('{"verdict": "yes"}', "no id"),
        ("{", "not valid JSON"),
        ("", "no records"),
    ):
        with pytest.raises(Exception, match=said):
            client.predict(bad, None, references, None, *options, api_name="/score")


LEFT = {"size": [10, 20], "counts": [0, 100, 100]}
"""Columns 0 to 9; ``MIDDLE`` 5 to 14, so that half of each is shared: IoU 50 / 150."""
MIDDLE = {"size": [10, 20], "counts": [50, 100, 50]}
LAST = {"size": [10, 20], "counts": [190, 10]}
PREDICTIONS = [
    {"id": "a", "verdict": "yes", "masks": [LAST, MIDDLE]},
    {"id": "<b>", "verdict": "no", "masks": []},
]
REFERENCES = [{"id": "a", "masks": [LEFT]}, {"id": "<b>", "masks": [LAST]}]


def lines(records: list[dict[str, Any]]) -> str:
    return "\n".join(map(json.dumps, records))


def test_masks_are_drawn_and_rows_are_downloaded(narrow: Any, tmp_path: Path) -> None:
    from PIL import Image

    narrow.fill(lines(PREDICTIONS), lines(REFERENCES))
    narrow.score()
    narrow.shows("R0 with P1: IoU 0.333")
    narrow.shows("P0: no pair")
    drawing = narrow.page.locator("svg[role=img]")
    assert drawing.locator("text").all_text_contents() == ["R0", "P0", "P1 · IoU 0.33"]
    # Each outline has a white line under it.
    assert drawing.locator("path").count() == 6
    assert drawing.locator("image").count() == 0
    assert narrow.overflow() <= 0
    inside = drawing.evaluate(
        "node => { const frame = node.getBoundingClientRect(); return [...node.querySelectorAll('text')]"
        ".every(text => { const box = text.getBoundingClientRect();"
        "return box.left >= frame.left && box.right <= frame.right && box.bottom <= frame.bottom + 1 }) }"
    )
    assert inside
    rows = list(csv.DictReader(io.StringIO(narrow.download("Rows (CSV)"))))
    assert [row["id"] for row in rows] == ["a", "<b>"]
    assert float(rows[0]["mask_score"]) == pytest.approx(1 / 6)
    assert json.loads(rows[0]["matches"])[0]["prediction"] == 1
    assert rows[1]["task"] == ""
    whole = json.loads(narrow.download("Everything (JSON)"))
    assert whole["mask_score"] == pytest.approx(1 / 12)
    assert json.loads(narrow.download("Rows (JSON)")) == whole["per_sample"]

    Image.new("RGB", (20, 10), "red").save(tmp_path / "a.png")
    narrow.upload("Pictures", tmp_path / "a.png")
    drawing.locator("image").wait_for()
    Image.new("RGB", (30, 10), "red").save(tmp_path / "a.png")
    narrow.page.get_by_label("Clear").last.click()
    drawing.locator("image").wait_for(state="detached")
    narrow.upload("Pictures", tmp_path / "a.png")
    assert "a.png is 30 × 10 pixels, but the masks are 20 × 10" in narrow.complaint()


def test_a_complaint_names_the_line_and_an_upload_replaces_the_text(narrow: Any, tmp_path: Path) -> None:
    broken = [PREDICTIONS[0], {**PREDICTIONS[1], "verdict": "maybe"}]
    narrow.fill(json.dumps(broken, indent=1), "\n\n" + lines(REFERENCES))
    narrow.score()
    line = json.dumps(broken, indent=1)[: json.dumps(broken, indent=1).index('"<b>"')].count("\n")
    assert (
        f"predictions, line {line}, record 2; references, line 4: id '<b>': the verdict is 'maybe'"
        in narrow.complaint()
    )
    path = tmp_path / "mine.jsonl"
    path.write_text(lines(PREDICTIONS), encoding="utf-8")
    narrow.upload("Predictions file", path)
    narrow.shows("Predictions: mine.jsonl")
    box = narrow.page.locator("textarea").first
    assert box.input_value() == lines(PREDICTIONS)
    assert not box.is_editable()
    narrow.score()
    assert json.loads(narrow.download("Everything (JSON)"))["counts"]["n"] == 2
    for address in ("https://arxiv.org/abs/2605.20676", "/datasets/ORGANISATION/vistaqa", "/README.md"):
        assert narrow.page.locator(f"a[href*='{address}']").count() == 1
    assert narrow.overflow() <= 0


def test_an_outline_is_every_border_between_inside_and_outside() -> None:
    from lookcheck.metrics.grove.drawing import outline

    mask = np.random.default_rng(0).random((9, 13)) < 0.5
    found = set()
    for left, top, way, end in re.findall(r"M(\d+) (\d+)([HV])(\d+)", outline(mask)):
        x, y = int(left), int(top)
        across = {("H", at, y) for at in range(x, int(end))}
        found |= across if way == "H" else {("V", x, at) for at in range(y, int(end))}
    inside = {(x, y) for y, x in zip(*np.nonzero(mask), strict=True)}
    expected = set()
    for x, y in inside:
        for way, at, other in (
            ("H", (x, y), (x, y - 1)),
            ("H", (x, y + 1), (x, y + 1)),
            ("V", (x, y), (x - 1, y)),
            ("V", (x + 1, y), (x + 1, y)),
        ):
            if other not in inside:
                expected.add((way, *at))
    assert found == expected
