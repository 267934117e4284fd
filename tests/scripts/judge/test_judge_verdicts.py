"""From replies and log-probabilities to verdicts; none is never filled in."""

from __future__ import annotations

import doctest
from math import exp, inf, log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lookcheck.scripts.judge import decision
from lookcheck.scripts.judge.decision import NO_FORMS, YES_FORMS, decide, decide_truncated, parse


@pytest.mark.parametrize(
    "text", ["yes", "Yes", "YES", " yes\n", "Yes.", '"yes"', "**Yes**", "'yes'.", "yes!", "“Yes.”"]
)
def test_yes(text: str) -> None:
    assert parse(text) == "yes"
    assert parse(text.replace("y", "n", 1).replace("Y", "N", 1).replace("es", "o").replace("ES", "O")) == "no"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "y",
        "yess",
        "yes yes",
        "yes, but",
        "yes/no",
        "no yes",
        "not",
        "none",
        "Yes?",
        "1",
        "true",
        "да",
        "yes\nno",
        "The answer is yes",
        "no.5",
        "Answer: no",
        "ye s",
        "\x00yes",
        "y\u200bes",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert parse(text) == "none"


def test_margin_and_probability() -> None:
    found = decide("x", log(0.3), log(0.1), 0.4, 0.0)
    assert (found.verdict, found.probability, found.mass) == ("yes", 0.75, 0.4)
    assert found.margin == pytest.approx(log(3), abs=1e-6)
    assert decide("x", log(0.1), log(0.3), 0.4, 0.0).verdict == "no"


def test_a_tie_and_too_small_a_mass_are_none() -> None:
    tie = decide("x", -1.0, -1.0, 0.7, 0.0)
    assert (tie.verdict, tie.probability, tie.reason) == ("none", 0.5, "yes and no are equally likely")
    small = decide("x", log(2e-3), log(1e-3), 3e-3, 0.01)
    assert small.verdict == "none"
    assert small.margin == pytest.approx(log(2), abs=1e-6)
    assert small.reason == "yes and no together have less than the probability 0.01"
    assert (tie.status, small.status) == ("undecided", "undecided")


def test_exactly_the_least_mass_is_enough() -> None:
    assert decide("x", log(0.4), log(0.1), 0.5, 0.5).verdict == "yes"
    assert decide("x", log(0.4), log(0.1), 0.4999999, 0.5).verdict == "none"
    # exp(log(x)) is x for these, so that the sum is the least mass to the last digit.
    assert decide_truncated("x", [("Yes", 0.0)], 1.0).mass == 1.0
    assert decide_truncated("x", [("Yes", 0.0), ("a", -40.0)], 1.0).verdict == "yes"
    assert decide_truncated("x", [("Yes", -1e-3), ("a", -40.0)], 1.0).verdict == "none"


def test_capitals_count_like_the_other_forms() -> None:
    """YES .9, No .05: the answer is yes, though another form of no is listed and none of yes in small letters."""
    tokens = [("YES", log(0.9)), ("No", log(0.05)), ("The", log(0.01))]
    found = decide_truncated("YES", tokens, 0.5)
    assert (found.verdict, found.mass) == ("yes", 0.95)
    assert found.margin == pytest.approx(log(0.9 / 0.05), abs=1e-6)
    opposite = decide_truncated("NO", [(text.translate({ord("Y"): "N", ord("E"): "O", ord("S"): None}), value) if text == "YES" else ("Yes", value) if text == "No" else (text, value) for text, value in tokens], 0.5)  # fmt: skip
    assert opposite.verdict == "no"
    assert set(YES_FORMS) == {space + form for space in ("", " ") for form in ("YES", "Yes", "yes")}
    assert set(NO_FORMS) == {space + form for space in ("", " ") for form in ("NO", "No", "no")}


def test_two_tokens_of_one_text_add_up() -> None:
    found = decide_truncated(
        "Yes", [("Yes", log(0.3)), ("Yes", log(0.3)), ("No", log(0.35)), ("a", log(1e-9))], 0.5
    )
    assert (found.verdict, found.mass) == ("yes", 0.95)
    assert found.margin == pytest.approx(log(0.6 / 0.35), abs=1e-6)


