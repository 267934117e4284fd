"""What every scoring command writes: several systems side by side, Markdown, LaTeX, rows; one option a thing."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lookcheck.scripts import console
from lookcheck.scripts.score.__main__ import app

Capture = pytest.CaptureFixture[str]
REFERENCES = [
    {"question_id": 1, "image_id": 4, "answers": [{"answer": "red"}] * 10, "question_type": "what_color"},
    {"question_id": 2, "image_id": 4, "answers": [{"answer": "2"}] * 10, "question_type": "how | many"},
]
GOOD = [{"question_id": 1, "answer": "red"}, {"question_id": 2, "answer": "2"}]
BAD = [{"question_id": 2, "answer": "2"}, {"question_id": 1, "answer": "blue"}]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """VQA v2's own forms: an object with annotations, arrays of results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.json").write_text(json.dumps({"info": {}, "license": {}, "annotations": REFERENCES}))
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    (tmp_path / "bad.json.gz").write_bytes(gzip.compress(json.dumps(BAD).encode()))
    return tmp_path


def score(monkeypatch: pytest.MonkeyPatch, *arguments: str, command: str = "vqa") -> int:
    monkeypatch.setattr("sys.argv", ["score", command, *arguments])
    with pytest.raises(SystemExit) as ended:
        console.run(app)
    return int(ended.value.code or 0)


BOTH = ("--references", "r.json", "--predictions", "good.json", "--predictions", "bad.json.gz")


def test_systems_stand_side_by_side(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert (
        score(monkeypatch, *BOTH, "--output", "o.csv", "--output", "o.json", "--per-sample", "rows.csv") == 0
    )
    out = capsys.readouterr().out
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.split("\n") if line[:1] == "│"]
    assert cells[:4] == [
        ["soft accuracy", "100.00", "50.00"],
        ["exact match", "100.00", "50.00"],
        ["always yes: soft accuracy", "0.00", "0.00"],
        ["always yes: exact match", "0.00", "0.00"],
    ]
    assert ["what_color: soft accuracy", "100.00", "0.00"] in cells
    assert "good: signature: metric:soft_vqa_acc|" in out
    assert "bad: signature: metric:soft_vqa_acc|" in out
    rows = (files / "o.csv").read_text().split("\n")
    assert rows[:2] == ["predictions,kind,name,n,value", "good,score,soft_vqa_acc,2,1.0"]
    assert "bad,question_type,what_color/soft_vqa_acc,1,0.0" in rows
    whole = json.loads((files / "o.json").read_text())["predictions"]
    assert {name: result["soft_vqa_acc"] for name, result in whole.items()} == {"good": 1.0, "bad": 0.5}
    with (files / "rows.csv").open(newline="") as file:
        samples = [(row["predictions"], row["id"], row["score"]) for row in csv.DictReader(file)]
    assert samples == [("good", "1", "1.0"), ("good", "2", "1.0"), ("bad", "1", "0.0"), ("bad", "2", "1.0")]


