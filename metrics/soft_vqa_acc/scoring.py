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

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, count
from math import fsum
from typing import Any, TypedDict, TypeVar

import numpy as np
import numpy.typing as npt

from .common import (
    Id,
    Result,
    Sample,
    check_choice,
    checked_ids,
    checked_labels,
    checked_thinking,
    listed,
    places_by_label,
    signature,
    with_tags,
    without_thoughts,
)
from .headline import headline
from .intervals import add_intervals, checked_confidence
from .normalize import clean, normalize_official, normalize_simple
from .validation import EXACT_MATCH_RULES, MISSING_RULES, MODES, check_answers, check_outside

VERSION = "2.0.0"

Codes = npt.NDArray[np.int32]
T = TypeVar("T", bound=Hashable)


class SoftVqaSample(Sample):
    """A row of ``per_sample``; the types are None where none were given."""

    exact_match: bool
    matches: int
    annotators: int
    missing: bool
    cut: bool
    question_type: Id | None
    answer_type: Id | None


class Part(TypedDict):
    """The score of the questions of one type, in [0, 1], and their number."""

    score: float
    n: int


class SoftVqaResult(Result[SoftVqaSample]):
    """What :func:`compute` gives."""

    soft_vqa_acc: float
    exact_match: float
    by_question_type: dict[str, Part]
    by_answer_type: dict[str, Part]


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


def _codes() -> defaultdict[str, int]:
    """A table of distinct strings in the order in which they are met, each with its place."""
    return defaultdict(count().__next__)


def _codes_of(texts: Iterable[str], n: int, table: defaultdict[str, int]) -> Codes:
    """The codes of `n` texts; new ones join the table."""
    return np.fromiter(map(table.__getitem__, texts), dtype=np.int32, count=n)