@pytest.mark.parametrize("value", [-9999.0, -10_000.0, -1e300])
def test_values_of_tokens_that_are_not_listed(value: float) -> None:
    """They bound nothing: a form that is not listed may be as likely as the least likely one that is."""
    told = [("Yes", log(0.5)), ("a", log(0.3))]
    assert decide_truncated("Yes", [*told, ("No", value)], 0.5) == decide_truncated("Yes", told, 0.5)
    assert decide_truncated("Yes", [("No", value)], 0.0).reason == "the server sent no log-probabilities"
    assert decide_truncated("Yes", [*told, ("No", -9998.0)], 0.5).verdict == "yes"


def test_extremes_don_t_overflow() -> None:
    assert decide("x", 0.0, -2000.0, 1.0, 0.0).probability == 1.0
    assert decide("x", -2000.0, 0.0, 1.0, 0.0).probability == 0.0


def test_nothing_listed() -> None:
    found = decide_truncated("yes", [], 0.0)
    assert (found.verdict, found.margin, found.probability, found.bounds) == ("none", None, None, None)
    assert found.reason == "the server sent no log-probabilities"
    other = decide_truncated("The", [("The", -0.1), ("A", -3.0)], 0.0)
    assert (other.verdict, other.reason) == ("none", "no form of yes or no among the listed tokens")


def test_one_side_alone_has_no_margin() -> None:
    found = decide_truncated("No", [("No", log(0.8)), ("Nope", log(0.05))], 0.0)
    assert (found.verdict, found.margin, found.probability) == ("no", None, None)
    assert found.bounds is not None
    low, high = found.bounds
    assert low is None
    # Six missing forms of yes, each at most 0.05.
    assert high == pytest.approx(log(6 * 0.05 / 0.8), abs=1e-6)


def test_listed_tokens_that_don_t_decide() -> None:
    found = decide_truncated("Yes", [("Yes", log(0.3)), ("Maybe", log(0.29))], 0.0)
    assert (found.verdict, found.reason) == ("none", "the listed tokens don't decide")


def test_all_forms_listed_is_exact() -> None:
    shares = dict(zip((*YES_FORMS, *NO_FORMS), range(1, 13), strict=True))
    listed = [(form, log(share / 100)) for form, share in shares.items()]
    found = decide_truncated("x", listed, 0.0)
    assert found.bounds is None
    assert found.margin == pytest.approx(log(21 / 57), abs=1e-6)
    assert (found.verdict, found.mass) == ("no", 0.78)


WEIGHTS = st.lists(st.floats(1e-6, 1.0), min_size=12, max_size=12)


@given(WEIGHTS, st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=20), st.integers(1, 32))
def test_bounds_hold_the_full_margin(forms: list[float], others: list[float], listed: int) -> None:
    """Truncation may lose the margin, but never the truth: the full one lies in the bounds."""
    total = sum(forms) + sum(others)
    everything = dict(zip((*YES_FORMS, *NO_FORMS), forms, strict=True))
    everything |= {f"other{index}": weight for index, weight in enumerate(others)}
    logs = {text: log(weight / total) for text, weight in everything.items()}
    full = decide("x", log(sum(forms[:6]) / total), log(sum(forms[6:]) / total), sum(forms) / total, 0.0)
    top = sorted(logs.items(), key=lambda item: -item[1])[:listed]
    found = decide_truncated("x", top, 0.0)
    assume(full.margin is not None)
    assert full.margin is not None
    if found.bounds is not None:
        low, high = found.bounds
        assert (-inf if low is None else low) - 1e-5 <= full.margin <= (inf if high is None else high) + 1e-5
    elif found.margin is not None:
        assert found.margin == pytest.approx(full.margin, abs=2e-6)
    if found.verdict != "none" and abs(full.margin) > 1e-5:
        assert found.verdict == full.verdict


@given(WEIGHTS)
def test_more_of_yes_never_moves_a_verdict_to_no(forms: list[float]) -> None:
    total = sum(forms) + 1
    yes, no = log(sum(forms[:6]) / total), log(sum(forms[6:]) / total)
    before = decide("x", yes, no, exp(yes) + exp(no), 0.0).verdict
    after = decide("x", yes + 1, no, min(1.0, exp(yes + 1) + exp(no)), 0.0).verdict
    assert (before, after) != ("yes", "no")


def test_doctests() -> None:
    result = doctest.testmod(decision)
    assert result.attempted
    assert not result.failed
