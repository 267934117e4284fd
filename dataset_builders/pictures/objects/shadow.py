"""The shadow under a thing that stands."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures.canvas import Canvas
from lookcheck.dataset_builders.pictures.shapes import ellipse


def contact_shadow(canvas: Canvas, x: float, y: float, width: float, opacity: float = 0.45) -> None:
    """The dark patch under a thing of the given width that stands at (x, y); light is from the left."""
    canvas.shade(ellipse(x + width * 0.14, y, width * 0.62, width * 0.13), width * 0.05 + 1, opacity)
