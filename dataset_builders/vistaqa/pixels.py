"""Pictures of a row: the upright image, masks to look at and the tinted overlay."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

import numpy as np
from PIL import Image

# Okabe and Ito's colours, which stay apart for colour-blind eyes.
COLOURS = ((230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (213, 94, 0), (204, 121, 167))
OVERLAY_WIDTH = 640
OVERLAY_QUALITY = 70
_ORIENTATION = 0x0112
_SUFFIX = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp"}


def upright(data: bytes, *, whole: bool = True) -> tuple[bytes, str, tuple[int, int]]:
    """A picture whose pixels stand as they are shown.

    The bytes stay as they are where they can; a picture with an EXIF orientation, or of a kind that
    browsers don't show, is written anew.

    Parameters
    ----------
    data : bytes
        An image file.
    whole : bool
        Whether to decode all pixels, which shows a damaged file; once is enough.

    Returns
    -------
    bytes
    str
        Ending of the file's name.
    (int, int)
        Width and height in pixels.

    Raises
    ------
    OSError
        If the picture can't be decoded as a whole.
    """
    with Image.open(io.BytesIO(data)) as image:
        if whole:
            image.load()
        kind = image.format or ""
        turned = image.getexif().get(_ORIENTATION, 1) not in (0, 1)
        if kind in _SUFFIX and not turned and image.mode not in ("CMYK", "F", "I"):
            return data, _SUFFIX[kind], image.size
        straight = transpose(image)
        if straight.mode not in ("RGB", "L"):
            straight = straight.convert("RGBA" if "A" in straight.getbands() else "RGB")
        kind = "JPEG" if kind == "JPEG" else "PNG"
        return encode(straight, kind, quality=95), _SUFFIX[kind], straight.size


def transpose(image: Image.Image) -> Image.Image:
    """The image with its EXIF orientation baked in and no EXIF left."""
    ways = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    way = ways.get(image.getexif().get(_ORIENTATION, 1))
    straight = image.copy() if way is None else image.transpose(way)
    straight.info.pop("exif", None)
    straight.getexif().clear()
    return straight


def encode(image: Image.Image, kind: str, quality: int = 75) -> bytes:
    """File bytes of an image; `quality` matters to JPEG only."""
    stream = io.BytesIO()
    image.save(stream, kind, **({"quality": quality} if kind == "JPEG" else {}))
    return stream.getvalue()


def mask_png(mask: np.ndarray) -> bytes:
    """PNG of a mask (uint8, 0 or 1, shape (height, width)): mode L, 0 or 255."""
    stream = io.BytesIO()
    # Runs are what a mask is made of: smaller than the usual way, and half the time.
    Image.fromarray(mask * np.uint8(255)).save(stream, "PNG", compress_type=zlib.Z_RLE)
    return stream.getvalue()


def overlay_jpeg(data: bytes, masks: Sequence[np.ndarray]) -> bytes:
    """The picture with each instance tinted and outlined, at most 640 pixels wide.

    Parameters
    ----------
    data : bytes
        An upright picture.
    masks : sequence of ndarray of uint8, shape (height, width)
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


def _shrink(body: np.ndarray) -> np.ndarray:
    """`body` without its outermost pixels; the picture's border counts as background."""
    inner = np.zeros_like(body)
    inner[1:-1, 1:-1] = body[1:-1, 1:-1] & body[:-2, 1:-1] & body[2:, 1:-1] & body[1:-1, :-2] & body[1:-1, 2:]
    return inner
