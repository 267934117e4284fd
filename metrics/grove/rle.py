"""COCO run-length encodings: checked before they reach pycocotools, which repairs bad ones silently.

Conventions. A mask is column-major: runs alternate between 0 and 1 down the columns, starting with 0s.
An encoding is ``{"size": [h, w], "counts": …}``; its runs must sum to h·w. It is canonical if no run but
the first is 0: pycocotools takes a 0 that follows a 0 for the end of the mask, so nothing else reaches it.
Strings are written here, too: pycocotools writes past its buffer where every number takes six characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int32]


class Rle(TypedDict):
    """A checked, canonical mask as JSON and pycocotools take it."""

    size: list[int]
    """``[h, w]`` in pixels."""
    counts: str
    """Compressed run lengths."""


CHUNK = 1 << 18
"""Strings are decoded together up to about this many characters: small enough for the processor's cache."""

MOST_PIXELS = 2**29 - 1
"""Largest h·w, so that run lengths and their differences stay below 2**30 in size."""

_MOST_CHARACTERS = 6
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
    return decode_joined(b"".join(strings), list(map(len, strings)))


def decode_joined(joined: bytes, lengths: Sequence[int]) -> tuple[Counts, npt.NDArray[np.int64]]:
    """:func:`decode_counts` of strings of these lengths, one after the other."""
    numbers, starts = _numbers(joined, lengths)
    _undo_differences(numbers, starts)
    return numbers, starts


def are_canonical(joined: bytes, lengths: Sequence[int], pixels: npt.NDArray[np.int64]) -> bool:
    """Whether all strings are sure to be canonical encodings of pictures of so many pixels.

    The quick answer for the usual case; where it is no, a string may still be right: what has fewer than
    three runs is not looked at, nor are pictures so large that sums need more than 32 bits.

    Parameters
    ----------
    joined : bytes
        Strings of these `lengths`, one after the other.
    lengths : sequence of int
    pixels : ndarray of int64, shape (len(lengths),)

    Examples
    --------
    >>> are_canonical(b"0120", [4], np.array([4])), are_canonical(b"0120", [4], np.array([5]))
    (True, False)
    """
    try:
        numbers, starts = _numbers(joined, lengths)
    except ValueError:
        return False
    ends = np.append(starts[1:], len(numbers))
    if (ends - starts).min() < 3 or pixels.sum() >= 2**31:
        return False
    totals = numbers[starts].astype(np.int64)
    if totals.min() < 0:
        return False
    # A string's first number begins no chain of differences: it passes on what stood before.
    numbers[starts] = 0
    for parity in (0, 1):
        half = numbers[parity::2].copy()
        np.add.accumulate(half, out=half)
        begins, stops = (starts + 2 - parity) // 2, (ends + 1 - parity) // 2
        base = np.where(begins > 0, half[begins - 1], 0)
        # Every run is at least 1. A sum that leaves 32 bits turns negative and is below as well.
        if (np.minimum.reduceat(half, begins) <= base).any():
            return False
        # The next string's first number, where it is in this half, counts as one more of the last.
        more = np.append(begins[1:], len(half)) - stops
        totals += np.add.reduceat(half, begins, dtype=np.int64) - more * half[stops - 1]
        totals -= (stops - begins) * base.astype(np.int64)
    return bool((totals == pixels).all())


def _numbers(joined: bytes, lengths: Sequence[int]) -> tuple[Counts, npt.NDArray[np.int64]]:
    """The numbers as they are written, differences among them, and where each string's begin."""
    if not all(lengths):
        raise ValueError("the counts are empty")
    codes = np.frombuffer(joined, dtype=np.uint8) - np.uint8(48)
    if codes.max() > 63:
        raise ValueError("the counts hold a character outside '0' to 'o'")
    final = codes < 32
    ends = np.cumsum(lengths)
    if not final[ends - 1].all():
        raise ValueError("the counts end in the middle of a number")
    numbers = ((codes.compress(final) ^ 16).view(np.int8) - np.int8(16)).astype(np.int32)
    continued = np.flatnonzero(codes > 31)
    if len(continued):
        _add_continued(numbers, codes, continued)
    starts = np.zeros(len(lengths), dtype=np.int64)
    # Numbers before a string's first character: characters before it that are not continued.
    starts[1:] = ends[:-1] - np.searchsorted(continued, ends[:-1])
    return numbers, starts


