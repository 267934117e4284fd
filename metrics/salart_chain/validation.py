"""Checks of what only this metric takes; every complaint is a ValueError naming the row and the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .common import Id, check_fields, listed, place
from .parsing import QUESTIONS

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


def checked_types(types: Any, roles: Sequence[str], ids: Sequence[Id]) -> list[str | None] | None:
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
            raise ValueError(f"{place(row)}: artifact_types holds {item!r}; expected a non-empty string")
    return [item if role == ARTIFACT else None for role, item in zip(roles, items, strict=True)]


def checked_no_image(answers: Any, ids: Sequence[Id]) -> list[str] | None:
    """Return the Q4 answers given without the image; None stays None. ValueError for a non-string."""
    if answers is None:
        return None
    items = listed("no_image", answers, len(ids))
    for row, item in zip(ids, items, strict=True):
        if not isinstance(item, str):
            raise ValueError(
                f"{place(row)}: no_image holds {item!r}; expected a string ('' if it is missing)"
            )
    return items


def check_predictions(predictions: Sequence[Any], ids: Sequence[Id]) -> None:
    """Refuse a prediction that is not exactly four strings q1 to q4, with ValueError."""
    for row, prediction in zip(ids, predictions, strict=True):
        check_fields("prediction", prediction, QUESTIONS, row)
        for question in QUESTIONS:
            value = prediction[question]
            if not isinstance(value, str):
                raise ValueError(
                    f"{place(row)}: {question} is {value!r}; expected a string ('' if the answer is missing)"
                )


def check_references(references: Sequence[Any], ids: Sequence[Id]) -> None:
    """Refuse a reference whose role is unknown or whose keys its role can't have, with ValueError."""
    for row, reference in zip(ids, references, strict=True):
        check_fields("reference", reference, ("role", *QUESTIONS), row)
        role = reference["role"]
        if not isinstance(role, str) or role not in _LEGAL_KEYS:
            raise ValueError(f"{place(row)}: the role is {role!r}; expected one of {', '.join(ROLES)}")
        for question, legal in _LEGAL_KEYS[role].items():
            if reference[question] not in legal:
                wanted = " or ".join(map(repr, legal))
                raise ValueError(
                    f"{place(row)}: the key of {question} is {reference[question]!r}; "
                    f"the role {role} allows {wanted}"
                )
