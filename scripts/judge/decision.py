"""From what a model returned to yes, no or none. A verdict is read, never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, inf, log

from lookcheck.dataset_builders.core.verdict_file import DECIDED, FAILED, UNDECIDED

YES_FORMS = ("YES", "Yes", "yes", " YES", " Yes", " yes")
NO_FORMS = ("NO", "No", "no", " NO", " No", " no")

MAX_NEW_TOKENS = 4

MARGIN_TOLERANCE = 1e-3
"""Margins of a float32 model that differ by less are the same. The batch that a row is computed in, the
prefix computed once, the attention and the processor each move sums by their order."""

NOISE = {"float32": MARGIN_TOLERANCE, "float16": 0.03, "bfloat16": 0.25}
"""How far a margin may move by itself, in nats. Measured on SmolLM2-135M-Instruct on a CPU, over batches of
1, 4 and 21 rows, with and without the shared prefix, two kinds of attention: up to 3e-5 in float32 and 0.24
in bfloat16. float16 has three bits more than that, and so an eighth."""

# Decimals of what is written. The last ones are not the same in another batch or on another processor.
_DECIMALS = 6

# Servers write such a log-probability for a token that they do not list.
_NOT_LISTED = -9999.0

CUT_THINKING = "the thinking trace is cut"


@dataclass(frozen=True)
class Judgement:
    """What one call of the judge gave.

    Attributes
    ----------
    verdict : str
        ``"yes"``, ``"no"`` or ``"none"``.
    raw : str or None
        The model's text, or for ``logprob`` the likeliest first token.
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
    status : str
        ``decided``, ``undecided``, ``failed`` or ``missing``.
    batch : int or None
        Rows computed together.
    """

    verdict: str = "none"
    raw: str | None = None
    margin: float | None = None
    probability: float | None = None
    mass: float | None = None
    bounds: tuple[float | None, float | None] | None = None
    reason: str | None = None
    status: str = UNDECIDED
    batch: int | None = None

    def deciding(self, verdict: str) -> Judgement:
        """The same figures with a verdict."""
        return replace(self, verdict=verdict, status=DECIDED, reason=None)

    def undecided(self, reason: str) -> Judgement:
        """The same figures with the reason why there is no verdict."""
        return replace(self, verdict="none", status=UNDECIDED, reason=reason)


def failure(reason: str, raw: str | None = None) -> Judgement:
    """What is left of a request that brought no reply to judge by."""
    return Judgement(raw=raw, reason=reason, status=FAILED)


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


def from_reply(found: Judgement, text: str, cut: str | None, thinking: str = "strip") -> Judgement:
    """The verdict of method ``generate``.

    Parameters
    ----------
    found : Judgement
        Figures of the first token, where they are known.
    text : str
        The whole reply.
    cut : str or None
        Why the reply may not be whole, if so.
    thinking : {"strip", "keep"}
        Whether what stands before the last closing tag of a thinking trace is left out.

    Returns
    -------
    Judgement
        None if the reply is cut, a trace is not closed, or what is left is neither yes nor no.

    Examples
    --------
    >>> from_reply(Judgement(), "<think>no dog?</think> Yes", None).verdict
    'yes'
    >>> from_reply(Judgement(), "<think>no dog?", None).reason
    'the thinking trace is cut'
    >>> from_reply(Judgement(), "Yes", "the reply is cut").verdict
    'none'
    """
    found = replace(found, raw=text)
    if thinking == "strip":
        # numpy stands behind it: not for --help.
        from lookcheck.metrics.soft_vqa_acc.common import without_thoughts

        answer = without_thoughts(text)
        if answer.cut:
            return found.undecided(CUT_THINKING)
        text = answer.text
    if cut is not None:
        return found.undecided(cut)
    verdict = parse(text)
    return found.undecided("the reply is not yes or no") if verdict == "none" else found.deciding(verdict)


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
    >>> decide("Yes", log(0.6), log(0.2), 0.8, 0.5).probability
    0.75
    """
    found = measured(raw, yes, no, mass)
    if mass < min_mass:
        return found.undecided(_too_small(min_mass))
    if yes == no:
        return found.undecided("yes and no are equally likely")
    return found.deciding("yes" if yes > no else "no")


def decide_truncated(raw: str | None, tokens: Sequence[tuple[str, float]], min_mass: float) -> Judgement:
    """The verdict of method ``logprob`` where only the likeliest tokens are listed, as servers do.

    A form that is not listed is missing. It can't be likelier than the least likely token of the list:
    that bounds the margin, and the verdict is taken only where both ends of the interval agree.

    Parameters
    ----------
    raw : str or None
        The token that the server chose.
    tokens : sequence of (str, float)
        The likeliest tokens' texts and log-probabilities, in nats. Two tokens may have one text: their
        probabilities add up. Values at or below −9999 stand for tokens that are not listed.
    min_mass : float
        Least mass for a verdict, in [0, 1].

    Returns
    -------
    Judgement
        ``margin`` and ``probability`` are None unless at least one form of each side is listed;
        ``bounds`` is None only if all forms are.

    Examples
    --------
    >>> seen = decide_truncated("Yes", [("Yes", log(0.9)), ("Maybe", log(0.01))], 0.5)
    >>> seen.verdict, seen.margin, [seen.bounds[0] > 2, seen.bounds[1]]
    ('yes', None, [True, None])
    """
    listed: dict[str, list[float]] = {}
    for text, value in tokens:
        if value > _NOT_LISTED:
            listed.setdefault(text, []).append(value)
    if not listed:
        return Judgement(raw=raw).undecided("the server sent no log-probabilities")
    ceiling = min(value for values in listed.values() for value in values)
    (yes_low, yes_high), (no_low, no_high) = (
        _side(listed, forms, ceiling) for forms in (YES_FORMS, NO_FORMS)
    )
    if yes_low is None and no_low is None:
        return Judgement(raw=raw).undecided("no form of yes or no among the listed tokens")
    low = -inf if yes_low is None else yes_low - no_high
    high = inf if no_low is None else yes_high - no_low
    bounds = None if low == high else (_rounded(low), _rounded(high))
    mass = min(1.0, fsum(exp(side) for side in (yes_low, no_low) if side is not None))
    found = Judgement(raw=raw, mass=round(mass, _DECIMALS))
    if yes_low is not None and no_low is not None:
        found = measured(raw, yes_low, no_low, mass)
    found = replace(found, bounds=bounds)
    if mass < min_mass:
        return found.undecided(_too_small(min_mass))
    if low > 0:
        return found.deciding("yes")
    if high < 0:
        return found.deciding("no")
    return found.undecided("the listed tokens don't decide")


def _side(
    listed: dict[str, list[float]], forms: tuple[str, ...], ceiling: float
) -> tuple[float | None, float]:
    """Log of the summed probability of the listed forms (None without any), and its upper bound."""
    seen = [value for form in forms for value in listed.get(form, [])]
    missing = sum(form not in listed for form in forms)
    low = _log_sum(seen) if seen else None
    return low, _log_sum([*seen, *[ceiling] * missing])


def _log_sum(values: list[float]) -> float:
    top = max(values)
    return top + log(fsum(exp(value - top) for value in values))


def _logistic(margin: float) -> float:
    return 1 / (1 + exp(-margin)) if margin >= 0 else exp(margin) / (1 + exp(margin))


def _rounded(value: float) -> float | None:
    return None if abs(value) == inf else round(value, _DECIMALS)


def _too_small(least: float) -> str:
    return f"yes and no together have less than the probability {least:g}"