def _add_continued(values: Counts, codes: npt.NDArray[np.uint8], continued: npt.NDArray[np.int64]) -> None:
    """Put the low characters under the last one of each number that has several; in place."""
    # The number's last but one character; before it stand as many final ones as there are numbers.
    lasts = np.flatnonzero(np.diff(continued, append=len(codes)) > 1)
    places = continued.take(lasts)
    numbers = places - lasts
    for _ in range(_MOST_CHARACTERS - 1):
        values[numbers] = (values.take(numbers) << 5) | (codes.take(places) & 31)
        # One further back; before the first character that is the last of all, which continues nothing.
        places -= 1
        more = np.flatnonzero(codes.take(places) > 31)
        if not len(more):
            return
        places, numbers = places.take(more), numbers.take(more)
    raise ValueError("the counts hold a number of more than six characters")


def _undo_differences(values: Counts, starts: npt.NDArray[np.int64]) -> None:
    """Add to each number, from a string's fourth on, the one two places before it; in place.

    One running sum over all even places and one over all odd ones, less what stood there before the
    string. Differences of 32-bit sums are exact even where the sums wrap around.
    """
    first = values[starts]
    halves = [values[parity::2].copy() for parity in (0, 1)]
    for half in halves:
        np.add.accumulate(half, out=half)
    ends = np.append(starts[1:], len(values))
    for parity, half in enumerate(halves):
        # The string's first number belongs to no difference: its chain begins one or two places later.
        before = (starts + 2 - parity) // 2 - 1
        base = np.where(before >= 0, half[before], 0) if len(half) else before
        half -= np.repeat(base.astype(np.int32), (ends + 1 - parity) // 2 - (starts + 1 - parity) // 2)
        values[parity::2] = half
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


def canonical(runs: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[np.int64]:
    """The same mask without runs of 0, except a first one; the runs are checked.

    Examples
    --------
    >>> canonical(np.array([2, 0, 2, 2, 2])).tolist(), canonical(np.array([0, 3, 0])).tolist()
    ([4, 2, 2], [0, 3])
    """
    filled = np.flatnonzero(runs)
    begins = np.flatnonzero(np.diff(filled & 1, prepend=-1))
    merged = np.add.reduceat(runs[filled], begins, dtype=np.int64)
    return np.append([0], merged) if filled[0] & 1 else merged


def encode_runs(runs: npt.NDArray[np.signedinteger[Any]]) -> str:
    """The compressed ``counts`` of run lengths, as :func:`decode_counts` reads them.

    Parameters
    ----------
    runs : ndarray of int32 or int64, shape (n,)
        Checked, of at most 2**29 - 1 pixels.

    Examples
    --------
    >>> encode_runs(np.array([1, 2, 0, 12]))
    '120:'
    """
    numbers = runs.astype(np.int64)
    numbers[3:] -= runs[1:-2]
    # A number takes the fewest characters that hold it with its sign.
    sizes = np.ones(len(numbers), dtype=np.int64)
    for characters in range(1, _MOST_CHARACTERS):
        bound = 1 << (5 * characters - 1)
        sizes += (numbers < -bound) | (numbers >= bound)
    places = np.arange(_MOST_CHARACTERS)
    bits = (numbers[:, None] >> (5 * places)) & 31
    codes = 48 + bits + 32 * (places < sizes[:, None] - 1)
    return codes[places < sizes[:, None]].astype(np.uint8).tobytes().decode("ascii")
