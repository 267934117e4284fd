"""`predict run` with a model in this process, from a built data set to its score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FAMILIES = ["llava", "qwen2_5_vl", "qwen3_vl", "internvl", "gemma3", "molmo2"]
CPU = ("--device", "cpu", "--quiet")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("family", FAMILIES)
def test_eight_rows_from_a_model_to_a_score(
    family: str, vlm_folder: Any, tiny_segmenters: Any, built: Any, lookcheck: Any, tmp_path: Path
) -> None:
    # A random model doesn't end its replies: SalArt's 4,096 new tokens would take minutes.
    for name, command in (("perturbed_pope", "score"), ("vistaqa", ""))[: 2 if family == "llava" else 1]:
        run = tmp_path / name
        finding = () if command else ("--segmenter", tiny_segmenters("sam3"))
        done = lookcheck(
            "predict", "run", "--dataset", built[name], "--model", vlm_folder(family),
            "--output", run, "--limit", 8, *finding, *CPU,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        written = lines(run / "predictions.jsonl")
        assert len(written) == 8
        assert not [line for line in written if line.get("failure")]
        told = json.loads((run / "run.json").read_text(encoding="utf-8"))
        assert family in json.dumps(told)
        if command:
            scored = lookcheck(command, run)
            assert scored.returncode == 0, scored.stderr
