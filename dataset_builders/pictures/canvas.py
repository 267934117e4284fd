"""A canvas that remembers which thing shows at each pixel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter, uniform_filter

from lookcheck.dataset_builders.pictures.model import Instance, Picture
from lookcheck.dataset_builders.pictures.shapes import Region

Colour = tuple[int, int, int]
Fill = Colour | Callable[[np.ndarray, np.ndarray], np.ndarray]
"""One colour, or the colours (..., 3), 0 to 255, at the pixels' centres: x has the shape (1, W), y (H, 1)."""

LICENSE = "CC0-1.0"
CREDIT = "drawn by lookcheck"


def seed(name: str) -> int:
    """A seed for `numpy.random.default_rng` that depends on the name alone."""
    return int.from_bytes(sha256(name.encode()).digest()[:8], "little")


class Canvas:
    """Draw things back to front; what is covered leaves the masks of what lies below.

    Parameters
    ----------
    width, height : int
        In pixels.
    background : Fill

    Examples
    --------
    >>> from lookcheck.dataset_builders.pictures.shapes import rectangle
    >>> canvas = Canvas(4, 2, (255, 255, 255))
    >>> canvas.paint(rectangle(0, 0, 3, 1), (200, 0, 0), canvas.thing("bar"))
    >>> canvas.paint(rectangle(2, 0, 4, 2), (0, 0, 200), canvas.thing("box"))
    >>> [item.mask.astype(int).tolist() for item in canvas.instances()]
    [[[1, 1, 0, 0], [0, 0, 0, 0]], [[0, 0, 1, 1], [0, 0, 1, 1]]]
    """

    def __init__(self, width: int, height: int, background: Fill) -> None:
        self.width, self.height = width, height
        self.pixels = np.empty((height, width, 3))
        self.owner = np.zeros((height, width), np.int32)
        y, x = _centres(slice(0, height), slice(0, width))
        self.pixels[:] = background(x, y) if callable(background) else background
        self._things: list[tuple[str, str]] = []
        self._parts: list[tuple[str, str, Region, int]] = []

    def thing(self, category: str, label: str = "") -> int:
        """Announce a new instance; gives the owner to paint with."""
        self._things.append((category, label))
        return len(self._things)

    def paint(self, region: Region, fill: Fill, owner: int | None = None, opacity: float = 1) -> None:
        """Paint a region with smooth edges.

        Parameters
        ----------
        region : Region
        fill : Fill
        owner : int, optional
            The instance that the region belongs to; 0 for scenery that hides what is below. Without
            one the pixels keep their owner: light, shadow and marks on a thing.
        opacity : float
            From 0 to 1.
        """
        window = self._window(region.box)
        if window is None:
            return
        y, x = _centres(*window)
        distance = region.distance(x, y)
        alpha = np.clip(0.5 - distance, 0, 1)[..., None] * opacity
        colours = np.clip(fill(x, y) if callable(fill) else np.array(fill, float), 0, 255)
        self.pixels[window] += alpha * (colours - self.pixels[window])
        if owner is not None:
            self.owner[window][distance < 0] = owner

    def part(self, region: Region, whole: int, category: str, label: str = "") -> None:
        """Announce the part of the instance `whole` that lies in a region; what hides it is left out."""
        self._parts.append((category, label, region, whole))

    def claim(self, region: Region, owner: int) -> None:
        """Give a region to an instance without painting it."""
        window = self._window(region.box)
        if window is not None:
            y, x = _centres(*window)
            self.owner[window][region.distance(x, y) < 0] = owner

    def shade(self, region: Region, blur: float, opacity: float, colour: Colour = (0, 0, 0)) -> None:
        """A soft shadow (or, with a light colour, a glow); owners stay."""
        left, top, right, bottom = region.box
        reach = 3 * blur
        window = self._window((left - reach, top - reach, right + reach, bottom + reach))
        if window is None:
            return
        y, x = _centres(*window)
        alpha = np.clip(0.5 - region.distance(x, y), 0, 1)
        # Three box blurs are as good as one Gaussian, and cost the same for any width.
        for _ in range(3):
            alpha = uniform_filter(alpha, 2 * round(blur) + 1, mode="constant")
        self.pixels[window] += (alpha * opacity)[..., None] * (np.array(colour, float) - self.pixels[window])

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: int,
        colour: Colour,
        owner: int | None = None,
        at: str = "mm",
    ) -> tuple[float, float, float, float]:
        """Write one line; `at` is Pillow's anchor. Gives left, top, right and bottom of the ink.

        With an owner, pixels with at least half ink become its own.
        """
        font = _font(size)
        sheet = Image.new("L", (self.width, self.height))
        draw = ImageDraw.Draw(sheet)
        draw.text((x, y), text, 255, font, at)
        ink = np.asarray(sheet) / 255
        self.pixels += ink[..., None] * (np.array(colour, float) - self.pixels)
        if owner is not None:
            self.owner[ink >= 0.5] = owner
        return draw.textbbox((x, y), text, font, at)

    def grain(self, name: str, strength: float = 2.5) -> None:
        """A little noise, so that flat areas look less like plastic."""
        noise = np.random.default_rng(seed(name)).normal(0, strength, (self.height, self.width, 1))
        self.pixels += gaussian_filter(noise, (0.6, 0.6, 0))

    def image(self) -> np.ndarray:
        """The pixels as uint8."""
        return np.clip(np.rint(self.pixels), 0, 255).astype(np.uint8)

    def instances(self) -> tuple[Instance, ...]:
        """The things that show, in the order in which they were announced, then the parts."""
        found = [(*thing, self.owner == number) for number, thing in enumerate(self._things, start=1)]
        y, x = _centres(slice(0, self.height), slice(0, self.width))
        for category, label, region, whole in self._parts:
            found.append((category, label, (self.owner == whole) & (region.distance(x, y) < 0)))
        for _, _, mask in found:
            mask.setflags(write=False)
        return tuple(Instance(category, mask, label) for category, label, mask in found if mask.any())

    def picture(self, name: str, domain: str) -> Picture:
        """What was drawn, as a picture; its arrays are read-only."""
        image = self.image()
        image.setflags(write=False)
        return Picture(name, image, self.instances(), LICENSE, CREDIT, domain)

    def _window(self, box: tuple[float, float, float, float]) -> tuple[slice, slice] | None:
        left, top = max(0, int(np.floor(box[0])) - 1), max(0, int(np.floor(box[1])) - 1)
        right, bottom = min(self.width, int(np.ceil(box[2])) + 1), min(self.height, int(np.ceil(box[3])) + 1)
        if left >= right or top >= bottom:
            return None
        return slice(top, bottom), slice(left, right)


def _centres(rows: slice, columns: slice) -> tuple[np.ndarray, np.ndarray]:
    """y of shape (H, 1) and x of shape (1, W) of the pixels' centres."""
    y, x = np.ogrid[rows, columns]
    return y + 0.5, x + 0.5


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    # The one font that comes with Pillow: the same letters on every machine.
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font
