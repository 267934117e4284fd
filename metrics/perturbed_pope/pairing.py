"""Each perturbed row beside its original row: what the perturbation changed.

An original row is known by its ``parent_id`` or, where that is "", by its id. A perturbed row's original
is the row of condition ``original`` and of the same split that is known by the perturbed row's
``parent_id``. A perturbed row without one is unpaired: it is counted, and is in no paired figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from .changes import relative_changes
from .common import Id, fraction, mean, place
from .conditions import CONDITIONS, ORIGINAL, REMOVED, SWAPPED
from .figures import answer_figures, margin_figures, middle, rank_figures
from .samples import MISSING_ANSWER, Row
from .validation import LABELS

T = TypeVar("T")
Pair = tuple[Row, Row]

# Conditions of the data set in which the original's label stays; of others nothing is known.
KEEPING = frozenset(CONDITIONS) - {ORIGINAL, SWAPPED}
_ANSWER_FIGURES = ("accuracy", "yes_ratio", "unknown_rate")
_MARGIN_FIGURES = ("margin_mean", "margin_median")


def originals_of(rows: Sequence[Row], ids: Sequence[Id]) -> list[int | None]:
    """The place of each row's original row; None for original and for unpaired rows.

    Raises
    ------
    ValueError
        If two original rows of a split are known by one name, two perturbed rows are the same condition of
        one original, or a row's label is not its original's in a condition that keeps it.

    Examples
    --------
    >>> rows = [{"condition": "original", "split": "random", "parent_id": "", "label": "yes"},
    ...         {"condition": "black_mask", "split": "random", "parent_id": "q1", "label": "yes"},
    ...         {"condition": "black_mask", "split": "popular", "parent_id": "q1", "label": "yes"}]
    >>> originals_of(rows, ["q1", "q1-mask", "q2-mask"])
    [None, 0, None]
    """
    places: dict[tuple[str, str], int] = {}
    for index, row in enumerate(rows):
        if row["condition"] == ORIGINAL:
            key = (row["split"], row["parent_id"] or str(ids[index]))
            if key in places:
                raise ValueError(
                    f"{place(ids[index])}: the parent_id is {key[1]!r}, as that of the original row "
                    f"{ids[places[key]]!r} of the split {key[0]}"
                )
            places[key] = index
    found: list[int | None] = []
    seen: dict[tuple[str, str, str], int] = {}
    for index, row in enumerate(rows):
        if row["condition"] == ORIGINAL:
            found.append(None)
            continue
        twin = seen.setdefault((row["condition"], row["split"], row["parent_id"]), index)
        if twin != index:
            raise ValueError(
                f"{place(ids[index])}: the row is {row['condition']} of {row['parent_id']!r} in the split "
                f"{row['split']}, as {ids[twin]!r} is; each perturbed row stands once"
            )
        original = places.get((row["split"], row["parent_id"]))
        if original is not None and row["condition"] in KEEPING:
            label = rows[original]["label"]
            if row["label"] != label:
                raise ValueError(
                    f"{place(ids[index])}: the label is {row['label']!r}, but {label!r} on its original "
                    f"{ids[original]!r}, and {row['condition']} does not change it"
                )
        found.append(original)
    return found


def changed(pair: Pair) -> bool | None:
    """Whether the two answers differ; None where one of them is unparsed or missing."""
    before, after = pair[0]["answer"], pair[1]["answer"]
    return None if {before, after} & {None, MISSING_ANSWER} else before != after


def margin_shift(pair: Pair) -> float | None:
    """Margin of the perturbed row minus margin of its original; None where one is missing."""
    before, after = pair[0]["margin"], pair[1]["margin"]
    return None if before is None or after is None else float(after - before)


def paired_figures(pairs: Sequence[Pair], unparsed: str) -> dict[str, Any]:
    """Figures of pairs of an original and a perturbed row; both sides over the same pairs.

    Returns
    -------
    dict
        ``n``; ``original`` and ``perturbed`` (``accuracy``, ``yes_ratio``, ``unknown_rate``,
        ``margin_mean``, ``margin_median``, ``mrr``, ``mean_rank``, ``median_rank``,
        ``mean_probability``); ``changed``; ``margin_shift_mean``, ``margin_shift_median``,
        ``margin_stays_positive``; ``relative_change`` of the last four; ``counts``.
    """
    # A figure compares like with like: pairs that lack it on one side are out on both.
    answered = list(pairs)
    if unparsed == "drop":
        # What is missing stays: it is wrong, and no change.
        answered = [pair for pair in pairs if None not in (row["answer"] for row in pair)]
    shifts = [shift for pair in pairs if (shift := margin_shift(pair)) is not None]
    margins = _both((before["margin"], after["margin"]) for before, after in pairs)
    ranks = _both((before["entity_rank"], after["entity_rank"]) for before, after in pairs)
    probabilities = _both((before["entity_prob"], after["entity_prob"]) for before, after in pairs)
    sides = []
    for side in (0, 1):
        answers = answer_figures(((pair[side]["label"], pair[side]["answer"]) for pair in answered), unparsed)
        own = margin_figures([pair[side] for pair in margins])
        order = rank_figures([pair[side] for pair in ranks], [pair[side] for pair in probabilities])
        sides.append(
            {
                **{name: answers[name] for name in _ANSWER_FIGURES},
                **{name: own[name] for name in _MARGIN_FIGURES},
                **order,
            }
        )
    moved = sum(changed(pair) is True for pair in pairs)
    positive = [after > 0 for before, after in margins if before > 0]
    return {
        "n": len(pairs),
        "original": sides[0],
        "perturbed": sides[1],
        "changed": fraction(moved, len(answered)),
        "margin_shift_mean": mean(shifts),
        "margin_shift_median": middle(shifts),
        "margin_stays_positive": fraction(sum(positive), len(positive)),
        "relative_change": relative_changes(*sides),
        "counts": {
            "scored": len(answered),
            "changed": moved,
            "unparsed_original": sum(before["answer"] is None for before, _ in pairs),
            "unparsed_perturbed": sum(after["answer"] is None for _, after in pairs),
            "margins": len(margins),
            "margin_positive_original": len(positive),
            "margin_stays_positive": sum(positive),
            "ranks": len(ranks),
            "probabilities": len(probabilities),
        },
    }


def _both(pairs: Iterable[tuple[T | None, T | None]]) -> list[tuple[T, T]]:
    """The pairs that have both values."""
    return [(before, after) for before, after in pairs if before is not None and after is not None]


def with_original_labels(pairs: Sequence[Pair], unparsed: str) -> dict[str, Any]:
    """:func:`paired_figures`, and under ``by_label`` the same by the label of the original row."""
    parts = {
        label: paired_figures([pair for pair in pairs if pair[0]["label"] == label], unparsed)
        for label in LABELS
    }
    return {**paired_figures(pairs, unparsed), "by_label": parts}


def reliance(pairs: Sequence[Pair], unparsed: str) -> dict[str, Any]:
    """Of the objects rightly seen in the original, the share whose answer changes without the object.

    Returns
    -------
    dict
        ``share`` = ``changed`` / ``n``. ``n`` counts the pairs whose original is labelled yes and was
        answered yes; an unparsed answer to the perturbed row is no change, and with ``unparsed="drop"``
        its pair is not in ``n``. ``answers`` counts what was said to the perturbed rows.

    Examples
    --------
    >>> seen = {"label": "yes", "answer": "yes"}
    >>> found = reliance([(seen, {"answer": answer}) for answer in ("yes", "no", None)], "wrong")
    >>> found["share"], found["n"], found["answers"]
    (0.3333333333333333, 3, {'yes': 1, 'no': 1, 'unknown': 0, 'missing': 0, 'unparsed': 1})
    """
    after = [
        perturbed["answer"]
        for original, perturbed in pairs
        if original["label"] == "yes" and original["answer"] == "yes"
    ]
    answers = {answer: after.count(answer) for answer in ("yes", "no", "unknown", MISSING_ANSWER)}
    unread = after.count(None)
    n = len(after) - unread if unparsed == "drop" else len(after)
    moved = answers["no"] + answers["unknown"]
    return {
        "share": fraction(moved, n),
        "changed": moved,
        "n": n,
        "answers": {**answers, "unparsed": unread},
    }


def evidence_reliance(pairs: dict[str, dict[str, list[Pair]]], unparsed: str) -> dict[str, Any]:
    """:func:`reliance` for each condition that takes the object away, and ``by_split``."""
    result = {}
    for condition, splits in pairs.items():
        if condition in REMOVED:
            whole = [pair for part in splits.values() for pair in part]
            by_split = {split: reliance(part, unparsed) for split, part in splits.items()}
            result[condition] = {**reliance(whole, unparsed), "by_split": by_split}
    return result
