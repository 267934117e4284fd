"""Pictures of a row: masks to look at and the tinted overlay."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.core.images import COLOURS, encode
from lookcheck.dataset_builders.core.masks import Mask

OVERLAY_WIDTH = 640
OVERLAY_QUALITY = 70


def mask_png(mask: Mask) -> bytes:
    """PNG of a mask: mode L, 0 or 255."""
    stream = io.BytesIO()
    # Runs are what a mask is made of: smaller than the usual way, and half the time.
    Image.fromarray(mask * np.uint8(255)).save(stream, "PNG", compress_type=zlib.Z_RLE)
    return stream.getvalue()


def overlay_jpeg(data: bytes, masks: Sequence[Mask]) -> bytes:
    """The picture with each instance tinted and outlined, at most 640 pixels wide.

    Parameters
    ----------
    data : bytes
        After its EXIF transpose.
    masks : sequence of ndarray of bool, shape (height, width)
        Of the picture's size.
    """
    with Image.open(io.BytesIO(data)) as image:
        width, height = image.size
        if width > OVERLAY_WIDTH:
            height = max(1, round(height * OVERLAY_WIDTH / width))
            width = OVERLAY_WIDTH
            # Lets the JPEG decoder skip what the small picture does not need.
            image.draft("RGB", (width, height))
        canvas = np.asarray(image.convert("RGB").resize((width, height), Image.Resampling.BILINEAR)).copy()
    for number, mask in enumerate(masks):
        small = Image.fromarray(mask * np.uint8(255)).resize((width, height), Image.Resampling.BOX)
        # Above 0 and not above one half: a thin instance must not vanish.
        body = np.asarray(small) > 0
        colour = np.array(COLOURS[number % len(COLOURS)], np.uint16)
        canvas[body] = (canvas[body] + colour) // 2
        edge = body & ~_shrink(_shrink(body))
        canvas[edge] = colour
    return encode(Image.fromarray(canvas), "JPEG", OVERLAY_QUALITY)


def _shrink(body: Mask) -> Mask:
    """`body` without its outermost pixels; the picture's border counts as background."""
    inner = np.zeros_like(body)
    inner[1:-1, 1:-1] = body[1:-1, 1:-1] & body[:-2, 1:-1] & body[2:, 1:-1] & body[1:-1, :-2] & body[1:-1, 2:]
    return inner
