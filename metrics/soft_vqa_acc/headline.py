"""The figures that have an interval, as sums of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .common import places_by_label
from .intervals import Figure, Path, ratio


def headline(rows: Sequence[Mapping[str, Any]]) -> dict[Path, Figure]:
    """Soft accuracy and exact match of all questions, and soft accuracy by type.

    Parameters
    ----------
    rows : sequence of dict
        ``per_sample`` of a result.
    """
    every = range(len(rows))
    figures: dict[Path, Figure] = {
        ("soft_vqa_acc",): ratio(every, [row["score"] for row in rows]),
        ("exact_match",): ratio(every, [row["exact_match"] for row in rows]),
    }
    for kind in ("question_type", "answer_type"):
        if rows[0][kind] is not None:
            for label, places in places_by_label(row[kind] for row in rows).items():
                figures[f"by_{kind}", label, "score"] = ratio(
                    places, [rows[place]["score"] for place in places]
                )
    return figures
