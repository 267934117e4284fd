"""From rows to figures: the ten published metrics, attribution, cross columns, patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from .samples import ATTRIBUTIONS
from .validation import ARTIFACT, GENERATED, REAL

Row = dict[str, Any]

_ALL = frozenset({ARTIFACT, REAL, GENERATED})
# Name: the field of a row, and the roles that make up the denominator (475, 356, 119, 831 and 950
# images in the published data). Q1 is not asked of the paired counterparts.
METRICS: dict[str, tuple[str, frozenset[str]]] = {
    "artifact_q1": ("q1", frozenset({ARTIFACT})),
    "artifact_all_1_4": ("all_1_4", frozenset({ARTIFACT})),
    "artifact_all_2_4": ("all_2_4", frozenset({ARTIFACT})),
    "real_q1": ("q1", frozenset({REAL})),
    "real_all_1_4": ("all_1_4", frozenset({REAL})),
    "real_all_2_4": ("all_2_4", frozenset({REAL})),
    "generated_all_2_4": ("all_2_4", frozenset({GENERATED})),
    "overall_q1": ("q1", frozenset({ARTIFACT, REAL})),
    "overall_all_1_4": ("all_1_4", frozenset({ARTIFACT, REAL})),
    "overall_all_2_4": ("all_2_4", _ALL),
}
PATTERNS = tuple("".join(bits) for bits in product("10", repeat=4))


def fraction(count: int, total: int) -> float | None:
    """count / total; None, not 0, where there is nothing to divide by.

    Examples
    --------
    >>> fraction(1, 4), fraction(0, 0)
    (0.25, None)
    """
    return count / total if total else None


def chain_counts(rows: Sequence[Row], names: Iterable[str] = METRICS) -> dict[str, dict[str, int]]:
    """``{"right", "total"}`` of each of the ten metrics."""
    counts = {}
    for name in names:
        field, roles = METRICS[name]
        values = [row[field] for row in rows if row["role"] in roles]
        counts[name] = {"right": sum(values), "total": len(values)}
    return counts


def fractions(counts: dict[str, dict[str, int]]) -> dict[str, float | None]:
    """The metrics of their counts, in [0, 1]."""
    return {name: fraction(count["right"], count["total"]) for name, count in counts.items()}


def diagnose(rows: Sequence[Row]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attribution, cross columns and patterns over the artifact images of `rows`.

    Returns
    -------
    values : dict
        ``failure_attribution``, ``q4_right_q3_wrong``, ``q3_right_q4_wrong``, ``patterns``; fractions of
        the artifact images. The cross columns do not ask whether Q1 is right.
    counts : dict
        The same as numbers of images.
    """
    images = [row for row in rows if row["role"] == ARTIFACT]
    attribution = dict.fromkeys(ATTRIBUTIONS, 0)
    patterns = dict.fromkeys(PATTERNS, 0)
    for row in images:
        attribution[row["attribution"]] += 1
        patterns[row["pattern"]] += 1
    counts: dict[str, Any] = {
        "failure_attribution": attribution,
        "q4_right_q3_wrong": sum(row["q4"] and not row["q3"] for row in images),
        "q3_right_q4_wrong": sum(row["q3"] and not row["q4"] for row in images),
        "patterns": patterns,
    }
    total = len(images)
    values = {
        name: {key: fraction(item, total) for key, item in count.items()}
        if isinstance(count, dict)
        else fraction(count, total)
        for name, count in counts.items()
    }
    return values, counts


def by_type(rows: Sequence[Row], types: Sequence[str | None]) -> dict[str, Any]:
    """The artifact metrics and the diagnosis for each artifact type, in alphabetical order."""
    result: dict[str, Any] = {}
    for name in sorted({item for item in types if item is not None}):
        part = [row for row, item in zip(rows, types, strict=True) if item == name]
        counts = chain_counts(part, ("artifact_q1", "artifact_all_1_4", "artifact_all_2_4"))
        values, numbers = diagnose(part)
        result[name] = {**fractions(counts), **values, "counts": {**counts, **numbers}}
    return result
