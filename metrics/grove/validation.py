"""Checks of the inputs; every complaint is a ValueError naming the row and the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .masks import Rle, encode_all

VERDICTS = ("yes", "no", "none")
UNJUDGED = ("error", "wrong")
EMPTY_MASKS = ("keep", "drop")


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse an option that is not one of `allowed`, with ValueError."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(allowed)}")


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


def listed(name: str, values: Any, n: int | None = None) -> list[Any]:
    """Return `values` as a list; `n` is the length that it must have.

    Raises
    ------
    ValueError
        If `values` is None, a string, a dict or not iterable, is empty, or has another length.
    """
    if values is None or isinstance(values, str | bytes | dict):
        raise ValueError(f"{name} is {values!r}; expected a list with one item for each sample")
    try:
        items = list(values)
    except TypeError:
        raise ValueError(f"{name} is {values!r}; expected a list with one item for each sample") from None
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


def checked_labels(name: str, values: Any, ids: Sequence[str | int]) -> list[Any] | None:
    """Return group, task or domain names, one for each row; None stays None. ValueError for others."""
    if values is None:
        return None
    items = listed(name, values, len(ids))
    for row, item in zip(ids, items, strict=True):
        if isinstance(item, bool) or not isinstance(item, str | int) or item == "":
            raise ValueError(f"id {row!r}: {name} holds {item!r}; expected a non-empty string")
    return items


def check_fields(kind: str, value: Any, fields: tuple[str, ...], row: str | int) -> None:
    """Refuse a row that is no dict of exactly these fields, or whose masks are no list."""
    if not isinstance(value, dict):
        raise ValueError(
            f"id {row!r}: the {kind} is {str(value)[:60]!r}; expected a dict of {', '.join(fields)}"
        )
    if set(value) != set(fields):
        raise ValueError(
            f"id {row!r}: the {kind} has the fields {sorted(map(str, value))}; expected {', '.join(fields)}"
        )
    if not isinstance(value["masks"], list | tuple):
        raise ValueError(
            f"id {row!r}: the {kind}'s masks are {str(value['masks'])[:60]!r}; "
            "expected a list, empty if there is none"
        )
    if "verdict" in fields and value["verdict"] not in VERDICTS:
        raise ValueError(f"id {row!r}: the verdict is {value['verdict']!r}; expected yes, no or none")


def checked_masks(
    predictions: Sequence[dict[str, Any]], references: Sequence[dict[str, Any]], ids: Sequence[str | int]
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
    places: list[str] = []
    for row, prediction, reference in zip(ids, predictions, references, strict=True):
        for kind, source in (("predicted", prediction["masks"]), ("reference", reference["masks"])):
            masks += source
            places += [f"id {row!r}: {kind} mask {index}" for index in range(len(source))]
    encoded, filled = encode_all(masks, places)
    rows = []
    begin = 0
    for row, prediction, reference in zip(ids, predictions, references, strict=True):
        middle = begin + len(prediction["masks"])
        end = middle + len(reference["masks"])
        sizes = {(height, width) for height, width in (rle["size"] for rle in encoded[begin:end])}
        if len(sizes) > 1:
            raise ValueError(f"id {row!r}: the masks have the sizes {sorted(sizes)}; expected one size")
        if not all(filled[middle:end]):
            index = filled[middle:end].index(False)
            raise ValueError(
                f"id {row!r}: reference mask {index} is empty; where there is no evidence, give no mask"
            )
        rows.append((encoded[begin:middle], filled[begin:middle], encoded[middle:end]))
        begin = end
    return rows
