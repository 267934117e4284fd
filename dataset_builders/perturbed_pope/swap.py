"""Entity swap without a generative editor: fill the object, then paste another thing in its place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image
from scipy.ndimage import binary_dilation, distance_transform_edt, gaussian_filter
from skimage.restoration import inpaint_biharmonic

from lookcheck.dataset_builders.perturbed_pope.perturbations import extent, union

# Unknown pixels of one fill: the time grows faster than their number, and the middle of a large hole is
# smooth anyway.
FILL_PIXELS = 2500


def fill(image: np.ndarray, hole: np.ndarray) -> np.ndarray:
    """Fill a hole from its surroundings, by biharmonic inpainting at a coarse scale, with grain.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    hole : ndarray of bool, shape (H, W)
        At least one pixel.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
        Pixels outside the hole are those of `image`. A hole that is the whole picture becomes its mean
        colour: there are no surroundings.
    """
    if hole.all():
        made = np.empty_like(image)
        made[:] = np.rint(image.mean((0, 1))).astype(np.uint8)
        return made
    height, width = hole.shape
    top, bottom, left, right = extent(hole)
    margin = max(8, (bottom - top) // 3, (right - left) // 3)
    rows = slice(max(0, top - margin), min(height, bottom + margin))
    columns = slice(max(0, left - margin), min(width, right + margin))
    part, gap = image[rows, columns], hole[rows, columns]
    scale = min(1.0, (FILL_PIXELS / gap.sum()) ** 0.5)
    size = (max(2, round(part.shape[1] * scale)), max(2, round(part.shape[0] * scale)))
    small, small_gap = _shrink(part, gap, size)
    if small_gap.all():
        filled = np.broadcast_to(part[~gap].mean(0), (*small_gap.shape, 3)).astype(float)
    else:
        filled = inpaint_biharmonic(small / 255, small_gap, channel_axis=-1) * 255
    # Far from the rim the biharmonic fill may swing past any colour of the surroundings.
    low, high = np.percentile(part[~gap], (1, 99), axis=0)
    filled = np.clip(filled, low, high)
    large = _resize(filled, (part.shape[1], part.shape[0]))
    made = image.copy()
    grain = _grain(part, gap)
    window = made[rows, columns]
    window[gap] = np.rint(np.clip(large + grain, 0, 255)).astype(np.uint8)[gap]
    return made


def _shrink(part: np.ndarray, gap: np.ndarray, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the known pixels only, so that no colour of the hole leaks into its surroundings."""
    if size == (part.shape[1], part.shape[0]):
        return part.astype(float), gap
    known = (~gap).astype(float)
    weight = _resize(known[..., None], size, Image.Resampling.BOX)[..., 0]
    mean = _resize(part * known[..., None], size, Image.Resampling.BOX)
    return mean / np.maximum(weight, 1e-6)[..., None], weight < 0.35


def _resize(
    values: np.ndarray, size: tuple[int, int], how: Image.Resampling = Image.Resampling.BICUBIC
) -> np.ndarray:
    channels = [
        np.asarray(Image.fromarray(values[..., channel].astype(np.float32)).resize(size, how), float)
        for channel in range(values.shape[2])
    ]
    return np.stack(channels, axis=-1)


def _grain(part: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Fine detail of the surroundings, each pixel of the hole taking that of its mirror at the rim."""
    detail = part - gaussian_filter(part.astype(float), (1.5, 1.5, 0))
    distance, (rows, columns) = distance_transform_edt(gap, return_indices=True)
    height, width = gap.shape
    y, x = np.mgrid[:height, :width]
    mirror = (np.clip(2 * rows - y, 0, height - 1), np.clip(2 * columns - x, 0, width - 1))
    taken = detail[mirror]
    taken[gap[mirror]] = 0
    calm = np.clip(distance / 2, 0, 1)[..., None]
    return np.clip(taken, -12, 12) * calm


def entity_swap(
    image: np.ndarray, masks: Sequence[np.ndarray], donor: np.ndarray, donor_mask: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[int, int, int, int]]:
    """Replace an object by another thing.

    All instances of the object are filled from their surroundings; a cut-out of the donor is scaled to
    fit the box of the largest one, standing on its lower edge, and blended at its seam.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    masks : sequence of ndarray of bool, shape (H, W)
        Instances of the object.
    donor : ndarray of uint8, shape (h, w, 3)
    donor_mask : ndarray of bool, shape (h, w)

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
    ndarray of bool, shape (H, W)
        Pixels that may differ from `image`.
    (x, y, width, height)
        Box of what was pasted.

    Raises
    ------
    ValueError
        As `perturbations.union`.
    """
    whole = union(masks, image.shape[:2])
    # Masks end a little inside the object's rim, and its colour bleeds past them.
    reach = max(3, round(0.012 * max(image.shape[:2])))
    hole = binary_dilation(whole, iterations=reach)
    made = fill(image, hole)
    top, bottom, left, right = extent(max(masks, key=lambda mask: int(mask.sum())))
    cut, alpha = _cut_out(donor, donor_mask, right - left, bottom - top)
    high, wide = alpha.shape
    y = min(bottom - high, image.shape[0] - high)
    x = min(max(0, left + (right - left - wide) // 2), image.shape[1] - wide)
    window = made[y : y + high, x : x + wide]
    blended = window + alpha[..., None] * (cut - window)
    pasted = alpha > 0
    window[pasted] = np.rint(np.clip(blended, 0, 255)).astype(np.uint8)[pasted]
    changed = hole.copy()
    changed[y : y + high, x : x + wide] |= pasted
    return made, changed, (x, y, wide, high)


def _cut_out(donor: np.ndarray, mask: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """The donor's pixels and weights (0 to 1), scaled to fit into `width` × `height`."""
    top, bottom, left, right = extent(mask)
    part, inside = donor[top:bottom, left:right].astype(float), mask[top:bottom, left:right]
    scale = min(width / inside.shape[1], height / inside.shape[0])
    size = (max(1, round(inside.shape[1] * scale)), max(1, round(inside.shape[0] * scale)))
    # Rim pixels are mixed with the donor's background: take their colour from further inside.
    core = distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1] > 1.5
    if core.any():
        _, (rows, columns) = distance_transform_edt(~core, return_indices=True)
        part = part[rows, columns]
    how = Image.Resampling.LANCZOS
    cut = np.clip(_resize(part, size, how), 0, 255)
    alpha = np.clip(_resize(inside[..., None].astype(float), size, Image.Resampling.BILINEAR)[..., 0], 0, 1)
    # A soft rim of a pixel, drawn inwards so that no background shows.
    soft = np.clip(gaussian_filter(alpha, 0.7, mode="constant") * 2 - 1, 0, 1)
    return cut, soft if soft.max() > 0.5 else alpha
