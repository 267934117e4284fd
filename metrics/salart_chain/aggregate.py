"""From rows to figures: the ten published metrics, single questions, attribution, cross columns, patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from .common import fraction, places_by_label
from .parsing import QUESTIONS
from .samples import ATTRIBUTIONS, ChainScore
from .validation import ARTIFACT, GENERATED, REAL

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
_GROUPS = {
    "artifact": frozenset({ARTIFACT}),
    "real": frozenset({REAL}),
    "generated": frozenset({GENERATED}),
    "overall": _ALL,
}
# Q2, Q3 and Q4 alone, of each group; the published table has only chains of them.
SINGLE = {
    f"{group}_{question}": (question, roles) for group, roles in _GROUPS.items() for question in QUESTIONS[1:]
}
FIGURES = METRICS | SINGLE
PATTERNS = tuple("".join(bits) for bits in product("10", repeat=4))


def right(row: ChainScore, field: str) -> bool:
    """Whether a question or a chain is right; what is not asked is not."""
    return bool(row[field])  # type: ignore[literal-required]


def chain_counts(rows: Sequence[ChainScore], names: Iterable[str] = FIGURES) -> dict[str, dict[str, int]]:
    """``{"right", "total"}`` of each of the ten metrics, and of the single questions."""
    counts = {}
    for name in names:
        field, roles = FIGURES[name]
        values = [right(row, field) for row in rows if row["role"] in roles]
        counts[name] = {"right": sum(values), "total": len(values)}
    return counts


def fractions(counts: Mapping[str, Mapping[str, int]]) -> dict[str, float | None]:
    """The metrics of their counts, in [0, 1]."""
    return {name: fraction(count["right"], count["total"]) for name, count in counts.items()}


def diagnose(rows: Sequence[ChainScore]) -> tuple[dict[str, Any], dict[str, Any]]:
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
        attribution[row["attribution"] or ""] += 1
        patterns[row["pattern"] or ""] += 1
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


def by_type(rows: Sequence[ChainScore], types: Sequence[str | None]) -> dict[str, dict[str, Any]]:
    """The artifact metrics and the diagnosis for each artifact type, in alphabetical order."""
    result: dict[str, dict[str, Any]] = {}
    typed = [(row, kind) for row, kind in zip(rows, types, strict=True) if kind is not None]
    for name, places in places_by_label(kind for _, kind in typed).items():
        part = [typed[place][0] for place in places]
        counts = chain_counts(part, [figure for figure in FIGURES if figure.startswith("artifact")])
        values, numbers = diagnose(part)
        result[name] = {**fractions(counts), **values, "counts": {**counts, **numbers}}
    return result