class _Comparison:
    """Answers against the references, each distinct string processed once.

    Strings are counted and compared by codes; the processed form of a string has a code as well.
    """

    def __init__(
        self, answers: Sequence[str], references: Sequence[Sequence[str]], mode: str, exact_match: str
    ) -> None:
        self.annotators = np.fromiter(map(len, references), dtype=np.int64, count=len(references))
        self._simple = mode == "simple"
        self._any = exact_match == "any"
        codes = _codes()
        ends = np.cumsum(self.annotators)
        self._starts = ends - self.annotators
        self._raw = raw = _codes_of(chain.from_iterable(references), int(ends[-1]), codes)
        # One pass in C where all are plain strings; only then is a string of another class looked for.
        if set(map(type, codes)) != {str} and not all(isinstance(text, str) for text in codes):
            raise TypeError("a reference answer is no string")
        self.answers = _codes_of(answers, len(answers), codes)
        self.yes = codes["yes"]
        self._texts = list(codes)
        process = normalize_simple if self._simple else normalize_official
        # Most texts are their own processed form: one table of both.
        self._processed = _codes_of(map(process, self._texts), len(self._texts), codes)
        self._shown = self._processed[raw]
        self._missing = np.fromiter(map(str.isspace, self._texts), dtype=np.bool_, count=len(self._texts))
        if "" in codes and codes[""] < len(self._texts):
            self._missing[codes[""]] = True
        # Of equally frequent strings the first by alphabet, whatever the order of the questions.
        counted = np.bincount(raw)
        often = np.flatnonzero(counted == counted.max()).tolist()
        self.most_frequent = codes[min(map(self._texts.__getitem__, often))]
        self._gated = mode == "official"
        # Codes of cleaned strings; -1 where nobody has asked yet.
        self._names, self._cleaned = _codes(), np.full(len(self._texts), -1, dtype=np.int32)

    def matches(self, given: Codes) -> npt.NDArray[np.int64]:
        """For each question the annotators who gave the answer of this code; one code stands for all."""
        wanted = np.broadcast_to(self._processed[given], self.annotators.shape)
        same = self._shown == np.repeat(wanted, self.annotators)
        counts: npt.NDArray[np.int64] = np.add.reduceat(same, self._starts, dtype=np.int64)
        if self._gated:
            everyone = np.flatnonzero(counts == self.annotators)
            counts[everyone[self._fails_gate(everyone, np.broadcast_to(given, counts.shape)[everyone])]] = 0
        return counts

    def _fails_gate(self, questions: npt.NDArray[np.int64], given: Codes) -> npt.NDArray[np.bool_]:
        """Whether all cleaned references are one string and the cleaned answer is another.

        Asked only of answers that all annotators gave, after all steps: where the gate is shut, the
        processed forms of the references are one string, too, so that either all annotators match or none.
        """
        if not len(questions):
            return np.zeros(0, dtype=np.bool_)
        several = self.annotators[questions]
        starts = np.cumsum(several) - several
        inside = np.arange(several.sum()) + np.repeat(self._starts[questions] - starts, several)
        shown = self._raw[inside]
        asked = np.zeros(len(self._texts), dtype=np.bool_)
        asked[shown] = asked[given] = True
        for code in np.flatnonzero(asked & (self._cleaned < 0)).tolist():
            self._cleaned[code] = self._names[clean(self._texts[code])]
        kinds = self._cleaned[shown]
        lowest = np.minimum.reduceat(kinds, starts)
        failed: npt.NDArray[np.bool_] = (lowest == np.maximum.reduceat(kinds, starts)) & (
            self._cleaned[given] != lowest
        )
        return failed

    def exact(self, given: Codes, matches: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether an answer that is not empty is any reference answer, or the most frequent one."""
        found: npt.NDArray[np.bool_] = (matches > 0) & ~self._missing[given]
        if not self._any:
            wanted = np.broadcast_to(self._processed[given], found.shape)
            for question in np.flatnonzero(found).tolist():
                begin = self._starts[question]
                shown = self._shown[begin : begin + self.annotators[question]].tolist()
                found[question] = most_frequent(shown) == wanted[question]
        return found

    def scores(self, matches: npt.NDArray[np.int64]) -> list[float]:
        """The value of each question, as :func:`leave_one_out` or :func:`simple_accuracy` gives it."""
        if self._simple:
            values: list[float] = (np.minimum(matches, 3) / 3).tolist()
        else:
            of = self.annotators
            thirds = matches * np.minimum(3, matches - 1) + (of - matches) * np.minimum(3, matches)
            values = (thirds / (3 * of)).tolist()
        return values

    def constant(self, code: int) -> dict[str, Any]:
        """Figures of one answer given to every question."""
        given = np.array(code, dtype=np.int32)
        matches = self.matches(given)
        return {
            "answer": self._texts[code],
            "soft_vqa_acc": _mean(self.scores(matches)),
            "exact_match": int(self.exact(given, matches).sum()) / len(matches),
        }


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
    return compute([prediction], [answers], mode=mode)["soft_vqa_acc"]


def compute(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    mode: str = "official",
    ids: Sequence[Id] | None = None,
    groups: Sequence[Id] | None = None,
    question_types: Sequence[Id] | None = None,
    answer_types: Sequence[Id] | None = None,
    exact_match: str = "any",
    missing: str = "wrong",
    thinking: str | None = None,
    confidence: float | None = None,
) -> SoftVqaResult:
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
    missing : {"wrong", "compared"}
        Whether a missing answer scores 0, or is compared like any string, as the official code does: it then
        equals a reference of which nothing is left, "the" for example.
    thinking : {"strip", "keep"}, optional
        Whether a trace of thoughts (``<think>…</think>``) is taken off first; what is opened and not closed
        leaves no answer. Not given, ``official`` keeps it, as the official code does; the others strip it.
    confidence : float, optional
        The level of intervals of the figures, 0.95 for example, clustered by `groups`, or by row without
        them; adds ``intervals``. See :mod:`lookcheck.metrics.soft_vqa_acc.intervals`.

    Returns
    -------
    dict
        ``soft_vqa_acc`` and ``exact_match`` (float in [0, 1]); ``by_question_type`` and
        ``by_answer_type`` (name to ``{"score", "n"}``, sorted by name, empty where no types are given);
        ``counts`` (``n``, ``missing``, ``thinking``: texts with a trace, and those cut in it);
        ``baselines`` (``always_yes`` and ``most_frequent``, two constant answers); ``per_sample`` (one dict
        for each question: id, group, score, exact_match, matches, annotators, missing, cut,
        question_type, answer_type); ``signature``.

    Raises
    ------
    ValueError
        Naming the row and the value, for every input that can't be scored.

    Notes
    -----
    A missing answer is counted, and is never an exact match.

    Examples
    --------
    >>> result = compute(["two", "cat"], [["2"] * 3 + ["3"] * 7, ["dog"] * 10], ids=["q1", "q2"])
    >>> result["soft_vqa_acc"], result["signature"].split("|")[:3]
    (0.45, ['metric:soft_vqa_acc', 'mode:official', 'exact_match:any'])
    """
    check_choice("mode", mode, MODES)
    check_choice("exact_match", exact_match, EXACT_MATCH_RULES)
    check_choice("missing", missing, MISSING_RULES)
    rule = checked_thinking(thinking, "keep" if mode == "official" else "strip")
    level = checked_confidence(confidence)
    given = listed("predictions", predictions)
    n = len(given)
    wanted = listed("references", references, n)
    names = checked_ids(ids, n)
    group_of = checked_labels("groups", groups, names)
    question_type_of = checked_labels("question_types", question_types, names)
    answer_type_of = checked_labels("answer_types", answer_types, names)

    check_outside(given, wanted, names)
    # Distinct texts are few: what holds for a text is asked once.
    distinct = set(given)
    thoughts = {text: found for text in with_tags(distinct) if (found := without_thoughts(text)).thought}
    answers, cut = given, [False] * n
    if thoughts and rule == "strip":
        answers = [thoughts[text].text if text in thoughts else text for text in given]
        cut = [text in thoughts and thoughts[text].cut for text in given]
    silent = {text for text in distinct.union(answers) if not text or text.isspace()}
    absent = [text in silent for text in given] if silent else [False] * n
    try:
        comparison = _Comparison(answers, wanted, mode, exact_match)
    except TypeError:
        check_answers(given, wanted, names)
        raise
    matches = comparison.matches(comparison.answers)
    if silent:
        # The upstream code compares the empty string as any other: an article alone is equal to it.
        lost = [
            text in silent and (missing == "wrong" or not is_absent)
            for text, is_absent in zip(answers, absent, strict=True)
        ]
        matches[lost] = 0
    exact = comparison.exact(comparison.answers, matches)
    scores = comparison.scores(matches)
    none: list[Id | None] = [None] * n
    columns = (names, group_of or none, scores, exact.tolist(), matches.tolist())
    labels = (comparison.annotators.tolist(), absent, cut, question_type_of or none, answer_type_of or none)
    result: SoftVqaResult = {
        "soft_vqa_acc": _mean(scores),
        "exact_match": int(exact.sum()) / n,
        "by_question_type": _by_label(question_type_of, scores),
        "by_answer_type": _by_label(answer_type_of, scores),
        "counts": {
            "n": n,
            "missing": sum(absent),
            "thinking": {
                "seen": sum(text in thoughts for text in given) if thoughts else 0,
                "cut": sum(text in thoughts and thoughts[text].cut for text in given) if thoughts else 0,
            },
        },
        "baselines": {
            "always_yes": comparison.constant(comparison.yes),
            "most_frequent": comparison.constant(comparison.most_frequent),
        },
        "per_sample": [
            {
                "id": row,
                "group": group,
                "score": score,
                "exact_match": is_exact,
                "matches": count,
                "annotators": of,
                "missing": is_absent,
                "cut": is_cut,
                "question_type": question_type,
                "answer_type": answer_type,
            }
            for row, group, score, is_exact, count, of, is_absent, is_cut, question_type, answer_type in zip(
                *columns, *labels, strict=True
            )
        ],
        "signature": signature(
            "soft_vqa_acc",
            VERSION,
            mode=mode,
            exact_match=exact_match,
            missing_rule=missing,
            thinking=rule,
            n=n,
            missing=sum(absent),
        ),
    }
    add_intervals(result, headline, level)
    return result


def most_frequent(answers: Sequence[T]) -> T:
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


def _by_label(labels: Sequence[Id] | None, scores: Sequence[float]) -> dict[str, Part]:
    return {
        label: {"score": _mean([scores[index] for index in places]), "n": len(places)}
        for label, places in places_by_label(labels or []).items()
    }
