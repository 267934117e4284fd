"""`entity_swap`: fill an object from its surroundings and paste another thing in its place.

The paper used a generative editor; this needs none. `edited` takes the pictures of one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage
from skimage.restoration import inpaint_biharmonic

from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.core.masks import Mask, extent
from lookcheck.dataset_builders.perturbed_pope.perturbations import union

Values = npt.NDArray[np.floating]
Plane = npt.NDArray[np.uint8 | np.floating | np.bool_]

# An outline drawn by hand leaves a rim of the object; the fill takes these pixels as well.
RIM = 4
# Pixels beyond the region that the fill looks at.
AROUND = 24
# Pixels that the biharmonic equation is solved for; a larger region is filled at a smaller scale.
LARGEST_FILL = 3000
# Pixels, at the scale of the fill.
SOFTEN = 1.5
# A cut-out loses this rim, where the background shines through, and gets a soft seam.
EDGE = 1
SMALLEST_SPLINTER = 0.1
SEAM = 0.8
# How far a cut-out may be stretched to the shape of the box, and may stand out of it.
STRETCH = 1.15
OVER = 1.6
# Other instances get a cut-out if they have this share of the largest one's box, up to so many.
SMALLEST_SHARE = 0.2
MOST = 4


def fill(image: Pixels, masks: Sequence[Mask]) -> tuple[Pixels, Mask]:
    """Fill the pixels of all masks, and a rim around them, from their surroundings.

    The rim is `RIM` pixels wide. Each connected region is filled by skimage's biharmonic inpainting, at
    a smaller scale if it is large.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    masks : sequence of ndarray of bool, shape (H, W)

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
    ndarray of bool, shape (H, W)
        The filled pixels; all others are as they were.
    """
    region = ndimage.binary_dilation(union(masks, image.shape[:2]), _disc(RIM))
    made = image.copy()
    labels, _ = ndimage.label(region, np.ones((3, 3)))
    for number, place in enumerate(ndimage.find_objects(labels), start=1):
        rows, columns = (slice(max(0, side.start - AROUND), side.stop + AROUND) for side in place)
        # All regions are unknown here, also a neighbour that reaches into this window.
        unknown = region[rows, columns]
        filled = _fill_window(image[rows, columns], unknown)
        own = labels[rows, columns] == number
        made[rows, columns][own] = filled[own]
    return made, region


def _disc(radius: int) -> Mask:
    y, x = np.ogrid[-radius : radius + 1, -radius : radius + 1]
    disc: Mask = x * x + y * y <= radius * radius
    return disc


def _fill_window(window: Pixels, unknown: Mask) -> Pixels:
    if unknown.all():
        # Nothing to see around it.
        return np.full_like(window, 127)
    height, width = unknown.shape
    scale = min(1.0, (LARGEST_FILL / unknown.sum()) ** 0.5)
    size = (max(2, round(width * scale)), max(2, round(height * scale)))
    known = (~unknown).astype(np.float32)
    weight = _resize(known, size)
    channels = [
        _resize(window[..., channel] * known, size) / np.maximum(weight, 1e-6) for channel in range(3)
    ]
    small: Values = np.stack(channels, -1) / 255
    hole = weight < 0.5
    if hole.all():
        hole = weight < weight.max()
    if hole.any():
        small = _solve(small, hole)
    smooth = np.stack(
        [_resize(small[..., channel], (width, height), Image.Resampling.BICUBIC) for channel in range(3)], -1
    )
    made: Pixels = np.clip(smooth * 255, 0, 255).round().astype(np.uint8)
    return made


def _solve(small: Values, hole: Mask) -> Values:
    """Biharmonic inpainting that neither carries fine detail into the hole nor overshoots in it."""
    known = (~hole).astype(np.float64)
    weight = ndimage.gaussian_filter(known, SOFTEN)
    even: Values = (
        ndimage.gaussian_filter(small * known[..., None], (SOFTEN, SOFTEN, 0))
        / np.maximum(weight, 1e-6)[..., None]
    )
    solved: Values = inpaint_biharmonic(even, hole, channel_axis=-1)
    ring = even[ndimage.binary_dilation(hole, iterations=3) & ~hole]
    low, high = np.percentile(ring, [10, 90], axis=0)
    return np.where(hole[..., None], np.clip(solved, low, high), small)


def _resize(plane: Plane, size: tuple[int, int], how: Image.Resampling = Image.Resampling.BOX) -> Values:
    return np.asarray(Image.fromarray(plane.astype(np.float32)).resize(size, how))


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


def paste(
    image: Pixels, piece: Pixels, box: tuple[int, int, int, int]
) -> tuple[Pixels, tuple[int, int, int, int], Mask]:
    """Paste a cut-out in the place of a box, standing on its lower side.

    It gets the area of the box as far as its own shape allows, and a soft seam.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    piece : ndarray of uint8, shape (h, w, 4)
        From `cut_out`.
    box : tuple of int
        x, y, width, height in pixels.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
    tuple of int
        x, y, width, height of what was pasted.
    ndarray of bool, shape (H, W)
        The pixels that it covers, the seam included; all others are as they were.
    """
    height, width = image.shape[:2]
    across, down = _size(piece, box, width, height)
    left = min(max(0, round(box[0] + box[2] / 2 - across / 2)), width - across)
    top = min(max(0, box[1] + box[3] - down), height - down)
    # Colours weighted with the alpha, so that no background comes in at the edge.
    alpha = piece[..., 3].astype(np.float32) / 255
    planes = [
        _resize(piece[..., channel] * alpha, (across, down), Image.Resampling.HAMMING) for channel in range(3)
    ]
    cover = _resize(alpha, (across, down), Image.Resampling.HAMMING)
    colour = np.stack(planes, -1) / np.maximum(cover, 1e-3)[..., None]
    # Only inwards: a seam outside would be of the colours that the edge was cut from.
    soft = np.minimum(cover, ndimage.gaussian_filter(cover, SEAM, mode="constant"))[..., None]
    made, covered = image.copy(), np.zeros((height, width), bool)
    place = (slice(top, top + down), slice(left, left + across))
    covered[place] = soft[..., 0] > 0
    mixed = (soft * np.clip(colour, 0, 255) + (1 - soft) * image[place]).round()
    made[place] = np.where(soft > 0, np.clip(mixed, 0, 255), image[place]).astype(np.uint8)
    return made, (left, top, across, down), covered


def _size(piece: Pixels, box: tuple[int, int, int, int], width: int, height: int) -> tuple[int, int]:
    """Width and height to scale a cut-out to."""
    h, w = piece.shape[:2]
    wanted = (box[2] / w) / (box[3] / h)
    stretch = min(max(wanted, 1 / STRETCH), STRETCH) ** 0.5
    scale = ((box[2] * box[3]) / (w * h)) ** 0.5
    limit = min(min(OVER * box[2], width) / (w * stretch), min(OVER * box[3], height) / (h / stretch))
    scale = min(scale, limit)
    return max(1, round(w * scale * stretch)), max(1, round(h * scale / stretch))


def entity_swap(
    image: Pixels, masks: Sequence[Mask], piece: Pixels
) -> tuple[Pixels, list[tuple[int, int, int, int]], Mask]:
    """Replace an object by a cut-out.

    All masks are filled; a cut-out is pasted for the largest one and for those near it in size.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    masks : sequence of ndarray of bool, shape (H, W)
        All instances of the object.
    piece : ndarray of uint8, shape (h, w, 4)

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
    list of tuple of int
        Boxes of the cut-outs, x, y, width, height.
    ndarray of bool, shape (H, W)
        Pixels that may have changed.
    """
    made, touched = fill(image, masks)
    boxes = []
    for top, bottom, left, right in _places(masks):
        made, box, covered = paste(made, piece, (left, top, right - left, bottom - top))
        boxes.append(box)
        touched |= covered
    return made, boxes, touched


def _places(masks: Sequence[Mask]) -> list[tuple[int, int, int, int]]:
    def area(place: tuple[int, int, int, int]) -> int:
        return (place[1] - place[0]) * (place[3] - place[2])

    places = sorted(map(extent, masks), key=lambda place: (-area(place), place))
    return [place for place in places if area(place) >= SMALLEST_SHARE * area(places[0])][:MOST][::-1]
