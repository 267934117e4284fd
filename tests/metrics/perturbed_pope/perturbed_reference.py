"""The figures again: slow, plain, one loop for each, straight from README's formulas; numpy for the means."""

from __future__ import annotations

from typing import Any

import numpy as np

Row = dict[str, Any]
TAKES_AWAY = {"no_image", "black_image", "black_mask", "black_box", "entity_swap"}


def read(text: str, parser: str, missing: str) -> str | None:
    if missing == "wrong" and text.split() == []:
        return "missing"
    if parser == "official":
        before = text.split(".")[0]
        words = before.replace(",", "").split(" ")
        return "no" if "No" in words or "not" in words or "no" in words else "yes"
    spaced = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    options = [option for option in ("yes", "no", "unknown") if option in spaced.split()]
    return options[0] if len(options) == 1 else None


def make_rows(
    predictions: list[Row], references: list[Row], ids: list[Any], parser: str, missing: str
) -> list[Row]:
    return [
        {"id": id, **reference, **prediction, "answer": read(prediction["text"], parser, missing)}
        for id, prediction, reference in zip(ids, predictions, references, strict=True)
    ]


def share(values: list[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def given(values: list[float]) -> list[float]:
    return [value for value in values if value == value]


def mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def middle(values: list[float]) -> float | None:
    return float(np.median(values)) if values else None


def margin(row: Row) -> float:
    return row["logp_yes"] - row["logp_no"]


def figures(rows: list[Row], unparsed: str) -> dict[str, Any]:
    kept = [row for row in rows if unparsed == "wrong" or row["answer"] is not None]
    said_yes = [row for row in kept if row["answer"] == "yes"]
    are_yes = [row for row in kept if row["label"] == "yes"]
    precision = share([row["label"] == "yes" for row in said_yes])
    recall = share([row["answer"] == "yes" for row in are_yes])
    right_yes = sum(row["label"] == "yes" for row in said_yes)
    f1: float | None
    if precision and recall:
        f1 = 2 * precision * recall / (precision + recall)
    else:
        f1 = 0.0 if said_yes or are_yes else None
    assert (f1 or 0) == 0 or right_yes
    margins = given([margin(row) for row in rows])
    masses = [float(np.exp(row["logp_yes"]) + np.exp(row["logp_no"])) for row in rows]
    masses = given(masses)
    ranks = [row["entity_rank"] for row in rows if row["entity_rank"]]
    return {
        "n": len(rows),
        "unparsed": sum(row["answer"] is None for row in rows),
        "accuracy": share([row["answer"] == row["label"] for row in kept]),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "yes_ratio": share([row["answer"] == "yes" for row in kept]),
        "unknown_rate": share([row["answer"] == "unknown" for row in kept]),
        "unparsed_rate": share([row["answer"] is None for row in rows]),
        "margin_mean": mean(margins),
        "margin_median": middle(margins),
        "margin_positive": share([value > 0 for value in margins]),
        "mass_mean": mean(masses),
        "mass_least": float(np.min(masses)) if masses else None,
        "mrr": mean([1 / rank for rank in ranks]),
        "mean_rank": mean(ranks),
        "median_rank": middle(ranks),
        "mean_probability": mean(given([row["entity_prob"] for row in rows])),
    }


def original_of(row: Row, rows: list[Row]) -> Row | None:
    if row["condition"] == "original":
        return None
    for other in rows:
        name = other["parent_id"] if other["parent_id"] else str(other["id"])
        if other["condition"] == "original" and other["split"] == row["split"] and name == row["parent_id"]:
            return other
    return None


def pairs_of(rows: list[Row], condition: str, split: str) -> list[tuple[Row, Row]]:
    pairs = []
    for row in rows:
        if row["condition"] == condition and row["split"] == split:
            original = original_of(row, rows)
            if original is not None:
                pairs.append((original, row))
    return pairs


def changes(pairs: list[tuple[Row, Row]], unparsed: str) -> dict[str, Any]:
    read_both = [(a, b) for a, b in pairs if a["answer"] is not None and b["answer"] is not None]
    # What is missing is no change.
    differing = sum(
        a["answer"] != b["answer"] for a, b in read_both if "missing" not in (a["answer"], b["answer"])
    )
    total = len(read_both) if unparsed == "drop" else len(pairs)
    both = [(margin(a), margin(b)) for a, b in pairs if margin(a) == margin(a) and margin(b) == margin(b)]
    ranked = [(a, b) for a, b in pairs if a["entity_rank"] and b["entity_rank"]]
    before, after = ([pair[side]["entity_rank"] for pair in ranked] for side in (0, 1))
    return {
        "n": len(pairs),
        "changed": differing / total if total else None,
        "margin_shift_mean": mean([b - a for a, b in both]),
        "margin_shift_median": middle([b - a for a, b in both]),
        "margin_stays_positive": share([b > 0 for a, b in both if a > 0]),
        "mean_rank_change": float(np.mean(after)) / float(np.mean(before)) - 1 if ranked else None,
    }


def reliance(rows: list[Row], condition: str, unparsed: str) -> float | None:
    base = moved = 0
    for split in {row["split"] for row in rows}:
        for original, row in pairs_of(rows, condition, split):
            if original["label"] != "yes" or original["answer"] != "yes":
                continue
            if row["answer"] is None and unparsed == "drop":
                continue
            base += 1
            moved += row["answer"] in ("no", "unknown")
    return moved / base if base else None
