"""Pictures of a row: masks to look at, and the evidence in the picture."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.core.images import encode
from lookcheck.dataset_builders.core.masks import Mask
from lookcheck.dataset_builders.display.drawing import shrunk, spotlight

OVERLAY_WIDTH = 640
OVERLAY_QUALITY = 90


def mask_png(mask: Mask) -> bytes:
    """PNG of a mask: mode L, 0 or 255."""
    stream = io.BytesIO()
    # Runs are what a mask is made of: smaller than the usual way, and half the time.
    Image.fromarray(mask * np.uint8(255)).save(stream, "PNG", compress_type=zlib.Z_RLE)
    return stream.getvalue()


def overlay_jpeg(data: bytes, masks: Sequence[Mask]) -> bytes:
    """The picture with each instance outlined and all else dimmed, at most 640 pixels wide.

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
        canvas = np.asarray(image.convert("RGB").resize((width, height), Image.Resampling.BILINEAR))
    shown = spotlight(canvas, [shrunk(mask, (width, height)) for mask in masks])
    # Colours at full resolution: those of an outline must not run into the instance.
    return encode(Image.fromarray(shown), "JPEG", OVERLAY_QUALITY, subsampling=0)
