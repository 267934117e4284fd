"""What a model writes itself as evidence, from its words to Grove, on VistaQA's whole sample."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco

Lookcheck = Callable[..., Any]
Model = Callable[[str], str]
Folders = Callable[[str], Path]


def predictions(run: Path) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    return {line["id"]: line for line in lines}


def command(dataset: Path, says: str, output: Path, *more: object) -> list[str]:
    told = ["predict", "run", "--dataset", dataset, "--model", says, "--output", output, "--json", *more]
    return [str(word) for word in told]


def judged(run: Path, verdict: str) -> None:
    """Verdicts as a judge leaves them."""
    rows = [{"id": id, "verdict": verdict} for id in predictions(run)]
    (run / "verdicts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def vistaqa(stored: Callable[..., list[dict[str, Any]]]) -> list[dict[str, Any]]:
    tasks = ("identification", "attribute", "ocr", "spatial", "counting", "comparison")
    rows = {row["id"]: row for row in stored("vistaqa", *tasks)}
    return list(rows.values())


def test_an_oracle_of_boxes_scores_what_its_rectangles_are_worth(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, stored: Any, tmp_path: Path
) -> None:
    """Boxes around the reference masks, from 0 to 1000: the mask score is that of the rectangles."""
    rows = vistaqa(stored)
    boxes: dict[str, list[list[float]]] = {}
    for row in rows:
        boxes[row["id"]] = []
        for mask in row["masks_rle"]:
            height, width = mask["size"]
            x, y, w, h = coco.toBbox({"size": mask["size"], "counts": mask["counts"].encode()})
            corners = (x / width, y / height, (x + w) / width, (y + h) / height)
            boxes[row["id"]].append([round(float(side) * 1000, 9) for side in corners])
    says = model(
        f"""
        import json
        BOXES = json.loads({json.dumps(boxes)!r})

        def answer(row):
            return "It is.\\n" + json.dumps([{{"bbox_2d": box, "label": "it"}} for box in BOXES[row["id"]]])
        """
    )
    run = tmp_path / "run"
    done = lookcheck(*command(built["vistaqa"], says, run, "--evidence", "native:qwen3-vl"))
    assert done.returncode == 0, done.stderr
    found = predictions(run)
    for row in rows:
        line = found[row["id"]]
        assert len(line["masks"]) == len(row["masks_rle"])
        assert line["answer"] == "It is."
        assert "problem" not in line
        assert "native" not in line
        for mask, reference in zip(line["masks"], row["masks_rle"], strict=True):
            assert mask["size"] == reference["size"]
            assert coco.toBbox(mask).tolist() == coco.toBbox(reference).tolist()
    judged(run, "yes")
    assert lookcheck("score", run).returncode == 0
    result = json.loads((run / "scores.json").read_text())
    assert 0.6 < result["mask_score"] <= 1
    assert result["without_evidence"]["grove"] == 1
    assert "adapter:qwen3-vl" in result["signature"]


def test_a_folder_of_reference_masks_is_a_perfect_model(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, stored: Any, tmp_path: Path
) -> None:
    masks = tmp_path / "masks"
    for row in vistaqa(stored):
        (masks / row["id"]).mkdir(parents=True)
        for number, rle in enumerate(row["masks_rle"]):
            drawn = coco.decode({"size": rle["size"], "counts": rle["counts"].encode()})
            Image.fromarray(drawn.astype(np.uint8) * 255).save(masks / row["id"] / f"{number}.png")
    says = model("def answer(row):\n    return 'words of the model [SEG]'\n")
    run = tmp_path / "run"
    told = ["--evidence", "native:lisa", "--masks", masks]
    assert lookcheck(*command(built["vistaqa"], says, run, *told)).returncode == 0
    judged(run, "yes")
    assert lookcheck("score", run).returncode == 0
    assert json.loads((run / "scores.json").read_text())["grove"] == 1.0


def test_outlined_boxes_and_a_reversed_one(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tiny_segmenters: Folders, tmp_path: Path
) -> None:
    told: list[Any] = ["--limit", 4, "--segmenter", tiny_segmenters("sam2")]
    says = model(
        """
        def answer(row):
            return '{"answer": "two", "boxes": [[0.1, 0.1, 0.5, 0.6], [0.9, 0, 0.2, 1]]}'
        """
    )
    told += ["--evidence", "native:boxes-unit", "--native-boxes", "sam2"]
    done = lookcheck(*command(built["vistaqa"], says, tmp_path / "b", *told))
    assert done.returncode == 0, done.stderr
    for line in predictions(tmp_path / "b").values():
        good, reversed_box = line["masks"]
        x, _, width, _ = coco.toBbox(good)
        side = good["size"][1]
        assert (x, x + width) != (round(0.1 * side), round(0.5 * side))
        assert coco.area(reversed_box) == 0
        assert line["problem"] == "reversed box"
        assert line["evidence_problems"]["reversed box"] == 1


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (["--evidence", "native:lamp"], "there is no such adapter"),
        (["--evidence", "native"], "expected native:NAME"),
        (["--evidence", "native:png"], "needs --masks"),
        (["--evidence", "native:rle", "--masks", "."], "takes no --masks"),
        (["--evidence", "native:points-unit"], "needs --native-boxes sam2"),
    ],
)
def test_options_that_can_not_be_are_refused_before_a_model_is_asked(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path, told: list[str], said: str
) -> None:
    done = lookcheck(
        *command(built["vistaqa"], model("def answer(row):\n    return 'yes'\n"), tmp_path / "run", *told)
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_missing_folder_of_masks_is_refused_and_replies_are_kept(
    lookcheck: Lookcheck, built: dict[str, Path], model: Model, tmp_path: Path
) -> None:
    (tmp_path / "masks").mkdir()
    told = ["--evidence", "native:png", "--masks", tmp_path / "masks", "--limit", 2]
    says = model("def answer(row):\n    return 'yes'\n")
    done = lookcheck(*command(built["vistaqa"], says, tmp_path / "run", *told))
    assert done.returncode == 2
    assert "no such folder; an empty one says" in done.stderr
    assert (tmp_path / "run" / "replies.jsonl").read_bytes().count(b"\n") >= 1
