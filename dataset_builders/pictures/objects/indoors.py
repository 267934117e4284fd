"""Clocks, furniture, screens, books."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.objects.shadow import contact_shadow
from lookcheck.dataset_builders.pictures.shapes import Frame, line


def clock(
    canvas: Canvas, x: float, y: float, radius: float, hour: int, minute: int, colour: Colour, label: str = ""
) -> None:
    """A wall clock with numerals that shows a time."""
    f = Frame(x, y, radius)
    canvas.shade(f.ellipse(0.1, 0.14, 1), radius * 0.09, 0.4)
    owner = canvas.thing("clock", label)
    canvas.paint(f.ellipse(0, 0, 1), fills.ball(colour, x, y, radius * 1.5), owner)
    canvas.paint(f.ellipse(0, 0, 0.86), (247, 245, 238))
    canvas.paint(f.ellipse(0, 0, 0.865).outline(radius * 0.03), fills.darker(colour, 0.4))
    for number in range(60):
        angle = np.deg2rad(number * 6)
        reach = 0.74 if number % 5 == 0 else 0.79
        u, v = float(np.sin(angle)), -float(np.cos(angle))
        tick = line([f.at(u * reach, v * reach), f.at(u * 0.82, v * 0.82)], 2.4 if number % 5 == 0 else 1.1)
        canvas.paint(tick, (60, 60, 62))
    for number in range(1, 13):
        angle = np.deg2rad(number * 30)
        px, py = f.at(0.61 * float(np.sin(angle)), -0.61 * float(np.cos(angle)))
        canvas.text(px, py, str(number), round(radius * 0.21), (40, 40, 44))
    for degrees, reach, width in ((hour % 12 * 30 + minute / 2, 0.42, 0.07), (minute * 6, 0.66, 0.045)):
        angle = np.deg2rad(degrees)
        u, v = float(np.sin(angle)), -float(np.cos(angle))
        hand = line([f.at(-0.1 * u, -0.1 * v), f.at(reach * u, reach * v)], radius * width)
        canvas.shade(hand.moved(2, 3), 1.6, 0.3)
        canvas.paint(hand, (28, 28, 32))
    canvas.paint(f.ellipse(0, 0, 0.06), (176, 40, 40))


def couch(canvas: Canvas, x: float, y: float, width: float, colour: Colour, label: str = "") -> None:
    """A sofa for two from the front, its feet at (x, y)."""
    f = Frame(x, y, width)
    canvas.shade(f.ellipse(0.01, 0, 0.5, 0.025), width * 0.015, 0.6)
    owner = canvas.thing("couch", label)
    for side in (-0.42, 0.4):
        canvas.paint(f.rectangle(side, -0.05, side + 0.022, 0), (70, 48, 32), owner)
    cloth = fills.down(fills.lighter(colour, 0.16), fills.darker(colour, 0.18), y - width * 0.4, y)
    canvas.paint(f.rectangle(-0.45, -0.4, 0.45, -0.06, 0.05), cloth, owner)
    for left, right in ((-0.38, -0.005), (0.005, 0.38)):
        back = f.rectangle(left, -0.37, right, -0.18, 0.035)
        canvas.shade(back.moved(0, 3), 4, 0.28)
        canvas.paint(
            back, fills.down(fills.lighter(colour, 0.26), colour, y - width * 0.37, y - width * 0.18)
        )
        seat = f.rectangle(left, -0.21, right, -0.12, 0.025)
        canvas.shade(seat.moved(0, -3), 5, 0.3)
        canvas.paint(
            seat, fills.down(fills.lighter(colour, 0.34), colour, y - width * 0.21, y - width * 0.12)
        )
    canvas.paint(f.rectangle(-0.4, -0.125, 0.4, -0.04, 0.01), fills.darker(colour, 0.12), owner)
    for side in (-0.5, 0.38):
        arm = f.rectangle(side, -0.28, side + 0.12, -0.04, 0.045)
        canvas.shade(arm, 6, 0.25)
        canvas.paint(
            arm,
            fills.tube(fills.lighter(colour, 0.12), *sorted((f.at(side, 0)[0], f.at(side + 0.12, 0)[0]))),
            owner,
        )


def tv(canvas: Canvas, x: float, y: float, width: float) -> None:
    """A switched-on television whose foot stands at (x, y); it shows hills under a sun."""
    f = Frame(x, y, width)
    contact_shadow(canvas, x, y, width * 0.4)
    owner = canvas.thing("tv")
    canvas.paint(f.polygon("-0.035,-0.1 0.035,-0.1 0.045,-0.02 -0.045,-0.02"), (40, 42, 46), owner)
    canvas.paint(f.ellipse(0, -0.012, 0.18, 0.018), (52, 54, 58), owner)
    canvas.paint(f.rectangle(-0.5, -0.66, 0.5, -0.07, 0.012), (24, 25, 28), owner)
    screen = f.rectangle(-0.478, -0.638, 0.478, -0.1)
    canvas.paint(screen, fills.down((70, 130, 200), (246, 200, 140), y - width * 0.64, y - width * 0.22))
    canvas.paint(f.ellipse(0.2, -0.36, 0.06) & screen, (255, 236, 170))
    canvas.paint(
        f.blob("-0.7,-0.1 -0.5,-0.27 -0.25,-0.36 0.0,-0.24 0.2,-0.2 0.4,-0.1 0.2,0.1 -0.5,0.1") & screen,
        (74, 108, 84),
    )
    canvas.paint(f.blob("-0.2,-0.06 0.1,-0.18 0.38,-0.26 0.7,-0.16 0.7,0.1 -0.1,0.1") & screen, (46, 84, 62))
    canvas.paint(
        f.polygon("-0.478,-0.638 -0.12,-0.638 -0.34,-0.1 -0.478,-0.1") & screen, (255, 255, 255), opacity=0.07
    )


def remote(canvas: Canvas, x: float, y: float, length: float) -> None:
    """A remote control that lies on a surface, seen from the front."""
    f = Frame(x, y, length)
    canvas.shade(f.polygon("-0.5,0.02 0.5,0.02 0.44,-0.12 -0.4,-0.12").moved(3, 3), 3, 0.5)
    owner = canvas.thing("remote")
    canvas.paint(f.polygon("-0.5,0 0.5,0 0.42,-0.14 -0.42,-0.14").grown(3), (38, 40, 46), owner)
    for column in range(8):
        for row in range(2):
            u = -0.38 + column * 0.108
            colour: Colour = (206, 60, 52) if (column, row) == (0, 0) else (148, 152, 160)
            canvas.paint(f.ellipse(u * (1 - 0.1 * (1 - row)), -0.1 + row * 0.065, 0.03, 0.016), colour)


def laptop(canvas: Canvas, x: float, y: float, width: float) -> None:
    """An open laptop from the front; the near edge of its keyboard is at (x, y)."""
    f = Frame(x, y, width)
    canvas.shade(f.polygon("-0.56,0.02 0.58,0.02 0.5,-0.2 -0.48,-0.2"), width * 0.02, 0.5)
    owner = canvas.thing("laptop")
    canvas.paint(f.rectangle(-0.46, -0.8, 0.46, -0.18, 0.02), (66, 68, 74), owner)
    canvas.paint(
        f.rectangle(-0.435, -0.775, 0.435, -0.215),
        fills.down((44, 92, 148), (100, 168, 196), y - width * 0.78, y - width * 0.2),
    )
    canvas.paint(f.rectangle(-0.36, -0.7, 0.12, -0.3, 0.008), (245, 247, 250))
    canvas.paint(f.rectangle(-0.36, -0.7, 0.12, -0.66, 0.008), (206, 212, 220))
    for row in range(6):
        canvas.paint(
            f.rectangle(-0.32, -0.62 + row * 0.05, -0.02 + 0.1 * ((row * 7) % 3 == 0), -0.6 + row * 0.05),
            (168, 178, 190),
        )
    canvas.paint(
        f.polygon("-0.46,-0.185 0.46,-0.185 0.54,0 -0.54,0"),
        fills.down((178, 182, 188), (210, 213, 218), y - width * 0.19, y),
        owner,
    )
    canvas.paint(f.rectangle(-0.54, -0.004, 0.54, 0.022, 0.01), (132, 136, 142), owner)
    for row in range(4):
        top = -0.172 + row * 0.024
        spread = 0.40 + row * 0.018
        for column in range(14):
            u = -spread + 2 * spread * column / 14
            canvas.paint(f.rectangle(u, top, u + 2 * spread / 14 - 0.008, top + 0.018, 0.003), (48, 50, 56))
    canvas.paint(f.polygon("-0.12,-0.068 0.12,-0.068 0.13,-0.016 -0.13,-0.016"), (168, 172, 178))


def mouse(canvas: Canvas, x: float, y: float, size: float, colour: Colour = (232, 233, 236)) -> None:
    """A computer mouse, seen slantwise; (x, y) is its near edge."""
    f = Frame(x, y, size)
    contact_shadow(canvas, x, y - size * 0.06, size * 0.8)
    owner = canvas.thing("mouse")
    canvas.paint(
        f.blob("-0.42,-0.22 -0.3,-0.56 0,-0.68 0.3,-0.56 0.42,-0.22 0.3,-0.02 0,0.02 -0.3,-0.02"),
        fills.ball(colour, x - size * 0.1, y - size * 0.35, size * 0.8),
        owner,
    )
    canvas.paint(f.line("0,-0.66 0,-0.38", 0.03), fills.darker(colour, 0.4))
    canvas.paint(
        f.line("-0.38,-0.36 -0.15,-0.37 0,-0.375 0.15,-0.37 0.38,-0.36", 0.02), fills.darker(colour, 0.35)
    )
    canvas.paint(f.rectangle(-0.04, -0.6, 0.04, -0.47, 0.035), (72, 74, 80))


def book(
    canvas: Canvas, left: float, y: float, width: float, height: float, colour: Colour, title: str = ""
) -> None:
    """The back of a standing book; `title` is written down its back and becomes its label."""
    owner = canvas.thing("book", title)
    f = Frame(left, y, 1)
    canvas.paint(
        f.rectangle(0, -height, width, 0, 2),
        fills.tube(colour, left - width * 0.1, left + width * 1.15),
        owner,
    )
    for v in (0.08, 0.12, 0.9):
        canvas.paint(
            f.rectangle(0, -height * (1 - v), width, -height * (1 - v) + 2),
            fills.lighter(colour, 0.55),
            opacity=0.8,
        )
    step = height * 0.66 / max(len(title), 1)
    size = round(min(width * 0.56, step * 0.98))
    for number, letter in enumerate(title):
        place = y - height * 0.84 + (number + 0.5) * step
        canvas.text(left + width / 2, place, letter, size, fills.lighter(colour, 0.85))
