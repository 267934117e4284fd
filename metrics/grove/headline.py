"""The figures that have an interval, as sums of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .common import places_by_label
from .intervals import Figure, Path, ratio

SCORES = {"grove": "score", "answer_accuracy": "answer_score", "mask_score": "mask_score"}


def headline(rows: Sequence[Mapping[str, Any]]) -> dict[Path, Figure]:
    """Grove, T and M of all rows, of those with and without evidence, and by task, domain and number.

    Parameters
    ----------
    rows : sequence of dict
        ``per_sample`` of a result.
    """
    figures: dict[Path, Figure] = {}

    def add(path: Path, places: Iterable[int]) -> None:
        own = list(places)
        for name, key in SCORES.items():
            figures[*path, name] = ratio(own, [rows[place][key] for place in own])

    every = range(len(rows))
    add((), every)
    add(("with_evidence",), [place for place in every if rows[place]["num_reference"]])
    add(("without_evidence",), [place for place in every if not rows[place]["num_reference"]])
    for kind, key in (("task", "task"), ("domain", "domain"), ("num_instances", "num_reference")):
        if rows[0][key] is not None:
            for label, places in places_by_label(row[key] for row in rows).items():
                add((f"by_{kind}", label), places)
    return figures
