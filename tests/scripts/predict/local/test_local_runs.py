"""A tiny local model from its folder to the scores of all three data sets, through the commands."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Lookcheck = Callable[..., Any]
FAMILIES = ("llava", "qwen2_5_vl", "qwen3_vl", "internvl", "gemma3", "molmo2")


def lines(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]


def command(dataset: Path, folder: Path, output: Path, *further: object) -> list[object]:
    return [
        "predict", "run", "--dataset", dataset, "--model", folder, "--device", "cpu", "--output", output, "--quiet",
        *further,
    ]  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_eight_rows_of_perturbed_pope_by_every_protocol(
    lookcheck: Lookcheck,
    vlm_folder: Callable[[str], Path],
    built: dict[str, Path],
    tmp_path: Path,
    family: str,
) -> None:
    for protocol in ("pope-yes-no", "pope-yes-no-unknown", "pope-open-ended"):
        run = tmp_path / protocol
        done = lookcheck(
            *command(built["perturbed_pope"], vlm_folder(family), run, "--limit", 8, "--protocol", protocol)
        )
        assert done.returncode == 0, done.stderr
        assert lookcheck("score", run).returncode == 0
        found = lines(run)
        assert len(found) == 8
        for line in found:
            assert "failure" not in line
            assert line["prompt_tokens"] > 0
            if protocol == "pope-open-ended":
                assert line["entity_rank"] >= 1
            else:
                # A tiny tokenizer has few words, yet what it has is measured.
                assert line["logp_yes"] is None or line["logp_yes"] < 0
        shown = json.loads(lookcheck("score", run, "--json").stdout)
        assert "|rows:8 of 3597|" in shown["signature"]


def test_a_picture_is_seen(
    lookcheck: Lookcheck, vlm_folder: Callable[[str], Path], built: dict[str, Path], tmp_path: Path
) -> None:
    """The same questions of the original, of a black picture and of none give three figures."""
    folder = vlm_folder("llava")
    told = []
    for name, further in (("original", []), ("black_image", []), ("none", ["--no-image"])):
        condition = "original" if name == "none" else name
        run = tmp_path / name
        done = lookcheck(
            *command(
                built["perturbed_pope"],
                folder,
                run,
                "--condition",
                condition,
                "--limit",
                1,
                "--protocol",
                "pope-open-ended",
                *further,
            )
        )
        assert done.returncode == 0, done.stderr
        told.append(lines(run)[0]["entity_prob"])
    assert len({round(math.log(value), 3) for value in told}) == 3


def test_vistaqa_by_a_local_model(
    lookcheck: Lookcheck,
    vlm_folder: Callable[[str], Path],
    built: dict[str, Path],
    tmp_path: Path,
) -> None:
    folder = vlm_folder("llava")
    answers = command(
        built["vistaqa"], folder, tmp_path / "answers", "--limit", 8, "--protocol", "vistaqa-answer"
    )
    assert lookcheck(*answers).returncode == 0
    assert all(line["masks"] == [] for line in lines(tmp_path / "answers"))
    refused = lookcheck("score", tmp_path / "answers")
    assert "has no verdicts.jsonl; run lookcheck judge run" in refused.stderr
    verdicts = tmp_path / "answers" / "verdicts.jsonl"
    verdicts.write_text(
        "".join(
            json.dumps({"id": line["id"], "verdict": "no"}) + "\n" for line in lines(tmp_path / "answers")
        )
    )
    assert lookcheck("score", tmp_path / "answers").returncode == 0
    result = json.loads((tmp_path / "answers" / "scores.json").read_text())
    assert result["answer_accuracy"] == 0.0
    assert result["counts"]["n"] == 8
