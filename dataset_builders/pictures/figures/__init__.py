"""Charts, diagrams and geometry drawn by code, 640 × 480, with exact masks.

The numbers that a figure shows are constants of its module, so that its masks can be worked out
again without drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from lookcheck.dataset_builders.pictures.figures import charts, diagrams, geometry, plane
from lookcheck.dataset_builders.pictures.model import Picture

DRAWN: dict[str, Callable[[], Picture]] = {
    draw.__name__: draw
    for draw in (
        charts.rainfall,
        charts.energy,
        charts.pets,
        charts.flowers,
        charts.temperatures,
        diagrams.planets,
        diagrams.molecules,
        diagrams.cylinders,
        diagrams.cell,
        geometry.triangle,
        geometry.right_triangle,
        geometry.circle,
        geometry.shapes,
        plane.number_line,
        plane.coordinates,
        plane.fraction,
        plane.parallels,
    )
}


@cache
def figure(name: str) -> Picture:
    """The figure of a name; its arrays are read-only.

    Examples
    --------
    >>> len(figure("rainfall").find("bar"))
    6
    """
    return DRAWN[name]()


def figures() -> tuple[Picture, ...]:
    """All figures, in a fixed order."""
    return tuple(figure(name) for name in DRAWN)
