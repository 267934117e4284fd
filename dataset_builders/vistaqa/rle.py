"""COCO run-length encoding with every length checked.

pycocotools fills a short encoding with zeros and reads past the end of a malformed string; here
both are errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pycocotools import mask as coco


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
    if isinstance(counts, bytes):
        counts = counts.decode("ascii", "replace")
    if not isinstance(counts, str):
        raise ValueError(f"counts must be a list or a string, not {type(counts).__name__}")
    return _decompress(counts)


def _decompress(text: str) -> list[int]:
    runs: list[int] = []
    value = shift = 0
    for character in text:
        code = ord(character) - 48
        if not 0 <= code < 64:
            raise ValueError(f"the character {character!r} can't stand in compressed counts")
        value |= (code & 31) << shift
        shift += 5
        if code & 32:
            if shift > 40:
                raise ValueError("a run of the compressed counts is longer than any picture")
            continue
        if code & 16:
            value -= 1 << shift
        # From the fourth on, a run is stored as the difference to the one before the last.
        if len(runs) > 2:
            value += runs[-2]
        if value < 0:
            raise ValueError(f"run {len(runs)} of the compressed counts is negative ({value})")
        runs.append(value)
        value = shift = 0
    if shift:
        raise ValueError("the compressed counts end inside a run")
    return runs


def runs_to_mask(runs: list[int], height: int, width: int) -> np.ndarray:
    """Mask of run lengths.

    Returns
    -------
    ndarray of uint8, shape (height, width)
        0 background, 1 instance.

    Examples
    --------
    >>> runs_to_mask([1, 2, 1], 2, 2).tolist()
    [[0, 1], [1, 0]]
    """
    values = np.arange(len(runs), dtype=np.uint8) & 1
    flat = np.repeat(values, runs)
    if flat.size != height * width:
        raise ValueError(f"the runs sum to {flat.size}, not {height} × {width}")
    return flat.reshape((height, width), order="F")


def runs_to_rle(runs: list[int], height: int, width: int) -> dict[str, Any]:
    """Compressed encoding ``{"size": [height, width], "counts": str}`` of run lengths."""
    encoded = coco.frPyObjects({"size": [height, width], "counts": runs}, height, width)
    return {"size": [height, width], "counts": encoded["counts"].decode("ascii")}
