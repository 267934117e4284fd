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

from collections.abc import Callable, Iterable, Sequence
from math import fsum, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from .masks import Rle, area, iou_matrix
from .validation import (
    EMPTY_MASKS,
    UNJUDGED,
    check_choice,
    check_fields,
    checked_epsilon,
    checked_ids,
    checked_judge,
    checked_labels,
    checked_masks,
    listed,
)

VERSION = "1.0.0"

BANDS = ("zero", "low", "high")
"""Mask score 0; above 0 and below 0.5; 0.5 and more."""


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
    rows, columns = linear_sum_assignment(iou, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(row, column) for row, column in pairs if iou[row, column] > 0]


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
    return _share(iou, match(iou))


def _share(iou: npt.NDArray[np.float64], pairs: Sequence[tuple[int, int]]) -> float:
    larger: int = max(iou.shape)
    return fsum(iou[pair] for pair in pairs) / larger if larger else 1.0


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
) -> dict[str, Any]:
    """Score one sample; the masks are checked encodings of one size.

    Parameters
    ----------
    verdict : {"yes", "no", "none"}
    predicted, reference : sequence of dict
    epsilon, empty_masks
        As in :func:`compute`.
    filled : sequence of bool, optional
        Whether each predicted mask holds any pixel, where that is known already.

    Returns
    -------
    dict
        ``verdict``, ``answer_score``, ``mask_score``, ``score``, ``num_predicted``, ``num_reference``,
        ``empty_predicted`` (all-zero predicted masks) and ``matches``: dicts of ``prediction`` and
        ``reference`` (places in the lists that were given) and ``iou``.

    Examples
    --------
    >>> score_sample("yes", [], [])["score"]
    1.0
    """
    full = [area(rle) > 0 for rle in predicted] if filled is None else list(filled)
    kept = [index for index, is_full in enumerate(full) if is_full or empty_masks == "keep"]
    iou = iou_matrix([predicted[index] for index in kept], reference)
    pairs = match(iou)
    answer = 1.0 if verdict == "yes" else 0.0
    masks = _share(iou, pairs)
    return {
        "verdict": verdict,
        "answer_score": answer,
        "mask_score": masks,
        "score": combine(answer, masks, epsilon),
        "num_predicted": len(kept),
        "num_reference": len(reference),
        "empty_predicted": full.count(False),
        "matches": [
            {"prediction": kept[row], "reference": column, "iou": float(iou[row, column])}
            for row, column in pairs
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
) -> dict[str, Any]:
    """Grove of a list of samples, with its parts.

    Parameters
    ----------
    predictions : sequence of dict
        ``{"verdict": "yes" | "no" | "none", "masks": [mask, …]}``; a missing answer is "none". A mask is
        anything that :func:`lookcheck.metrics.grove.to_rle` takes.
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

    Returns
    -------
    dict
        ``grove``, ``answer_accuracy``, ``mask_score``; ``with_evidence`` and ``without_evidence`` (the
        same three and ``n``); ``by_task``, ``by_domain``, ``by_num_instances`` (name to the same four);
        ``cross_table`` (answer right or wrong × mask score ``zero``, ``low`` below 0.5, ``high``; each
        ``count`` and ``fraction``); ``counts``; ``trivial_policies``; ``per_sample``; ``signature``.

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
    >>> result["signature"]
    'metric:grove|epsilon:0.1|empty_masks:keep|matching:optimal|judge:not given|n:1|unjudged:0|version:1.0.0'
    """
    check_choice("unjudged", unjudged, UNJUDGED)
    check_choice("empty_masks", empty_masks, EMPTY_MASKS)
    floor = checked_epsilon(epsilon)
    judge = checked_judge(judge)
    given = listed("predictions", predictions)
    wanted = listed("references", references, len(given))
    row_ids = checked_ids(ids, len(given))
    labels = {
        "group": checked_labels("groups", groups, row_ids),
        "task": checked_labels("tasks", tasks, row_ids),
        "domain": checked_labels("domains", domains, row_ids),
    }
    for row, prediction, reference in zip(row_ids, given, wanted, strict=True):
        check_fields("prediction", prediction, ("verdict", "masks"), row)
        check_fields("reference", reference, ("masks",), row)
    missing = [row for row, prediction in zip(row_ids, given, strict=True) if prediction["verdict"] == "none"]
    if missing and unjudged == "error":
        shown = ", ".join(repr(row) for row in missing[:5]) + (", …" if len(missing) > 5 else "")
        raise ValueError(
            f"{len(missing)} of {len(given)} samples have the verdict 'none' (id {shown}); "
            "judge them, or count them as wrong with unjudged='wrong'"
        )
    masks = checked_masks(given, wanted, row_ids)
    rows = [
        {
            "id": row_ids[index],
            **{name: values[index] for name, values in labels.items() if values is not None},
            **score_sample(
                given[index]["verdict"],
                predicted,
                reference,
                epsilon=floor,
                empty_masks=empty_masks,
                filled=filled,
            ),
        }
        for index, (predicted, filled, reference) in enumerate(masks)
    ]
    return {
        **{name: value for name, value in summarize(rows).items() if name != "n"},
        "with_evidence": summarize([row for row in rows if row["num_reference"]]),
        "without_evidence": summarize([row for row in rows if not row["num_reference"]]),
        "by_task": _by(rows, lambda row: row["task"]) if tasks is not None else {},
        "by_domain": _by(rows, lambda row: row["domain"]) if domains is not None else {},
        "by_num_instances": _by(rows, lambda row: row["num_reference"]),
        "cross_table": cross_table(rows),
        "counts": {
            "n": len(rows),
            "unjudged": len(missing),
            "empty_predicted": sum(row["empty_predicted"] for row in rows),
        },
        "trivial_policies": trivial_policies([bool(row["num_reference"]) for row in rows], floor),
        "per_sample": rows,
        "signature": (
            f"metric:grove|epsilon:{floor:g}|empty_masks:{empty_masks}|matching:optimal"
            f"|judge:{judge or 'not given'}|n:{len(rows)}|unjudged:{len(missing)}|version:{VERSION}"
        ),
    }


def summarize(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Means of the three scores over rows, and their number; None where there is no row."""
    names = {"grove": "score", "answer_accuracy": "answer_score", "mask_score": "mask_score"}
    means = {name: _mean(row[key] for row in rows) for name, key in names.items()}
    return {**means, "n": len(rows)}


def cross_table(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, dict[str, float | int]]]:
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


def trivial_policies(has_evidence: Sequence[bool], epsilon: float = 0.1) -> dict[str, float]:
    """Grove of four policies that never look, on samples of this composition.

    Parameters
    ----------
    has_evidence : sequence of bool
        Whether each sample has a reference mask.
    epsilon : float

    Returns
    -------
    dict of str to float
        ``all_wrong`` (a wrong mask for everything), ``no_mask_never_right``,
        ``no_mask_right_without_evidence`` (right only where nothing is to be seen),
        ``no_mask_always_right``.

    Examples
    --------
    On VistaQA's 843 samples with evidence and 314 without:

    >>> policies = trivial_policies([True] * 843 + [False] * 314)
    >>> [round(100 * value, 2) for value in policies.values()]
    [10.0, 15.87, 34.43, 50.18]
    """
    rules: dict[str, Callable[[bool], tuple[float, float]]] = {
        "all_wrong": lambda evidence: (0, 0),
        "no_mask_never_right": lambda evidence: (0, not evidence),
        "no_mask_right_without_evidence": lambda evidence: (not evidence, not evidence),
        "no_mask_always_right": lambda evidence: (1, not evidence),
    }
    return {
        name: fsum(combine(*rule(evidence), epsilon) for evidence in has_evidence) / len(has_evidence)
        for name, rule in rules.items()
    }


def _mean(values: Iterable[float]) -> float | None:
    # fsum is exact, so the order of the samples can't change the last digit.
    items = list(values)
    return fsum(items) / len(items) if items else None


def _by(rows: Sequence[dict[str, Any]], key: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    parts: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault(key(row), []).append(row)
    return {
        str(name): summarize(parts[name]) for name in sorted(parts, key=lambda name: (str(type(name)), name))
    }
