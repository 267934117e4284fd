"""Instances made to stand out: an outline around each, all else dimmed; their own pixels stay as they are.

A question may ask for a colour: nothing is drawn over what it asks about.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage

from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.core.masks import Mask, extent

Colour = tuple[int, int, int]

# Okabe and Ito's colours, which stay apart for colour-blind eyes.
COLOURS: tuple[Colour, ...] = (
    (230, 159, 0),
    (86, 180, 233),
    (0, 158, 115),
    (240, 228, 66),
    (213, 94, 0),
    (204, 121, 167),
)
# What lies outside of all instances keeps so many 255ths of its light.
DIMMED = 128
# The outline's width as a share of the picture's longest side.
OUTLINE = 1 / 300


def colour_of(number: int) -> Colour:
    """The colour of an instance; they come round."""
    return COLOURS[number % len(COLOURS)]


def outline_width(height: int, width: int) -> int:
    """In pixels, at least 1."""
    return max(1, round(max(height, width) * OUTLINE))


def union(masks: Sequence[Mask], shape: tuple[int, int]) -> Mask:
    """Whether a pixel lies in any mask."""
    return reduce(np.logical_or, masks, np.zeros(shape, bool))


def outline(mask: Mask, inside: Mask, width: int) -> npt.NDArray[np.uint8]:
    """The outline around a mask: 1, with a dark hairline around it: 2; 0 elsewhere.

    Parameters
    ----------
    mask : ndarray of bool, shape (height, width)
    inside : ndarray of bool, shape (height, width)
        What nothing may be drawn on: the union of all instances.
    width : int
        In pixels.
    """
    drawn = np.zeros(mask.shape, np.uint8)
    if mask.any():
        hairline = max(1, width // 3)
        top, bottom, left, right = extent(mask)
        room = width + hairline
        box = np.s_[max(0, top - room) : bottom + room, max(0, left - room) : right + room]
        line = _grown(mask[box], width)
        edge = _grown(line, hairline)
        drawn[box] = np.select([inside[box], line, edge], [0, 1, 2], 0)
    return drawn


def _grown(mask: Mask, pixels: int) -> Mask:
    """`mask` with so many pixels around it, as round as octagons are."""
    for step in range(pixels):
        mask = ndimage.binary_dilation(mask, ndimage.generate_binary_structure(2, 1 + step % 2))
    return mask


def spotlight(image: Pixels, masks: Sequence[Mask], first: int = 0) -> Pixels:
    """The picture with its instances outlined and all else dimmed; no pixel of an instance changes.

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width, 3)
    masks : sequence of ndarray of bool, shape (height, width)
        Without any, nothing changes.
    first : int
        Mask n has the colour first + n of `COLOURS`.
    """
    if not masks:
        return image
    inside = union(masks, image.shape[:2])
    shown = np.where(inside[..., None], image, (image.astype(np.uint16) * DIMMED // 255).astype(np.uint8))
    for number, mask in enumerate(masks, start=first):
        drawn = outline(mask, inside, outline_width(*mask.shape))
        shown[drawn == 1] = colour_of(number)
        shown[drawn == 2] = _dark(colour_of(number))
    return shown


def shrunk(mask: Mask, size: tuple[int, int]) -> Mask:
    """A mask for a smaller picture of `size` (width, height)."""
    large = Image.fromarray(mask.astype(np.uint8) * np.uint8(255))
    # Above 0 and not above one half: a thin instance must not vanish.
    return np.asarray(large.resize(size, Image.Resampling.BOX)) > 0


def outline_png(mask: Mask, inside: Mask, colour: Colour) -> bytes:
    """`outline` as a PNG of the picture's size, transparent elsewhere."""
    drawn = outline(mask, inside, outline_width(*mask.shape))
    return _png(drawn, [(0, 0, 0), colour, _dark(colour)], transparency=bytes([0, 255, 255]))


def light_png(mask: Mask) -> bytes:
    """PNG to multiply a picture with: white on the mask, grey around it."""
    return _png(mask.astype(np.uint8), [(DIMMED, DIMMED, DIMMED), (255, 255, 255)])


def _dark(colour: Colour) -> Colour:
    red, green, blue = colour
    return red // 4, green // 4, blue // 4


def _png(indices: npt.NDArray[np.uint8], palette: Sequence[Colour], **options: bytes) -> bytes:
    image = Image.fromarray(indices, "P")
    image.putpalette([part for colour in palette for part in colour])
    stream = io.BytesIO()
    # Runs are what a mask is made of: smaller than the usual way, and half the time.
    image.save(stream, "PNG", bits=(len(palette) - 1).bit_length(), compress_type=zlib.Z_RLE, **options)
    return stream.getvalue()
