"""Checks of the inputs; every complaint is a ValueError naming the row and the value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

MODES = ("official", "ungated", "simple")
EXACT_MATCH_RULES = ("any", "most_frequent")

_TEXT_ONLY = {str}


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse an option that is not one of `allowed`.

    Raises
    ------
    ValueError
    """
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(allowed)}")


def listed(name: str, values: Any, n: int | None = None) -> list[Any]:
    """Return `values` as a list; `n` is the length that it must have.

    Raises
    ------
    ValueError
        If `values` is None, a string, a dict or not iterable, is empty, or has another length.
    """
    if values is None or isinstance(values, str | bytes | dict):
        raise ValueError(f"{name} is {values!r}; expected a list with one item for each question")
    try:
        # numpy and pandas hand out their own scalars; tolist gives Python's.
        items = list(values.tolist() if hasattr(values, "tolist") else values)
    except TypeError:
        raise ValueError(f"{name} is {values!r}; expected a list with one item for each question") from None
    if n is None and not items:
        raise ValueError(f"{name} is empty; there is nothing to score")
    if n is not None and len(items) != n:
        raise ValueError(f"{name} has {len(items)} items, but there are {n} predictions")
    return items


def checked_ids(ids: Any, n: int) -> list[str | int]:
    """Return the row ids, the indices 0…n-1 where `ids` is None.

    Raises
    ------
    ValueError
        If an id is None, empty, neither a string nor an integer, or stands twice.
    """
    if ids is None:
        return list(range(n))
    items = listed("ids", ids, n)
    if set(map(type, items)) not in (_TEXT_ONLY, {int}) or "" in items:
        for index, item in enumerate(items):
            if isinstance(item, bool) or not isinstance(item, str | int) or item == "":
                raise ValueError(f"index {index}: the id is {item!r}; expected a string or an integer")
    # 7 and "7" are one id: files written by different tools quote it or not.
    if len(set(map(str, items))) != n:
        first: dict[str, int] = {}
        for index, item in enumerate(items):
            if str(item) in first:
                raise ValueError(
                    f"index {index}: the id {item!r} stands twice (first at index {first[str(item)]})"
                )
            first[str(item)] = index
    return items


def checked_labels(name: str, values: Any, ids: Sequence[str | int]) -> list[Any] | None:
    """Return group or type names, one for each row; None stays None.

    Raises
    ------
    ValueError
        If the length differs or a label is None or neither a string nor an integer.
    """
    if values is None:
        return None
    items = listed(name, values, len(ids))
    if set(map(type, items)) != _TEXT_ONLY:
        for row, item in zip(ids, items, strict=True):
            if isinstance(item, bool) or not isinstance(item, str | int):
                raise ValueError(f"id {row!r}: {name} holds {item!r}; expected a string")
    return items


def check_answers(predictions: Sequence[Any], references: Sequence[Any], ids: Sequence[str | int]) -> None:
    """Refuse predictions that are no strings, and references that are no non-empty lists of strings.

    Raises
    ------
    ValueError
    """
    if set(map(type, predictions)) != _TEXT_ONLY:
        for row, prediction in zip(ids, predictions, strict=True):
            if not isinstance(prediction, str):
                raise ValueError(
                    f"id {row!r}: the prediction is {prediction!r}; expected a string ('' if it is missing)"
                )
    # One pass in C for the usual case; only if it finds something is the row looked for in Python.
    if (
        set(map(type, references)) <= {list, tuple}
        and all(references)
        and set(map(type, chain.from_iterable(references))) == _TEXT_ONLY
    ):
        return
    for row, answers in zip(ids, references, strict=True):
        if not isinstance(answers, list | tuple):
            raise ValueError(f"id {row!r}: the references are {answers!r}; expected a list of strings")
        if not answers:
            raise ValueError(f"id {row!r}: the references are empty; expected at least one answer")
        for answer in answers:
            if not isinstance(answer, str):
                raise ValueError(f"id {row!r}: a reference answer is {answer!r}; expected a string")
