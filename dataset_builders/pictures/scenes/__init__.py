"""Scenes drawn by code, 640 × 480, with exact masks and COCO's names where they fit.

A hidden pixel is in no mask: where a cup stands before a bottle, the pixels are the cup's.
"""

from __future__ import annotations

from collections.abc import Callable

from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.scenes import driving, indoor, outdoor, robotics

# In this order, so that the first few already show many kinds of things.
KINDS: tuple[Callable[[str], Picture], ...] = (
    indoor.cups,
    driving.stop_sign,
    outdoor.kites,
    robotics.blocks,
    indoor.living_room,
    outdoor.boats,
    driving.traffic_lights,
    outdoor.balls,
    indoor.fruit,
    driving.bus_stop,
    outdoor.beach,
    robotics.cup_and_bowl,
    indoor.desk,
    driving.parked_cars,
    outdoor.birds,
    indoor.bookshelf,
    outdoor.park,
    indoor.dinner,
    driving.delivery,
    outdoor.aeroplanes,
    indoor.doughnuts,
    robotics.sorting,
    indoor.television,
    indoor.bottles,
)


def scenes(count: int = 24) -> tuple[Picture, ...]:
    """Drawn scenes; their arrays are read-only.

    Parameters
    ----------
    count : int
        How many. The first 24 are of different kinds; after these the kinds come again with other
        colours and numbers. The first `count` are the same whatever `count` is.

    Returns
    -------
    tuple of Picture
        Named after kind and round: ``"cups-1"``.
    """
    rounds = (divmod(index, len(KINDS)) for index in range(count))
    return tuple(scene(f"{KINDS[kind].__name__}-{number + 1}") for number, kind in rounds)


def scene(name: str) -> Picture:
    """The scene of a name, for example ``"cups-1"``.

    Raises
    ------
    LookupError
        If there is no such kind of scene.
    """
    kind, _, number = name.rpartition("-")
    draw = next((draw for draw in KINDS if draw.__name__ == kind), None)
    if draw is None or not number.isdigit():
        raise LookupError(f"no scene {name!r}")
    return draw(name)
