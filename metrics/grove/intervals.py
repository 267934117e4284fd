"""Intervals of figures that are ratios of sums, clustered: rows that share a picture are not independent.

This file stands in every metric's folder, byte for byte the same, as `common` does.

A figure is Σ w · (sum of a numerator / sum of a denominator), so that means, F1, MRR and means over splits
all have one form. The sums of each cluster are its sufficient statistics: clusters are drawn with replacement
and the figure is recomputed of the drawn sums; ratios of rows or of clusters are never averaged.

- ``bootstrap``: percentiles of 10,000 resamples of the clusters, widened for their number (the expanded
  percentile interval of Hesterberg 2015: the tail is Φ(−sqrt(G / (G − 1)) · t) for G clusters).
- ``student``: with fewer than 30 clusters, where a bootstrap is too narrow, or more than 5,000, where it
  gives the same: Student's t with G − 1 degrees of freedom and the clustered standard error of the
  linearised figure (Miller 2024, arXiv 2411.00640, eq. 4).
- ``exact``: where no cluster differs from the others, as at 0 or 1, neither has a width. Clopper and
  Pearson's bound over clusters then: what no cluster of G shows has at most the probability
  q = 1 − (α/2)^(1/G), so that the figure moves at most q of the way to its bounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from math import isfinite, nan, sqrt
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
FEW = 30
"""With fewer clusters Student's t, and a note."""
MANY = 5_000
"""With more clusters Student's t, which is normal by then."""

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Path = tuple[str, ...]
"""Where a figure stands in a result: the keys, outermost first."""


class Term(NamedTuple):
    """``weight`` times the sum of ``numerator`` over that of ``denominator``, of the rows at ``places``."""

    weight: float
    places: Places
    numerator: Floats
    denominator: Floats


class Figure(NamedTuple):
    """A sum of terms, and the least and the largest value that it can have (infinite where unbounded)."""

    terms: tuple[Term, ...]
    least: float = 0.0
    largest: float = 1.0


class Sums(NamedTuple):
    """A figure's sufficient statistics: sums of each cluster, shape (clusters, terms)."""

    weights: Floats
    numerators: Floats
    denominators: Floats
    least: float
    largest: float

    @property
    def used(self) -> int:
        """Clusters that have a row in a denominator."""
        return int(np.count_nonzero(self.denominators.any(axis=1)))

    @property
    def value(self) -> float:
        """The figure; NaN where a denominator is 0."""
        return float(value_of(self.weights, self.numerators.sum(axis=0), self.denominators.sum(axis=0)))

    def influence(self) -> Floats:
        """What each cluster adds to the linearised figure; sums to 0."""
        total = self.denominators.sum(axis=0)
        ratio = self.numerators.sum(axis=0) / total
        added: Floats = ((self.numerators - ratio * self.denominators) / total) @ self.weights
        # What rounding leaves of clusters that are all alike is no spread.
        scale = float(np.abs(self.numerators / total).max(initial=0.0)) + float(
            np.abs(ratio).max(initial=0.0)
        )
        added[np.abs(added) <= 1e-13 * scale] = 0.0
        return added


