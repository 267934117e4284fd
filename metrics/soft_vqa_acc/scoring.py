"""VQA soft accuracy: an answer earns a third of a point for each annotator who gave it.

Conventions
-----------
- ``official`` is the standard that leaderboards mean. For each annotator, min(1, matches among the
  *other* annotators / 3); the score is the mean of these (Antol et al. 2015, section 3.3, as averaged
  by the released evaluation code). "Others" is by position, so equal answers count separately.
- The gate of ``official``: punctuation, digits and articles are processed only if the cleaned
  references hold more than one distinct string. Unanimous references are compared raw and
  case-sensitively: ten times "black" against "Black." gives 0.
- ``ungated`` is ``official`` without the gate.
- ``simple`` is the explainer's min(m / 3, 1), m = annotators whose normalised answer is the prediction's.
- Scores are fractions in [0, 1].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum
from typing import Any

from .normalize import clean, normalize_official, normalize_simple
from .validation import (
    EXACT_MATCH_RULES,
    MODES,
    check_answers,
    check_choice,
    checked_ids,
    checked_labels,
    listed,
)

VERSION = "1.0.0"

# Enough for the distinct frequent answers of any data set; the memory of one call stays bounded.
_CACHE_SIZE = 1 << 16


class _Cache(dict[str, str]):
    """Raw text to compared text, filled on demand; lives for one call and stops growing when full."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, text: str) -> str:
        value = self._function(text)
        if len(self) < _CACHE_SIZE:
            self[text] = value
        return value


def leave_one_out(matches: int, annotators: int) -> float:
    """Mean over annotators of min(1, matches among the others / 3).

    It depends only on how many of the annotators match: each of the `matches` sees one match less.

    Parameters
    ----------
    matches : int
        Annotators who gave the prediction, 0 to `annotators`.
    annotators : int
        At least 1.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> [leave_one_out(matches, 10) for matches in range(6)]
    [0.0, 0.3, 0.6, 0.9, 1.0, 1.0]
    """
    thirds = matches * min(3, matches - 1) + (annotators - matches) * min(3, matches)
    return thirds / (3 * annotators)


def simple_accuracy(matches: int) -> float:
    """min(m / 3, 1).

    Examples
    --------
    >>> [round(simple_accuracy(matches), 3) for matches in range(5)]
    [0.0, 0.333, 0.667, 1.0, 1.0]
    """
    return min(matches, 3) / 3


def _survives_gate(prediction: str, answers: Sequence[str]) -> bool:
    """Whether a prediction that all annotators gave, after all steps, still matches under the gate.

    The gate changes nothing else. It is shut only if all cleaned references are one string; then their
    processed forms are one string too, so that either all annotators match or none does.
    """
    cleaned = set(map(clean, answers))
    return len(cleaned) > 1 or clean(prediction) in cleaned


def _count_matches(
    predictions: Sequence[str], references: Sequence[Sequence[str]], mode: str, any_rule: bool
) -> tuple[list[int], list[bool], list[bool]]:
    """For each question: annotators who gave the prediction; exact match; missing."""
    gated, simple = mode == "official", mode == "simple"
    compared = _Cache(normalize_simple if simple else normalize_official).__getitem__
    matches: list[int] = []
    exact: list[bool] = []
    missing: list[bool] = []
    for prediction, answers in zip(predictions, references, strict=True):
        given = compared(prediction)
        shown = list(map(compared, answers))
        count = shown.count(given)
        empty = not prediction or prediction.isspace()
        if gated and count == len(shown) and not _survives_gate(prediction, answers):
            count = 0
        if simple and empty:
            count = 0
        matches.append(count)
        exact.append(count > 0 and not empty and (any_rule or given == most_frequent(shown)))
        missing.append(empty)
    return matches, exact, missing


def score_question(prediction: str, answers: Sequence[str], mode: str = "official") -> float:
    """Soft accuracy of one answer.

    Parameters
    ----------
    prediction : str
    answers : sequence of str
        One reference answer for each annotator, at least one.
    mode : {"official", "ungated", "simple"}

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If an argument has the wrong type or `answers` is empty.

    Examples
    --------
    >>> score_question("Black.", ["black"] * 10), score_question("Black.", ["black"] * 10, "ungated")
    (0.0, 1.0)
    """
    result: float = compute([prediction], [answers], mode=mode)["soft_vqa_acc"]
    return result


