"""One image: which of its questions are right, and where its chain breaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from .common import without_thoughts
from .parsing import QUESTIONS, parse
from .validation import ARTIFACT, GENERATED

# The reasons in the order in which they are asked.
ATTRIBUTIONS = ("missed", "evidence", "localisation", "all_right")


class ChainScore(TypedDict):
    """What :func:`score_sample` gives."""

    role: str
    q1: bool | None
    q2: bool
    q3: bool
    q4: bool
    all_1_4: bool | None
    all_2_4: bool
    pattern: str | None
    attribution: str | None
    missing: list[str]
    unparsed: list[str]
    thought: list[str]
    cut: list[str]
    q4_answer: str | None


def asked(role: str) -> tuple[str, ...]:
    """The questions that are asked of an image of this role."""
    return QUESTIONS[1:] if role == GENERATED else QUESTIONS


def attribute(q1: bool, q2: bool, q3: bool, q4: bool) -> str:
    """Where the chain of an artifact image breaks first.

    Q1 wrong: ``missed``; else Q4 wrong: ``evidence``; else Q2 or Q3 wrong: ``localisation``; else
    ``all_right``.

    Examples
    --------
    >>> attribute(True, False, True, False), attribute(True, False, True, True)
    ('evidence', 'localisation')
    """
    if not q1:
        return "missed"
    if not q4:
        return "evidence"
    return "all_right" if q2 and q3 else "localisation"


def score_sample(
    prediction: Mapping[str, str],
    reference: Mapping[str, str],
    parser: str = "strict",
    thinking: str = "keep",
) -> ChainScore:
    """Score one image; the inputs are taken as checked.

    Returns
    -------
    dict
        ``role``; ``q1`` to ``q4`` (bool; q1 None where it is not asked); ``all_1_4`` (None likewise) and
        ``all_2_4``; ``pattern`` (four bits, Q1 first) and ``attribution``, both None where the image is
        no artifact image; ``missing``, ``unparsed``, ``thought`` (with a trace of thoughts) and ``cut`` (in
        the trace), lists of questions; ``q4_answer``, the parsed one.

    Examples
    --------
    >>> row = score_sample({"q1": "yes", "q2": "A", "q3": "B or C", "q4": "D"},
    ...                    {"role": "artifact", "q1": "yes", "q2": "A", "q3": "B", "q4": "D"})
    >>> row["pattern"], row["attribution"], row["unparsed"]
    ('1101', 'localisation', ['q3'])
    """
    role = reference["role"]
    answers: dict[str, str | None] = {}
    missing: list[str] = []
    unparsed: list[str] = []
    thought: list[str] = []
    cut: list[str] = []
    for question in asked(role):
        text = prediction[question]
        found = without_thoughts(text)
        thought += [question] * found.thought
        cut += [question] * found.cut
        answers[question] = parse(found.text if thinking == "strip" else text, question, parser)
        if not text.strip():
            missing.append(question)
        elif answers[question] is None:
            unparsed.append(question)
    q2, q3, q4 = (answers[question] == reference[question] for question in QUESTIONS[1:])
    all_2_4 = q2 and q3 and q4
    q1 = answers["q1"] == reference["q1"] if "q1" in answers else None
    artifact = role == ARTIFACT
    return {
        "role": role,
        "q1": q1,
        "q2": q2,
        "q3": q3,
        "q4": q4,
        "all_1_4": None if q1 is None else q1 and all_2_4,
        "all_2_4": all_2_4,
        "pattern": "".join("1" if right else "0" for right in (q1, q2, q3, q4)) if artifact else None,
        "attribution": attribute(bool(q1), q2, q3, q4) if artifact else None,
        "missing": missing,
        "unparsed": unparsed,
        "thought": thought,
        "cut": cut,
        "q4_answer": answers["q4"],
    }
