"""The perturbations of "Seeing without Looking" as pure functions.

Each takes a picture (uint8, shape (H, W, 3)) and gives a new one of the same shape; pixels that an
operator does not touch stay bit-identical. `entity_swap` is in `swap`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import PurePosixPath

import numpy as np
from PIL import Image, ImageFilter

from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.core.masks import Mask, extent

GRID = 8


def seed_of(*parts: object) -> int:
    """A seed from names alone, never from order or time: 63 bits, so that it fits an int64 column.

    Examples
    --------
    >>> seed_of(285, "noise_50")
    85244581044180205
    """
    text = "/".join(map(str, parts))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "little") >> 1


def image_key(file_name: str) -> str:
    """What an image is called in ids and seeds: its file's name without the ending.

    Examples
    --------
    >>> image_key("train2017/000000046207.jpg")
    'train2017_000000046207'
    """
    return str(PurePosixPath(file_name).with_suffix("")).replace("/", "_")


def black_image(image: Pixels) -> Pixels:
    """All black, of the same size."""
    return np.zeros_like(_checked(image))


def black(image: Pixels, ratio: float) -> Pixels:
    """Black out a share of the picture.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    ratio : float
        0.5: rows [0, H // 2). 0.75: these and the lower left quarter. 1: all. The paper defines no
        other; for them the first ``round(64 * ratio)`` cells of an 8 × 8 grid in row-major order.

    Raises
    ------
    ValueError
        If `ratio` is not in [0, 1].

    Examples
    --------
    >>> black(np.full((4, 4, 3), 9, np.uint8), 0.75)[..., 0].tolist()
    [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 9, 9], [0, 0, 9, 9]]
    """
    if not 0 <= ratio <= 1:
        raise ValueError(f"ratio must be in [0, 1], not {ratio!r}")
    made = _checked(image).copy()
    height, width = made.shape[:2]
    if ratio in (0.5, 0.75):
        made[: height // 2] = 0
        if ratio == 0.75:
            made[height // 2 :, : width // 2] = 0
        return made
    for cell in range(round(GRID * GRID * ratio)):
        row, column = divmod(cell, GRID)
        rows = slice(row * height // GRID, (row + 1) * height // GRID)
        made[rows, column * width // GRID : (column + 1) * width // GRID] = 0
    return made


def noise(image: Pixels, alpha: float, seed: int) -> Pixels:
    """Mix with uniform noise: I' = (1 - alpha) * I + alpha * U, truncated to uint8.

    U has an independent uniform integer in 0 … 255 for each pixel and channel: the bytes, low byte
    first, of the 64-bit stream of PCG64, which numpy keeps the same in all versions and on all machines.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    alpha : float
        In [0, 1].
    seed : int
        From the image's id and the condition, so that all rows of an image share one picture.

    Raises
    ------
    ValueError
        If `alpha` is not in [0, 1].
    """
    _check_alpha(alpha)
    size = _checked(image).size
    raw = np.random.PCG64(seed).random_raw(-(-size // 8))
    uniform = raw.astype("<u8").view(np.uint8)[:size].reshape(image.shape)
    mixed = (1 - alpha) * image.astype(np.float64) + alpha * uniform
    made: Pixels = np.clip(mixed, 0, 255).astype(np.uint8)
    return made


def gaussian_blur(image: Pixels, alpha: float) -> Pixels:
    """Gaussian blur of radius 10 * alpha pixels, as Pillow computes it.

    Raises
    ------
    ValueError
        If `alpha` is not in [0, 1].
    """
    _check_alpha(alpha)
    return np.array(Image.fromarray(_checked(image)).filter(ImageFilter.GaussianBlur(10 * alpha)))


def black_mask(image: Pixels, masks: Sequence[Mask]) -> Pixels:
    """The pixels of all masks (bool, shape (H, W)) black.

    Raises
    ------
    ValueError
        If there is no mask, or one has another size or no pixel.
    """
    made = _checked(image).copy()
    made[union(masks, image.shape[:2])] = 0
    return made


def black_box(image: Pixels, masks: Sequence[Mask]) -> Pixels:
    """The bounding box of each mask (bool, shape (H, W)) black.

    Raises
    ------
    ValueError
        As `black_mask`.
    """
    made = _checked(image).copy()
    made[boxes(masks, image.shape[:2])] = 0
    return made


def boxes(masks: Sequence[Mask], shape: tuple[int, ...]) -> Mask:
    """The bounding boxes of all masks in one mask (bool, shape (H, W)).

    Raises
    ------
    ValueError
        As `union`.
    """
    union(masks, shape)
    whole = np.zeros(shape, bool)
    for mask in masks:
        top, bottom, left, right = extent(mask)
        whole[top:bottom, left:right] = True
    return whole


def union(masks: Iterable[Mask], shape: tuple[int, ...]) -> Mask:
    """All masks in one (bool, shape (H, W)).

    Raises
    ------
    ValueError
        If there is no mask, or one has another size or no pixel.
    """
    whole = np.zeros(shape, bool)
    empty = True
    for mask in masks:
        if mask.shape != tuple(shape) or mask.dtype != bool:
            raise ValueError(f"a mask of {mask.dtype} {mask.shape} does not fit an image of {tuple(shape)}")
        if not mask.any():
            raise ValueError("a mask has no pixel")
        whole |= mask
        empty = False
    if empty:
        raise ValueError("no mask: an object without an instance can't be masked")
    return whole


def _checked(image: Pixels) -> Pixels:
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"an image must be uint8 of shape (H, W, 3), not {image.dtype} {image.shape}")
    return image


def _check_alpha(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be in [0, 1], not {alpha!r}")
