"""From what a model returned to yes, no or none. A verdict is read, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, fsum, log

YES_FORMS = ("Yes", "yes", " Yes", " yes")
NO_FORMS = ("No", "no", " No", " no")

MAX_NEW_TOKENS = 4

MARGIN_TOLERANCE = 1e-3
"""Margins of a float32 model that differ by less are the same. The batch that a row is computed in, the
prefix computed once, the attention and the processor each move sums by their order: by up to 1e-5 nats
as measured on random two-layer models."""

# Decimals of what is written. The last ones are not the same in another batch or on another processor.
_DECIMALS = 6


@dataclass(frozen=True)
class Judgement:
    """What one call of the judge gave.

    Attributes
    ----------
    verdict : str
        ``"yes"``, ``"no"`` or ``"none"``.
    raw : str or None
        The model's text: up to four tokens, or for ``logprob`` the likeliest first token.
    margin : float or None
        Log-odds of yes against no at the first token, in nats, over the forms that were seen.
    probability : float or None
        1 / (1 + exp(-margin)): the probability of yes, given that the first token is yes or no.
    mass : float or None
        Probability of all forms together at the first token, in [0, 1]; small where the model was
        about to say something else.
    bounds : (float or None, float or None) or None
        Where a server lists only the likeliest tokens: the interval that the full margin lies in;
        None within it is unbounded.
    reason : str or None
        Why the verdict is none.
    """

    verdict: str
    raw: str | None = None
    margin: float | None = None
    probability: float | None = None
    mass: float | None = None
    bounds: tuple[float | None, float | None] | None = None
    reason: str | None = None


def parse(text: str) -> str:
    """Read a generated reply: yes, no or none.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        ``"yes"`` or ``"no"`` if that word, in any case, is all there is beside white space, quotation
        marks, asterisks and closing punctuation; otherwise ``"none"``.

    Examples
    --------
    >>> parse(" Yes.\\n"), parse("**no**"), parse("Yes, because"), parse("yes yes"), parse("")
    ('yes', 'no', 'none', 'none', 'none')
    """
    word = text.strip().strip("\"'`*“”‘’").rstrip(".!").strip("\"'`*“”‘’").lower()
    return word if word in {"yes", "no"} else "none"


def measured(raw: str | None, yes: float, no: float, mass: float) -> Judgement:
    """A judgement with its figures, rounded, and no verdict yet.

    Parameters
    ----------
    raw : str or None
    yes, no : float
        Log of the summed probability of the forms, in nats.
    mass : float
        In [0, 1].

    Returns
    -------
    Judgement
    """
    margin = yes - no
    probability = round(_logistic(margin), _DECIMALS)
    return Judgement("none", raw, round(margin, _DECIMALS), probability, round(mass, _DECIMALS))


def decide(raw: str | None, yes: float, no: float, mass: float, min_mass: float) -> Judgement:
    """The verdict of method ``logprob`` where the probability of every form is known.

    Parameters
    ----------
    raw : str or None
        The likeliest token.
    yes, no, mass : float
        As in :func:`measured`.
    min_mass : float
        Least mass for a verdict, in [0, 1].

    Returns
    -------
    Judgement
        None if mass is too small, or yes and no are equally likely.

    Examples
    --------
    >>> decide("Yes", log(0.6), log(0.2), 0.8, 0.0).probability
    0.75
    """
    found = measured(raw, yes, no, mass)
    if mass < min_mass:
        return replace(found, reason=_too_small(mass, min_mass))
    if found.margin == 0:
        return replace(found, reason="yes and no are equally likely")
    return replace(found, verdict="yes" if yes > no else "no")


def decide_truncated(raw: str | None, listed: Mapping[str, float], min_mass: float) -> Judgement:
    """The verdict of method ``logprob`` where only the likeliest tokens are listed, as servers do.

    A form that is not listed is missing. It can't be likelier than the least likely token of the list:
    that bounds the margin, and the verdict is taken only where both ends of the interval agree.

    Parameters
    ----------
    raw : str or None
        The token that the server chose.
    listed : mapping of str to float
        Log-probabilities of the likeliest tokens by their text, in nats.
    min_mass : float
        Least mass for a verdict, in [0, 1].

    Returns
    -------
    Judgement
        ``margin`` and ``probability`` are None unless at least one form of each side is listed;
        ``bounds`` is None only if all forms are.

    Examples
    --------
    >>> seen = decide_truncated("Yes", {"Yes": log(0.9), "Maybe": log(0.01)}, 0.0)
    >>> seen.verdict, seen.margin, [seen.bounds[0] > 3, seen.bounds[1]]
    ('yes', None, [True, None])
    """
    if not listed:
        return Judgement("none", raw, reason="the server sent no log-probabilities")
    ceiling = min(listed.values())
    (yes_low, yes_high), (no_low, no_high) = (
        _side(listed, forms, ceiling) for forms in (YES_FORMS, NO_FORMS)
    )
    if yes_low is None and no_low is None:
        return Judgement("none", raw, reason=f"no form of yes or no among {len(listed)} listed tokens")
    low = None if yes_low is None else yes_low - no_high
    high = None if no_low is None else yes_high - no_low
    exact = low is not None and low == high
    bounds = None if exact else (_rounded(low), _rounded(high))
    mass = fsum(exp(side) for side in (yes_low, no_low) if side is not None)
    found = Judgement("none", raw, mass=round(mass, _DECIMALS))
    if yes_low is not None and no_low is not None:
        found = measured(raw, yes_low, no_low, mass)
    found = replace(found, bounds=bounds)
    if mass < min_mass:
        return replace(found, reason=_too_small(mass, min_mass))
    if low is not None and low > 0:
        return replace(found, verdict="yes")
    if high is not None and high < 0:
        return replace(found, verdict="no")
    return replace(found, reason="the listed tokens don't decide")


def _side(listed: Mapping[str, float], forms: tuple[str, ...], ceiling: float) -> tuple[float | None, float]:
    """Log of the summed probability of the listed forms (None without any), and its upper bound."""
    seen = [listed[form] for form in forms if form in listed]
    missing = len(forms) - len(seen)
    low = _log_sum(seen) if seen else None
    return low, _log_sum([*seen, *[ceiling] * missing])


def _log_sum(values: list[float]) -> float:
    top = max(values)
    return top + log(fsum(exp(value - top) for value in values)) if top > float("-inf") else top


def _logistic(margin: float) -> float:
    return 1 / (1 + exp(-margin)) if margin >= 0 else exp(margin) / (1 + exp(margin))


def _rounded(value: float | None) -> float | None:
    return None if value is None or abs(value) == float("inf") else round(value, _DECIMALS)


def _too_small(mass: float, least: float) -> str:
    return f"yes and no have the probability {mass:.6f} together, less than {least:g}"
