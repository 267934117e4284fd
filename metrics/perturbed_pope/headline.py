"""The figures that have an interval, as sums of rows. Medians are no ratios of sums, and have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from .conditions import ORIGINAL, REMOVED
from .intervals import Figure, Path, mean_of, ratio

Rows = Sequence[Mapping[str, Any]]


def headline(rows: Rows) -> dict[Path, Figure]:
    """Figures of each condition and split, of pairs, of evidence reliance, and means over the splits.

    Beside the keys of a result there are ``by_condition`` … ``seen`` (of the rows whose original is labelled
    yes the share answered yes, as ``lookcheck score`` shows it) and ``mean_of_splits``: condition →
    ``accuracy``, ``yes_ratio``, ``seen``, for conditions that have all splits.

    Parameters
    ----------
    rows : sequence of dict
        ``per_sample`` of a result.
    """
    originals = {str(row["id"]): row for row in rows if row["condition"] == ORIGINAL}
    before = [None if row["original_id"] is None else originals[str(row["original_id"])] for row in rows]
    cells: dict[str, dict[str, list[int]]] = {}
    for place, row in enumerate(rows):
        cells.setdefault(row["condition"], {}).setdefault(row["split"], []).append(place)
    figures: dict[Path, Figure] = {}
    for condition, splits in cells.items():
        reliance = {}
        for split, places in splits.items():
            own = _answers(rows, places) | _numbers(rows, places)
            own["seen"] = _seen(rows, before, places)
            figures |= {("by_condition", condition, split, name): found for name, found in own.items()}
            if condition != ORIGINAL:
                paired = [place for place in places if before[place] is not None]
                moved = _paired(rows, before, paired)
                figures |= {("paired", condition, split, name): found for name, found in moved.items()}
                reliance[split] = paired
        if condition in REMOVED:
            whole = [place for places in reliance.values() for place in places]
            figures["evidence_reliance", condition, "share"] = _reliance(rows, before, whole)
            for split, places in reliance.items():
                path = ("evidence_reliance", condition, "by_split", split, "share")
                figures[path] = _reliance(rows, before, places)
    every = {split for splits in cells.values() for split in splits}
    for condition, splits in cells.items():
        if set(splits) == every:
            for name in ("accuracy", "yes_ratio", "seen"):
                parts = [figures["by_condition", condition, split, name] for split in sorted(splits)]
                figures["mean_of_splits", condition, name] = mean_of(parts)
    return figures


def _answers(rows: Rows, places: Sequence[int]) -> dict[str, Figure]:
    """Figures of answers against labels; a row that is dropped has ``correct`` None."""
    own = [place for place in places if rows[place]["correct"] is not None]
    pairs = [(rows[place]["label"], rows[place]["answer"]) for place in own]
    hits = [pair == ("yes", "yes") for pair in pairs]
    said = [answer == "yes" for _, answer in pairs]
    labelled = [label == "yes" for label, _ in pairs]
    both = [label + answer for label, answer in zip(labelled, said, strict=True)]
    return {
        "accuracy": ratio(own, [label == answer for label, answer in pairs]),
        "precision": ratio(own, hits, said),
        "recall": ratio(own, hits, labelled),
        # 2 tp / (2 tp + fp + fn): the denominator is the number labelled yes and the number answered yes.
        "f1": ratio(own, [2 * hit for hit in hits], both),
        "yes_ratio": ratio(own, said),
        "unknown_rate": ratio(own, [answer == "unknown" for _, answer in pairs]),
    }


def _numbers(rows: Rows, places: Sequence[int]) -> dict[str, Figure]:
    margins = [place for place in places if rows[place]["margin"] is not None]
    ranks = [place for place in places if rows[place]["entity_rank"] is not None]
    probabilities = [place for place in places if rows[place]["entity_prob"] is not None]
    return {
        "margin_mean": ratio(margins, [rows[place]["margin"] for place in margins], least=-inf, largest=inf),
        "margin_positive": ratio(margins, [rows[place]["margin"] > 0 for place in margins]),
        "mrr": ratio(ranks, [1 / rows[place]["entity_rank"] for place in ranks]),
        "mean_rank": ratio(ranks, [rows[place]["entity_rank"] for place in ranks], least=1.0, largest=inf),
        "mean_probability": ratio(probabilities, [rows[place]["entity_prob"] for place in probabilities]),
    }


def _seen(rows: Rows, before: Sequence[Mapping[str, Any] | None], places: Sequence[int]) -> Figure:
    kept = []
    for place in places:
        original = rows[place] if rows[place]["condition"] == ORIGINAL else before[place]
        if original is None or original["label"] != "yes":
            continue
        # With unread answers dropped, a pair needs both.
        if original["correct"] is not None and rows[place]["correct"] is not None:
            kept.append(place)
    return ratio(kept, [rows[place]["answer"] == "yes" for place in kept])


def _paired(
    rows: Rows, before: Sequence[Mapping[str, Any] | None], places: Sequence[int]
) -> dict[str, Figure]:
    pairs = [(place, original) for place in places if (original := before[place]) is not None]
    answered = [
        place
        for place, original in pairs
        if original["correct"] is not None and rows[place]["correct"] is not None
    ]
    shifted = [place for place, _ in pairs if rows[place]["margin_shift"] is not None]
    positive = [
        place
        for place, original in pairs
        if rows[place]["margin_shift"] is not None and original["margin"] > 0
    ]
    shifts = [rows[place]["margin_shift"] for place in shifted]
    return {
        "changed": ratio(answered, [rows[place]["changed"] is True for place in answered]),
        "margin_shift_mean": ratio(shifted, shifts, least=-inf, largest=inf),
        "margin_stays_positive": ratio(positive, [rows[place]["margin"] > 0 for place in positive]),
    }


def _reliance(rows: Rows, before: Sequence[Mapping[str, Any] | None], places: Sequence[int]) -> Figure:
    seen = [
        place
        for place in places
        if (original := before[place]) is not None
        and original["label"] == "yes"
        and original["answer"] == "yes"
        and rows[place]["correct"] is not None
    ]
    return ratio(seen, [rows[place]["answer"] in ("no", "unknown") for place in seen])
