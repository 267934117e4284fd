"""Picture files of the page, each stored once under a name made of its bytes."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy import ndimage

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import COLOURS, exif_transpose, reason
from lookcheck.dataset_builders.core.masks import Mask, decode
from lookcheck.dataset_builders.display.items import Stored

# Longest side of a thumbnail, in pixels: sharp at the grid's height on a dense screen.
THUMB = 400
QUALITY = 80
FILL_ALPHA = 92
# The outline's width as a share of the picture's longest side.
OUTLINE = 1 / 360
FOLDER = "media"

__all__ = ["COLOURS", "Media", "mask_of"]

Colour = tuple[int, int, int]


class Media:
    """Writes pictures below a folder.

    Parameters
    ----------
    root : Path
        The page's folder.
    whole : bool
        Whether to write whole pictures and masks, or thumbnails alone.
    """

    def __init__(self, root: Path, *, whole: bool = True) -> None:
        self.root = root
        self.whole = whole
        self._known: dict[bytes, tuple[Stored, Stored]] = {}
        self._masks: dict[bytes, str] = {}
        for kind in ("full", "mask", "thumb"):
            (root / FOLDER / kind).mkdir(parents=True)

    def add(self, picture: Mapping[str, Any], where: str) -> tuple[Stored, Stored]:
        """Store a picture and its thumbnail.

        Parameters
        ----------
        picture : mapping
            ``{"bytes": …}`` as a built folder has it.
        where : str
            Id and column, for messages.

        Returns
        -------
        Stored
        Stored
            The thumbnail.

        Raises
        ------
        InputError
            If the picture can't be decoded.
        """
        key = sha256(_bytes(picture, where)).digest()
        if key not in self._known:
            data, suffix, (width, height) = _as_shown(picture["bytes"], where)
            path = self._write("full", suffix, data) if self.whole else ""
            thumb = self._thumb(_small(data, where))
            self._known[key] = (Stored(path, width, height), thumb)
        return self._known[key]

    def add_mask(self, mask: Mask, colour: Colour) -> str:
        """Store a mask as a picture that is transparent outside of it.

        Parameters
        ----------
        mask : ndarray of bool, shape (height, width)
        colour : (int, int, int)

        Returns
        -------
        str
            Its path; empty if only thumbnails are wanted.
        """
        return self._write("mask", ".png", mask_overlay(mask, colour)) if self.whole else ""

    def add_rle(self, rle: Mapping[str, Any], size: Stored, colour: Colour, where: str) -> str:
        """Store a mask given as COCO RLE; rows that share it share the file. See `add_mask`."""
        key = sha256(repr((rle.get("size"), rle.get("counts"), size, colour)).encode()).digest()
        if key not in self._masks:
            self._masks[key] = self.add_mask(mask_of(rle, size, where), colour)
        return self._masks[key]

    def add_marked(
        self, picture: Mapping[str, Any], masks: Sequence[tuple[Mask, Colour]], where: str
    ) -> Stored:
        """Store a thumbnail of a picture with its masks drawn in."""
        image = _small(_as_shown(_bytes(picture, where), where)[0], where)
        return self._thumb(tint(image, masks))

    def _thumb(self, image: Image.Image) -> Stored:
        stream = io.BytesIO()
        # WebP would be smaller, and take twenty times as long.
        image.save(stream, "JPEG", quality=QUALITY, subsampling=0)
        return Stored(self._write("thumb", ".jpg", stream.getvalue()), *image.size)

    def _write(self, kind: str, suffix: str, data: bytes) -> str:
        name = f"{FOLDER}/{kind}/{sha256(data).hexdigest()[:24]}{suffix}"
        path = self.root / name
        if not path.exists():
            path.write_bytes(data)
        return name


def mask_of(rle: Mapping[str, Any], size: Stored, where: str) -> Mask:
    """Decode a COCO RLE and hold it to the picture's size.

    Raises
    ------
    InputError
        If the encoding is broken or of another size.
    """
    try:
        mask = decode(rle, where)
    except ValueError as error:
        raise InputError(str(error)) from None
    if mask.shape != (size.height, size.width):
        height, width = mask.shape
        raise InputError(f"{where} is {width} × {height}, the picture {size.width} × {size.height}")
    return mask


def mask_overlay(mask: Mask, colour: Colour) -> bytes:
    """PNG of a mask: a tint with an outline inside its edge, transparent elsewhere.

    Parameters
    ----------
    mask : ndarray of bool, shape (height, width)
    colour : (int, int, int)

    Returns
    -------
    bytes
        Of four palette colours: nothing, tint, outline, dark hairline at the very edge.
    """
    indices = np.zeros(mask.shape, np.uint8)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if rows.size:
        box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        inner = mask[box]
        width = max(1, round(max(mask.shape) * OUTLINE))
        hairline = _shrink(inner, max(1, width // 3)) if width > 1 else inner
        body = _shrink(hairline, width)
        # At least the outline's colour shows, however thin the instance.
        indices[box] = np.select([body, hairline, inner], [1, 2, 3 if hairline.any() else 2], 0)
    image = Image.fromarray(indices, "P")
    dark = tuple(part // 4 for part in colour)
    image.putpalette([0, 0, 0, *colour, *colour, *dark])
    stream = io.BytesIO()
    image.save(
        stream,
        "PNG",
        bits=2,
        transparency=bytes([0, FILL_ALPHA, 255, 190]),
        # Runs are what a mask is made of: smaller than the usual way, and half the time.
        compress_type=zlib.Z_RLE,
    )
    return stream.getvalue()


def tint(image: Image.Image, masks: Sequence[tuple[Mask, Colour]]) -> Image.Image:
    """A small picture with masks of the large one drawn in.

    Parameters
    ----------
    image : PIL.Image
        Mode RGB.
    masks : sequence of (ndarray of bool, colour)
        Of the large picture's shape.
    """
    canvas = np.asarray(image).copy()
    for mask, colour in masks:
        large = Image.fromarray(mask.astype(np.uint8) * np.uint8(255))
        # Above 0 and not above one half: a thin instance must not vanish.
        body = np.asarray(large.resize(image.size, Image.Resampling.BOX)) > 0
        tone = np.array(colour, np.uint16)
        canvas[body] = (canvas[body] * np.uint16(6) + tone * 4) // 10
        canvas[body & ~_shrink(body, 2)] = colour
    return Image.fromarray(canvas)


def _shrink(body: Mask, pixels: int) -> Mask:
    """`body` without its outermost pixels; what lies beyond the border counts as background."""
    shrunk: Mask = ndimage.binary_erosion(body, iterations=pixels)
    return shrunk


def _bytes(picture: Mapping[str, Any], where: str) -> bytes:
    data = picture.get("bytes")
    if not isinstance(data, bytes) or not data:
        raise InputError(f"{where}: the picture's bytes are not in the file")
    return data


def _as_shown(data: bytes, where: str) -> tuple[bytes, str, tuple[int, int]]:
    try:
        return exif_transpose(data, whole=False)
    except Exception as error:  # Pillow raises many kinds for a broken file
        raise InputError(f"{where}: the picture can't be decoded ({reason(error)})") from None


def _small(data: bytes, where: str) -> Image.Image:
    """The picture in mode RGB, its longest side at most `THUMB`; what is transparent becomes white."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            # Lets the JPEG decoder skip what the small picture does not need.
            image.draft("RGB", (THUMB, THUMB))
            small: Image.Image = image
            if image.has_transparency_data:
                layer = image.convert("RGBA")
                small = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
            small = small.convert("RGB")
    except Exception as error:  # Pillow raises many kinds for a broken file
        raise InputError(f"{where}: the picture can't be decoded ({reason(error)})") from None
    small.thumbnail((THUMB, THUMB), Image.Resampling.BICUBIC)
    return small
