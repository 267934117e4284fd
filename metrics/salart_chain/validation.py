"""Checks of the inputs; every complaint is a ValueError naming the row and the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .parsing import PARSERS, QUESTIONS

ARTIFACT = "artifact"
REAL = "clean_reference"
GENERATED = "paired_generated_counterpart"
ROLES = (ARTIFACT, REAL, GENERATED)

# The keys that each role can have: an artifact is there and in one of four boxes; on a reference
# every question's answer is "no" or E, and Q1 is not asked of the paired counterparts.
_LEGAL_KEYS: dict[str, dict[str, tuple[str, ...]]] = {
    ARTIFACT: {"q1": ("yes",), **dict.fromkeys(QUESTIONS[1:], ("A", "B", "C", "D"))},
    REAL: {"q1": ("no",), **dict.fromkeys(QUESTIONS[1:], ("E",))},
    GENERATED: {"q1": ("",), **dict.fromkeys(QUESTIONS[1:], ("E",))},
}


def check_parser(parser: object) -> None:
    """Refuse an unknown parser with ValueError."""
    if parser not in PARSERS:
        raise ValueError(f"parser is {parser!r}; expected one of {', '.join(PARSERS)}")


def listed(name: str, values: Any, n: int | None = None) -> list[Any]:
    """Return `values` as a list; `n` is the length that it must have.

    Raises
    ------
    ValueError
        If `values` is None, a string, a dict or not iterable, is empty, or has another length.
    """
    if values is None or isinstance(values, str | bytes | dict):
        raise ValueError(f"{name} is {values!r}; expected a list with one item for each image")
    try:
        items = list(values)
    except TypeError:
        raise ValueError(f"{name} is {values!r}; expected a list with one item for each image") from None
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
    # By their text, too: 7 and "7" would be one row in every file that the result is written to.
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        if isinstance(item, bool) or not isinstance(item, str | int) or item == "":
            raise ValueError(f"index {index}: the id is {item!r}; expected a string or an integer")
        if str(item) in first:
            raise ValueError(
                f"index {index}: the id {item!r} stands twice (first at index {first[str(item)]})"
            )
        first[str(item)] = index
    return items


def checked_groups(groups: Any, ids: Sequence[str | int]) -> list[Any] | None:
    """Return the group of each row; None stays None. ValueError for a label of another type."""
    if groups is None:
        return None
    items = listed("groups", groups, len(ids))
    for row, item in zip(ids, items, strict=True):
        if isinstance(item, bool) or not isinstance(item, str | int):
            raise ValueError(f"id {row!r}: groups holds {item!r}; expected a string or an integer")
    return items


def checked_types(types: Any, roles: Sequence[str], ids: Sequence[str | int]) -> list[str | None] | None:
    """Return the artifact type of each artifact image and None for the other rows; None stays None.

    Raises
    ------
    ValueError
        If an artifact image has no type, or a type is no string.
    """
    if types is None:
        return None
    items = listed("artifact_types", types, len(ids))
    for row, role, item in zip(ids, roles, items, strict=True):
        if (item is not None and not isinstance(item, str)) or (role == ARTIFACT and not item):
            raise ValueError(f"id {row!r}: artifact_types holds {item!r}; expected a non-empty string")
    return [item if role == ARTIFACT else None for role, item in zip(roles, items, strict=True)]


def checked_no_image(answers: Any, ids: Sequence[str | int]) -> list[str] | None:
    """Return the Q4 answers given without the image; None stays None. ValueError for a non-string."""
    if answers is None:
        return None
    items = listed("no_image", answers, len(ids))
    for row, item in zip(ids, items, strict=True):
        if not isinstance(item, str):
            raise ValueError(f"id {row!r}: no_image holds {item!r}; expected a string ('' if it is missing)")
    return items


def check_predictions(predictions: Sequence[Any], ids: Sequence[str | int]) -> None:
    """Refuse a prediction that is not exactly four strings q1 to q4, with ValueError."""
    for row, prediction in zip(ids, predictions, strict=True):
        _check_fields("prediction", prediction, QUESTIONS, row)
        for question in QUESTIONS:
            value = prediction[question]
            if not isinstance(value, str):
                raise ValueError(
                    f"id {row!r}: {question} is {value!r}; expected a string ('' if the answer is missing)"
                )


def check_references(references: Sequence[Any], ids: Sequence[str | int]) -> None:
    """Refuse a reference whose role is unknown or whose keys its role can't have, with ValueError."""
    for row, reference in zip(ids, references, strict=True):
        _check_fields("reference", reference, ("role", *QUESTIONS), row)
        role = reference["role"]
        if not isinstance(role, str) or role not in _LEGAL_KEYS:
            raise ValueError(f"id {row!r}: the role is {role!r}; expected one of {', '.join(ROLES)}")
        for question, legal in _LEGAL_KEYS[role].items():
            if reference[question] not in legal:
                wanted = " or ".join(map(repr, legal))
                raise ValueError(
                    f"id {row!r}: the key of {question} is {reference[question]!r}; "
                    f"the role {role} allows {wanted}"
                )


def _check_fields(kind: str, value: Any, fields: tuple[str, ...], row: str | int) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"id {row!r}: the {kind} is {value!r}; expected a dict of {', '.join(fields)}")
    if len(value) != len(fields) or not all(field in value for field in fields):
        raise ValueError(
            f"id {row!r}: the {kind} has the fields {sorted(map(str, value))}; expected {', '.join(fields)}"
        )
