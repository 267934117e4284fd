"""Named colours, and the dice of a scene."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures.canvas import Colour, seed

WIDTH, HEIGHT = 640, 480

COLOURS: dict[str, Colour] = {
    "red": (204, 48, 44),
    "blue": (44, 96, 188),
    "green": (52, 146, 76),
    "yellow": (240, 196, 52),
    "orange": (236, 128, 40),
    "purple": (124, 74, 164),
    "white": (240, 240, 238),
    "black": (52, 52, 58),
}


class Dice:
    """Choices that depend on the picture's name alone."""

    def __init__(self, name: str) -> None:
        self._random = np.random.default_rng(seed(name))

    def colours(self, count: int, *names: str) -> list[tuple[str, Colour]]:
        """Different named colours out of `names` (all, if none are given)."""
        order = self._random.permutation(list(names or COLOURS))[:count]
        return [(str(name), COLOURS[str(name)]) for name in order]

    def between(self, low: float, high: float) -> float:
        """A number from `low` to `high`."""
        return float(self._random.uniform(low, high))

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return int(self._random.integers(low, high + 1))
