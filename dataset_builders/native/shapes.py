"""Boxes, points, polygons and encodings that a reply claims, on the original picture, and their masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from lookcheck.dataset_builders.core.masks import (
    Mask,
    Rle,
    decode,
    draw_polygons,
    encode,
    encode_box,
    rle_area,
)
from lookcheck.dataset_builders.native.conventions import Unreadable, number

REVERSED, EMPTY_BOX, OUTSIDE = "reversed box", "empty box", "outside the picture"
NO_PIXEL = "mask without a pixel"
BAD_BOX, BAD_POINT, BAD_POLYGON = (
    "box of other than 4 numbers",
    "point of other than 2 numbers",
    "bad polygon",
)
EMPTY_POLYGON = "empty polygon"
OTHER_SIZE, BAD_MASK = "mask of another size", "malformed mask"

Point = tuple[Fraction, Fraction]
Scale = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Shape:
    """One instance that a reply claims.

    Attributes
    ----------
    label : str
        What the model calls it; may be empty.
    box : tuple of four Fraction or None
        x1, y1, x2, y2 in pixels of the original picture, inside it.
    point : tuple of two Fraction or None
        x, y in pixels of the original picture, inside it.
    mask : Rle or None
        Of a polygon or an encoding.
    clipped : bool
        Whether a coordinate lay outside and was moved to the border.
    problem : str or None
        Why nothing can be read of it: it has no pixel then, and counts as an instance that is empty.
    """

    label: str = ""
    box: tuple[Fraction, Fraction, Fraction, Fraction] | None = None
    point: Point | None = None
    mask: Rle | None = None
    clipped: bool = False
    problem: str | None = None

    def rle(self, size: tuple[int, int]) -> Rle:
        """The mask: of a box its rectangle; all zero with a problem, and of a point.

        A pixel belongs to a box if its centre does; of a border that runs through centres the left or upper
        one belongs to it.
        """
        width, height = size
        if self.mask is not None:
            return self.mask
        if self.box is not None:
            left, top, right, bottom = _pixels(self.box)
            # Without drawing it: a reply may claim thousands.
            return encode_box((left, top, right - left, bottom - top), height, width)
        return encode({"size": [height, width], "counts": [height * width]})

    def drawn(self, size: tuple[int, int]) -> Mask:
        """The mask, of shape (h, w)."""
        return decode(self.rle(size))


def _pixels(box: tuple[Fraction, Fraction, Fraction, Fraction]) -> tuple[int, int, int, int]:
    """First column and row of a box, and those past its last."""
    left, top, right, bottom = (ceil(side - Fraction(1, 2)) for side in box)
    return left, top, right, bottom


def box(value: object, label: str, scale: Scale, size: tuple[int, int]) -> Shape:
    """A box ``[x1, y1, x2, y2]``; corners in another order are a problem, and never swapped."""
    if not isinstance(value, list) or len(value) != 4:
        return Shape(label, problem=BAD_BOX)
    x1, y1, x2, y2 = (number(side) * scale[index % 2] for index, side in enumerate(value))
    if x2 < x1 or y2 < y1:
        return Shape(label, problem=REVERSED)
    if x1 == x2 or y1 == y2:
        return Shape(label, problem=EMPTY_BOX)
    inside = (*_clip((x1, y1), size), *_clip((x2, y2), size))
    clipped = inside != (x1, y1, x2, y2)
    if inside[0] == inside[2] or inside[1] == inside[3]:
        return Shape(label, problem=OUTSIDE, clipped=clipped)
    left, top, right, bottom = _pixels(inside)
    if left == right or top == bottom:
        return Shape(label, problem=NO_PIXEL, clipped=clipped)
    return Shape(label, box=inside, clipped=clipped)


def point(value: object, label: str, scale: Scale, size: tuple[int, int]) -> Shape:
    """A point ``[x, y]``."""
    if not isinstance(value, list) or len(value) != 2:
        return Shape(label, problem=BAD_POINT)
    at = number(value[0]) * scale[0], number(value[1]) * scale[1]
    inside = _clip(at, size)
    return Shape(label, point=inside, clipped=inside != at)


def polygon(value: object, label: str, scale: Scale, size: tuple[int, int]) -> Shape:
    """One instance: ``[x, y, x, y …]``, ``[[x, y], …]``, or several of the first, whose union it is.

    Drawn as COCO's own tools do. What lies outside is cut off along the border.
    """
    rings = _rings(value)
    if not rings:
        return Shape(label, problem=EMPTY_POLYGON)
    parts: list[list[float]] = []
    clipped = False
    for ring in rings:
        if len(ring) < 6 or len(ring) % 2:
            return Shape(label, problem=BAD_POLYGON)
        numbers = [number(side) * scale[index % 2] for index, side in enumerate(ring)]
        corners = list(zip(numbers[::2], numbers[1::2], strict=True))
        if any(_clip(corner, size) != corner for corner in corners):
            clipped, corners = True, _cut(corners, size)
        if len(corners) >= 3:
            parts.append([float(side) for corner in corners for side in corner])
    if not parts:
        return Shape(label, problem=OUTSIDE, clipped=clipped)
    mask = draw_polygons(parts, size[1], size[0])
    if not mask.any():
        return Shape(label, problem=NO_PIXEL, clipped=clipped)
    return Shape(label, mask=encode(mask), clipped=clipped)


def encoded(value: object, label: str, size: tuple[int, int]) -> Shape:
    """A COCO encoding ``{"size": [h, w], "counts": …}`` at the size of the original picture."""
    if not isinstance(value, Mapping):
        return Shape(label, problem=BAD_MASK)
    try:
        rle = encode(dict(value))
    except ValueError:
        return Shape(label, problem=BAD_MASK)
    if rle["size"] != [size[1], size[0]]:
        return Shape(label, problem=OTHER_SIZE)
    return Shape(label, mask=rle) if rle_area(rle) else Shape(label, problem=NO_PIXEL)


def checked(make: Callable[[], Shape], label: str) -> Shape:
    """A shape, or one that says why its numbers can't be read."""
    try:
        return make()
    except Unreadable as error:
        return Shape(label, problem=str(error))


def _rings(value: object) -> list[Sequence[object]]:
    if not isinstance(value, list) or not value:
        return []
    if not isinstance(value[0], list):
        return [value]
    if all(isinstance(item, list) and len(item) == 2 for item in value):
        return [[side for corner in value for side in corner]]
    return [item if isinstance(item, list) else [item] for item in value]


def _clip(at: Point, size: tuple[int, int]) -> Point:
    return min(max(at[0], Fraction(0)), Fraction(size[0])), min(max(at[1], Fraction(0)), Fraction(size[1]))


def _cut(corners: list[Point], size: tuple[int, int]) -> list[Point]:
    """The polygon inside the picture, one border after the other (Sutherland and Hodgman)."""
    for axis, bound, sign in ((0, 0, 1), (1, 0, 1), (0, size[0], -1), (1, size[1], -1)):
        kept: list[Point] = []
        for before, after in zip([*corners[-1:], *corners], corners, strict=False):
            depths = sign * (before[axis] - bound), sign * (after[axis] - bound)
            if depths[0] * depths[1] < 0:
                share = depths[0] / (depths[0] - depths[1])
                kept.append(
                    (
                        before[0] + share * (after[0] - before[0]),
                        before[1] + share * (after[1] - before[1]),
                    )
                )
            if depths[1] >= 0:
                kept.append(after)
        corners = kept
    return corners
