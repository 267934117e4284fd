"""Prediction-powered inference: a judge's mean made unbiased by a small labelled subset.

The estimate is the judge's mean over all samples, moved by how far judge and people differ on the
labelled ones (Angelopoulos et al., Science 2023). The weight of the judge is tuned so that a useless
judge does no harm (PPI++, arXiv 2311.01453, the mean's power tuning). It is unbiased if the labelled
samples were drawn at random, however bad the judge is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np


def corrected_mean(
    human: Sequence[float],
    judged: Sequence[float],
    others: Sequence[float],
    *,
    confidence: float = 0.95,
    weight: float | None = None,
) -> dict[str, Any]:
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
        Between 0 and 1; the interval is the normal approximation, cut to [0, 1].
    weight : float, optional
        Of the judge; 1 is plain prediction-powered inference, 0 the labels alone, tuned if not given.

    Returns
    -------
    dict
        ``mean``, ``low``, ``high``, ``weight``; ``labels`` with the same three from the labels alone,
        and ``judge``, the judge's own mean over all samples.

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
    quantile = float(norm.ppf((1 + confidence) / 2))
    return {
        **_interval(mean, sqrt(variance) * quantile),
        "weight": weight,
        "labels": _interval(float(truth.mean()), sqrt(truth.var(ddof=1) / n) * quantile),
        "judge": float(everything.mean()),
    }


def _interval(mean: float, half: float) -> dict[str, float]:
    return {"mean": mean, "low": max(0.0, mean - half), "high": min(1.0, mean + half)}
