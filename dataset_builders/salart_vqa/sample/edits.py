"""Local edits of photographs that look like what a picture generator gets wrong.

Every edit takes an array (uint8, shape (H, W, 3)) and gives a new one; pixels away from the edit stay
bit-identical.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter
from skimage.transform import swirl


def _ellipse(shape: tuple[int, ...], x: float, y: float, rx: float, ry: float, soft: float) -> np.ndarray:
    """Weights from 0 to 1, shape (H, W, 1), with a soft rim inside the ellipse; exactly 0 outside it."""
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    inside = ((columns - x) / rx) ** 2 + ((rows - y) / ry) ** 2 < 1
    core = ((columns - x) / (rx - 2 * soft)) ** 2 + ((rows - y) / (ry - 2 * soft)) ** 2 < 1
    weights: np.ndarray = gaussian_filter(core.astype(float), soft) * inside
    return weights[..., None]


def _blend(below: np.ndarray, above: np.ndarray, weight: np.ndarray) -> np.ndarray:
    mixed = below + weight * (above - below.astype(float))
    return np.where(weight > 0, np.rint(np.clip(mixed, 0, 255)), below).astype(np.uint8)


def third_eye(image: np.ndarray) -> np.ndarray:
    """Chelsea with another eye on the forehead."""
    dx, dy = 62, -62
    moved = np.roll(image, (dy, dx), axis=(0, 1))
    return _blend(image, moved, _ellipse(image.shape, 171 + dx, 116 + dy, 43, 38, 4))


def melted_rim(image: np.ndarray) -> np.ndarray:
    """Coffee whose cup has a rim that melts into the inside."""
    return _swirled(image, 186, 110, 62, 3.2)


def melted_flag(image: np.ndarray) -> np.ndarray:
    """Astronaut whose flag has stripes that curl into a whirl."""
    return _swirled(image, 46, 205, 84, 5)


def broken_rocket(image: np.ndarray) -> np.ndarray:
    """Rocket whose upper part stands beside the lower one."""
    left, right, top, bottom, shift = 303, 343, 112, 236, 19
    edited = image.astype(float)
    # The sky goes smoothly from the left of the rocket to the right.
    step = np.linspace(0, 1, right - left)[None, :, None]
    start = image[top:bottom, left - 4 : left].mean(1, keepdims=True)
    end = image[top:bottom, right : right + 4].mean(1, keepdims=True)
    sky = start * (1 - step) + end * step
    grain = image[top:bottom, left - 80 : left - 40].astype(float)
    grain -= gaussian_filter(grain, (3, 3, 0))
    upper = edited[top:bottom, left:right].copy()
    body = np.clip(np.abs(upper - sky).max(2) / 14 - 0.6, 0, 1)
    weight = gaussian_filter(body, 0.6)[..., None]
    edited[top:bottom, left:right] = sky + grain
    window = edited[top:bottom, left + shift : right + shift]
    window += weight * (upper - window)
    changed = np.zeros(image.shape[:2], bool)
    changed[top:bottom, left : right + shift] = True
    return np.where(changed[..., None], np.rint(np.clip(edited, 0, 255)), image).astype(np.uint8)


def _swirled(image: np.ndarray, x: int, y: int, radius: int, strength: float) -> np.ndarray:
    # skimage's annotations are incomplete.
    whirled = swirl(  # type: ignore[no-untyped-call]
        image, center=(x, y), strength=strength, radius=radius, preserve_range=True, mode="edge", order=1
    )
    return _blend(image, whirled, _ellipse(image.shape, x, y, radius, radius, 3))
