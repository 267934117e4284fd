"""Checks of what only Grove takes; every complaint is a ValueError naming the row and the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .common import Id, check_fields, place
from .masks import Rle, encode_all

VERDICTS = ("yes", "no", "none")
UNJUDGED = ("error", "wrong")
MISSING = ("wrong", "empty")
EMPTY_MASKS = ("keep", "drop")


def checked_epsilon(epsilon: Any) -> float:
    """Return the floor ε as a float in [0, 1]; ValueError otherwise (NaN, too)."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon is {epsilon!r}; expected a number from 0 to 1")
    return float(epsilon)


def checked_judge(judge: Any) -> str | None:
    """Return the judge's identity; it goes into the signature, so it can't hold the separator."""
    if judge is not None and (
        not isinstance(judge, str) or not judge or "|" in judge or not judge.isprintable()
    ):
        raise ValueError(f"judge is {judge!r}; expected a non-empty line of text without '|'")
    return judge


def check_row(prediction: Any, reference: Any, row: Id) -> None:
    """Refuse a prediction without verdict and masks, or a reference without masks.

    The masks are None where a sample has none predicted, not even an empty list.
    """
    check_fields("prediction", prediction, ("verdict", "masks"), row)
    check_fields("reference", reference, ("masks",), row)
    for kind, value in (("prediction", prediction), ("reference", reference)):
        if kind == "prediction" and value["masks"] is None:
            continue
        if not isinstance(value["masks"], list | tuple):
            raise ValueError(
                f"{place(row)}: the {kind}'s masks are {value['masks']!r:.80}; expected a list, empty if "
                "there is none"
            )
    verdict = prediction["verdict"]
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise ValueError(f"{place(row)}: the verdict is {verdict!r}; expected yes, no or none")


def checked_masks(
    predictions: Sequence[dict[str, Any]], references: Sequence[dict[str, Any]], ids: Sequence[Id]
) -> list[tuple[list[Rle], list[bool], list[Rle]]]:
    """Every row's predicted and reference masks as checked encodings of one size.

    Returns
    -------
    list of (predicted, filled, reference)
        ``filled`` says for each predicted mask whether it holds any pixel.

    Raises
    ------
    ValueError
        If a mask is malformed, two masks of a row differ in size, or a reference mask is empty.
    """
    masks: list[Any] = []
    ends: list[tuple[int, int]] = []
    for prediction, reference in zip(predictions, references, strict=True):
        masks += prediction["masks"] or ()
        middle = len(masks)
        masks += reference["masks"]
        ends.append((middle, len(masks)))

    def place_of(mask: int) -> str:
        begin = 0
        for row, (middle, end) in zip(ids, ends, strict=True):
            if mask < end:
                kind, first = ("predicted", begin) if mask < middle else ("reference", middle)
                return f"{place(row)}: {kind} mask {mask - first}"
            begin = end
        raise IndexError(mask)

    encoded, filled = encode_all(masks, place_of)
    rows = []
    begin = 0
    for row, (middle, end) in zip(ids, ends, strict=True):
        sizes = [rle["size"] for rle in encoded[begin:end]]
        if sizes and sizes.count(sizes[0]) < len(sizes):
            shown = sorted({(height, width) for height, width in sizes})
            raise ValueError(f"{place(row)}: the masks have the sizes {shown}; expected one size")
        if False in filled[middle:end]:
            index = filled[middle:end].index(False)
            raise ValueError(
                f"{place(row)}: reference mask {index} is empty; where there is no evidence, give no mask"
            )
        rows.append((encoded[begin:middle], filled[begin:middle], encoded[middle:end]))
        begin = end
    return rows