def value_of(weights: Floats, numerators: Floats, denominators: Floats) -> Floats:
    """Figures of sums in the last axis; NaN where a denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(denominators == 0, nan, numerators / denominators)
    found: Floats = ratios @ weights
    return found


def ratio(
    places: Any, numerator: Any, denominator: Any = None, *, least: float = 0.0, largest: float = 1.0
) -> Figure:
    """A figure of one term: the sum of `numerator` over that of `denominator`, or the mean without one.

    Parameters
    ----------
    places : sequence of int
        Of the rows, from 0.
    numerator, denominator : sequence of float
        One number for each place.
    least, largest : float
    """
    own = np.asarray(places, dtype=np.intp)
    above = np.asarray(numerator, dtype=np.float64)
    below = np.ones(len(own)) if denominator is None else np.asarray(denominator, dtype=np.float64)
    return Figure((Term(1.0, own, above, below),), least, largest)


def mean_of(figures: Sequence[Figure]) -> Figure:
    """The mean of figures, of splits for example."""
    share = 1 / len(figures)
    terms = tuple(term._replace(weight=term.weight * share) for figure in figures for term in figure.terms)
    return Figure(terms, figures[0].least, figures[0].largest)


def checked_confidence(confidence: object) -> float | None:
    """Return the level of confidence, None where none is asked for.

    Examples
    --------
    >>> checked_confidence(0.95)
    0.95
    >>> checked_confidence(95)
    Traceback (most recent call last):
    ValueError: confidence is 95; expected a number above 0 and below 1, 0.95 for 95 %
    """
    if confidence is None:
        return None
    level = float(confidence) if isinstance(confidence, Real) and not isinstance(confidence, bool) else nan
    if not 0 < level < 1:
        raise ValueError(
            f"confidence is {confidence!r}; expected a number above 0 and below 1, 0.95 for 95 %"
        )
    return level


def clusters_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The name of each row's cluster: its group, or its id where no groups were given."""
    return [str(row["id"] if row["group"] is None else row["group"]) for row in rows]


def in_order(rows: Sequence[Any]) -> list[Any]:
    """The rows by cluster and id, so that neither a sum nor a draw depends on the order of a file."""
    names = clusters_of(rows)
    return [rows[place] for place in sorted(range(len(rows)), key=lambda i: (names[i], str(rows[i]["id"])))]


def sums_of(figure: Figure, codes: Places, clusters: int) -> Sums:
    """The sums of each cluster; `codes` are the rows' clusters, from 0."""

    def summed(term: Term, values: Floats) -> Floats:
        return np.bincount(codes[term.places], weights=values, minlength=clusters).astype(np.float64)

    return Sums(
        np.array([term.weight for term in figure.terms]),
        np.stack([summed(term, term.numerator) for term in figure.terms], axis=1),
        np.stack([summed(term, term.denominator) for term in figure.terms], axis=1),
        figure.least,
        figure.largest,
    )


