"""Picture files of the page, each stored once under a name made of its bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import exif_transpose, reason
from lookcheck.dataset_builders.core.masks import Mask, decode
from lookcheck.dataset_builders.display.drawing import (
    Colour,
    colour_of,
    light_png,
    outline_png,
    shrunk,
    spotlight,
    union,
)
from lookcheck.dataset_builders.display.items import Overlay, Stored

# Longest side of a thumbnail, in pixels: sharp at the grid's height on a dense screen.
THUMB = 400
QUALITY = 80
FOLDER = "media"


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
        self._masks: dict[bytes, tuple[str, str]] = {}
        for kind in ("full", "outline", "light", "thumb"):
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

    def add_layer(self, picture: Mapping[str, Any], size: Stored, where: str) -> str:
        """Store a picture that lies over another of `size`; empty if only thumbnails are wanted.

        Raises
        ------
        InputError
            If it can't be decoded, or is of another size.
        """
        data, suffix, found = _as_shown(_bytes(picture, where), where)
        if found != (size.width, size.height):
            raise InputError(f"{where} differs from image in size")
        return self._write("full", suffix, data) if self.whole else ""

    def add_masks(self, masks: Sequence[Mask], labels: Sequence[str], first: int = 0) -> tuple[Overlay, ...]:
        """Store the instances of a picture as overlays, shown at first.

        Parameters
        ----------
        masks : sequence of ndarray of bool, shape (height, width)
            Of the picture's size.
        labels : sequence of str
        first : int
            Mask n has the colour first + n of `drawing.COLOURS`.
        """
        inside = union(masks, masks[0].shape) if masks else None
        overlays = []
        for number, (mask, label) in enumerate(zip(masks, labels, strict=True), start=first):
            files = self._outlined(mask, inside, colour_of(number))
            overlays.append(Overlay(label, *files, hex_of(colour_of(number))))
        return tuple(overlays)

    def add_rle(
        self, rle: Mapping[str, Any], size: Stored, label: str, colour: Colour, where: str
    ) -> Overlay:
        """Store a mask given as COCO RLE, not shown at first; rows that share it share the files."""
        key = sha256(repr((rle.get("size"), rle.get("counts"), size, colour)).encode()).digest()
        if key not in self._masks:
            mask = mask_of(rle, size, where)
            self._masks[key] = self._outlined(mask, mask, colour)
        return Overlay(label, *self._masks[key], hex_of(colour), shown=False)

    def add_marked(
        self, picture: Mapping[str, Any], masks: Sequence[Mask], where: str, first: int = 0
    ) -> Stored:
        """Store a thumbnail of a picture in which its instances stand out."""
        image = _small(_as_shown(_bytes(picture, where), where)[0], where)
        shown = spotlight(np.asarray(image), [shrunk(mask, image.size) for mask in masks], first)
        return self._thumb(Image.fromarray(shown))

    def _outlined(self, mask: Mask, inside: Mask | None, colour: Colour) -> tuple[str, str]:
        """Paths of a mask's outline and light; empty if only thumbnails are wanted."""
        if not self.whole:
            return "", ""
        outline = outline_png(mask, mask if inside is None else inside, colour)
        return self._write("outline", ".png", outline), self._write("light", ".png", light_png(mask))

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


def hex_of(colour: Colour) -> str:
    """As style sheets write it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


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
