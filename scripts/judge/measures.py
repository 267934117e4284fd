"""Agreement of a judge with people: accuracy, Cohen's kappa and F1, with intervals.

Conventions
-----------
- People say yes or no; a judge may also say none, which agrees with nobody: it counts against accuracy,
  is a category of its own for kappa, and no "yes" for F1.
- Kappa is None where both raters use one and the same category only; F1, of "yes", is None where
  neither ever says yes.
- The interval of accuracy is Clopper and Pearson's, exact for any number of samples. Those of kappa and F1
  are percentiles of the bootstrap over samples, of the resamples in which the measure is defined; the
  seed comes from the samples' ids. There is none for fewer than `FEWEST` samples, where they cover too
  seldom, and none where all resamples agree.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

HUMAN = ("no", "yes")
JUDGED = ("no", "yes", "none")
MEASURES = ("accuracy", "kappa", "f1")

FEWEST = 30
"""Samples below which an interval that rests on many samples is not given."""

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


def agreement(
    human: Sequence[str],
    judged: Sequence[str],
    ids: Sequence[str],
    *,
    resamples: int = 9_999,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Accuracy, kappa and F1 of a judge against people, with intervals and the confusion.

    Parameters
    ----------
    human : sequence of str
        ``"yes"`` or ``"no"`` for each sample.
    judged : sequence of str
        ``"yes"``, ``"no"`` or ``"none"``.
    ids : sequence of str
        They seed the bootstrap, sorted: the order of samples changes nothing.
    resamples : int
    confidence : float
        Between 0 and 1.

    Returns
    -------
    dict
        For each measure ``value`` and ``low``, ``high`` (None where undefined, or samples are too few);
        ``confusion`` {human: {judged: count}}; ``n``.

    Raises
    ------
    ValueError
        If the lengths differ, there is no sample, or a verdict is of another kind.

    Examples
    --------
    >>> result = agreement(["yes", "no", "no", "yes"], ["yes", "no", "yes", "none"], ["a", "b", "c", "d"])
    >>> result["accuracy"]["value"], result["confusion"]["yes"]
    (0.5, {'no': 0, 'yes': 1, 'none': 1})
    """
    # As scipy, not for --help.
    import numpy as np
    from scipy.stats import DegenerateDataWarning, bootstrap

    if not len(human) == len(judged) == len(ids):
        raise ValueError(f"{len(human)} human verdicts, {len(judged)} of the judge, {len(ids)} ids")
    if not ids:
        raise ValueError("there is no sample that both have judged")
    # One number for each pair of verdicts, in the order of ids, so that resampling is repeatable.
    cells = np.array(
        [_cell(one, other) for _, one, other in sorted(zip(ids, human, judged, strict=True))], np.int64
    )
    counts = np.bincount(cells, minlength=len(HUMAN) * len(JUDGED)).astype(float)
    values = _measures(counts[:, None])
    result: dict[str, Any] = {"n": len(ids)}
    if len(ids) >= FEWEST:
        with warnings.catch_warnings():
            # A measure that is undefined in a resample is left out below, and said so in the conventions.
            warnings.simplefilter("ignore", DegenerateDataWarning)
            drawn = bootstrap(
                (cells,),
                lambda sample, axis: _measures(_count(sample, axis)),
                n_resamples=resamples,
                method="percentile",
                batch=500,
                rng=np.random.default_rng(_seed(ids)),
            ).bootstrap_distribution
    else:
        drawn = np.full((len(MEASURES), 1), np.nan)
    tail = (1 - confidence) / 2
    for name, value, column in zip(MEASURES, values[:, 0], drawn, strict=True):
        defined = column[~np.isnan(column)]
        low, high = np.nan, np.nan
        if np.unique(defined).size > 1:
            low, high = np.quantile(defined, [tail, 1 - tail])
        result[name] = {"value": _number(value), "low": _number(low), "high": _number(high)}
    low, high = proportion_interval(int(counts[0] + counts[len(JUDGED) + 1]), len(ids), confidence)
    result["accuracy"] |= {"low": low, "high": high}
    grid = counts.astype(int).reshape(len(HUMAN), len(JUDGED))
    result["confusion"] = {
        one: dict(zip(JUDGED, map(int, row), strict=True)) for one, row in zip(HUMAN, grid, strict=True)
    }
    return result


def proportion_interval(count: int, total: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of a proportion: it covers at least as often as it says.

    Parameters
    ----------
    count, total : int
        Successes and trials; at least one trial.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    low, high : float
        In [0, 1].

    Examples
    --------
    >>> [round(end, 4) for end in proportion_interval(2, 2, 0.95)]
    [0.1581, 1.0]
    """
    from scipy.stats import binomtest

    found = binomtest(count, total).proportion_ci(confidence, method="exact")
    return float(found.low), float(found.high)


def _measures(counts: Array) -> Array:
    """Accuracy, kappa and F1 from counts of shape (6, …); NaN where undefined; shape (3, …)."""
    import numpy as np

    table = counts.reshape(len(HUMAN), len(JUDGED), *counts.shape[1:])
    total = counts.sum(axis=0)
    agreed = table[0, 0] + table[1, 1]
    accuracy = agreed / total
    by_human, by_judge = table.sum(axis=1), table.sum(axis=0)
    chance = (by_human[0] * by_judge[0] + by_human[1] * by_judge[1]) / total**2
    said_yes = by_human[1] + by_judge[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = np.where(chance < 1, (accuracy - chance) / (1 - chance), np.nan)
        f1 = np.where(said_yes > 0, 2 * table[1, 1] / said_yes, np.nan)
    return np.stack([accuracy, kappa, f1])


def _count(cells: npt.NDArray[np.int64], axis: int) -> Array:
    import numpy as np

    return np.stack([(cells == cell).sum(axis=axis) for cell in range(len(HUMAN) * len(JUDGED))]).astype(
        float
    )


def _cell(human: str, judged: str) -> int:
    if human not in HUMAN:
        raise ValueError(f"the human verdict is {human!r}; expected yes or no")
    if judged not in JUDGED:
        raise ValueError(f"the judge's verdict is {judged!r}; expected yes, no or none")
    return HUMAN.index(human) * len(JUDGED) + JUDGED.index(judged)


def _seed(ids: Sequence[str]) -> int:
    return int.from_bytes(hashlib.sha256("\n".join(sorted(ids)).encode("utf-8", "replace")).digest()[:8])


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
