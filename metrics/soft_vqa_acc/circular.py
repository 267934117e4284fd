"""Circular accuracy (MMBench, Liu et al. 2024): a question counts only if every rotation is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .common import Id, as_id, listed


def circular_accuracy(correct: Sequence[bool], question_ids: Sequence[Id]) -> float:
    """Share of base questions answered right under every rotation of their options.

    Parameters
    ----------
    correct : sequence of bool
        For each asked rotation whether the answer was right; True, False, 1 or 0.
    question_ids : sequence of str or int
        The base question that each rotation belongs to, compared by its text: 7 and "7" are one. How many
        rotations there are is up to the data.

    Returns
    -------
    float
        In [0, 1]; the denominator is the number of base questions.

    Raises
    ------
    ValueError
        If the lists are empty, differ in length, or hold another value.

    Examples
    --------
    >>> circular_accuracy([True, True, True, False], ["a", "a", "b", "b"])
    0.5
    """
    rights = listed("correct", correct)
    questions = listed("question_ids", question_ids, len(rights), "items of correct")
    # By their text: one file writes 7, another "7".
    every: dict[str, bool] = {}
    for index, (right, question) in enumerate(zip(rights, questions, strict=True)):
        name = as_id(question)
        if name is None:
            raise ValueError(
                f"index {index}: the question id is {question!r}; expected a string or an integer"
            )
        every[str(name)] = _flag(right, name, index) and every.get(str(name), True)
    return sum(every.values()) / len(every)


def _flag(value: Any, question: Id, index: int) -> bool:
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, bool | int) or value not in (0, 1):
        raise ValueError(
            f"index {index}: question {question!r} has correct {value!r}; expected true or false"
        )
    return bool(value)
