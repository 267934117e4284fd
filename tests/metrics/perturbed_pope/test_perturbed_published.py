"""Published figures recomputed, and POPE's real questions through the metric."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from lookcheck.metrics.perturbed_pope import SPLITS, compute, relative_change, relative_changes

NAN = math.nan
# "Seeing without Looking", open-ended question, 117 samples, original and entity swapped.
BEFORE = {"mrr": 0.0322, "mean_rank": 391.9, "median_rank": 85.0, "mean_probability": 0.000690}
AFTER = {"mrr": 0.0101, "mean_rank": 943.0, "median_rank": 458.0, "mean_probability": 0.000142}
PUBLISHED = {"mrr": "-68.6", "mean_rank": "+140.6", "median_rank": "+438.8", "mean_probability": "-79.4"}


def test_relative_changes_of_the_open_ended_table() -> None:
    found = relative_changes(BEFORE, AFTER)
    assert {name: f"{100 * change:+.1f}" for name, change in found.items() if change is not None} == PUBLISHED
    for name, change in found.items():
        assert relative_change(BEFORE[name], AFTER[name]) == change


def test_the_same_changes_from_ranks() -> None:
    """Ten rows with the published means and medians: nine alike, one that makes up the mean."""
    ranks = [85] * 9 + [3919 - 9 * 85], [458] * 9 + [9430 - 9 * 458]
    probabilities = 0.000690, 0.000142
    predictions = [
        {"text": "", "logp_yes": NAN, "logp_no": NAN, "entity_rank": rank, "entity_prob": probability}
        for side, probability in zip(ranks, probabilities, strict=True)
        for rank in side
    ]
    references = [
        {"label": label, "condition": condition, "parent_id": str(number), "split": "random"}
        for label, condition in (("yes", "original"), ("no", "entity_swap"))
        for number in range(10)
    ]
    result = compute(predictions, references)
    pairs = result["paired"]["entity_swap"]["random"]
    for side, expected in (("original", BEFORE), ("perturbed", AFTER)):
        for name in ("mean_rank", "median_rank", "mean_probability"):
            assert pairs[side][name] == pytest.approx(expected[name], rel=1e-12)
    for name in ("mean_rank", "median_rank", "mean_probability"):
        assert f"{100 * pairs['relative_change'][name]:+.1f}" == PUBLISHED[name]


@pytest.mark.parametrize("pair", [(0, 1), (None, 1.0), (1.0, None), (0.0, 0.0)])
def test_no_change_from_nothing(pair: tuple[Any, Any]) -> None:
    assert relative_change(*pair) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", True, [1]])
def test_a_change_of_no_number_is_refused(bad: Any) -> None:
    for pair in ((bad, 1.0), (1.0, bad)):
        with pytest.raises(ValueError, match="expected a finite number or None"):
            relative_change(*pair)


def real_rows(folder: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The 9,000 questions in `original`, and those labelled yes in `black_mask`."""
    ids, references = [], []
    for split in SPLITS:
        text = (folder / f"coco_pope_{split}.json").read_text(encoding="utf-8")
        for record in map(json.loads, text.splitlines()):
            parent = f"{split}-{record['question_id']}"
            for condition in ("original", "black_mask") if record["label"] == "yes" else ("original",):
                ids.append(parent if condition == "original" else f"{parent}-{condition}")
                references.append(
                    {"label": record["label"], "condition": condition, "parent_id": parent, "split": split}
                )
    return ids, references


def alike_rows() -> tuple[list[str], list[dict[str, str]]]:
    """The same rows without the files: 3,000 questions a split, labelled yes and no in turn."""
    ids, references = [], []
    for split in SPLITS:
        for question in range(1, 3001):
            parent, label = f"{split}-{question}", ("no", "yes")[question % 2]
            for condition in ("original", "black_mask") if label == "yes" else ("original",):
                ids.append(parent if condition == "original" else f"{parent}-{condition}")
                references.append(
                    {"label": label, "condition": condition, "parent_id": parent, "split": split}
                )
    return ids, references


def test_the_real_questions_are_labelled_in_turn(shared_data: Path) -> None:
    assert real_rows(shared_data / "pope") == alike_rows()


def test_the_real_questions() -> None:
    ids, references = alike_rows()

    def answers(texts: dict[str, str]) -> list[dict[str, Any]]:
        blank = {"logp_yes": NAN, "logp_no": NAN, "entity_rank": 0, "entity_prob": NAN}
        return [{"text": texts[row["condition"]], **blank} for row in references]

    result = compute(answers({"original": "Yes", "black_mask": "No"}), references, ids=ids)
    assert list(result["by_condition"]["original"]) == list(SPLITS)
    for split in SPLITS:
        original = result["by_condition"]["original"][split]
        assert (original["n"], original["counts"]["label_yes"]) == (3000, 1500)
        assert (original["accuracy"], original["recall"], original["f1"]) == (0.5, 1.0, 2 / 3)
        policy = result["baselines"]["always_yes"]["original"][split]
        assert all(policy[name] == original[name] for name in policy if name != "counts")
        pairs = result["paired"]["black_mask"][split]
        assert (pairs["n"], pairs["unpaired"], pairs["changed"]) == (1500, 0, 1.0)
    reliance = result["evidence_reliance"]["black_mask"]
    assert (reliance["share"], reliance["n"]) == (1.0, 4500)
    assert "|n:13500|missing:0|unparsed:0|unpaired:0|" in result["signature"]

    # A model to which the mask does nothing scores what the copied answers score.
    blind = compute(answers({"original": "Yes", "black_mask": "Yes"}), references, ids=ids)
    assert blind["evidence_reliance"]["black_mask"]["share"] == 0.0
    for split in SPLITS:
        own = blind["by_condition"]["black_mask"][split]
        assert (
            own["yes_ratio"] == blind["baselines"]["copy_original"]["black_mask"][split]["yes_ratio"] == 1.0
        )
