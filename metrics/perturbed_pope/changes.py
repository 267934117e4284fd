"""Relative changes, as the paper's open-ended table gives them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real

RANK_FIGURES = ("mrr", "mean_rank", "median_rank", "mean_probability")


def relative_change(original: float | None, perturbed: float | None) -> float | None:
    """(perturbed − original) / original.

    Parameters
    ----------
    original, perturbed : float or None
        The figure before and after; None where there is none.

    Returns
    -------
    float or None
        A fraction, −0.5 for a figure that is halved; None where a figure is None or `original` is 0.

    Raises
    ------
    ValueError
        If a figure is no finite number.

    Examples
    --------
    The mean rank of the paper's open-ended table, original → entity swapped: +140.6 %.

    >>> f"{relative_change(391.9, 943.0):+.1%}"
    '+140.6%'
    >>> relative_change(0.0, 1.0) is None
    True
    """
    for figure in (original, perturbed):
        if figure is None:
            continue
        if isinstance(figure, bool) or not isinstance(figure, Real) or not math.isfinite(figure):
            raise ValueError(f"a figure is {figure!r}; expected a finite number or None")
    if original is None or perturbed is None or original == 0:
        return None
    return (perturbed - original) / original


def relative_changes(
    original: Mapping[str, float | None], perturbed: Mapping[str, float | None]
) -> dict[str, float | None]:
    """:func:`relative_change` of ``mrr``, ``mean_rank``, ``median_rank`` and ``mean_probability``.

    Examples
    --------
    >>> before = {"mrr": 0.5, "mean_rank": 3.0, "median_rank": 2.0, "mean_probability": None}
    >>> after = {"mrr": 0.25, "mean_rank": 6.0, "median_rank": 2.0, "mean_probability": None}
    >>> relative_changes(before, after)
    {'mrr': -0.5, 'mean_rank': 1.0, 'median_rank': 0.0, 'mean_probability': None}
    """
    return {name: relative_change(original[name], perturbed[name]) for name in RANK_FIGURES}
