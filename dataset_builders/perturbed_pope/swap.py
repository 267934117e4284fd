"""`entity_swap`: take an object out of a picture and paste another thing in its place.

The paper used a generative editor; this needs none. `edited` takes the pictures of one, and `fill_model`
fills with a model. `swap_rules` says which are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage

from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.core.masks import Mask, box_of, extent
from lookcheck.dataset_builders.perturbed_pope.filling import Piece, correlate
from lookcheck.dataset_builders.perturbed_pope.hole import Hole, clean

Box = tuple[int, int, int, int]
Values = npt.NDArray[np.float64]

# A cut-out loses this rim, where the background shines through, and gets a soft seam.
EDGE = 1
SMALLEST_SPLINTER = 0.1
SEAM = 0.8
# How far a cut-out may be stretched to the shape of the box.
STRETCH = 1.15
# It is tried at these shares of the box's size, and seen whole if so little of it is hidden.
SCALES = (1.0, 0.8, 0.64)
MOST_HIDDEN = 1 / 50
# Share of it that must lie in the hole, or it would stand beside the place.
LEAST_INSIDE = 0.5
# Shorter side and root of the area below which nobody recognises it, in pixels; in smaller boxes it is larger
# than the box.
SHORTEST, SMALLEST = 24, 32
# Pixels between the places that are tried.
STRIDE = 4


@dataclass(frozen=True, eq=False)
class Swap:
    """How one swap is made.

    Attributes
    ----------
    hole : Hole
    pieces : tuple of Piece
        What fills the hole.
    cut_out : ndarray of uint8, shape (h, w, 4)
    box : tuple of int
        Where it is pasted: x, y, width, height.
    filled : ndarray of uint8, shape (H, W, 3), or None
        The picture as a model filled it; `pieces` are not used then.
    """

    hole: Hole
    pieces: tuple[Piece, ...]
    cut_out: Pixels
    box: Box
    filled: Pixels | None = None


def cut_out(image: Pixels, mask: Mask) -> Pixels:
    """An instance on transparent ground, without its outermost pixels and without splinters.

    Returns
    -------
    ndarray of uint8, shape (h, w, 4)
        Of the size of what is left of the mask.
    """
    inner = ndimage.binary_erosion(mask, iterations=EDGE)
    if not inner.any():
        inner = mask
    labels, pieces = ndimage.label(inner)
    if pieces > 1:
        sizes = np.bincount(labels.ravel())
        sizes[0] = 0
        inner = np.isin(labels, np.flatnonzero(sizes >= SMALLEST_SPLINTER * sizes.max()))
    alpha = np.where(inner, 255, 0).astype(np.uint8)
    top, bottom, left, right = extent(inner)
    return np.dstack([image, alpha])[top:bottom, left:right]


def find_place(hole: Hole, region: Mask, mask: Mask) -> Box | None:
    """Where a cut-out is shown whole in the place of an object: x, y, width, height.

    It stands on the lower side of the object's largest box if it is seen whole there, or else where most of
    it lies in the hole.

    Parameters
    ----------
    hole : Hole
    region : ndarray of bool, shape (H, W)
        The filled pixels.
    mask : ndarray of bool, shape (h, w)
        Of the cut-out in its photograph.

    Returns
    -------
    tuple of int or None
        None if it is shown whole nowhere, or only too small.
    """
    box = _largest(hole.own)
    top, bottom, left, right = extent(mask)
    shape = mask[top:bottom, left:right]
    height, width = hole.own.shape
    for scale in SCALES:
        across, down = _size(shape.shape, box, scale, width, height)
        cover = _resize(shape, (across, down)) > 0.5
        if min(across, down) < SHORTEST or cover.sum() < SMALLEST**2:
            return None
        x = min(max(0, round(box[0] + box[2] / 2 - across / 2)), width - across)
        y = min(max(0, box[1] + box[3] - down), height - down)
        view = (slice(y, y + down), slice(x, x + across))
        hidden, inside = np.asarray((cover & hole.kept[view]).sum()), np.asarray((cover & region[view]).sum())
        if _fits(hidden, inside, cover):
            return x, y, across, down
        hidden, inside = (correlate(plane, cover)[::STRIDE, ::STRIDE] for plane in (hole.kept, region))
        inside = np.where(_fits(hidden, inside, cover), inside, 0)
        if inside.max() > 0:
            rows, columns = np.nonzero(inside == inside.max())
            nearest = np.argmin((rows * STRIDE - y) ** 2 + (columns * STRIDE - x) ** 2)
            return int(columns[nearest]) * STRIDE, int(rows[nearest]) * STRIDE, across, down
    return None


def _fits(hidden: npt.NDArray[np.int64], inside: npt.NDArray[np.int64], cover: Mask) -> npt.NDArray[np.bool_]:
    pixels = cover.sum()
    return np.asarray((hidden <= MOST_HIDDEN * pixels) & (inside >= LEAST_INSIDE * pixels))


def _largest(mask: Mask) -> Box:
    """Box of the largest connected part."""
    labels, _ = ndimage.label(mask, np.ones((3, 3)))
    return box_of(labels == np.bincount(labels.ravel())[1:].argmax() + 1)


def _size(shape: tuple[int, ...], box: Box, scale: float, width: int, height: int) -> tuple[int, int]:
    """Width and height to scale a cut-out to: the area of the box, as far as its own shape allows."""
    h, w = shape
    stretch = min(max((box[2] / w) / (box[3] / h), 1 / STRETCH), STRETCH) ** 0.5
    area = max(box[2] * box[3] * scale**2, (SMALLEST * 1.25) ** 2)
    factor = min((area / (w * h)) ** 0.5, width / (w * stretch), height / (h / stretch))
    return max(1, round(w * factor * stretch)), max(1, round(h * factor / stretch))


def _resize(plane: npt.NDArray[np.generic], size: tuple[int, int]) -> Values:
    image = Image.fromarray(plane.astype(np.float32))
    return np.asarray(image.resize(size, Image.Resampling.HAMMING)).astype(float)


def paste(image: Pixels, piece: Pixels, box: Box, kept: Mask) -> tuple[Pixels, Mask]:
    """Paste a cut-out over a box, with a soft seam, behind what is kept.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    piece : ndarray of uint8, shape (h, w, 4)
        From `cut_out`.
    box : tuple of int
        x, y, width, height in pixels, in the picture.
    kept : ndarray of bool, shape (H, W)

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
    ndarray of bool, shape (H, W)
        The pixels that it covers, the seam included; all others are as they were.
    """
    left, top, across, down = box
    # Colours weighted with the alpha, so that no background comes in at the edge.
    alpha = piece[..., 3] / 255
    cover = _resize(alpha, (across, down))
    colour = np.stack([_resize(piece[..., channel] * alpha, (across, down)) for channel in range(3)], -1)
    colour /= np.maximum(cover, 1e-3)[..., None]
    # Only inwards: a seam outside would be of the colours that the edge was cut from.
    soft = np.minimum(cover, ndimage.gaussian_filter(cover, SEAM, mode="constant"))[..., None]
    made, covered = image.copy(), np.zeros(image.shape[:2], bool)
    place = (slice(top, top + down), slice(left, left + across))
    covered[place] = (soft[..., 0] > 0) & ~kept[place]
    mixed = (soft * np.clip(colour, 0, 255) + (1 - soft) * image[place]).round()
    made[place] = np.where(covered[place][..., None], np.clip(mixed, 0, 255), image[place]).astype(np.uint8)
    return made, covered


def entity_swap(image: Pixels, swap: Swap) -> tuple[Pixels, Mask]:
    """Replace an object by a cut-out.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
    ndarray of bool, shape (H, W)
        Pixels that may have changed.
    """
    empty, region, _ = clean(image, swap.hole, swap.pieces, swap.filled)
    made, covered = paste(empty, swap.cut_out, swap.box, swap.hole.kept)
    return made, region | covered