def compute(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    mode: str = "official",
    ids: Sequence[str | int] | None = None,
    groups: Sequence[str | int] | None = None,
    question_types: Sequence[str] | None = None,
    answer_types: Sequence[str] | None = None,
    exact_match: str = "any",
) -> dict[str, Any]:
    """Soft accuracy of a list of answers, overall, by type and for each question.

    Parameters
    ----------
    predictions : sequence of str
        One answer for each question; "" is a missing answer.
    references : sequence of sequence of str
        For each question one answer for each annotator, at least one.
    mode : {"official", "ungated", "simple"}
    ids : sequence of str or int, optional
        Unique names of the questions; the index where absent.
    groups : sequence of str or int, optional
        For example image ids; carried into the rows for clustered intervals.
    question_types, answer_types : sequence of str, optional
    exact_match : {"any", "most_frequent"}
        Whether the prediction must equal any reference answer or the most frequent one (among equally
        frequent ones the one that stands first), both as the mode compares them.

    Returns
    -------
    dict
        ``soft_vqa_acc`` and ``exact_match`` (float in [0, 1]); ``by_question_type`` and
        ``by_answer_type`` (name to ``{"score", "n"}``, sorted by name, empty where no types are given);
        ``counts`` (``n``, ``missing``); ``per_sample`` (one dict for each question: id, score,
        exact_match, matches, annotators, missing, group, question_type, answer_type); ``signature``.

    Raises
    ------
    ValueError
        Naming the row and the value, for every input that can't be scored.

    Notes
    -----
    A missing answer is counted. It is never an exact match and scores 0 in ``simple``; in ``official``
    and ``ungated`` it is compared like any string, as the official code does, and so can only
    match a reference that is itself empty after normalisation.

    Examples
    --------
    >>> result = compute(["two", "cat"], [["2"] * 3 + ["3"] * 7, ["dog"] * 10], ids=["q1", "q2"])
    >>> result["soft_vqa_acc"], result["signature"]
    (0.45, 'metric:soft_vqa_acc|mode:official|exact_match:any|n:2|missing:0|version:1.0.0')
    """
    check_choice("mode", mode, MODES)
    check_choice("exact_match", exact_match, EXACT_MATCH_RULES)
    answers = listed("predictions", predictions)
    n = len(answers)
    wanted = listed("references", references, n)
    names = checked_ids(ids, n)
    check_answers(answers, wanted, names)
    group_of = checked_labels("groups", groups, names)
    question_type_of = checked_labels("question_types", question_types, names)
    answer_type_of = checked_labels("answer_types", answer_types, names)

    matches, exact, missing = _count_matches(answers, wanted, mode, exact_match == "any")
    annotators = list(map(len, wanted))
    # There are few distinct counts: each value is computed once.
    value = {
        pair: simple_accuracy(pair[0]) if mode == "simple" else leave_one_out(*pair)
        for pair in set(zip(matches, annotators, strict=True))
    }
    scores = [value[pair] for pair in zip(matches, annotators, strict=True)]
    none = [None] * n
    columns = (names, scores, exact, matches, annotators, missing)
    labels = (group_of or none, question_type_of or none, answer_type_of or none)
    return {
        "soft_vqa_acc": _mean(scores),
        "exact_match": sum(exact) / n,
        "by_question_type": _by_label(question_type_of, scores),
        "by_answer_type": _by_label(answer_type_of, scores),
        "counts": {"n": n, "missing": sum(missing)},
        "per_sample": [
            {
                "id": row_id,
                "score": score,
                "exact_match": is_exact,
                "matches": count,
                "annotators": of,
                "missing": is_missing,
                "group": group,
                "question_type": question_type,
                "answer_type": answer_type,
            }
            for row_id, score, is_exact, count, of, is_missing, group, question_type, answer_type in zip(
                *columns, *labels, strict=True
            )
        ],
        "signature": (
            f"metric:soft_vqa_acc|mode:{mode}|exact_match:{exact_match}|n:{n}"
            f"|missing:{sum(missing)}|version:{VERSION}"
        ),
    }


def most_frequent(answers: Sequence[str]) -> str:
    """The answer given most often; among equally frequent ones the one that stands first.

    Examples
    --------
    >>> most_frequent(["red", "blue", "blue", "red", "pink"])
    'red'
    """
    counted = Counter(answers)
    return max(counted, key=counted.__getitem__)


def _mean(scores: Sequence[float]) -> float:
    # fsum is exact, so the order of the questions can't change the last digit.
    return fsum(scores) / len(scores)


def _by_label(labels: list[Any] | None, scores: Sequence[float]) -> dict[str, dict[str, float | int]]:
    grouped: dict[str, list[float]] = {}
    for label, score in zip(labels or [], scores if labels else [], strict=True):
        grouped.setdefault(str(label), []).append(score)
    return {label: {"score": _mean(grouped[label]), "n": len(grouped[label])} for label in sorted(grouped)}
