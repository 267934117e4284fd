"""COCO run-length encoding with every length checked.

pycocotools fills a short encoding with zeros and reads past the end of a malformed string; here
both are errors. Strings are decoded by the metric that will score them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pycocotools import mask as coco

from lookcheck.metrics.grove.rle import decode_counts


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
