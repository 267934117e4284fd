"""Masks in COCO's encodings, each checked: run lengths, compressed strings and polygons.

A run-length encoding is checked by the metric that will score it; here it is text, as JSON holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pycocotools import mask as coco

from lookcheck.metrics.grove import masks as grove
from lookcheck.metrics.grove.rle import Rle, decode_counts

__all__ = [
    "Mask",
    "Rle",
    "box_of",
    "decode",
    "decode_segmentation",
    "draw_polygons",
    "encode",
    "encode_box",
    "extent",
    "parse_counts",
    "rle_area",
    "rle_box",
]

# Polygons of COCO reach the outer corner of the last pixel; rounding may take them a little past it.
TOLERANCE = 1.0

Mask = npt.NDArray[np.bool_]
"""Shape (height, width)."""


def parse_counts(counts: Any) -> list[int]:
    """Run lengths of a COCO encoding, background first.

    Parameters
    ----------
    counts : list of int, str or bytes
        Plain or compressed run lengths, in pixels, column by column.

    Raises
    ------
    ValueError
        If the string is malformed or a run is negative or no integer.

    Examples
    --------
    >>> parse_counts("02")
    [0, 2]
    """
    if isinstance(counts, list):
        for run in counts:
            if isinstance(run, bool) or not isinstance(run, int) or run < 0:
                raise ValueError(f"a run length must be an integer from 0 on, not {run!r}")
        return counts
    if isinstance(counts, str):
        # A character outside ASCII becomes bytes that the decoder refuses.
        counts = counts.encode("utf-8", "surrogatepass")
    if not isinstance(counts, bytes):
        raise ValueError(f"counts must be a list or a string, not {type(counts).__name__}")
    runs: list[int] = decode_counts([counts])[0].tolist()
    if min(runs) < 0:
        raise ValueError(f"the counts hold the negative run {min(runs)}")
    return runs


def encode(mask: Any, where: str = "mask") -> Rle:
    """Compressed encoding of a mask, or of another encoding of it; refused as `metrics.grove` refuses it.

    Raises
    ------
    ValueError
        If runs are malformed or do not sum to the size.

    Examples
    --------
    >>> encode(np.eye(2, dtype=bool)), encode({"size": [2, 2], "counts": [0, 1, 2, 1]})["counts"]
    ({'size': [2, 2], 'counts': '0120'}, '0120')
    """
    return grove.to_rle(mask, where)


def decode(rle: Mapping[str, Any], where: str = "mask") -> Mask:
    """Mask of an encoding, plain or compressed.

    Raises
    ------
    ValueError
        As `encode`.

    Examples
    --------
    >>> decode({"size": [2, 2], "counts": [1, 2, 1]}).astype(int).tolist()
    [[0, 1], [1, 0]]
    """
    return grove.decode(grove.to_rle(dict(rle), where))


def decode_segmentation(segmentation: Any, height: int, width: int) -> Mask:
    """Mask of a COCO segmentation: polygons, plain or compressed run lengths.

    Raises
    ------
    ValueError
        If it is none of these, malformed, or lies outside the image.
    """
    shape, size = (height, width), f"an image of {width} × {height}"
    if isinstance(segmentation, dict):
        if segmentation.get("size") != list(shape):
            raise ValueError(f"a mask of size {segmentation.get('size')!r} [h, w] does not fit {size}")
        return decode({"size": list(shape), "counts": segmentation.get("counts")})
    if not isinstance(segmentation, list) or not segmentation:
        raise ValueError(f"a segmentation must be an RLE or polygons, not {str(segmentation)[:80]}")
    for polygon in segmentation:
        numbers = isinstance(polygon, list) and all(
            isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**31
            for value in polygon
        )
        if not numbers or len(polygon) < 6 or len(polygon) % 2:
            raise ValueError(f"a polygon needs three points x, y or more, not {str(polygon)[:80]}")
        for start, side in ((0, width), (1, height)):
            low, high = min(polygon[start::2]), max(polygon[start::2])
            if low < -TOLERANCE or high > side + TOLERANCE:
                axis = "xy"[start]
                raise ValueError(f"a polygon with {axis} from {low:g} to {high:g} lies outside {size}")
    return draw_polygons(segmentation, height, width)


def draw_polygons(polygons: Sequence[Sequence[float]], height: int, width: int) -> Mask:
    """The union of polygons ``[x, y, x, y …]``, each of three corners or more, as COCO's tools draw them."""
    made: Mask = coco.decode(coco.merge(coco.frPyObjects(list(polygons), height, width))).astype(bool)
    return made


def encode_box(box: tuple[int, int, int, int], height: int, width: int) -> Rle:
    """Encoding of a filled box x, y, width, height inside the picture; nothing is drawn.

    Examples
    --------
    >>> encode_box((1, 0, 1, 2), 2, 3)
    {'size': [2, 3], 'counts': '222'}
    """
    return encode(coco.frPyObjects(np.array([box], dtype=np.float64), height, width)[0])


def rle_area(rle: Rle) -> int:
    """Pixels of a checked encoding.

    Examples
    --------
    >>> rle_area({"size": [2, 3], "counts": "222"})
    2
    """
    return int(coco.area({**rle, "counts": rle["counts"].encode()}))


def extent(mask: Mask) -> tuple[int, int, int, int]:
    """Top, bottom, left and right of a mask with a pixel; bottom and right are past its last one."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1


def rle_box(rle: Rle) -> tuple[float, float, float, float]:
    """Bounding box of a checked encoding with a pixel: x, y, width, height.

    Examples
    --------
    >>> rle_box({"size": [2, 3], "counts": "222"})
    (1.0, 0.0, 1.0, 2.0)
    """
    x, y, width, height = map(float, coco.toBbox({**rle, "counts": rle["counts"].encode()}))
    return x, y, width, height


def box_of(mask: Mask) -> tuple[int, int, int, int]:
    """Bounding box of a mask with a pixel: x, y, width, height."""
    top, bottom, left, right = extent(mask)
    return left, top, right - left, bottom - top
