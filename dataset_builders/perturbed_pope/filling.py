"""Fill a hole in a picture with pieces of the same picture, each moved over it whole.

A smooth fill of grass or of a wall's edge is a smear. A piece from elsewhere in the picture keeps the grain
and carries lines on, if its surroundings agree with those of the hole: how well they do is the fill's test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage
from scipy.signal import fftconvolve

from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.core.masks import Mask, extent

Array = npt.NDArray[Any]
Values = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# The longest side that pieces are looked for at, in pixels.
SEARCHED = 200
# Width of the surroundings that are compared, in pixels at that size.
RING = 3
# What a piece from one pixel higher or lower costs, as a mean square: a picture's ground is not its sky.
LEVEL = 1 / 16
# A hole is cut in halves up to so many times, where the halves' surroundings agree better.
HALVINGS = 3
# Mismatch up to which a piece is taken at once.
GOOD = 12.0
# Halves are taken if their worst mismatch is below this share of the whole's.
MUCH_BETTER = 0.75
# Differences at a part's edge are evened out as means of blocks of so many pixels or more, and up to so many
# levels of 255: in shade, not in grain or in what is shown.
SMALLEST_STEP = 4
SHADE = 16.0


@dataclass(frozen=True)
class Piece:
    """What is moved over a part of a hole.

    Attributes
    ----------
    box : tuple of int
        Top, bottom, left and right of the part; bottom and right are past its last pixel.
    down, right : int
        How far away the piece lies, in pixels.
    mismatch : float
        Root mean square of the differences between its surroundings and the part's, in 0 … 255.
    """

    box: tuple[int, int, int, int]
    down: int
    right: int
    mismatch: float


def find_pieces(image: Pixels, region: Mask, taken: Mask) -> tuple[Piece, ...] | None:
    """Pieces for all connected parts of a region.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    region : ndarray of bool, shape (H, W)
    taken : ndarray of bool, shape (H, W)
        Pixels from which nothing is copied: things that the picture is known to show.

    Returns
    -------
    tuple of Piece or None
        None if a part has no piece.
    """
    search = _Search(image, region, taken)
    pieces: list[Piece] = []
    labels, count = ndimage.label(region, np.ones((3, 3)))
    for number in range(1, count + 1):
        found = search.fill(labels == number, HALVINGS)
        if not found:
            return None
        pieces += found
    return tuple(pieces)


class _Search:
    """A picture at a reduced size that is filled piece by piece."""

    def __init__(self, image: Pixels, region: Mask, taken: Mask) -> None:
        self._step = max(1, -(-max(taken.shape) // SEARCHED))
        sums = _blocks(image, self._step, mode="edge").sum((1, 3), dtype=np.int64)
        self._planes = np.moveaxis(sums, -1, 0) // self._step**2
        self._taken = _any(region | taken, self._step, constant_values=True)
        self._unknown = self._taken.copy()

    def fill(self, hole: Mask, halvings: int) -> list[Piece]:
        """Fill a hole by one piece, or by halves if these fit much better; gives none if there is none."""
        missing = _any(hole, self._step)
        before = self._planes.copy(), self._unknown.copy()
        piece = self._piece(hole, missing)
        halves: list[Piece] = []
        if halvings and (piece is None or piece.mismatch > GOOD):
            for half in _halves(hole):
                more = self.fill(half, halvings - 1)
                if not more:
                    halves = []
                    break
                halves += more
        if halves and (piece is None or worst(halves) < MUCH_BETTER * piece.mismatch):
            return halves
        self._planes, self._unknown = before
        if piece is None:
            return []
        moved = np.roll(self._planes, (-(piece.down // self._step), -(piece.right // self._step)), (1, 2))
        self._planes = np.where(missing, moved, self._planes)
        self._unknown &= ~missing
        return [piece]

    def _ring(self, missing: Mask) -> Mask:
        ring: Mask = ndimage.binary_dilation(missing, np.ones((3, 3)), RING) & ~(missing | self._unknown)
        return ring

    def _piece(self, hole: Mask, missing: Mask) -> Piece | None:
        """The piece whose surroundings differ least from those of a hole, in exact integers.

        With the differences D = I(p + d) - I(p) in three channels at the n pixels of a ring around the hole,
        it is the offset d = (y, x) with the least

            Σ D² / 3n + LEVEL y²

        among those whose piece lies in the picture and holds nothing that is taken.
        """
        ring = self._ring(missing)
        if not ring.any():
            return None
        top, bottom, left, right = extent(missing | ring)
        place = (slice(top, bottom), slice(left, right))
        frame, values = ring[place], 3 * int(ring.sum())
        barred = correlate(self._taken, (missing | ring)[place]) > 0
        if barred.all():
            return None
        squares = correlate((self._planes**2).sum(0), frame)
        for plane in self._planes:
            wanted = plane[place] * frame
            squares += (wanted * wanted).sum() - 2 * correlate(plane, wanted)
        # Times LEVEL's denominator, so that equal costs are equal.
        y = np.arange(barred.shape[0])[:, None] - top
        cost = round(1 / LEVEL) * squares + values * y * y
        offsets = np.argwhere((cost == cost[~barred].min()) & ~barred) - (top, left)
        down, along = min(offsets.tolist(), key=lambda offset: (offset[0] ** 2 + offset[1] ** 2, offset))
        mismatch = float((squares[down + top, along + left] / values) ** 0.5)
        return Piece(extent(hole), down * self._step, along * self._step, mismatch)


def _halves(hole: Mask) -> list[Mask]:
    """A hole cut across its longer side."""
    top, bottom, left, right = extent(hole)
    first = hole.copy()
    if right - left >= bottom - top:
        first[:, (left + right) // 2 :] = False
    else:
        first[(top + bottom) // 2 :] = False
    return [half for half in (first, hole & ~first) if half.any()]


def worst(pieces: Sequence[Piece]) -> float:
    """The largest mismatch."""
    return max((piece.mismatch for piece in pieces), default=0.0)


def lay(image: Pixels, region: Mask, taken: Mask, pieces: Sequence[Piece]) -> Pixels:
    """The picture with a region filled by pieces; `image`, `region`, `taken` as for `find_pieces`."""
    made, unfilled, barred = image.copy(), region.copy(), region | taken
    height, width = region.shape
    step = max(SMALLEST_STEP, -(-max(region.shape) // SEARCHED))
    for piece in pieces:
        top, bottom, left, right = piece.box
        # Past its sides lie the pixels that the piece is evened with.
        rows = np.arange(max(0, top - 2 * step), min(height, bottom + 2 * step))
        columns = np.arange(max(0, left - 2 * step), min(width, right + 2 * step))
        window = np.ix_(rows, columns)
        part = np.zeros_like(region)
        part[top:bottom, left:right] = unfilled[top:bottom, left:right]
        unfilled &= ~part
        hole, here = part[window], made[window]
        down, along = rows + piece.down, columns + piece.right
        source = np.ix_(np.clip(down, 0, height - 1), np.clip(along, 0, width - 1))
        moved = image[source]
        # Past the picture's border there is nothing to compare.
        inside = np.outer((down >= 0) & (down < height), (along >= 0) & (along < width))
        known = ndimage.binary_dilation(hole, np.ones((3, 3)), 2 * step) & inside
        known &= ~(hole | barred[source] | taken[window] | unfilled[window])
        differences = np.clip(here.astype(float) - moved, -SHADE, SHADE) * known[..., None]
        even = _spread(_sums(differences, step), _sums(known, step).astype(float))
        filled = moved + _enlarged(even, step, known.shape)
        made[window] = np.where(hole[..., None], np.clip(filled, 0, 255).round(), here).astype(np.uint8)
    return made


def _blocks(values: Array, step: int, **outside: Any) -> Array:
    """Blocks of step × step pixels along axes 1 and 3; `outside` says what `np.pad` adds past the border."""
    height, width = values.shape[:2]
    padded = np.pad(
        values, [(0, -height % step), (0, -width % step), *[(0, 0)] * (values.ndim - 2)], **outside
    )
    return padded.reshape(-(-height // step), step, -(-width // step), step, *values.shape[2:])


def _sums(values: Array, step: int) -> Array:
    sums: Array = _blocks(values, step).sum((1, 3))
    return sums


def _any(mask: Mask, step: int, **outside: Any) -> Mask:
    found: Mask = np.logical_or.reduce(_blocks(mask, step, **outside), (1, 3))
    return found


def correlate(plane: Array, template: Array) -> Integers:
    """Sums of plane × template wherever the template lies inside; exact, for all values are integers."""
    found = fftconvolve(plane.astype(float), template[::-1, ::-1].astype(float), mode="valid")
    exact: Integers = np.rint(found).astype(np.int64)
    return exact


def _spread(sums: Values, weight: Values) -> Values:
    """Means where there are weights, and smooth values between them (pull and push).

    Parameters
    ----------
    sums : ndarray of float, shape (h, w, 3)
    weight : ndarray of float, shape (h, w)
    """
    known = weight > 0
    mean: Values = sums / np.maximum(weight, 1)[..., None]
    if known.all() or not known.any():
        return mean
    coarse = _spread(_sums(sums, 2), _sums(weight, 2))
    return np.where(known[..., None], mean, _enlarged(coarse, 2, weight.shape))


def _enlarged(values: Values, step: int, shape: tuple[int, ...]) -> Values:
    """Planes made `step` times as large, without corners, and cut to a shape."""
    size = (values.shape[1] * step, values.shape[0] * step)
    planes = [
        np.asarray(Image.fromarray(plane.astype(np.float32)).resize(size, Image.Resampling.BILINEAR))
        for plane in np.moveaxis(values, -1, 0)
    ]
    return np.stack(planes, -1)[: shape[0], : shape[1]].astype(float)
