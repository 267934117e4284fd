"""A drawn room with a clock: the sample's generated picture, which no camera has seen."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

WIDTH, HEIGHT = 520, 400
CENTRE, RADIUS = (250, 165), 130
# Drawn larger and made smaller, for smooth edges.
_FINE = 4
_NUMERALS = tuple(str(hour) for hour in range(1, 13))


def clock() -> np.ndarray:
    """The room as it should be; uint8, shape (400, 520, 3)."""
    return _room(_NUMERALS)


def clock_with_two_fives(_image: np.ndarray) -> np.ndarray:
    """The room with another 5 where 8 should stand; all else is the same to the pixel."""
    return _room([*_NUMERALS[:7], "5", *_NUMERALS[8:]])


def _room(numerals: Sequence[str]) -> np.ndarray:
    rows = np.linspace(0, 1, HEIGHT * _FINE)[:, None, None]
    wall = np.array([226, 214, 192]) * (1 - rows) + np.array([196, 178, 150]) * rows
    image = Image.fromarray(np.repeat(wall, WIDTH * _FINE, 1).round().astype(np.uint8))
    draw = ImageDraw.Draw(image)
    _shelf(image, draw)
    _dial(image, draw, numerals)
    return np.asarray(image.resize((WIDTH, HEIGHT), Image.Resampling.BOX))


def _fine(*values: float) -> tuple[float, ...]:
    return tuple(value * _FINE for value in values)


def _shadow(image: Image.Image, kind: str, box: tuple[float, float, float, float]) -> None:
    """Darken the wall behind a thing, softly."""
    soft = Image.new("L", (WIDTH, HEIGHT))
    getattr(ImageDraw.Draw(soft), kind)(box, fill=110)
    soft = soft.filter(ImageFilter.GaussianBlur(7)).resize(image.size, Image.Resampling.BILINEAR)
    image.paste((70, 52, 34), mask=soft)


def _shelf(image: Image.Image, draw: ImageDraw.ImageDraw) -> None:
    _shadow(image, "rectangle", (46, 372, 486, 392))
    draw.rectangle(_fine(36, 362, 484, 380), fill=(122, 80, 46))
    draw.rectangle(_fine(36, 362, 484, 366), fill=(150, 104, 64))
    books = ((62, 306, (158, 52, 44)), (84, 298, (38, 84, 112)), (104, 314, (202, 158, 62)))
    for left, top, colour in books:
        draw.rectangle(_fine(left, top, left + 18, 362), fill=colour)
        draw.rectangle(_fine(left + 3, top + 8, left + 15, top + 12), fill=(240, 228, 200))
    # A vase with three stems.
    for x, y, tip in ((404, 250, (196, 70, 96)), (424, 238, (226, 120, 60)), (444, 252, (176, 84, 150))):
        draw.line(_fine(424, 322, x, y), fill=(70, 112, 60), width=3 * _FINE)
        draw.ellipse(_fine(x - 11, y - 11, x + 11, y + 11), fill=tip)
        draw.ellipse(_fine(x - 4, y - 4, x + 4, y + 4), fill=(246, 214, 120))
    draw.polygon(
        [_fine(*point) for point in ((408, 314), (440, 314), (452, 340), (442, 362), (406, 362), (396, 340))],
        fill=(92, 132, 150),
    )


def _dial(image: Image.Image, draw: ImageDraw.ImageDraw, numerals: Sequence[str]) -> None:
    x, y = CENTRE
    _shadow(image, "ellipse", (x - RADIUS + 8, y - RADIUS + 12, x + RADIUS + 10, y + RADIUS + 14))
    for radius, colour in ((RADIUS, (58, 44, 36)), (RADIUS - 9, (250, 247, 238))):
        draw.ellipse(_fine(x - radius, y - radius, x + radius, y + radius), fill=colour)
    font = ImageFont.load_default(24 * _FINE)
    for number, text in enumerate(numerals, start=1):
        angle = number * pi / 6
        place = ((x + 94 * sin(angle)) * _FINE, (y - 94 * cos(angle)) * _FINE)
        draw.text(place, text, fill=(40, 34, 30), font=font, anchor="mm")
    for minute in range(60):
        angle, inner = minute * pi / 30, 108 if minute % 5 == 0 else 113
        ends = (x + inner * sin(angle), y - inner * cos(angle), x + 117 * sin(angle), y - 117 * cos(angle))
        draw.line(_fine(*ends), fill=(40, 34, 30), width=(3 if minute % 5 == 0 else 1) * _FINE)
    # Ten past ten, as in every shop window.
    for angle, length, width in ((10 / 12 * 2 * pi + pi / 36, 52, 8), (pi / 3, 80, 5)):
        end = (x + length * sin(angle), y - length * cos(angle))
        draw.line(_fine(x, y, *end), fill=(40, 34, 30), width=width * _FINE)
    draw.ellipse(_fine(x - 7, y - 7, x + 7, y + 7), fill=(158, 52, 44))