def seed_of(names: Sequence[str]) -> int:
    """A seed of 64 bits from the distinct names of the clusters, whatever their order."""
    text = "\n".join(sorted(set(names)))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def resampled(sums: Floats, seed: int, resamples: int = RESAMPLES) -> Floats:
    """The column sums of resamples of the rows of `sums`.

    Parameters
    ----------
    sums : ndarray of float64, shape (clusters, columns)
    seed : int
    resamples : int

    Returns
    -------
    ndarray of float64, shape (resamples, columns)
    """
    clusters = len(sums)
    drawing = np.random.default_rng(seed)
    found = np.empty((resamples, sums.shape[1]))
    # Counts of one block stay in the processor's cache.
    block = max(1, 2**17 // clusters)
    offsets = np.arange(block, dtype=np.uint32)[:, None] * np.uint32(clusters)
    for begin in range(0, resamples, block):
        size = min(block, resamples - begin)
        drawn = drawing.integers(clusters, size=(size, clusters), dtype=np.uint32)
        drawn += offsets[:size]
        counts = np.bincount(drawn.ravel(), minlength=size * clusters).reshape(size, clusters)
        found[begin : begin + size] = counts.astype(np.float64) @ sums
    return found


def interval_of(sums: Sums, confidence: float, draws: Floats | None = None) -> dict[str, Any] | None:
    """The interval of a figure, None where the figure is none.

    Parameters
    ----------
    sums : Sums
    confidence : float
    draws : ndarray of float64, shape (resamples,), optional
        The figure of each resample.

    Returns
    -------
    dict or None
        ``low`` and ``high`` (None where one cluster or no bound allows none), ``clusters`` (those that have a
        row in the figure), ``method`` (``bootstrap``, ``student``, ``exact`` or ``none``) and ``note``, a
        sentence or None.
    """
    from scipy.special import ndtr, stdtrit

    value = sums.value
    if not isfinite(value):
        return None
    clusters, tail = sums.used, (1 - confidence) / 2
    note = f"{clusters} clusters, fewer than {FEW}: read the interval with care" if clusters < FEW else None
    if clusters < 2:
        return _interval(None, None, clusters, "none", "one cluster has no interval")
    influence = sums.influence()
    if not influence.any():
        if not isfinite(sums.least) or not isfinite(sums.largest):
            return _interval(
                None, None, clusters, "none", "all clusters are alike, and the figure has no bounds"
            )
        unseen = 1 - tail ** (1 / clusters)
        low = value - unseen * (value - sums.least)
        high = value + unseen * (sums.largest - value)
        return _interval(low, high, clusters, "exact", note)
    quantile = float(stdtrit(clusters - 1, 1 - tail))
    if draws is not None and clusters >= FEW and np.isfinite(draws).all():
        wider = float(ndtr(-sqrt(clusters / (clusters - 1)) * quantile))
        low, high = np.quantile(draws, [wider, 1 - wider]).tolist()
        return _interval(low, high, clusters, "bootstrap", note)
    half = quantile * sqrt(clusters / (clusters - 1) * float(influence @ influence))
    return _interval(
        max(value - half, sums.least), min(value + half, sums.largest), clusters, "student", note
    )


def _interval(
    low: float | None, high: float | None, clusters: int, method: str, note: str | None
) -> dict[str, Any]:
    return {"low": low, "high": high, "clusters": clusters, "method": method, "note": note}


def intervals_of(
    figures: Mapping[Path, Figure], names: Sequence[str], confidence: float
) -> dict[Path, dict[str, Any] | None]:
    """The interval of each figure.

    Parameters
    ----------
    figures : mapping of path to Figure
    names : sequence of str
        The cluster of each row.
    confidence : float
    """
    distinct = sorted(set(names))
    code = {name: number for number, name in enumerate(distinct)}
    codes = np.array([code[name] for name in names], dtype=np.intp)
    sums = {path: sums_of(figure, codes, len(distinct)) for path, figure in figures.items()}
    if not FEW <= len(distinct) <= MANY:
        return {path: interval_of(own, confidence) for path, own in sums.items()}
    # Many figures share a denominator: each column is drawn once.
    columns: dict[bytes, int] = {}
    stacked: list[Floats] = []

    def column(values: Floats) -> int:
        key = values.tobytes()
        if key not in columns:
            columns[key] = len(stacked)
            stacked.append(values)
        return columns[key]

    where = {
        path: tuple(
            [column(side[:, term].copy()) for term in range(len(own.weights))]
            for side in (own.numerators, own.denominators)
        )
        for path, own in sums.items()
    }
    draws = resampled(np.stack(stacked, axis=1), seed_of(distinct))
    return {
        path: interval_of(own, confidence, value_of(own.weights, *(draws[:, side] for side in where[path])))
        for path, own in sums.items()
    }


def add_intervals(
    result: Any, headline: Callable[[list[Any]], Mapping[Path, Figure]], confidence: object
) -> None:
    """Add ``intervals`` to a result, in the form of its figures, and their method to its signature.

    Parameters
    ----------
    result : dict
        With ``per_sample`` and ``signature``.
    headline : callable
        From rows to the figures that have an interval.
    confidence : float or None
        None leaves the result as it is.
    """
    level = checked_confidence(confidence)
    if level is None:
        return
    rows = in_order(result["per_sample"])
    names = clusters_of(rows)
    found = intervals_of(headline(rows), names, level)
    nested: dict[str, Any] = {}
    for path, interval in found.items():
        inner = nested
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = interval
    result["intervals"] = nested
    methods = sorted({interval["method"] for interval in found.values() if interval})
    kind = "rows" if rows[0]["group"] is None else "groups"
    parts = f"confidence:{level:g}|intervals:{'+'.join(methods)}|resamples:{RESAMPLES}"
    parts += f"|clusters:{len(set(names))} {kind}|seed:{seed_of(names):016x}"
    before, _, version = result["signature"].rpartition("|version:")
    result["signature"] = f"{before}|{parts}|version:{version}"