def test_a_file_that_cannot_be_made_is_named_as_it_was_given(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    command = ("--references", "r.json", "--predictions", "good.json", "--output", "/proc/x.json")
    assert score(monkeypatch, *command) == 2
    assert capsys.readouterr().err.startswith("error: /proc/x.json: can't be written: ")


@pytest.mark.parametrize(
    ("option", "name"),
    [("--output", "run.json"), ("--output", "scores.json"), ("--per-sample", "replies.jsonl")],
)
def test_what_a_run_holds_stays(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, option: str, name: str
) -> None:
    (files / "run").mkdir()
    for kept in ("run.json", "scores.json", "replies.jsonl"):
        (files / "run" / kept).write_text("{}")
    # By another way to the same file.
    (files / "link").symlink_to(files / "run")
    assert score(monkeypatch, option, f"link/{name}", command="run") == 2
    assert f"link/{name}: {option} would overwrite the input run/{name}" in capsys.readouterr().err
    assert (files / "run" / name).read_text() == "{}"


def test_names(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert score(monkeypatch, *BOTH, "--name", "ours", "--name", "theirs", "--json") == 0
    assert list(json.loads(capsys.readouterr().out)["predictions"]) == ["ours", "theirs"]
    one = ("--references", "r.json", "--predictions", "good.json")
    assert score(monkeypatch, *one, "--name", "ours") == 0
    assert "│ ours " in capsys.readouterr().out
    for more, said in (
        (("--name", "x"), "1 --name for 2 --predictions"),
        (("--name", "x", "--name", "x"), "two --predictions are called 'x'"),
    ):
        assert score(monkeypatch, *BOTH, *more) == 2
        assert said in capsys.readouterr().err
    assert score(monkeypatch, *one, "--predictions", "good.json") == 2
    assert "two --predictions are called 'good'" in capsys.readouterr().err


def test_rows_as_json_lines(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert score(monkeypatch, *BOTH[:4], "--per-sample", "rows.jsonl", "--output", "o.json") == 0
    rows = [json.loads(line) for line in (files / "rows.jsonl").read_text().splitlines()]
    assert rows == json.loads((files / "o.json").read_text())["per_sample"]


def test_markdown(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert score(monkeypatch, *BOTH[:4], "--output", "o.md") == 0
    text = (files / "o.md").read_text()
    assert text.startswith(
        "VQA soft accuracy, percent\n\n|  | soft accuracy | exact match |\n| --- | ---: | ---: |\n"
        "| good | 100.00 | 100.00 |\n| always yes | 0.00 | 0.00 |\n"
    )
    assert "|  | n | soft accuracy |\n| --- | ---: | ---: |\n| how \\| many | 1 | 100.00 |\n" in text
    assert "- good: `metric:soft_vqa_acc|mode:official|" in text


def test_latex_escapes_and_compiles(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert score(monkeypatch, *BOTH, "--name", r"a_b & 5 % \x{}^~#$", "--name", "b", "--output", "o.tex") == 0
    text = (files / "o.tex").read_text()
    assert (
        r"\begin{tabular}{lrr}" + "\n\\toprule\n"
        r" & a\_b \& 5 \% \textbackslash{}x\{\}\textasciicircum{}\textasciitilde{}\#\$ & b \\"
        + "\n\\midrule\n"
        r"soft accuracy & 100.00 & 50.00 \\" + "\n"
    ) in text
    assert r"what\_color: soft accuracy & 100.00 & 0.00 \\" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert text.startswith(r"% a_b & 5 % \x{}^~#$: metric:soft_vqa_acc|")
    if shutil.which("pdflatex"):
        document = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n%s\\end{document}\n"
        (files / "d.tex").write_text(document % text)
        subprocess.run(["pdflatex", "-halt-on-error", "d.tex"], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--output", "a.csv", "--per-sample", "a.csv"], "a.csv: is to be written 2 times"),
        (["--output", "a.csv", "--output", "./a.csv"], "a.csv: is to be written 2 times"),
        (["--output", "built/lookcheck.json"], "built/lookcheck.json: lies inside the built folder"),
        (["--per-sample", "built/data/rows.csv"], "built/data/rows.csv: lies inside the built folder"),
    ],
)
def test_no_output_destroys_another_file(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, arguments: list[str], said: str
) -> None:
    (files / "built" / "data").mkdir(parents=True)
    (files / "built" / "lookcheck.json").write_text("{}")
    before = sorted(path.name for path in files.rglob("*"))
    assert score(monkeypatch, *BOTH, *arguments) == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in files.rglob("*")) == before
    assert (files / "built" / "lookcheck.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("vqa", [], "give --references FILE"),
        ("vistaqa", [], "give --references FILE or --dataset FOLDER"),
        ("vistaqa", ["--references", "r.json", "--dataset", "."], "or --dataset FOLDER, not both"),
        ("vistaqa", ["--references", "."], ".: is a folder; a built folder is given with --dataset"),
        ("vistaqa", ["--dataset", "r.json"], "r.json: is a file; a file is given with --references"),
        ("vistaqa", ["--dataset", "none"], "none: no such folder"),
        ("vqa", ["--references", "-", "--predictions", "-"], "standard input (-) can be read once"),
        (
            "vqa",
            ["--references", "r.json", "--per-sample", "rows.txt"],
            "--per-sample takes a name ending in",
        ),
        (
            "vqa",
            ["--references", "r.json", "--per-sample", "r.json"],
            "--per-sample would overwrite the input",
        ),
        (
            "vistaqa",
            ["--references", "r.json", "--predictions", "bad.json.gz", "--verdicts", "v"],
            "1 --verdicts for 2 --predictions; give one for each, in their order, or none",
        ),
    ],
)
def test_one_option_for_one_thing(
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    command: str,
    arguments: list[str],
    said: str,
) -> None:
    given: list[Any] = [*arguments, "--predictions", "good.json"]
    assert score(monkeypatch, *given, command=command) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert said in captured.err
    assert sorted(path.name for path in files.iterdir()) == ["bad.json.gz", "good.json", "r.json"]
