"""Masks in COCO's encodings, each checked against the size of its image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.masks import parse_counts, runs_to_mask

# Polygons of COCO reach the outer corner of the last pixel; rounding may take them a little past it.
TOLERANCE = 1.0

Rle = dict[str, Any]
"""Compressed COCO encoding ``{"size": [H, W], "counts": str}``."""


def decode(rle: Mapping[str, Any]) -> np.ndarray:
    """Mask (bool, shape (H, W)) of a compressed encoding made by `encode`."""
    made: np.ndarray = coco.decode({"size": list(rle["size"]), "counts": rle["counts"].encode()}).astype(bool)
    return made


def encode(mask: np.ndarray) -> Rle:
    """Compressed COCO encoding of a mask (bool, shape (H, W)).

    Examples
    --------
    >>> encode(np.eye(2, dtype=bool))
    {'size': [2, 2], 'counts': '0120'}
    """
    rle = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
    return {"size": [int(side) for side in rle["size"]], "counts": rle["counts"].decode()}


def mask_of(segmentation: Any, height: int, width: int) -> np.ndarray:
    """Mask (bool, shape (H, W)) of a COCO segmentation: polygons, plain or compressed run lengths.

    Raises
    ------
    ValueError
        If it is none of these, malformed, or lies outside the image.
    """
    shape, size = (height, width), f"an image of {width} × {height}"
    if isinstance(segmentation, dict):
        if segmentation.get("size") != list(shape):
            raise ValueError(f"a mask of size {segmentation.get('size')!r} [h, w] does not fit {size}")
        return runs_to_mask(parse_counts(segmentation.get("counts")), *shape).astype(bool)
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
    made: np.ndarray = coco.decode(coco.merge(coco.frPyObjects(segmentation, *shape))).astype(bool)
    return made
