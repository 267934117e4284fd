"""From scored rows to figures: answers, margins and ranks. What has no denominator is None, not 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any, TypeVar

from .common import fraction, mean
from .samples import MISSING_ANSWER, Row
from .validation import LABELS

T = TypeVar("T")
# How often each answer (None: unread) was given to rows of each label.
Answers = Counter[tuple[str, str | None]]


def middle(values: Sequence[float]) -> float | None:
    """The median, the mean of the two middle values where their number is even; None where there is none."""
    return float(median(values)) if values else None


def present(values: Iterable[T | None]) -> list[T]:
    """The values that are not None.

    Examples
    --------
    >>> present([0.5, None, 0.0])
    [0.5, 0.0]
    """
    return [value for value in values if value is not None]


def answer_figures(pairs: Iterable[tuple[str, str | None]], unparsed: str) -> dict[str, Any]:
    """Figures of answers against labels, "yes" the positive class.

    Parameters
    ----------
    pairs : iterable of (label, answer)
        The answer is "yes", "no", "unknown", "missing" or None (unparsed).
    unparsed : {"wrong", "drop"}
        Whether unparsed answers stay in the denominators.

    Returns
    -------
    dict
        ``n`` and ``unparsed``, numbers of rows; ``accuracy``, ``precision``, ``recall``, ``f1``,
        ``yes_ratio``, ``unknown_rate`` and ``unparsed_rate``, fractions or None; and ``counts``:
        ``scored`` (the denominator), ``label_yes``, ``label_no``, ``tp``, ``fp``, ``tn``, ``fn``,
        ``yes``, ``no``, ``unknown``, ``missing``.

    Examples
    --------
    >>> pairs = [("yes", "yes"), ("yes", "unknown"), ("no", "yes"), ("no", None)]
    >>> wrong, drop = answer_figures(pairs, "wrong"), answer_figures(pairs, "drop")
    >>> wrong["accuracy"], wrong["yes_ratio"], drop["yes_ratio"], wrong["f1"]
    (0.25, 0.5, 0.6666666666666666, 0.5)
    """
    table: Answers = Counter(pairs)
    kinds = ("yes", "no", "unknown", MISSING_ANSWER, None)
    given = {answer: sum(table[label, answer] for label in LABELS) for answer in kinds}
    labels = {label: sum(count for (own, _), count in table.items() if own == label) for label in LABELS}
    n = sum(labels.values())
    scored = n - given[None] if unparsed == "drop" else n
    tp, fp, tn = table["yes", "yes"], table["no", "yes"], table["no", "no"]
    # Every row labelled yes that is in the denominator and was not answered yes.
    fn = labels["yes"] - tp - (table["yes", None] if unparsed == "drop" else 0)
    return {
        "n": n,
        "unparsed": given[None],
        "accuracy": fraction(tp + tn, scored),
        "precision": fraction(tp, tp + fp),
        "recall": fraction(tp, tp + fn),
        "f1": fraction(2 * tp, 2 * tp + fp + fn),
        "yes_ratio": fraction(given["yes"], scored),
        "unknown_rate": fraction(given["unknown"], scored),
        "unparsed_rate": fraction(given[None], n),
        "counts": {
            "scored": scored,
            "label_yes": labels["yes"],
            "label_no": labels["no"],
            "tp": tp,
            "fp": fp,
            "tn": tn,
            "fn": fn,
            "yes": given["yes"],
            "no": given["no"],
            "unknown": given["unknown"],
            "missing": given[MISSING_ANSWER],
        },
    }


def margin_figures(margins: Sequence[float]) -> dict[str, float | None]:
    """``margin_mean``, ``margin_median`` (nats) and ``margin_positive``, the share above 0.

    Examples
    --------
    >>> margin_figures([2.0, -1.0, 0.0, 0.5])
    {'margin_mean': 0.375, 'margin_median': 0.25, 'margin_positive': 0.5}
    """
    return {
        "margin_mean": mean(margins),
        "margin_median": middle(margins),
        "margin_positive": fraction(sum(margin > 0 for margin in margins), len(margins)),
    }


def rank_figures(ranks: Sequence[int], probabilities: Sequence[float]) -> dict[str, float | None]:
    """``mrr`` (the mean of 1 / rank), ``mean_rank``, ``median_rank``, ``mean_probability``.

    Examples
    --------
    >>> rank_figures([1, 4], [0.5, 0.25])
    {'mrr': 0.625, 'mean_rank': 2.5, 'median_rank': 2.5, 'mean_probability': 0.375}
    """
    return {
        "mrr": mean([1 / rank for rank in ranks]),
        "mean_rank": mean(ranks),
        "median_rank": middle(ranks),
        "mean_probability": mean(probabilities),
    }


def summarize(rows: Sequence[Row], unparsed: str) -> dict[str, Any]:
    """All figures of some rows, without pairing; ``counts`` also has ``empty``, ``contradicting``,
    ``margins``, ``ranks``, ``probabilities``."""
    answers = answer_figures(((row["label"], row["answer"]) for row in rows), unparsed)
    margins = present(row["margin"] for row in rows)
    masses = present(row["mass"] for row in rows)
    ranks = present(row["entity_rank"] for row in rows)
    probabilities = present(row["entity_prob"] for row in rows)
    counts = {
        **answers.pop("counts"),
        "empty": sum(row["empty"] for row in rows),
        "contradicting": sum(row["contradicts"] for row in rows),
        "margins": len(margins),
        "ranks": len(ranks),
        "probabilities": len(probabilities),
    }
    return {
        **answers,
        **margin_figures(margins),
        "mass_mean": mean(masses),
        "mass_least": min(masses, default=None),
        **rank_figures(ranks, probabilities),
        "counts": counts,
    }


def with_labels(rows: Sequence[Row], unparsed: str) -> dict[str, Any]:
    """:func:`summarize`, and under ``by_label`` the same of the rows of each label."""
    parts = {label: summarize([row for row in rows if row["label"] == label], unparsed) for label in LABELS}
    return {**summarize(rows, unparsed), "by_label": parts}
