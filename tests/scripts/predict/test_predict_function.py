"""From a Python function to the score, on the whole samples."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Lookcheck = Callable[..., Any]
Model = Callable[[str], str]

READ = """
    import json
    import pyarrow.parquet as pq
    from pathlib import Path

    def rows(start):
        for path in sorted(Path({folder!r}, "data").glob(start)):
            yield from pq.read_table(path).to_pylist()
"""


def scores(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "scores.json").read_text())
    return found


def predictions(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]


def test_an_oracle_of_perturbed_pope_is_always_right(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path
) -> None:
    oracle = model(
        READ.format(folder=str(built["perturbed_pope"]))
        + """
    KEY = {row["id"]: ("no", "yes")[row["answer"]] for row in rows("*.parquet")}

    def answer(row):
        assert row["text"] == row["question"] + " Answer yes or no only."
        assert (row["picture"] is None) == row["id"].endswith("-no_image")
        return {"text": KEY[row["id"]].capitalize() + ".", "logp_yes": -0.25, "logp_no": -2.0}
    """
    )
    done = lookcheck(
        "predict",
        "run",
        "--dataset",
        built["perturbed_pope"],
        "--model",
        oracle,
        "--output",
        tmp_path / "run",
        "--quiet",
    )
    assert done.returncode == 0, done.stderr
    scored = lookcheck("score", tmp_path / "run")
    assert scored.returncode == 0, scored.stderr
    result = scores(tmp_path / "run")
    assert result["counts"]["n"] == 3597
    for condition, splits in result["by_condition"].items():
        for split, figures in splits.items():
            assert figures["accuracy"] == 1.0, (condition, split)
            assert figures["margin_mean"] == 1.75, (condition, split)
    assert result["signature"].endswith(f"|rows:3597 of 3597|protocol:pope-yes-no:1|model:{oracle}")


def test_an_oracle_of_salart_is_always_right(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path
) -> None:
    oracle = model(
        READ.format(folder=str(built["salart_vqa"]))
        + """
    KEY = {row["row_id"]: row for row in rows("images-*.parquet")}

    def answer(row):
        said = KEY[row["id"]][row["part"] + "_answer"]
        return "<think>Let me see.</think>" + said
    """
    )
    done = lookcheck(
        "predict",
        "run",
        "--dataset",
        built["salart_vqa"],
        "--model",
        oracle,
        "--output",
        tmp_path / "run",
        "--json",
    )
    assert json.loads(done.stdout)["problems"] == {}
    assert lookcheck("score", tmp_path / "run").returncode == 0
    result = scores(tmp_path / "run")
    for name in ("artifact_q1", "artifact_all_1_4", "real_all_1_4", "generated_all_2_4", "overall_all_2_4"):
        assert result[name] == 1.0, name
    first = predictions(tmp_path / "run")[0]
    assert first["reasoning"]["q3"] == "<think>Let me see.</think>"
    assert first["raw"]["q1"] == "<think>Let me see.</think>" + first["q1"]


def test_an_oracle_of_vistaqa_is_always_right_and_points(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path
) -> None:
    oracle = model(
        READ.format(folder=str(built["vistaqa"]))
        + """
    from lookcheck.dataset_builders.core.masks import decode

    KEY = {row["id"]: row for row in rows("*.parquet")}

    def answer(row):
        told = KEY[row["id"]]
        # Boolean arrays of shape (height, width), as a model's own code has them.
        masks = [decode(rle) for rle in told["masks_rle"]]
        assert all(mask.shape == row["picture"].size[::-1] for mask in masks)
        return {"answer": told["answer"], "masks": masks, "verdict": "yes"}
    """
    )
    done = lookcheck(
        "predict",
        "run",
        "--dataset",
        built["vistaqa"],
        "--protocol",
        "vistaqa-answer",
        "--model",
        oracle,
        "--output",
        tmp_path / "run",
    )
    assert done.returncode == 0, done.stderr
    assert lookcheck("score", tmp_path / "run").returncode == 0
    result = scores(tmp_path / "run")
    assert (result["grove"], result["answer_accuracy"], result["mask_score"]) == (1.0, 1.0, 1.0)
    assert result["counts"]["n"] == 66


def test_who_never_points_gets_what_the_paper_says(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path
) -> None:
    blind = model("def answer(row):\n    return {'answer': 'x', 'masks': [], 'verdict': 'yes'}\n")
    lookcheck(
        "predict",
        "run",
        "--dataset",
        built["vistaqa"],
        "--protocol",
        "vistaqa-answer",
        "--model",
        blind,
        "--output",
        tmp_path / "run",
    )
    lookcheck("score", tmp_path / "run")
    # 48 samples with evidence at sqrt(0.1), 18 without at 1.
    assert math.isclose(scores(tmp_path / "run")["grove"], (48 * math.sqrt(0.1) + 18) / 66)


def test_fewer_rows_are_scored_on_the_rows_asked(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, stored: Callable[..., Any], tmp_path: Path
) -> None:
    says = model("def answer(row):\n    return 'Yes'\n")
    arguments = ["--dataset", built["perturbed_pope"], "--model", says, "--condition", "original"]
    lookcheck("predict", "run", *arguments, "--limit", 100, "--output", tmp_path / "run")
    rows = stored("perturbed_pope", "original")
    assert [line["id"] for line in predictions(tmp_path / "run")] == [row["id"] for row in rows[:100]]
    shown = lookcheck("score", tmp_path / "run")
    assert "|rows:100 of 354|" in scores(tmp_path / "run")["signature"]
    assert "100 of 354 rows were asked" in shown.stdout
    assert scores(tmp_path / "run")["counts"]["n"] == 100
    (tmp_path / "ids.txt").write_text(f"{rows[5]['id']}\n{rows[2]['id']}\n")
    lookcheck(
        "predict",
        "run",
        *arguments,
        "--ids",
        f"@{tmp_path / 'ids.txt'}",
        "--ids",
        rows[9]["id"],
        "--output",
        tmp_path / "few",
    )
    assert [line["id"] for line in predictions(tmp_path / "few")] == [
        rows[place]["id"] for place in (2, 5, 9)
    ]
    wrong = lookcheck("predict", "run", *arguments, "--ids", "nobody", "--output", tmp_path / "none")
    assert wrong.returncode == 2
    assert "has no row 'nobody' that is asked" in wrong.stderr
    assert not (tmp_path / "none").exists()


def test_what_fails_is_no_answer_and_is_asked_again(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path
) -> None:
    flag = tmp_path / "mended"
    says = model(
        f"""
    from pathlib import Path

    def answer(row):
        if row["part"] == "q2" and not Path({str(flag)!r}).exists():
            raise RuntimeError("no memory")
        return "no" if row["part"] == "q1" else "E"
    """
    )
    command = [
        "predict",
        "run",
        "--dataset",
        built["salart_vqa"],
        "--model",
        says,
        "--output",
        tmp_path / "run",
    ]
    first = lookcheck(*command, "--json")
    assert first.returncode == 5
    told = json.loads(first.stdout)
    assert (told["rows"], told["failed"], told["failures"]) == (12, 12, {"q2: RuntimeError: no memory": 12})
    assert set(predictions(tmp_path / "run")[0]) == {"id", "failure"}
    refused = lookcheck("score", tmp_path / "run")
    assert refused.returncode == 2
    assert "is unfinished: of 12 rows 0 are not there and 12 failed" in refused.stderr
    assert not (tmp_path / "run" / "scores.json").exists()
    replies = {json.loads(line)["id"]: line for line in (tmp_path / "run" / "replies.jsonl").open()}
    flag.touch()
    assert json.loads(lookcheck(*command, "--json").stdout)["failed"] == 0
    again = {json.loads(line)["id"]: line for line in (tmp_path / "run" / "replies.jsonl").open()}
    assert list(again) == list(replies)
    assert {id for id in again if again[id] != replies[id]} == {id for id in again if id.endswith("/q2")}
    lookcheck("score", tmp_path / "run")
    # "no, E, E, E" is right of all that is no artifact.
    result = scores(tmp_path / "run")
    assert (result["real_all_1_4"], result["generated_all_2_4"], result["artifact_all_1_4"]) == (
        1.0,
        1.0,
        0.0,
    )


def test_a_part_that_failed_is_left_out_by_partial(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, stored: Callable[..., Any], tmp_path: Path
) -> None:
    rows = stored("perturbed_pope", "original")
    says = model(
        f"""
    def answer(row):
        if row["id"] == {rows[3]["id"]!r}:
            raise ValueError("no")
        return "Yes"
    """
    )
    lookcheck(
        "predict",
        "run",
        "--dataset",
        built["perturbed_pope"],
        "--condition",
        "original",
        "--model",
        says,
        "--output",
        tmp_path / "run",
    )
    shown = lookcheck("score", tmp_path / "run", "--partial")
    assert shown.returncode == 0, shown.stderr
    assert f"requests failed: not scored (id {rows[3]['id']!r})" in shown.stdout
    result = scores(tmp_path / "run")
    assert result["counts"]["n"] == 353
    assert result["counts"]["missing"] == 0
    assert "|rows:353 of 354|" in result["signature"]


def test_a_run_with_another_header_is_refused(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path
) -> None:
    says = model("def answer(row):\n    return 'Yes'\n")
    command = [
        "predict",
        "run",
        "--dataset",
        built["perturbed_pope"],
        "--model",
        says,
        "--limit",
        3,
        "--output",
        tmp_path / "run",
    ]
    assert lookcheck(*command).returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    other = lookcheck(*command, "--protocol", "pope-yes-no-unknown")
    assert other.returncode == 2
    assert "protocol.name was 'pope-yes-no', is 'pope-yes-no-unknown'" in other.stderr
    assert "dataset.sha256 was" in other.stderr
    assert "model.model" not in other.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    command[-1] = tmp_path / "other"
    assert "is no run, it lacks run.json and holds notes.txt" in lookcheck(*command).stderr


def test_a_dry_run_counts_and_writes_nothing(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path
) -> None:
    says = model("def answer(row):\n    raise SystemExit('asked')\n")
    done = lookcheck(
        "predict",
        "run",
        "--dataset",
        built["salart_vqa"],
        "--model",
        says,
        "--output",
        tmp_path / "run",
        "--dry-run",
        "--json",
    )
    told = json.loads(done.stdout)
    assert (told["rows"], told["requests"], told["left"], told["new_tokens_at_most"]) == (
        12,
        47,
        47,
        47 * 4096,
    )
    assert told["seconds"] is None
    assert not (tmp_path / "run").exists()


def test_show_says_what_a_row_becomes(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, stored: Callable[..., Any]
) -> None:
    row = stored("salart_vqa", "images")[0]
    says = model("def answer(row):\n    return ''\n")
    shown = lookcheck("predict", "show", row["row_id"], "--dataset", built["salart_vqa"], "--model", says)
    assert shown.returncode == 0, shown.stderr
    for part in ("q1", "q2", "q3", "q4"):
        assert f"id: {row['row_id']}, {part}\n" in shown.stdout
        assert row[f"{part}_prompt"] in shown.stdout
    assert "picture: 451 × 300, seen as 451 × 300" in shown.stdout


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def answer(row):\n    return 3\n", "gave int for id"),
        ("def answer(row):\n    return {'id': 'x'}\n", "gave the field 'id' for id"),
        ("def answer(row):\n    return {'text': object()}\n", "not JSON serializable"),
        (
            "def answer(row):\n    return {'text': 'a', 'logp_yes': float('nan')}\n",
            "Out of range float values",
        ),
        ("answer = 3\n", "is int, no function"),
        ("import nothing_of_this_name\n", "ModuleNotFoundError"),
    ],
)
def test_a_function_that_gives_no_answer_ends_the_run(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path, source: str, said: str
) -> None:
    done = lookcheck(
        "predict",
        "run",
        "--dataset",
        built["perturbed_pope"],
        "--limit",
        2,
        "--model",
        model(source),
        "--output",
        tmp_path / "run",
    )
    assert done.returncode == 2
    assert said in done.stderr


MALFORMED = {
    "No JSON here.": "no JSON with answer",
    '{"answer": "a", "evidence": []}{"answer": "b", "evidence": []}': "two JSON objects",
    '{"answer": "a", "evidence": "all"}': "evidence is no list",
    "I'm sorry, I can't help with that.": "refusal",
    "<think>never ends": "cut thinking",
    "": "empty reply",
    "x" * 100_000: "no JSON with answer",
    '{"answer": "a", "evidence": [1]}': "evidence holds what is no phrase",
    "\ud800": "no JSON with answer",
}


def test_malformed_replies_are_counted_each_under_its_reason(
    lookcheck: Lookcheck,
    tiny_segmenters: Callable[[str], Path],
    built: dict[str, Path],
    model: Model,
    stored: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """None of these is looked for, and none ends the run."""
    ids = [row["id"] for row in stored("vistaqa", "identification")][: len(MALFORMED)]
    says = model(
        f"REPLIES = dict(zip({ids!r}, {list(MALFORMED)!r}))\n\ndef answer(row):\n    return REPLIES[row['id']]\n"
    )
    chosen = [word for id in ids for word in ("--ids", id)]
    done = lookcheck(
        "predict",
        "run",
        "--dataset",
        built["vistaqa"],
        *chosen,
        "--segmenter",
        tiny_segmenters("sam3"),
        "--device",
        "cpu",
        "--model",
        says,
        "--output",
        tmp_path / "run",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    found = {line["id"]: line for line in predictions(tmp_path / "run")}
    assert [found[id]["problem"] for id in ids] == list(MALFORMED.values())
    assert all(found[id]["answer"] == "" and found[id]["masks"] == [] for id in ids)
    assert json.loads(done.stdout)["problems"]["no JSON with answer"] == 3


def test_phrases_become_masks_by_a_segmenter_and_a_kill_between_costs_nothing(
    lookcheck: Lookcheck,
    tiny_segmenters: Callable[[str], Path],
    built: dict[str, Path],
    model: Model,
    tmp_path: Path,
) -> None:
    says = model("""
    def answer(row):
        return '{"answer": "a", "evidence": %s}' % ('[]' if row["id"] == "0001" else '["a cup", "the table"]')
    """)
    command = [
        "predict", "run", "--dataset", built["vistaqa"], "--limit", 4, "--model", says, "--device", "cpu",
        "--segmenter", tiny_segmenters("sam3"), "--output", tmp_path / "run", "--quiet",
    ]  # fmt: skip
    done = lookcheck(*command)
    assert done.returncode == 0, done.stderr
    found = predictions(tmp_path / "run")
    assert len(found) == 4
    for line in found:
        assert len(line["masks"]) == len(line["instances"])
        assert all(mask["size"] == [512, 512] for mask in line["masks"])
        assert {item["phrase"] for item in line["instances"]} <= {"a cup", "the table"}
    (none,) = [line for line in found if line["id"] == "0001"]
    assert (none["masks"], none["phrases"]) == ([], [])
    header = json.loads((tmp_path / "run" / "run.json").read_text())["lookcheck_run"]["deciding"]
    assert (header["evidence"]["segmenter"], header["evidence"]["merge_iou"]) == ("sam3", 0.8)
    whole = (tmp_path / "run" / "predictions.jsonl").read_bytes()
    first, *_ = whole.splitlines(keepends=True)
    # Killed in the second stage: replies are there, of predictions one and a half.
    (tmp_path / "run" / "predictions.jsonl").write_bytes(first + b'{"id": "00')
    assert lookcheck(*command).returncode == 0
    assert (tmp_path / "run" / "predictions.jsonl").read_bytes() == whole
    other = lookcheck(*command, "--merge-iou", 0.5)
    assert "evidence.merge_iou was 0.8, is 0.5" in other.stderr
