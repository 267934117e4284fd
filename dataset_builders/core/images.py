"""A picture as it is shown: its EXIF orientation baked in, in a kind that browsers show."""

from __future__ import annotations

import errno
import io
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]
"""Shape (height, width, 3), RGB."""

# Okabe and Ito's colours, which stay apart for colour-blind eyes.
COLOURS = ((230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (213, 94, 0), (204, 121, 167))

_ORIENTATION = 0x0112
# Names of the chunk and of the texts in which a PNG may state its orientation.
_PNG_EXIF = (b"eXIf", b"Raw profile type", b"XML:com.adobe.xmp")
_SUFFIX = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp"}


def exif_transpose(data: bytes, *, whole: bool = True) -> tuple[bytes, str, tuple[int, int]]:
    """A picture with its EXIF orientation baked in, so that pixels stand as they are shown.

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
        # Pillow decodes all of a PNG to look for EXIF behind its pixels.
        bare = kind == "PNG" and not any(key in data for key in _PNG_EXIF)
        turned = not bare and image.getexif().get(_ORIENTATION, 1) not in (0, 1)
        if kind in _SUFFIX and not turned and image.mode not in ("CMYK", "F", "I"):
            return data, _SUFFIX[kind], image.size
        straight = _transpose(image)
        if straight.mode not in ("RGB", "L"):
            straight = straight.convert("RGBA" if "A" in straight.getbands() else "RGB")
        kind = "JPEG" if kind == "JPEG" else "PNG"
        return encode(straight, kind, quality=95), _SUFFIX[kind], straight.size


def read_picture(path: Path) -> bytes:
    """Bytes of a file; what is no regular file, as a pipe that nobody writes to, is not waited for.

    Raises
    ------
    OSError
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "no regular file")
    return path.read_bytes()


@lru_cache(maxsize=4)
def load(path: Path) -> Pixels:
    """Pixels of an image file after its EXIF transpose, read-only."""
    return decode(exif_transpose(read_picture(path), whole=False)[0])


def decode(data: bytes) -> Pixels:
    """Pixels of an image file as they are stored, read-only."""
    with Image.open(io.BytesIO(data)) as image:
        pixels = np.array(image.convert("RGB"))
    pixels.setflags(write=False)
    return pixels


def _transpose(image: Image.Image) -> Image.Image:
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


def reason(error: Exception) -> str:
    """Why Pillow can't read a picture, without the address of an object, which no two runs share."""
    return re.sub(r"<_io\.BytesIO object at 0x[0-9a-f]+>", "of these bytes", str(error))
