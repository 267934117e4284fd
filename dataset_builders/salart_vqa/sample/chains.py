"""What is asked of the sample's pictures, and the keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lookcheck.dataset_builders.salart_vqa.sample import clock, edits

Box = tuple[int, int, int, int]
NONE = "none of these"
CLOCK = "drawn clock"


@dataclass(frozen=True)
class Chain:
    """One picture (or part of it), its edit if it has one, and the options A to D.

    Attributes
    ----------
    name : str
    picture : str
        A photograph's name, or `CLOCK` for the drawn room.
    crop : (left, top, right, bottom) or None
    edit : callable or None
        None for a clean reference.
    artifact_type : str or None
    regions, boxes, evidence : tuple of four
        Options A to D of q2, q3 (x, y, width, height) and q4.
    keys : str
        Letters of q2, q3 and q4 of the edited picture.
    """

    name: str
    picture: str
    crop: tuple[int, int, int, int] | None
    edit: Callable[[np.ndarray], np.ndarray] | None
    artifact_type: str | None
    regions: tuple[str, str, str, str]
    boxes: tuple[Box, Box, Box, Box]
    evidence: tuple[str, str, str, str]
    keys: str = "EEE"


CHAINS = (
    Chain(
        "cat",
        "chelsea",
        None,
        edits.third_eye,
        "anatomy",
        ("the nose", "the forehead", "the ear at the upper right", "the whiskers at the lower left"),
        ((222, 218, 76, 52), (346, 2, 56, 66), (188, 12, 92, 82), (20, 205, 110, 85)),
        (
            "The nose has three nostrils.",
            "The whiskers join into one thick band.",
            "The ear grows out of the cheek.",
            "There is another eye above the other two.",
        ),
        "BCD",
    ),
    Chain(
        "cup",
        "coffee",
        None,
        edits.melted_rim,
        "local rendering/structure",
        (
            "the left side of the cup's rim",
            "the bowl of the spoon",
            "the edge of the saucer",
            "the table's grain",
        ),
        ((322, 236, 92, 94), (118, 42, 134, 136), (430, 150, 70, 130), (10, 290, 110, 90)),
        (
            "The spoon has two bowls.",
            "The coffee runs over the saucer.",
            "The rim of the cup curls and melts into its wall.",
            "The saucer has a corner.",
        ),
        "ABC",
    ),
    Chain(
        "flag",
        "astronaut",
        None,
        edits.melted_flag,
        "local rendering/structure",
        ("the hair", "the space shuttle model", "the flag", "the helmet"),
        ((350, 2, 112, 288), (280, 340, 230, 170), (150, 14, 152, 124), (2, 120, 128, 170)),
        (
            "The stripes of the flag curl into a whirl.",
            "The shuttle has two noses.",
            "The helmet has no visor.",
            "The hair passes through the collar.",
        ),
        "CDA",
    ),
    Chain(
        "launch pad",
        "rocket",
        None,
        edits.broken_rocket,
        "topology",
        (
            "the tower at the left",
            "the lights on the ground",
            "the tower at the right",
            "the upper half of the rocket",
        ),
        ((296, 104, 74, 140), (0, 0, 90, 426), (560, 0, 80, 426), (60, 360, 180, 66)),
        (
            "One of the towers floats above the ground.",
            "The upper part of the rocket stands beside the lower part.",
            "The lights cast shadows upwards.",
            "The sky shows the sun and the stars.",
        ),
        "DAB",
    ),
    Chain(
        "clock",
        CLOCK,
        None,
        clock.clock_with_two_fives,
        "count",
        (
            "the vase with flowers",
            "the hands of the clock",
            "the numerals at the lower left of the dial",
            "the books on the shelf",
        ),
        ((146, 190, 48, 46), (386, 222, 76, 142), (196, 112, 132, 66), (54, 290, 76, 76)),
        (
            "The clock has two minute hands.",
            "A flower grows without a stem.",
            "One of the books stands in the air.",
            "The numeral 5 stands twice on the dial, and 8 is missing.",
        ),
        "CAD",
    ),
    Chain(
        "evening",
        "rocket",
        (0, 0, 300, 427),
        None,
        None,
        ("the tower at the left", "the lights on the ground", "the small tower in the middle", "the sky"),
        ((0, 0, 90, 420), (100, 340, 130, 84), (160, 118, 60, 270), (100, 10, 180, 90)),
        (
            "The tower's struts cross into knots.",
            "Two lights hang in the air.",
            "The small tower bends.",
            "The sky has a hard edge.",
        ),
    ),
    Chain(
        "model",
        "astronaut",
        (305, 0, 512, 300),
        None,
        None,
        ("the brown tank", "the shuttle's wing", "the stand", "the wall"),
        ((90, 2, 46, 170), (48, 170, 70, 70), (60, 250, 100, 46), (4, 20, 44, 120)),
        (
            "The tank is bent.",
            "The wing has no edge.",
            "The model does not touch its stand.",
            "The wall shows a second shadow.",
        ),
    ),
)
