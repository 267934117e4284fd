"""Prediction-powered inference: a judge's mean made unbiased by a small labelled subset.

The estimate is the judge's mean over all samples, moved by how far judge and people differ on the
labelled ones (Angelopoulos et al., Science 2023). The weight of the judge is tuned so that a useless
judge does no harm (PPI++, arXiv 2311.01453, the mean's power tuning). It is unbiased if the labelled
samples were drawn at random, however bad the judge is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, TypedDict

from lookcheck.scripts.judge.measures import FEWEST, proportion_interval

if TYPE_CHECKING:
    from lookcheck.scripts.judge.measures import Array

FEWEST_OF_A_KIND = 5
FEWEST_DIFFERENCES = 3
"""Labels yes, labels no, and labels that differ from the judge, below which the normal approximation covers
too seldom: with them it covered 91 % or more in simulations of 30 to 200 labels, without them down to 9 %."""


class Interval(TypedDict):
    """A mean and its interval; both ends are None where no honest one can be given."""

    mean: float
    low: float | None
    high: float | None


class CorrectedMean(Interval):
    """What `corrected_mean` gives.

    Attributes
    ----------
    weight : float
        Of the judge.
    labels : Interval
        From the labels alone.
    judge : float
        The judge's own mean over all samples.
    refused : str or None
        Why there is no interval of the corrected mean.
    """

    weight: float
    labels: Interval
    judge: float
    refused: str | None


def corrected_mean(
    human: Sequence[float],
    judged: Sequence[float],
    others: Sequence[float],
    *,
    confidence: float = 0.95,
    weight: float | None = None,
) -> CorrectedMean:
    """Mean answer accuracy from few labels and many verdicts, with an interval.

    Parameters
    ----------
    human : sequence of float, length n
        1 where people say the answer is right, 0 where not.
    judged : sequence of float, length n
        The judge's verdicts on the same samples; "none" as 0.
    others : sequence of float, length N
        The judge's verdicts on the samples without a label; may be empty.
    confidence : float
        Between 0 and 1. The interval is the normal approximation, cut to [0, 1], and is given for
        `FEWEST` labels or more with enough of each kind; that of the labels alone is exact.
    weight : float, optional
        Of the judge; 1 is plain prediction-powered inference, 0 the labels alone, tuned if not given.

    Returns
    -------
    CorrectedMean

    Raises
    ------
    ValueError
        If there are fewer than two labels, or lengths differ.

    Examples
    --------
    >>> result = corrected_mean([1, 0, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1], weight=1)
    >>> result["judge"], result["mean"]
    (0.875, 0.5)
    """
    # Not for --help.
    import numpy as np
    from scipy.stats import norm

    truth, seen, unseen = (np.asarray(values, float) for values in (human, judged, others))
    n, many = len(truth), len(unseen)
    if len(seen) != n:
        raise ValueError(f"{n} labels, but {len(seen)} verdicts on the same samples")
    if n < 2:
        raise ValueError(f"{n} labelled samples; an interval needs at least 2")
    everything = np.concatenate([seen, unseen])
    if many == 0:
        weight = 0.0
    elif weight is None:
        spread = everything.var(ddof=1)
        covariance = np.cov(truth, seen, ddof=1)[0, 1]
        weight = float(np.clip(covariance / ((1 + n / many) * spread), 0, 1)) if spread > 0 else 0.0
    rest = truth - weight * seen
    mean = float(rest.mean() + (weight * unseen.mean() if many else 0))
    variance = rest.var(ddof=1) / n + (weight**2 * everything.var(ddof=1) / many if many else 0)
    half = sqrt(variance) * float(norm.ppf((1 + confidence) / 2))
    low, high = proportion_interval(round(float(truth.sum())), n, confidence)
    labels = Interval(mean=float(truth.mean()), low=low, high=high)
    # A judge without weight leaves the labels alone, whose interval is exact.
    refused = _refusal(truth, seen) if weight else None
    corrected = Interval(mean=mean, low=max(0.0, mean - half), high=min(1.0, mean + half))
    if refused:
        corrected = Interval(mean=mean, low=None, high=None)
    elif not weight:
        corrected = labels
    return {
        **corrected,
        "weight": weight,
        "labels": labels,
        "judge": float(everything.mean()),
        "refused": refused,
    }


def _refusal(truth: Array, seen: Array) -> str | None:
    right, differing = int(truth.sum()), int((truth != seen).sum())
    counts = (
        (len(truth), FEWEST, "labels"),
        (right, FEWEST_OF_A_KIND, "labels yes"),
        (len(truth) - right, FEWEST_OF_A_KIND, "labels no"),
        (differing, FEWEST_DIFFERENCES, "labels that differ from the judge"),
    )
    for count, fewest, what in counts:
        if count < fewest:
            return f"no interval: {count} {what}, it takes {fewest}"
    return None
