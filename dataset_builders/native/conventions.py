"""What a coordinate in a reply counts: pixels of which picture, or which part of a side."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, sqrt

from lookcheck.dataset_builders.core.errors import InputError

CONVENTIONS: Mapping[str, str] = {
    "original": "pixels of the original picture",
    "resized": "pixels of the picture as the model saw it, resized",
    "unit": "0 to 1, of width and height",
    "thousand": "0 to 1000, of width and height",
}
"""From the name of a convention to its title."""

UNKNOWN_SIZE = "size of the resized picture unknown"

QWEN_FACTOR = 28
"""Sides of Qwen2.5-VL's pictures are multiples of it: patches of 14 pixels, merged two by two."""

# Powers of ten, and digits, that a coordinate may have.
_LARGEST, _DIGITS = 9, 40
_STEEPEST = 200


class Unreadable(ValueError):
    """Why a claim, or all of a reply, can't be read."""


def scales(convention: str, size: tuple[int, int], seen: tuple[int, int] | None) -> tuple[Fraction, Fraction]:
    """Pixels of the original picture in one unit of x and of y.

    Parameters
    ----------
    convention : str
        Of `CONVENTIONS`.
    size, seen : tuple of (int, int)
        Width and height in pixels of the original, and of the picture as the model saw it.

    Raises
    ------
    Unreadable
        If the convention needs `seen` and it is None.

    Examples
    --------
    >>> scales("resized", (368, 434), (364, 448)), scales("thousand", (368, 434), None)[0]
    ((Fraction(92, 91), Fraction(31, 32)), Fraction(46, 125))
    """
    units: tuple[int, int] | None = {"original": size, "unit": (1, 1), "thousand": (1000, 1000)}.get(
        convention, seen
    )
    if units is None:
        raise Unreadable(UNKNOWN_SIZE)
    return Fraction(size[0], units[0]), Fraction(size[1], units[1])


def number(value: object) -> Fraction:
    """A number of JSON, exactly.

    Parameters
    ----------
    value : object
        An int or a Decimal, as the readers decode JSON.

    Raises
    ------
    Unreadable
        If it is none, or beyond what any picture needs.

    Examples
    --------
    >>> number(Decimal("0.1"))
    Fraction(1, 10)
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise Unreadable("coordinate that is no number")
    told = Decimal(value)
    if (told and not -_DIGITS < told.adjusted() <= _LARGEST) or len(told.as_tuple().digits) > _DIGITS:
        raise Unreadable("coordinate out of range")
    return Fraction(told)


def smart_resize(
    size: tuple[int, int], *, min_pixels: int, max_pixels: int, factor: int = QWEN_FACTOR
) -> tuple[int, int]:
    """Width and height to which Qwen2.5-VL's image processor brings a picture.

    Both sides become multiples of `factor`, to the nearest (a half to the even one), unless their product
    leaves the limits: then the sides are scaled alike, and cut or filled up to multiples.

    Parameters
    ----------
    size : tuple of (int, int)
        Width and height of the original, in pixels.
    min_pixels, max_pixels : int
        Of the model's image processor; they change the coordinates that the model writes.
    factor : int
        28 of Qwen2.5-VL, 32 of Qwen3-VL.

    Raises
    ------
    InputError
        If one side is more than 200 times the other: the model refuses such a picture.

    Examples
    --------
    >>> smart_resize((368, 434), min_pixels=3136, max_pixels=12_845_056)
    (364, 448)
    """
    width, height = size
    if max(size) > _STEEPEST * min(size):
        raise InputError(f"a picture of {width} × {height}: one side is over {_STEEPEST} times the other")
    sides = round(width / factor) * factor, round(height / factor) * factor
    if sides[0] * sides[1] > max_pixels:
        shrink = sqrt(width * height / max_pixels)
        return (
            max(factor, floor(width / shrink / factor) * factor),
            max(factor, floor(height / shrink / factor) * factor),
        )
    if sides[0] * sides[1] < min_pixels:
        grow = sqrt(min_pixels / (width * height))
        return ceil(width * grow / factor) * factor, ceil(height * grow / factor) * factor
    return sides
