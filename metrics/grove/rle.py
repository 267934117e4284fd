"""COCO run-length encodings: checked before they reach pycocotools, which repairs bad ones silently.

Conventions. A mask is column-major: runs alternate between 0 and 1 down the columns, starting with 0s.
An encoding is ``{"size": [h, w], "counts": …}``; its runs must sum to h·w.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int32]

CHUNK = 1 << 16
"""Strings are decoded together up to about this many characters: small enough for the processor's cache."""

MOST_PIXELS = 2**29 - 1
"""Largest h·w, so that run lengths and their differences stay below 2**30 in size."""

_MOST_CONTINUED = 5
"""Six characters of five bits hold every number of that size."""


def decode_counts(strings: Sequence[bytes]) -> tuple[Counts, npt.NDArray[np.int64]]:
    """Run lengths of several compressed ``counts`` strings at once.

    COCO's compressed form writes a number as characters of five bits, lowest first, starting at ``"0"``;
    the sixth bit says that another follows, the fifth bit of the last one is the sign. From a string's
    fourth number on each is the difference to the one two places before.

    Parameters
    ----------
    strings : sequence of bytes

    Returns
    -------
    runs : ndarray of int32, shape (sum of numbers,)
    starts : ndarray of int64, shape (len(strings),)
        Where each string's runs begin.

    Raises
    ------
    ValueError
        If a string is empty, has a character out of range, ends in the middle of a number or holds a
        number that no picture of fewer than 2**29 pixels needs.

    Notes
    -----
    A run can wrap around in 32 bits only after one that is itself larger than any picture, so that
    :func:`check_runs` still refuses it.

    Examples
    --------
    >>> decode_counts([b"12", b"0<"])[0].tolist()
    [1, 2, 0, 12]
    """
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    if not lengths.all():
        raise ValueError("the counts are empty")
    codes = np.frombuffer(b"".join(strings), dtype=np.uint8) - np.uint8(48)
    if codes.max() > 63:
        raise ValueError("the counts hold a character outside '0' to 'o'")
    final = codes < 32
    lasts = np.cumsum(lengths) - 1
    if not final[lasts].all():
        raise ValueError("the counts end in the middle of a number")
    signed = ((codes & 31) ^ 16).view(np.int8) - np.int8(16)
    values = signed[final].astype(np.int32)
    continued = np.flatnonzero(codes >= 32)
    # A character's number is the count of final characters before it.
    numbers = continued - np.arange(len(continued))
    if len(continued):
        _add_continued(values, (codes[continued] & 31).astype(np.int32), numbers)
    starts = np.zeros(len(strings), dtype=np.int64)
    # Finals before a string's first character: characters before it that are not continued.
    starts[1:] = lasts[:-1] + 1 - np.searchsorted(continued, lasts[:-1])
    _undo_differences(values, starts)
    return values, starts


def _add_continued(values: Counts, bits: Counts, numbers: npt.NDArray[np.int64]) -> None:
    """Put the low characters under the last one of each number that has several."""
    groups = np.flatnonzero(np.diff(numbers, prepend=-1))
    sizes = np.diff(groups, append=len(numbers))
    if sizes.max() > _MOST_CONTINUED:
        raise ValueError("the counts hold a number of more than six characters")
    places = np.arange(len(numbers)) - np.repeat(groups, sizes)
    low = np.add.reduceat(bits << (5 * places).astype(np.int32), groups)
    targets = numbers[groups]
    values[targets] = (values[targets] << (5 * sizes).astype(np.int32)) + low


def _undo_differences(values: Counts, starts: npt.NDArray[np.int64]) -> None:
    """Add to each number, from a string's fourth on, the one two places before it; in place.

    One running sum over all even places and one over all odd ones, less what stood there before the
    string. Differences of 32-bit sums are exact even where the sums wrap around.
    """
    first = values[starts]
    for parity in (0, 1):
        np.add.accumulate(values[parity::2], out=values[parity::2])
    before = np.where(starts > 0, values[starts - 1], 0)
    bases = values[starts]
    ends = np.append(starts[1:], len(values))
    for parity in (0, 1):
        base = np.where(starts % 2 == parity, bases, before)
        values[parity::2] -= np.repeat(base, (ends + 1 - parity) // 2 - (starts + 1 - parity) // 2)
    values[starts] = first


def check_runs(runs: npt.NDArray[np.signedinteger[Any]], size: Sequence[int]) -> None:
    """Refuse run lengths that do not cover a picture of this size exactly.

    Parameters
    ----------
    runs : ndarray of int32 or int64, shape (n,)
    size : sequence of int
        ``[h, w]`` in pixels.

    Raises
    ------
    ValueError
        If a run is negative or the sum is not h·w. pycocotools would fill with zeros or cut instead.

    Examples
    --------
    >>> check_runs(np.array([3, 1]), [2, 2])
    """
    if runs.size and runs.min() < 0:
        raise ValueError(f"the counts hold the negative run {runs.min()}")
    total, pixels = int(runs.sum(dtype=np.int64)), size[0] * size[1]
    if total != pixels:
        raise ValueError(f"the runs sum to {total}, but the size {list(size)} has {pixels} pixels")
