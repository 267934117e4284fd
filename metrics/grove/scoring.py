"""Grove (VistaQA, arXiv 2605.20676): the right answer and the right masks, as a geometric mean.

Conventions
-----------
- Mask score S_m of one sample: 1 if neither side has a mask; 0 if exactly one side has; otherwise the
  sum of IoU over the best one-to-one matching divided by max(|P|, |G|).
- Answer score S_a: 1 if the judge's verdict on the answer is "yes", 0 if it is "no".
- With the floor ε: S = sqrt(max(S_a, ε) · max(S_m, ε)); Grove is the mean of S over samples, so it lies
  in [ε, 1]. ``answer_accuracy`` and ``mask_score`` are the means of S_a and S_m (T and M in the paper).
- Instances are never merged; a mask that is predicted twice counts twice.
- Values are fractions in [0, 1], or None where there is no sample to average.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum, sqrt
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from .common import (
    Id,
    Result,
    Sample,
    check_choice,
    checked_ids,
    checked_labels,
    listed,
    mean,
    places_by_label,
    signature,
)
from .headline import headline
from .intervals import add_intervals, checked_confidence
from .masks import Rle, area, iou_matrix
from .validation import (
    EMPTY_MASKS,
    MISSING,
    UNJUDGED,
    check_row,
    checked_epsilon,
    checked_judge,
    checked_masks,
)

VERSION = "2.1.0"

BANDS = ("zero", "low", "high")
"""Mask score 0; above 0 and below 0.5; 0.5 and more."""


class Match(TypedDict):
    """A pair of the matching: places in the lists of masks that were given."""

    prediction: int
    reference: int
    iou: float


class SampleScore(TypedDict):
    """What :func:`score_sample` gives; scores in [0, 1]."""

    verdict: str
    answer_score: float
    mask_score: float
    score: float
    num_predicted: int
    num_reference: int
    empty_predicted: int
    missing: bool
    matches: list[Match]


class GroveSample(Sample):
    """A row of ``per_sample``: :class:`SampleScore` with its names; task and domain None if not given."""

    task: Id | None
    domain: Id | None
    verdict: str
    answer_score: float
    mask_score: float
    num_predicted: int
    num_reference: int
    empty_predicted: int
    missing: bool
    matches: list[Match]


class Figures(TypedDict):
    """Means over some samples, in [0, 1]; None where there is no sample."""

    grove: float | None
    answer_accuracy: float | None
    mask_score: float | None


class Part(Figures):
    """The figures of some samples and their number."""

    n: int


class Share(TypedDict):
    """Samples in a cell of the cross table."""

    count: int
    fraction: float


class GroveResult(Result[GroveSample], Figures):
    """What :func:`compute` gives."""

    with_evidence: Part
    without_evidence: Part
    by_task: dict[str, Part]
    by_domain: dict[str, Part]
    by_num_instances: dict[str, Part]
    cross_table: dict[str, dict[str, Share]]


def match(iou: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """The one-to-one matching of rows and columns with the largest sum of IoU (Hungarian method).

    Parameters
    ----------
    iou : ndarray of float64, shape (predicted, reference)

    Returns
    -------
    list of (int, int)
        Pairs that overlap, by row.

    Examples
    --------
    Taking the best pair first would give 0.6.

    >>> match(np.array([[0.6, 0.5], [0.5, 0.0]]))
    [(0, 1), (1, 0)]
    """
    return [(row, column) for row, column, _ in _matched(iou)]


def _matched(iou: npt.NDArray[np.float64]) -> list[tuple[int, int, float]]:
    """The pairs of :func:`match`, each with its IoU."""
    rows, columns = linear_sum_assignment(iou, maximize=True)
    found = zip(rows.tolist(), columns.tolist(), iou[rows, columns].tolist(), strict=True)
    return [pair for pair in found if pair[2] > 0]


def mask_score(iou: npt.NDArray[np.float64]) -> float:
    """S_m of one sample from its IoU matrix.

    Parameters
    ----------
    iou : ndarray of float64, shape (predicted, reference)
        Either side may be 0.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> mask_score(np.array([[0.6, 0.5], [0.5, 0.0]]))
    0.5
    >>> mask_score(np.zeros((0, 0))), mask_score(np.zeros((2, 0))), mask_score(np.zeros((0, 1)))
    (1.0, 0.0, 0.0)
    """
    return _share(_matched(iou), max(iou.shape))


def _share(pairs: Sequence[tuple[int, int, float]], larger: int) -> float:
    return fsum(value for _, _, value in pairs) / larger if larger else 1.0


def combine(answer_score: float, mask_score: float, epsilon: float = 0.1) -> float:
    """S = sqrt(max(S_a, ε) · max(S_m, ε)).

    Examples
    --------
    A right answer without a mask is worth as much as a perfect mask for a wrong answer.

    >>> round(combine(1, 0), 4), round(combine(0, 1), 4), round(combine(0, 0), 4)
    (0.3162, 0.3162, 0.1)
    """
    return sqrt(max(answer_score, epsilon) * max(mask_score, epsilon))


def score_sample(
    verdict: str,
    predicted: Sequence[Rle],
    reference: Sequence[Rle],
    *,
    epsilon: float = 0.1,
    empty_masks: str = "keep",
    filled: Sequence[bool] | None = None,
    missing: bool = False,
) -> SampleScore:
    """Score one sample; the masks are checked encodings of one size.

    Parameters
    ----------
    verdict : {"yes", "no", "none"}
    predicted, reference : sequence of dict
    epsilon, empty_masks
        As in :func:`compute`.
    filled : sequence of bool, optional
        Whether each predicted mask holds any pixel, where that is known already.
    missing : bool
        Whether there is no prediction: nothing is right then, not even that there is nothing to see.

    Returns
    -------
    dict
        ``verdict``, ``answer_score``, ``mask_score``, ``score``, ``num_predicted``, ``num_reference``,
        ``empty_predicted`` (all-zero predicted masks), ``missing`` and ``matches``: dicts of ``prediction``
        and ``reference`` (places in the lists that were given) and ``iou``.

    Examples
    --------
    >>> score_sample("yes", [], [])["score"]
    1.0
    """
    full = [area(rle) > 0 for rle in predicted] if filled is None else filled
    kept = [index for index, is_full in enumerate(full) if is_full or empty_masks == "keep"]
    pairs = _matched(iou_matrix([predicted[index] for index in kept], reference))
    answer = 1.0 if verdict == "yes" else 0.0
    masks = 0.0 if missing else _share(pairs, max(len(kept), len(reference)))
    return {
        "verdict": verdict,
        "answer_score": answer,
        "mask_score": masks,
        "score": combine(answer, masks, epsilon),
        "num_predicted": len(kept),
        "num_reference": len(reference),
        "empty_predicted": list(full).count(False),
        "missing": missing,
        "matches": [
            {"prediction": kept[row], "reference": column, "iou": value} for row, column, value in pairs
        ],
    }


def compute(
    predictions: Any,
    references: Any,
    *,
    epsilon: float = 0.1,
    ids: Any = None,
    groups: Any = None,
    tasks: Any = None,
    domains: Any = None,
    judge: str | None = None,
    unjudged: str = "error",
    empty_masks: str = "keep",
    missing: str = "wrong",
    confidence: float | None = None,
) -> GroveResult:
    """Grove of a list of samples, with its parts.

    Parameters
    ----------
    predictions : sequence of dict
        ``{"verdict": "yes" | "no" | "none", "masks": [mask, …]}``; an answer that is missing or was not
        judged is "none", and the masks are None where nothing was predicted at all. A mask is anything that
        :func:`lookcheck.metrics.grove.to_rle` takes.
    references : sequence of dict
        ``{"masks": [mask, …]}``, one mask for each instance, none where there is no evidence.
    epsilon : float
        The floor ε, 0 to 1.
    ids : sequence of str or int, optional
        Unique; the index where not given.
    groups : sequence of str or int, optional
        For example image ids; carried into the rows for clustered intervals.
    tasks, domains : sequence of str, optional
    judge : str, optional
        Who gave the verdicts; goes into the signature.
    unjudged : {"error", "wrong"}
        What a verdict "none" does.
    empty_masks : {"keep", "drop"}
        Whether an all-zero predicted mask counts as a prediction.
    missing : {"wrong", "empty"}
        Whether a sample without a prediction (masks None) has mask score 0, also where there is nothing to
        see, or the score of a prediction without masks.
    confidence : float, optional
        The level of intervals of the figures, 0.95 for example, clustered by `groups`, or by row without
        them; adds ``intervals``. See :mod:`lookcheck.metrics.grove.intervals`.

    Returns
    -------
    dict
        ``grove``, ``answer_accuracy``, ``mask_score``; ``with_evidence`` and ``without_evidence`` (the
        same three and ``n``); ``by_task``, ``by_domain``, ``by_num_instances`` (name to the same four);
        ``cross_table`` (answer right or wrong × mask score ``zero``, ``low`` below 0.5, ``high``; each
        ``count`` and ``fraction``); ``counts``; ``baselines``; ``per_sample``; ``signature``.

    Raises
    ------
    ValueError
        Naming the row's id or index and the value.

    Examples
    --------
    >>> half = {"size": [1, 4], "counts": [1, 2, 1]}
    >>> whole = {"size": [1, 4], "counts": [0, 4]}
    >>> result = compute([{"verdict": "yes", "masks": [half]}], [{"masks": [whole]}], ids=["7"])
    >>> result["mask_score"], round(result["grove"], 4)
    (0.5, 0.7071)
    >>> result["signature"].split("|")[:4]
    ['metric:grove', 'epsilon:0.1', 'empty_masks:keep', 'matching:optimal']
    """
    check_choice("unjudged", unjudged, UNJUDGED)
    check_choice("empty_masks", empty_masks, EMPTY_MASKS)
    check_choice("missing", missing, MISSING)
    floor = checked_epsilon(epsilon)
    level = checked_confidence(confidence)
    judge = checked_judge(judge)
    given = listed("predictions", predictions)
    wanted = listed("references", references, len(given))
    row_ids = checked_ids(ids, len(given))
    none: list[Id | None] = [None] * len(given)
    group_of = checked_labels("groups", groups, row_ids)
    task_of = checked_labels("tasks", tasks, row_ids)
    domain_of = checked_labels("domains", domains, row_ids)
    for row, prediction, reference in zip(row_ids, given, wanted, strict=True):
        check_row(prediction, reference, row)
    silent = [row for row, prediction in zip(row_ids, given, strict=True) if prediction["verdict"] == "none"]
    if silent and unjudged == "error":
        shown = ", ".join(repr(row) for row in silent[:5]) + (", …" if len(silent) > 5 else "")
        raise ValueError(
            f"{len(silent)} of {len(given)} samples have the verdict 'none' (id {shown}); "
            "judge them, or count them as wrong with unjudged='wrong'"
        )
    names = zip(row_ids, group_of or none, task_of or none, domain_of or none, strict=True)
    rows: list[GroveSample] = [
        {
            "id": row,
            "group": group,
            "task": task,
            "domain": domain,
            **score_sample(
                prediction["verdict"],
                predicted,
                reference,
                epsilon=floor,
                empty_masks=empty_masks,
                filled=filled,
                missing=prediction["masks"] is None and missing == "wrong",
            ),
        }
        for (row, group, task, domain), prediction, (predicted, filled, reference) in zip(
            names, given, checked_masks(given, wanted, row_ids), strict=True
        )
    ]
    seen = [row for row in rows if row["num_reference"]]
    absent = sum(prediction["masks"] is None for prediction in given)
    whole = summarize(rows)
    result: GroveResult = {
        "grove": whole["grove"],
        "answer_accuracy": whole["answer_accuracy"],
        "mask_score": whole["mask_score"],
        "with_evidence": summarize(seen),
        "without_evidence": summarize([row for row in rows if not row["num_reference"]]),
        "by_task": _by(rows, task_of or []),
        "by_domain": _by(rows, domain_of or []),
        "by_num_instances": _by(rows, [row["num_reference"] for row in rows]),
        "cross_table": cross_table(rows),
        "counts": {
            "n": len(rows),
            "unjudged": len(silent),
            "missing": absent,
            "empty_predicted": sum(row["empty_predicted"] for row in rows),
        },
        "baselines": baselines(len(seen), len(rows) - len(seen), floor),
        "per_sample": rows,
        "signature": signature(
            "grove",
            VERSION,
            epsilon=f"{floor:g}",
            empty_masks=empty_masks,
            matching="optimal",
            judge=judge or "not given",
            n=len(rows),
            unjudged=len(silent),
            missing_rule=missing,
            missing=absent,
        ),
    }
    add_intervals(result, headline, level)
    return result


def summarize(rows: Sequence[GroveSample]) -> Part:
    """Means of the three scores over rows, and their number; None where there is no row."""
    return {
        "grove": mean([row["score"] for row in rows if row["score"] is not None]),
        "answer_accuracy": mean([row["answer_score"] for row in rows]),
        "mask_score": mean([row["mask_score"] for row in rows]),
        "n": len(rows),
    }


def cross_table(rows: Sequence[GroveSample]) -> dict[str, dict[str, Share]]:
    """Answers right or wrong against mask score 0, below 0.5, and 0.5 or more (the modality gap).

    Returns
    -------
    dict
        ``table["right"]["zero"]`` counts the answers that are right without having looked; its
        ``fraction`` is of all rows.
    """
    counts = {answer: dict.fromkeys(BANDS, 0) for answer in ("right", "wrong")}
    for row in rows:
        band = "zero" if row["mask_score"] == 0 else "low" if row["mask_score"] < 0.5 else "high"
        counts["right" if row["answer_score"] else "wrong"][band] += 1
    return {
        answer: {band: {"count": count, "fraction": count / len(rows)} for band, count in bands.items()}
        for answer, bands in counts.items()
    }


def baselines(with_evidence: int, without_evidence: int, epsilon: float = 0.1) -> dict[str, dict[str, Any]]:
    """The three figures of four policies that never look, on samples of this composition.

    Parameters
    ----------
    with_evidence, without_evidence : int
        Samples with and without a reference mask.
    epsilon : float

    Returns
    -------
    dict
        ``all_wrong`` (a wrong mask for everything), ``no_mask_never_right``,
        ``no_mask_right_without_evidence`` (right only where nothing is to be seen) and
        ``no_mask_always_right``, each with ``grove``, ``answer_accuracy`` and ``mask_score``.

    Examples
    --------
    On VistaQA's 843 samples with evidence and 314 without:

    >>> policies = baselines(843, 314)
    >>> [round(100 * figures["grove"], 2) for figures in policies.values()]
    [10.0, 15.87, 34.43, 50.18]
    >>> round(100 * policies["no_mask_always_right"]["mask_score"], 2)
    27.14
    """
    n = with_evidence + without_evidence
    # Answer and mask score of a sample with evidence, then of one without.
    rules = {
        "all_wrong": ((0, 0), (0, 0)),
        "no_mask_never_right": ((0, 0), (0, 1)),
        "no_mask_right_without_evidence": ((0, 0), (1, 1)),
        "no_mask_always_right": ((1, 0), (1, 1)),
    }
    return {
        name: {
            "grove": fsum(
                [combine(*seen, epsilon)] * with_evidence + [combine(*unseen, epsilon)] * without_evidence
            )
            / n,
            "answer_accuracy": (seen[0] * with_evidence + unseen[0] * without_evidence) / n,
            "mask_score": (seen[1] * with_evidence + unseen[1] * without_evidence) / n,
        }
        for name, (seen, unseen) in rules.items()
    }


def _by(rows: Sequence[GroveSample], labels: Iterable[Id]) -> dict[str, Part]:
    return {
        label: summarize([rows[index] for index in places])
        for label, places in places_by_label(labels).items()
    }
