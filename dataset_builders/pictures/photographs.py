"""Four photographs of the scikit-image package with hand-drawn outlines of what is on them.

The pixels come from the installed package. They are held to their hashes: an outline fits one
picture only.

>>> [picture.name for picture in photographs()]
['astronaut', 'chelsea', 'coffee', 'rocket']
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np
from skimage import data

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.pictures.model import Instance, Picture
from lookcheck.dataset_builders.pictures.shapes import Frame

# Hash of the RGB pixels, licence, credit, domain.
_ABOUT = {
    "astronaut": (
        "a8c429c18afa7b0fd5673e598d73a21225d94c864a71bbb3885126fdecb41071",
        "public domain",
        "NASA",
        "indoor",
    ),
    "chelsea": (
        "416b729128bfb2c3d1eb69bf9b1734a796293abc17939267b2dc94f8a5784031",
        "CC0-1.0",
        "Stefan van der Walt",
        "indoor",
    ),
    "coffee": (
        "0ce2b51640b9c95f19617f03eabf40c3f0368589cc1ee1190b70966165ac184f",
        "CC0-1.0",
        "Rachel Michetti, Pikolo Espresso Bar",
        "indoor",
    ),
    "rocket": (
        "3d4435cc745752b7f9724df88c6e18817de3ce7e3d2d71c55f85f7831e68f197",
        "CC0-1.0",
        "SpaceX",
        "outdoor",
    ),
}


@cache
def photographs() -> tuple[Picture, ...]:
    """The photographs; their arrays are read-only.

    Raises
    ------
    InputError
        If the installed package holds another picture.
    """
    return tuple(_photograph(name) for name in _ABOUT)


def credits() -> list[dict[str, str]]:
    """Name, credit and licence of each photograph, for the cards of samples."""
    return [
        {"name": picture.name, "credit": picture.credit, "license": picture.license}
        for picture in photographs()
    ]


def _photograph(name: str) -> Picture:
    digest, license, credit, domain = _ABOUT[name]
    image = np.ascontiguousarray(getattr(data, name)()[..., :3])
    if sha256(image.tobytes()).hexdigest() != digest:
        raise InputError(f"skimage.data.{name}: not the picture that the outlines were drawn on")
    image.setflags(write=False)
    instances = _instances(image.shape[:2], _outlines()[name])
    return Picture(name, image, instances, license, credit, domain)


@cache
def _outlines() -> dict[str, list[dict[str, Any]]]:
    text = files("lookcheck.dataset_builders.pictures").joinpath("outlines.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _instances(shape: tuple[int, ...], outlines: list[dict[str, Any]]) -> tuple[Instance, ...]:
    drawn = [outline_mask(shape, item.get("add", ()), item.get("remove", ())) for item in outlines]

    def union(categories: Sequence[str]) -> np.ndarray:
        mask = np.zeros(shape, bool)
        for item, other in zip(outlines, drawn, strict=True):
            if item["category"] in categories:
                mask |= other
        return mask

    for item, mask in zip(outlines, drawn, strict=True):
        mask &= ~union(item.get("behind", ()))
    for item, mask in zip(outlines, drawn, strict=True):
        mask |= union(item.get("joins", ()))
        mask.setflags(write=False)
    return tuple(
        Instance(item["category"], mask, item.get("label", ""))
        for item, mask in zip(outlines, drawn, strict=True)
    )


def outline_mask(shape: tuple[int, ...], add: Sequence[str], remove: Sequence[str] = ()) -> np.ndarray:
    """Mask of the pixels whose centres lie inside the outlines.

    Parameters
    ----------
    shape : (int, int)
        Height and width.
    add, remove : sequence of str
        Closed outlines of points ``x,y`` in pixels, separated by blanks; (0, 0) is the outer corner of
        the top left pixel.

    Returns
    -------
    ndarray of bool, shape (H, W)
        Inside one of `add` and none of `remove`.

    Examples
    --------
    >>> outline_mask((2, 3), ["1,0 3,0 3,1 1,1"]).astype(int).tolist()
    [[0, 1, 1], [0, 0, 0]]
    """
    mask = np.zeros(shape, bool)
    y, x = (axis + 0.5 for axis in np.ogrid[: shape[0], : shape[1]])
    for outlines, value in ((add, True), (remove, False)):
        for outline in outlines:
            mask[Frame(0, 0, 1).polygon(outline).distance(x, y) < 0] = value
    return mask
