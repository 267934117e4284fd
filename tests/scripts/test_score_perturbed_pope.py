"""`lookcheck score perturbed-pope` as a person runs it, on answers whose figures are counted by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import datasets
import pytest

from lookcheck.scripts import console
from lookcheck.scripts.score.__main__ import app

Rows = list[dict[str, Any]]


def label(id: Any, label: str, condition: str, parent: Any = None, split: str = "random") -> dict[str, Any]:
    return {"id": id, "label": label, "condition": condition, "parent_id": parent, "split": split}


def answer(id: Any, text: str | None, yes: float | None = None, no: float | None = None) -> dict[str, Any]:
    return {"id": id, "text": text, "logp_yes": yes, "logp_no": no}


LABELS = [
    label("dog", "yes", "original"),
    label("cat", "yes", "original"),
    label("cup", "no", "original"),
    label("car", "yes", "original", split="popular"),
    label("dog-mask", "yes", "black_mask", "dog"),
    label("cat-mask", "yes", "black_mask", "cat"),
    label("car-mask", "yes", "black_mask", "car", "popular"),
    label("dog-swap", "no", "entity_swap", "dog"),
    label("bus-swap", "no", "entity_swap", "bus"),
]
# By file order of the labels: 1, 1, 0 and 1 right of the originals; then yes, no | unknown; yes, no.
ANSWERS = [
    {**answer("bus-swap", "No."), "entity_rank": 9, "entity_prob": 0.01},
    {**answer("dog", "Yes", -0.25, -2.25), "entity_rank": 2, "entity_prob": 0.5},
    answer("cat", "Yes.", -0.5, -1.5),
    answer("cup", "yes and no"),
    answer("car", "**Yes**"),
    {**answer("dog-mask", "Yes", -1.0, -0.5), "entity_rank": 8, "entity_prob": 0.125},
    answer("cat-mask", "No", -1.0, -0.75),
    answer("car-mask", "unknown"),
    answer("dog-swap", "Yes"),
]


def write(path: Path, rows: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def score(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["score", "perturbed-pope", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        console.run(app)
    return int(ended.value.code or 0)


def run(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    answers: Rows = ANSWERS,
    *more: object,
    labels: Rows | Path = LABELS,
) -> int:
    source = (
        ("--dataset", labels)
        if isinstance(labels, Path)
        else ("--references", write(folder / "r.jsonl", labels))
    )
    return score(monkeypatch, *source, "--predictions", write(folder / "p.jsonl", answers), *more)


def table(out: str) -> dict[str, list[str]]:
    cells = [line.split("│") for line in out.split("\n") if line.startswith("│")]
    return {row[1].strip(): [cell.strip() for cell in row[2:-1]] for row in cells}


Capture = pytest.CaptureFixture[str]


def test_the_table_is_the_mean_over_splits_and_fits_80_columns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    assert run(monkeypatch, tmp_path) == 0
    out = capsys.readouterr().out
    # accuracy, yes ratio, seen, relies; then the accuracy of always yes, always no, the copied answer.
    assert table(out) == {
        "original": ["83.33", "83.33", "100.00", "–", "83.33", "16.67", "83.33"],
        "black_mask": ["25.00", "25.00", "25.00", "66.67", "100.00", "0.00", "100.00"],
        # Only in one of the splits: a mean over it would compare with nothing.
        "entity_swap": ["–"] * 7,
    }
    assert "entity_swap has no rows of popular: no means; see --split\n" in out
    assert max(len(line) for line in out.split("\n") if line[:1] in "┏┃┡│└") <= 80
    for said in (
        # dog-mask says yes where its margin is -0.5; e^-0.25 + e^-2.25 and so on for four rows.
        "1 answers say the opposite of their margin",
        "yes and no together have 88.21 % of the first token's probability on average, and 82.97 % at the least",
        "9 rows scored; shown: means over the splits random, popular\n",
        "1 answers can't be read: counted as wrong\n",
        "1 answers are unknown, which is never right (black_mask 50.00 %)\n",
        "1 perturbed rows have no original row: in no paired figure\n",
        "|unparsed_rule:wrong|missing_rule:parsed|thinking:strip|n:9|missing:0|unparsed:1|unpaired:1|",
    ):
        assert said in out


def test_one_split_with_margins_and_ranks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    assert run(monkeypatch, tmp_path, ANSWERS, "--split", "random", "--unparsed", "drop") == 0
    out = capsys.readouterr().out
    assert table(out)["original"][:3] == ["100.00", "100.00", "100.00"]
    assert table(out)["black_mask"][:4] == ["50.00", "50.00", "50.00", "50.00"]
    assert "shown: split random\n" in out
    assert "1 answers can't be read: left out\n" in out
    # Margins 2 and 1 before, -0.5 and -0.25 after.
    assert "margin, black_mask: 1.500 to -0.375 nats (-1.875); stays positive 0.00 %\n" in out
    assert (
        "rank, black_mask: mrr 0.5 to 0.125 (-75.0%); mean rank 2 to 8 (+300.0%); "
        "median rank 2 to 8 (+300.0%); mean probability 0.5 to 0.125 (-75.0%)\n"
    ) in out
    assert "margin, entity_swap" not in out
    assert "rank, entity_swap" not in out


def test_means_over_splits_only_where_every_split_has_the_figure_and_never_of_medians(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    assert run(monkeypatch, tmp_path) == 0
    out = capsys.readouterr().out
    assert "margin, " not in out
    assert "rank, " not in out
    more = {"car": (-0.5, -4.5, 4), "car-mask": (-0.5, -1.0, 16)}
    answers = [
        {**row, **dict(zip(("logp_yes", "logp_no", "entity_rank"), more.get(row["id"], ()), strict=False))}
        for row in ANSWERS
    ]
    assert run(monkeypatch, tmp_path, answers) == 0
    out = capsys.readouterr().out
    # Random 1.5 to -0.375, popular 4 to 0.5; stays positive in none of two pairs and in the one.
    assert "margin, black_mask: 2.750 to 0.062 nats (-2.688); stays positive 50.00 %\n" in out
    assert "rank, black_mask: mrr 0.375 to 0.09375 (-75.0%); mean rank 3 to 12 (+300.0%)\n" in out


def test_json_and_csv_have_every_split(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    whole, flat = tmp_path / "o.json", tmp_path / "o.csv"
    assert run(monkeypatch, tmp_path, ANSWERS, "--json", "--output", whole, "--output", flat) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["by_condition"]["original"]["random"]["accuracy"] == 2 / 3
    assert shown["evidence_reliance"]["black_mask"]["share"] == 2 / 3
    assert shown["by_condition"]["original"]["popular"]["margin_mean"] is None
    assert "per_sample" not in shown
    result = json.loads(whole.read_text())
    assert [row["id"] for row in result["per_sample"]] == [row["id"] for row in LABELS]
    assert [row["margin"] for row in result["per_sample"][:3]] == [2.0, 1.0, None]
    with flat.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "condition_split"]
    found = {row["name"]: (int(row["n"]), float(row["value"])) for row in rows}
    assert list(dict.fromkeys(name.rpartition("/")[0] for name in found)) == [
        "original/random",
        "original/popular",
        "black_mask/random",
        "black_mask/popular",
    ] + ["entity_swap/random"]
    assert found["black_mask/random/margin_shift_mean"] == (2, -1.875)
    assert found["entity_swap/random/unpaired"] == (2, 1)
    assert found["original/random/always_yes_f1"] == (3, 0.8)
    assert found["black_mask/random/copy_original_accuracy"] == (2, 1)
    assert "original/random/evidence_reliance" not in found


def test_some_conditions_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture) -> None:
    assert run(monkeypatch, tmp_path, ANSWERS, "--condition", "entity_swap") == 0
    out = capsys.readouterr().out
    assert list(table(out)) == ["original", "entity_swap"]
    assert "3 predictions of other conditions are not scored\n" in out


def test_the_signature_says_the_split_and_what_was_not_answered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    only_originals = [row for row in ANSWERS if not row["id"].endswith(("-mask", "-swap"))]
    signatures = []
    for more in ([], ["--split", "random"], ["--split", "popular"]):
        assert run(monkeypatch, tmp_path, only_originals, *more) == 0
        out = capsys.readouterr().out
        signatures.append(next(line for line in out.split("\n") if line.startswith("signature: ")))
        # Nothing was answered: no figure, rather than one of a model that looks past everything.
        assert table(out)["black_mask"] == ["–"] * 7
        assert "black_mask: no row has an answer, no figures\n" in out
    absent = len(ANSWERS) - len(only_originals)
    tails = [line.split("|without_text:")[1] for line in signatures]
    assert tails == [
        f"{absent}|split:{shown}" for shown in ("mean(random,popular)", "random(random)", "popular(popular)")
    ]


def test_a_file_has_no_figure_of_a_condition_without_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = [row for row in ANSWERS if not row["id"].endswith("-mask")]
    assert run(monkeypatch, tmp_path, answers, "--split", "random", "--output", tmp_path / "o.csv") == 0
    written = (tmp_path / "o.csv").read_text()
    assert "black_mask" not in written
    assert "original" in written


def test_missing_answers_are_counted_aloud_and_never_read_as_yes_or_dropped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    answers = [row for row in ANSWERS if row["id"] != "dog-mask"]
    answers[-1] = answer("dog-swap", None, -1.0, -2.0)
    assert run(monkeypatch, tmp_path, answers) == 0
    out = capsys.readouterr().out
    assert "2 of 9 (22.22 %) rows have no text, counted as wrong (id 'dog-mask', 'dog-swap')\n" in out
    assert table(out)["black_mask"][0] == "0.00"
    for more, said in (
        (["--parser", "official"], "and --parser official reads them as yes; "),
        (["--unparsed", "drop"], "and --unparsed drop leaves them out; "),
    ):
        assert run(monkeypatch, tmp_path, answers, *more) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert f"p.jsonl: 2 of 9 rows have no text (id 'dog-mask', 'dog-swap') {said}" in captured.err
    # What the model did leave empty is an answer, which the official parser takes for yes.
    silent = [{**row, "text": row["text"] if row["id"] != "cup" else ""} for row in ANSWERS]
    assert run(monkeypatch, tmp_path, silent, "--parser", "official", "--json") == 0
    assert json.loads(capsys.readouterr().out)["counts"]["unparsed"] == 0


def test_a_built_folder_gives_the_labels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    columns = datasets.Features(
        {
            **dict.fromkeys(("id", "parent_id", "split", "question", "condition"), datasets.Value("string")),
            "image": datasets.Image(),
            "answer": datasets.ClassLabel(names=["no", "yes"]),
            "image_id": datasets.Value("int64"),
        }
    )
    (tmp_path / "built" / "data").mkdir(parents=True)
    (tmp_path / "built" / "lookcheck.json").write_text('{"name": "perturbed_pope"}')
    card = ["---", "configs:"]
    for condition in ("original", "black_mask", "entity_swap"):
        card += [f"- config_name: {condition}", "  data_files:"]
        for split in ("random", "popular"):
            rows = [
                {**dict.fromkeys(columns), **row, "answer": row["label"], "image_id": 7}
                for row in LABELS
                if (row["condition"], row["split"]) == (condition, split)
            ]
            for row in rows:
                # As the builder does: an original is its own parent.
                row["parent_id"] = row["parent_id"] or row["id"]
                row.pop("label")
            if rows:
                card += [f"  - split: {split}", f"    path: data/{condition}-{split}-*.parquet"]
                datasets.Dataset.from_list(rows, features=columns).to_parquet(
                    tmp_path / "built" / "data" / f"{condition}-{split}-00000-of-00001.parquet"
                )
    (tmp_path / "built" / "README.md").write_text("\n".join([*card, "---", ""]))
    whole = tmp_path / "o.json"
    assert run(monkeypatch, tmp_path, ANSWERS, "--output", whole, labels=tmp_path / "built") == 0
    built = capsys.readouterr().out
    assert run(monkeypatch, tmp_path) == 0
    assert table(built) == table(capsys.readouterr().out)
    rows = json.loads(whole.read_text())["per_sample"]
    assert {row["group"] for row in rows} == {7}
    (tmp_path / "built" / "data" / "original-random-00000-of-00001.parquet").write_bytes(b"PAR1")
    assert run(monkeypatch, tmp_path, labels=tmp_path / "built") == 2
    assert "original-random-00000-of-00001.parquet: can't be read" in capsys.readouterr().err
    other = datasets.Dataset.from_dict({"id": ["x"], "answer": ["yes"]})
    other.to_parquet(tmp_path / "built" / "data" / "original-random-00000-of-00001.parquet")
    assert run(monkeypatch, tmp_path, labels=tmp_path / "built") == 2
    assert (
        "original-random-00000-of-00001.parquet: lacks the columns parent_id, condition, image_id"
        in capsys.readouterr().err
    )
    (tmp_path / "empty").mkdir()
    assert run(monkeypatch, tmp_path, labels=tmp_path / "empty") == 2
    assert "expected a folder of lookcheck build perturbed-pope" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answers", "labels", "more", "said"),
    [
        ([answer("zebra", "yes")], LABELS, [], "p.jsonl:1: the id 'zebra' is not in"),
        ([{"id": "dog", "answer": "yes"}], LABELS, [], "p.jsonl:1: id 'dog' has none of the fields text, "),
        ([{"id": "dog", "text": 1}], LABELS, [], "p.jsonl:1: id 'dog' has text 1; expected a string"),
        ([*ANSWERS, ANSWERS[0]], LABELS, [], "p.jsonl:10: the id 'bus-swap' stands twice"),
        (
            [answer(7, "yes"), answer("7", "yes")],
            [label(7, "yes", "original")],
            [],
            "the id '7' stands twice",
        ),
        ([{"text": "yes"}], LABELS, [], "p.jsonl:1: expected one field 'id'"),
        (
            [answer("dog", "Yes", -1.0)],
            LABELS,
            [],
            "p.jsonl:1: id 'dog': logp_yes is -1.0, but logp_no is nan",
        ),
        ([answer("dog", "Yes", 3.5, -1.0)], LABELS, [], "p.jsonl:1: id 'dog': logp_yes is 3.5"),
        ([{**ANSWERS[1], "entity_rank": -2}], LABELS, [], "p.jsonl:1: id 'dog': entity_rank is -2"),
        ([{**ANSWERS[1], "entity_rank": True}], LABELS, [], "p.jsonl:1: id 'dog': entity_rank is True"),
        ([{**ANSWERS[1], "entity_prob": 2}], LABELS, [], "p.jsonl:1: id 'dog': entity_prob is 2"),
        (ANSWERS, [*LABELS, label("x", "yes", "black_box")], [], "r.jsonl:10: id 'x': parent_id is ''"),
        (ANSWERS, [*LABELS, label("x", "yes", "black_box", 3)], [], "r.jsonl:10: id 'x' has parent_id 3"),
        (ANSWERS, [*LABELS, label("x", "maybe", "original")], [], "r.jsonl:10: id 'x': the label is 'maybe'"),
        (ANSWERS, [{**LABELS[0], "answer": "yes"}], [], "p.jsonl:1: the id 'bus-swap' is not in"),
        (
            [ANSWERS[1]],
            [{**LABELS[0], "answer": "yes"}],
            [],
            "r.jsonl:1: id 'dog' needs one field 'label' or",
        ),
        ([ANSWERS[1]], [{"id": "dog", "label": "yes"}], [], "r.jsonl:1: id 'dog' has no 'condition'"),
        (ANSWERS, LABELS, ["--parser", "json"], "--parser is 'json'; expected one of strict, official"),
        (ANSWERS, LABELS, ["--unparsed", "keep"], "--unparsed is 'keep'; expected one of wrong, drop"),
        (ANSWERS, LABELS, ["--split", "test"], "--split is 'test'; the rows have random, popular"),
        (ANSWERS, LABELS, ["--condition", "blur"], "--condition is 'blur'; "),
        (ANSWERS, LABELS, ["--output", "x.txt"], "ending in .json, .csv, .md or .tex"),
    ],
)
def test_refusals_are_one_line_and_write_nothing(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: Capture,
    answers: Rows,
    labels: Rows,
    more: list[str],
    said: str,
) -> None:
    target = tmp_path / "o.json"
    assert run(monkeypatch, tmp_path, answers, "--output", target, *more, labels=labels) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not target.exists()
