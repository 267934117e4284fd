"""Paper, titles, axes and keys that the figures share."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.shapes import Region, ellipse, line, rectangle

WIDTH, HEIGHT = 640, 480
INK: Colour = (34, 38, 46)
GREY: Colour = (124, 130, 140)
PALE: Colour = (222, 226, 232)
# None of them near the colours that overlays are tinted with.
BLUE: Colour = (44, 92, 166)
RED: Colour = (200, 70, 60)
GREEN: Colour = (62, 126, 80)
PURPLE: Colour = (132, 84, 160)
TEAL: Colour = (38, 128, 138)


def paper() -> Canvas:
    """An empty sheet."""
    return Canvas(WIDTH, HEIGHT, (252, 252, 250))


def write(
    canvas: Canvas,
    x: float,
    y: float,
    text: str,
    size: int = 18,
    colour: Colour = INK,
    *,
    category: str = "",
    at: str = "mm",
) -> None:
    """Write a line; with a category its box, two pixels wider than the ink, is an instance.

    The label of the instance is the text.
    """
    left, top, right, bottom = canvas.text(x, y, text, size, colour, at=at)
    if category:
        box = rectangle(left - 2, top - 2, right + 2, bottom + 2)
        canvas.claim(box, canvas.thing(category, text))


def axes(canvas: Canvas, left: float, top: float, right: float, bottom: float) -> None:
    """An upright and a level axis that meet at (left, bottom)."""
    canvas.paint(line([(left, top), (left, bottom), (right, bottom)], 2), INK)


def dot(x: float, y: float, radius: float = 6) -> Region:
    """A point of a chart or a construction."""
    return ellipse(x, y, radius)
