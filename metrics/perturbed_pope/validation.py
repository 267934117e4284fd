"""Checks of what only this metric takes; every complaint is a ValueError naming the row and the value."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from .common import Id, check_fields, place
from .conditions import ORIGINAL, SWAPPED

UNPARSED = ("wrong", "drop")
MISSING = ("wrong", "parsed")
LABELS = ("yes", "no")
PREDICTION = ("text", "logp_yes", "logp_no", "entity_rank", "entity_prob")
REFERENCE = ("label", "condition", "parent_id", "split")

# Names go into the signature, whose separators are "|" and ",".
_NAME = re.compile(r"[\w.-]+")
# A log-probability above 0 by rounding; anything larger is a logit or a probability.
_ROUNDING = 1e-6
# Both tokens together can't be likelier than everything; half precision rounds by less than this.
_MOST_MASS = 1.02
# Beyond what stands for "impossible" in float32; sums of such numbers must stay finite.
_LARGEST = 1e100


def check_predictions(predictions: Sequence[Any], ids: Sequence[Id]) -> None:
    """Refuse a prediction with a missing, malformed or contradictory field, with ValueError."""
    for row, prediction in zip(ids, predictions, strict=True):
        check_fields("prediction", prediction, PREDICTION, row)
        if not isinstance(prediction["text"], str):
            raise ValueError(
                f"{place(row)}: text is {prediction['text']!r}; expected a string ('' if it is missing)"
            )
        _check_log_probabilities(prediction, row)
        rank, probability = prediction["entity_rank"], prediction["entity_prob"]
        if isinstance(rank, bool) or not isinstance(rank, Integral) or not 0 <= int(rank) < 2**63:
            raise ValueError(
                f"{place(row)}: entity_rank is {rank!r}; expected an integer, 1 for the most probable "
                "and 0 where it was not asked"
            )
        chance = _number("entity_prob", probability, row)
        if math.isnan(chance):
            continue
        if not 0 <= chance <= 1:
            raise ValueError(
                f"{place(row)}: entity_prob is {probability!r}; expected a number from 0 to 1, or NaN"
            )
        if rank == 0:
            raise ValueError(
                f"{place(row)}: entity_prob is {probability!r}, but entity_rank is 0, which says not asked"
            )


def _check_log_probabilities(prediction: dict[str, Any], row: Id) -> None:
    numbers = {name: _number(name, prediction[name], row) for name in ("logp_yes", "logp_no")}
    for name, number in numbers.items():
        if not math.isnan(number) and not -_LARGEST <= number <= _ROUNDING:
            raise ValueError(
                f"{place(row)}: {name} is {prediction[name]!r}; expected a log-probability, finite and at "
                "most 0, or NaN"
            )
    for given, lacking in (("logp_yes", "logp_no"), ("logp_no", "logp_yes")):
        if math.isnan(numbers[lacking]) and not math.isnan(numbers[given]):
            raise ValueError(
                f"{place(row)}: {given} is {prediction[given]!r}, but {lacking} is nan; give both or neither"
            )
    mass = sum(math.exp(number) for number in numbers.values())
    if mass > _MOST_MASS:
        raise ValueError(
            f"{place(row)}: logp_yes is {prediction['logp_yes']!r} and logp_no {prediction['logp_no']!r}; "
            f"two probabilities that sum to {mass:.4g}, expected at most 1"
        )


def _number(name: str, value: Any, row: Id) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(
            f"{place(row)}: {name} is {value!r}; expected a number, or NaN where it was not taken"
        )
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{place(row)}: {name} is {value!r}; too large for a float") from None


def check_references(references: Sequence[Any], ids: Sequence[Id]) -> None:
    """Refuse a reference whose label, names or parent can't be, with ValueError."""
    for row, reference in zip(ids, references, strict=True):
        check_fields("reference", reference, REFERENCE, row)
        label, parent = reference["label"], reference["parent_id"]
        if not isinstance(label, str) or label not in LABELS:
            raise ValueError(f"{place(row)}: the label is {label!r}; expected yes or no")
        for name in ("condition", "split"):
            value = reference[name]
            if not isinstance(value, str) or not _NAME.fullmatch(value):
                raise ValueError(
                    f"{place(row)}: the {name} is {value!r}; expected letters, digits, '_', '.' and '-'"
                )
        if not isinstance(parent, str) or (parent == "" and reference["condition"] != ORIGINAL):
            raise ValueError(
                f"{place(row)}: parent_id is {parent!r}; expected a string, the id of the row's original "
                "('' only on an original row)"
            )
        if reference["condition"] == SWAPPED and label == "yes":
            raise ValueError(
                f"{place(row)}: the label is 'yes', but in {SWAPPED} the asked object is gone; expected no"
            )
