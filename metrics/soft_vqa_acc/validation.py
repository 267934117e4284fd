"""Checks of what only this metric takes; every complaint is a ValueError naming the row and the value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from .common import Id, place

MODES = ("official", "ungated", "simple")
EXACT_MATCH_RULES = ("any", "most_frequent")
MISSING_RULES = ("wrong", "compared")

_TEXT_ONLY = {str}


def check_answers(predictions: Sequence[Any], references: Sequence[Any], ids: Sequence[Id]) -> None:
    """Refuse predictions that are no strings, and references that are no non-empty lists of strings.

    Raises
    ------
    ValueError
    """
    check_outside(predictions, references, ids)
    # One pass in C for the usual case; only if it finds something is the row looked for in Python.
    if set(map(type, chain.from_iterable(references))) == _TEXT_ONLY:
        return
    for row, answers in zip(ids, references, strict=True):
        for answer in answers:
            if not isinstance(answer, str):
                raise ValueError(f"{place(row)}: a reference answer is {answer!r}; expected a string")


def check_outside(predictions: Sequence[Any], references: Sequence[Any], ids: Sequence[Id]) -> None:
    """:func:`check_answers` without a look at the single reference answers."""
    if set(map(type, predictions)) != _TEXT_ONLY:
        for row, prediction in zip(ids, predictions, strict=True):
            if not isinstance(prediction, str):
                raise ValueError(
                    f"{place(row)}: the prediction is {prediction!r}; expected a string ('' if it is missing)"
                )
    if set(map(type, references)) <= {list, tuple} and all(references):
        return
    for row, answers in zip(ids, references, strict=True):
        if not isinstance(answers, list | tuple):
            raise ValueError(f"{place(row)}: the references are {answers!r}; expected a list of strings")
        if not answers:
            raise ValueError(f"{place(row)}: the references are empty; expected at least one answer")
