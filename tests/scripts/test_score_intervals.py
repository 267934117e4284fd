"""`lookcheck score … --confidence`: the intervals beside the figures, in every form of output."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lookcheck.scripts.cli import app


def files(folder: Path) -> list[str]:
    """Forty images, three of four right on Q1."""
    keys, answers = [], []
    for number in range(40):
        keys.append({"id": number, "role": "artifact", "q1": "yes", "q2": "A", "q3": "B", "q4": "C"})
        said = "yes" if number % 4 else "no"
        answers.append({"id": number, "q1": said, "q2": "A", "q3": "B", "q4": "C"})
    for name, rows in (("keys", keys), ("answers", answers)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["--references", str(folder / "keys.jsonl"), "--predictions", str(folder / "answers.jsonl")]


def test_intervals_stand_beside_the_figures_in_every_output(tmp_path: Path) -> None:
    outputs = [
        argument
        for kind in ("json", "csv", "md", "tex")
        for argument in ("--output", str(tmp_path / f"o.{kind}"))
    ]
    done = CliRunner().invoke(
        app, ["score", "salart-vqa", *files(tmp_path), "--confidence", "0.95", *outputs]
    )
    assert done.exit_code == 0, done.output
    result = json.loads((tmp_path / "o.json").read_text())
    found = result["intervals"]["artifact_q1"]
    shown = f"75.00 [{100 * found['low']:.2f}, {100 * found['high']:.2f}]"
    for text in (done.output, (tmp_path / "o.md").read_text(), (tmp_path / "o.tex").read_text()):
        assert shown in text
        assert "|confidence:0.95|intervals:bootstrap+exact|resamples:10000|clusters:40 rows|seed:" in re.sub(
            r"\n", "", text
        )
    rows = {row["name"]: row for row in csv.DictReader((tmp_path / "o.csv").open()) if row["kind"] == "score"}
    assert (float(rows["artifact_q1"]["low"]), float(rows["artifact_q1"]["high"])) == (
        found["low"],
        found["high"],
    )
    assert "in brackets: intervals of level 0.95 (bootstrap+exact) over 40 rows" in done.output
    assert "few clusters" not in done.output


def test_without_a_level_nothing_changes_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    given = files(tmp_path)
    done = CliRunner().invoke(app, ["score", "salart-vqa", *given, "--output", str(tmp_path / "o.csv")])
    assert "[" not in done.output.split("signature")[0]
    assert (tmp_path / "o.csv").read_text().splitlines()[0] == "kind,name,n,value"
    with pytest.raises(ValueError, match=r"confidence is 95\.0; expected a number above 0 and below 1"):
        CliRunner().invoke(app, ["score", "salart-vqa", *given, "--confidence", "95"], catch_exceptions=False)
