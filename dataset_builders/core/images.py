"""A picture as it is shown: its EXIF orientation baked in, in a kind that browsers show."""

from __future__ import annotations

import errno
import io
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms, JpegImagePlugin

Pixels = npt.NDArray[np.uint8]
"""Shape (height, width, 3), RGB."""

_ORIENTATION = 0x0112
# Names of the chunk and of the texts in which a PNG may state its orientation.
_PNG_EXIF = (b"eXIf", b"Raw profile type", b"XML:com.adobe.xmp")
_WAYS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIDEWAYS = tuple(_WAYS[orientation] for orientation in (5, 6, 7, 8))
_SUFFIX = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp"}


def exif_transpose(data: bytes, *, whole: bool = True) -> tuple[bytes, str, tuple[int, int]]:
    """A picture with its EXIF orientation baked in, so that pixels stand as they are shown.

    The bytes stay as they are, the same object, where they can; a picture with an EXIF orientation, of a
    kind that browsers don't show, of CMYK or of more than 8 bits of grey is written anew, with its ICC
    profile. A turned JPEG keeps its quantisation tables, which loses next to nothing.

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
        deep = image.mode == "F" or image.mode.startswith("I")
        if kind in _SUFFIX and not turned and not deep and image.mode != "CMYK":
            return data, _SUFFIX[kind], image.size
        way = _WAYS.get(image.getexif().get(_ORIENTATION, 1))
        straight = _shown(image if way is None else image.transpose(way))
        kind = "JPEG" if kind == "JPEG" else "PNG"
        how: dict[str, Any] = {"icc_profile": straight.info.get("icc_profile")}
        if isinstance(image, JpegImagePlugin.JpegImageFile):
            how |= {"quality": 95} if image.mode == "CMYK" else _as_compressed(image, way)
        stream = io.BytesIO()
        straight.save(stream, kind, exif=b"", **how)
        return stream.getvalue(), _SUFFIX[kind], straight.size


def _as_compressed(image: JpegImagePlugin.JpegImageFile, way: Image.Transpose | None) -> dict[str, Any]:
    """How a turned JPEG is saved with next to no loss: by its own quantisation tables, turned as it is."""
    tables = [np.array(table).reshape(8, 8) for _, table in sorted(image.quantization.items())]
    sampling = JpegImagePlugin.get_sampling(image)
    if sampling == 1:
        # 4:2:2 turned by a quarter is 4:4:0, which Pillow can't write; it loses more when mirrored, too.
        return {"quality": 95, "subsampling": 0}
    if way in _SIDEWAYS:
        tables = [table.T for table in tables]
    return {"qtables": [table.ravel().tolist() for table in tables], "subsampling": sampling}


def _shown(image: Image.Image) -> Image.Image:
    """An image of 8 bits in a mode that browsers show: grey, RGB or RGBA.

    16-bit grey is scaled, not clipped; CMYK goes through its ICC profile if it has one.
    """
    if image.mode == "F":
        raise OSError("floating-point pixels have no known range")
    if image.mode.startswith("I"):
        values = np.asarray(image).astype(np.int64)
        if values.min() < 0 or values.max() > 0xFFFF:
            raise OSError("32-bit pixels have no known range")
        made = Image.fromarray(((values * 255 + 0x7FFF) // 0xFFFF).astype(np.uint8))
        made.info |= image.info
        return made
    profile = image.info.get("icc_profile")
    if image.mode == "CMYK" and profile:
        try:
            made = (
                ImageCms.profileToProfile(
                    image,
                    ImageCms.ImageCmsProfile(io.BytesIO(profile)),
                    ImageCms.createProfile("sRGB"),
                    outputMode="RGB",
                )
                or image
            )
        except ImageCms.PyCMSError as error:
            raise OSError(f"the ICC profile can't be used ({error})") from None
        made.info.pop("icc_profile", None)
        return made
    if image.mode in ("RGB", "L"):
        return image
    return image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB")


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


def encode(image: Image.Image, kind: str, quality: int = 75, subsampling: int = -1) -> bytes:
    """File bytes of an image; `quality` and `subsampling` (0: none of the colours) matter to JPEG only."""
    stream = io.BytesIO()
    image.save(stream, kind, **({"quality": quality, "subsampling": subsampling} if kind == "JPEG" else {}))
    return stream.getvalue()


def reason(error: Exception) -> str:
    """Why Pillow can't read a picture, without the address of an object, which no two runs share."""
    return re.sub(r"<_io\.BytesIO object at 0x[0-9a-f]+>", "of these bytes", str(error))
