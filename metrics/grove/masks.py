"""Instance masks in every usual form, checked, as canonical COCO run-length encodings.

Conventions. A mask covers one instance in one picture; its size is ``[h, w]`` in pixels. Accepted are
numpy arrays of shape (h, w) with values 0/1, 0/255 or bool; PIL images of mode ``1`` or ``L`` with the
same values; and COCO encodings with a list (plain runs) or a str or bytes (compressed) as ``counts``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pycocotools import mask as coco

from .rle import (
    CHUNK,
    MOST_PIXELS,
    Rle,
    are_canonical,
    canonical,
    check_runs,
    decode_counts,
    encode_runs,
)

__all__ = ["Rle", "area", "decode", "encode_all", "iou_matrix", "to_rle", "to_rles"]


def to_rle(mask: Any, where: str = "mask") -> Rle:
    """Turn one mask of any accepted form into a checked, canonical, compressed COCO encoding.

    Parameters
    ----------
    mask : ndarray, PIL image or dict
        See the conventions above.
    where : str
        What to call the mask in an error message, for example ``"id '7': predicted mask 0"``.

    Returns
    -------
    dict
        ``{"size": [h, w], "counts": str}``, ready for JSON.

    Raises
    ------
    ValueError
        For another type, values other than 0/1/255, masked values, a size that is no pair of positive
        integers, and runs that are negative or do not sum to h·w.

    Examples
    --------
    >>> to_rle(np.eye(2, dtype=bool))
    {'size': [2, 2], 'counts': '0120'}
    >>> to_rle({"size": [2, 2], "counts": [0, 1, 0, 0, 2, 1]})["counts"]
    '0120'
    >>> to_rle({"size": [2, 2], "counts": [0, 1, 2]}, "id 7: predicted mask 0")
    Traceback (most recent call last):
    ValueError: id 7: predicted mask 0: the runs sum to 3, but the size [2, 2] has 4 pixels
    """
    return to_rles([mask], [where])[0]


def to_rles(masks: Sequence[Any], places: Sequence[str]) -> list[Rle]:
    """Turn many masks into checked encodings; see :func:`to_rle`.

    Compressed strings are decoded together, which makes the check cheap beside the IoU.
    """
    return encode_all(masks, places.__getitem__)[0]


def encode_all(masks: Sequence[Any], place: Callable[[int], str]) -> tuple[list[Rle], list[bool]]:
    """:func:`to_rles`, and beside each encoding whether it holds any pixel; `place` names a mask."""
    encoded = [_encode(mask, place, index) for index, mask in enumerate(masks)]
    filled: list[bool] = []
    for begin, end in _chunks(encoded):
        filled += _check_compressed(encoded, begin, end, place)
    return encoded, filled


def decode(rle: Rle) -> npt.NDArray[np.bool_]:
    """The mask of a checked encoding, as a bool array of shape (h, w).

    Examples
    --------
    >>> decode(to_rle(np.eye(2, dtype=bool))).tolist()
    [[True, False], [False, True]]
    """
    decoded: npt.NDArray[np.bool_] = coco.decode(rle).astype(bool)
    return decoded


def area(rle: Rle) -> int:
    """Pixels in the mask.

    Examples
    --------
    >>> area(to_rle(np.eye(3, dtype=bool)))
    3
    """
    return int(coco.area(rle))


def iou_matrix(predicted: Sequence[Rle], reference: Sequence[Rle]) -> npt.NDArray[np.float64]:
    """Intersection over union of every predicted with every reference mask.

    Parameters
    ----------
    predicted, reference : sequence of dict
        Checked encodings of one size; pycocotools would answer another size with −1, so the caller
        checks.

    Returns
    -------
    ndarray of float64, shape (len(predicted), len(reference))
        In [0, 1]; 0 where both masks are empty.

    Examples
    --------
    >>> a, b = to_rle(np.array([[1, 1, 0]])), to_rle(np.array([[0, 1, 1]]))
    >>> iou_matrix([a], [a, b]).round(3).tolist()
    [[1.0, 0.333]]
    """
    if not predicted or not reference:
        return np.zeros((len(predicted), len(reference)))
    matrix: npt.NDArray[np.float64] = coco.iou(list(predicted), list(reference), [0] * len(reference))
    return matrix


def _chunks(encoded: Sequence[Rle]) -> Iterator[tuple[int, int]]:
    begin = characters = 0
    for index, rle in enumerate(encoded):
        characters += len(rle["counts"])
        if characters >= CHUNK:
            yield begin, index + 1
            begin, characters = index + 1, 0
    if begin < len(encoded):
        yield begin, len(encoded)


def _check_compressed(encoded: list[Rle], begin: int, end: int, place: Callable[[int], str]) -> list[bool]:
    """Check all at once; only if something is odd, one by one, to mend its form or to name it."""
    strings = [rle["counts"] for rle in encoded[begin:end]]
    joined = "".join(strings)
    pixels = [height * width for height, width in (rle["size"] for rle in encoded[begin:end])]
    # Nothing canonical of three runs or more is empty.
    if joined.isascii() and are_canonical(joined.encode(), list(map(len, strings)), np.array(pixels)):
        return [True] * (end - begin)
    return [_mend(encoded, index, place) for index in range(begin, end)]


def _mend(encoded: list[Rle], index: int, place: Callable[[int], str]) -> bool:
    """Check one encoding and bring it into canonical form; whether it holds any pixel."""
    size = encoded[index]["size"]
    try:
        # A character outside ASCII becomes bytes above "o", which the decoder refuses.
        runs = decode_counts([encoded[index]["counts"].encode("utf-8", errors="surrogatepass")])[0]
        check_runs(runs, size)
    except ValueError as error:
        raise ValueError(f"{place(index)}: {error}") from None
    plain = canonical(runs)
    if len(plain) != len(runs):
        encoded[index] = {"size": size, "counts": encode_runs(plain)}
    return len(plain) > 1


def _encode(mask: Any, place: Callable[[int], str], index: int) -> Rle:
    if type(mask) is dict:
        size: Any = mask.get("size")
        counts: Any = mask.get("counts")
        # The usual case first: this runs once a mask.
        usual = type(size) is list and len(size) == 2 and type(size[0]) is int and type(size[1]) is int
        if usual and type(counts) is str and size[0] > 0 < size[1] and size[0] * size[1] <= MOST_PIXELS:
            return {"size": size, "counts": counts}
    where = place(index)
    if isinstance(mask, dict):
        return _from_dict(mask, where)
    if isinstance(mask, np.ndarray):
        return _from_array(mask, where)
    # A PIL image, known by its protocol: the metric itself does not need pillow.
    if hasattr(mask, "__array_interface__") and hasattr(mask, "mode"):
        if mask.mode not in {"1", "L"}:
            raise ValueError(f"{where}: the image has mode {mask.mode!r}; expected '1' or 'L'")
        return _from_array(np.asarray(mask), where)
    raise ValueError(
        f"{where}: the mask is a {type(mask).__name__} ({str(mask)[:60]!r}); expected a numpy array, "
        "a PIL image or a COCO encoding with 'size' and 'counts'"
    )


def _from_array(mask: npt.NDArray[Any], where: str) -> Rle:
    if mask.ndim != 2 or mask.size == 0:
        raise ValueError(f"{where}: the array has shape {mask.shape}; expected (h, w)")
    if isinstance(mask, np.ma.MaskedArray):
        raise ValueError(f"{where}: the array is masked; fill what is masked with 0 or 1")
    if mask.dtype == np.bool_:
        filled = mask
    elif np.issubdtype(mask.dtype, np.integer):
        values = np.unique(mask)
        if not (np.isin(values, (0, 1)).all() or np.isin(values, (0, 255)).all()):
            raise ValueError(
                f"{where}: the array holds the values {values[:6].tolist()}; expected 0 and 1, or 0 and 255"
            )
        filled = mask > 0
    else:
        raise ValueError(f"{where}: the array has dtype {mask.dtype}; expected bool or integers")
    size = _checked_size(list(mask.shape), where)
    flat = filled.ravel(order="F")
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    runs = np.diff(edges, prepend=0, append=flat.size)
    return {"size": size, "counts": encode_runs(np.append([0], runs) if flat[0] else runs)}


def _from_dict(mask: dict[str, Any], where: str) -> Rle:
    if "size" not in mask or "counts" not in mask:
        raise ValueError(f"{where}: the mask has the fields {sorted(map(str, mask))}; expected size, counts")
    size = _checked_size(mask["size"], where)
    counts = mask["counts"]
    if isinstance(counts, str):
        return {"size": size, "counts": counts}
    if isinstance(counts, bytes):
        # Any byte becomes one character; those above "o" are refused later.
        return {"size": size, "counts": counts.decode("latin-1")}
    if isinstance(counts, list | tuple | np.ndarray):
        runs = list(counts.tolist() if isinstance(counts, np.ndarray) else counts)
        for run in runs:
            if isinstance(run, bool) or not isinstance(run, int | np.integer):
                raise ValueError(f"{where}: the counts hold {run!r}; expected integers")
        try:
            lengths = np.array(runs, dtype=np.int64)
            check_runs(lengths, size)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{where}: {error}") from None
        return {"size": size, "counts": encode_runs(canonical(lengths))}
    raise ValueError(
        f"{where}: the counts are {type(counts).__name__} {str(counts)[:60]!r}; expected str, bytes or a list"
    )


def _checked_size(size: Any, where: str) -> list[int]:
    sides = list(size) if isinstance(size, list | tuple | np.ndarray) else []
    if len(sides) != 2 or not all(_is_side(side) for side in sides):
        raise ValueError(f"{where}: the size is {size!r}; expected [height, width] as positive integers")
    height, width = int(sides[0]), int(sides[1])
    if height * width > MOST_PIXELS:
        raise ValueError(f"{where}: the size {[height, width]} has more than {MOST_PIXELS} pixels")
    return [height, width]


def _is_side(value: Any) -> bool:
    return (type(value) is int or isinstance(value, np.integer)) and bool(value > 0)
