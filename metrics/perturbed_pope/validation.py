"""Checks of the inputs; every complaint is a ValueError naming the row and the value."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from .conditions import ORIGINAL
from .parsing import PARSERS

UNPARSED = ("wrong", "drop")
LABELS = ("yes", "no")
PREDICTION = ("text", "logp_yes", "logp_no", "entity_rank", "entity_prob")
REFERENCE = ("label", "condition", "parent_id", "split")

# Names go into the signature, whose separators are "|" and ",".
_NAME = re.compile(r"[\w.-]+")
# A log-probability above 0 by rounding; anything larger is a logit or a probability.
_ROUNDING = 1e-6
# Beyond what stands for "impossible" in float32; sums of such numbers must stay finite.
_LARGEST = 1e100


def check_options(parser: object, unparsed: object) -> None:
    """Refuse an unknown parser or rule with ValueError."""
    for name, value, allowed in (("parser", parser, PARSERS), ("unparsed", unparsed, UNPARSED)):
        if not isinstance(value, str) or value not in allowed:
            raise ValueError(f"{name} is {value!r}; expected one of {', '.join(allowed)}")


def listed(name: str, values: Any, n: int | None = None) -> list[Any]:
    """Return `values` as a list; `n` is the length that it must have.

    Raises
    ------
    ValueError
        If `values` is None, a string, a dict or not iterable, is empty, or has another length.
    """
    if values is None or isinstance(values, str | bytes | dict):
        raise ValueError(f"{name} is {values!r}; expected a list with one item for each row")
    try:
        items = list(values)
    except TypeError:
        raise ValueError(f"{name} is {values!r}; expected a list with one item for each row") from None
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


def check_predictions(predictions: Sequence[Any], ids: Sequence[str | int]) -> None:
    """Refuse a prediction with a missing, malformed or contradictory field, with ValueError."""
    for row, prediction in zip(ids, predictions, strict=True):
        _check_fields("prediction", prediction, PREDICTION, row)
        if not isinstance(prediction["text"], str):
            raise ValueError(
                f"id {row!r}: text is {prediction['text']!r}; expected a string ('' if the answer is missing)"
            )
        _check_log_probabilities(prediction, row)
        rank, probability = prediction["entity_rank"], prediction["entity_prob"]
        if isinstance(rank, bool) or not isinstance(rank, Integral) or not 0 <= int(rank) < 2**63:
            raise ValueError(
                f"id {row!r}: entity_rank is {rank!r}; expected an integer, 1 for the most probable "
                "and 0 where it was not asked"
            )
        chance = _number("entity_prob", probability, row)
        if math.isnan(chance):
            continue
        if not 0 <= chance <= 1:
            raise ValueError(
                f"id {row!r}: entity_prob is {probability!r}; expected a number from 0 to 1, or NaN"
            )
        if rank == 0:
            raise ValueError(
                f"id {row!r}: entity_prob is {probability!r}, but entity_rank is 0, which says not asked"
            )


def _check_log_probabilities(prediction: dict[str, Any], row: str | int) -> None:
    numbers = {name: _number(name, prediction[name], row) for name in ("logp_yes", "logp_no")}
    for name, number in numbers.items():
        if not math.isnan(number) and not -_LARGEST <= number <= _ROUNDING:
            raise ValueError(
                f"id {row!r}: {name} is {prediction[name]!r}; expected a log-probability, finite and at "
                "most 0, or NaN"
            )
    for given, lacking in (("logp_yes", "logp_no"), ("logp_no", "logp_yes")):
        if math.isnan(numbers[lacking]) and not math.isnan(numbers[given]):
            raise ValueError(
                f"id {row!r}: {given} is {prediction[given]!r}, but {lacking} is nan; give both or neither"
            )


def _number(name: str, value: Any, row: str | int) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"id {row!r}: {name} is {value!r}; expected a number, or NaN where it was not taken")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"id {row!r}: {name} is {value!r}; too large for a float") from None


def check_references(references: Sequence[Any], ids: Sequence[str | int]) -> None:
    """Refuse a reference whose label, names or parent can't be, with ValueError."""
    for row, reference in zip(ids, references, strict=True):
        _check_fields("reference", reference, REFERENCE, row)
        label, parent = reference["label"], reference["parent_id"]
        if not isinstance(label, str) or label not in LABELS:
            raise ValueError(f"id {row!r}: the label is {label!r}; expected yes or no")
        for name in ("condition", "split"):
            value = reference[name]
            if not isinstance(value, str) or not _NAME.fullmatch(value):
                raise ValueError(
                    f"id {row!r}: the {name} is {value!r}; expected a name of letters, digits, '_', '.', '-'"
                )
        if not isinstance(parent, str) or (parent == "" and reference["condition"] != ORIGINAL):
            raise ValueError(
                f"id {row!r}: parent_id is {parent!r}; expected a string, the id of the row's original "
                "('' only on an original row)"
            )


def _check_fields(kind: str, value: Any, fields: tuple[str, ...], row: str | int) -> None:
    if not isinstance(value, dict):
        raise ValueError(
            f"id {row!r}: the {kind} is {str(value)[:60]!r}; expected a dict of {', '.join(fields)}"
        )
    if len(value) != len(fields) or not all(field in value for field in fields):
        raise ValueError(
            f"id {row!r}: the {kind} has the fields {sorted(map(str, value))}; expected {', '.join(fields)}"
        )
