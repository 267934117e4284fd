"""Kites, birds, aeroplanes."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.shapes import Frame, blob, ellipse, line, polygon, rectangle


def kite(
    canvas: Canvas, x: float, y: float, size: float, colours: tuple[Colour, Colour], label: str, lean: float
) -> None:
    """A diamond kite with a tail; (x, y) is its middle, `lean` its turn in degrees."""
    owner = canvas.thing("kite", label)
    angle = np.deg2rad(lean)

    def at(u: float, v: float) -> tuple[float, float]:
        return (
            x + size * float(u * np.cos(angle) - v * np.sin(angle)),
            y + size * float(u * np.sin(angle) + v * np.cos(angle)),
        )

    first, second = colours
    tail = [at(0.09 * float(np.sin(step * 0.9)), 0.62 + step * 0.09) for step in range(11)]
    canvas.paint(line(tail, max(2.0, size * 0.022)), fills.darker(first, 0.15), owner)
    for step in (2, 5, 8):
        tx, ty = tail[step]
        bow = polygon(
            [(tx, ty), (tx - size * 0.09, ty - size * 0.055), (tx - size * 0.09, ty + size * 0.055)]
        )
        bow |= polygon(
            [(tx, ty), (tx + size * 0.09, ty - size * 0.055), (tx + size * 0.09, ty + size * 0.055)]
        )
        canvas.paint(bow, second, owner)
    top, right, low, left, middle = at(0, -0.5), at(0.4, -0.1), at(0, 0.62), at(-0.4, -0.1), at(0, -0.1)
    for points, colour in (
        ((top, right, middle), first),
        ((right, low, middle), second),
        ((low, left, middle), first),
        ((left, top, middle), second),
    ):
        canvas.paint(
            polygon(points).grown(0.6), fills.lighter(colour, 0.06) if points[0] == left else colour, owner
        )
    canvas.paint(polygon([right, low, top]), (0, 0, 0), opacity=0.1)
    canvas.paint(line([top, low], 1.6), fills.darker(first, 0.5))
    canvas.paint(line([left, right], 1.6), fills.darker(first, 0.5))


def bird(
    canvas: Canvas, x: float, y: float, size: float, colour: Colour, facing: int, label: str = ""
) -> None:
    """A perched bird whose feet are at (x, y); `facing` is -1 for left and 1 for right."""
    owner = canvas.thing("bird", label)
    s, f = size, facing

    frame = Frame(x, y, s, mirror=f < 0)
    at, points = frame.at, frame.points

    for dx in (-0.05, 0.07):
        canvas.paint(line([at(dx, -0.12), at(dx, 0.0)], max(1.4, s * 0.03)), (120, 84, 52), owner)
    canvas.paint(
        blob(points("-0.28,-0.24 -0.72,-0.06 -0.76,0.04 -0.24,-0.1")), fills.darker(colour, 0.3), owner
    )
    body = blob(points("0.36,-0.66 0.36,-0.4 0.18,-0.16 -0.14,-0.08 -0.4,-0.18 -0.28,-0.42 0,-0.6"))
    canvas.paint(
        body,
        fills.down(fills.lighter(colour, 0.2), fills.darker(colour, 0.2), y - s * 0.7, y - s * 0.08),
        owner,
    )
    head = ellipse(*at(0.24, -0.68), s * 0.19)
    canvas.paint(head, fills.lighter(colour, 0.1), owner)
    canvas.paint(polygon(points("0.38,-0.74 0.58,-0.66 0.39,-0.6")), (240, 168, 48), owner)
    canvas.paint(blob(points("0.14,-0.46 -0.02,-0.2 -0.42,-0.12 -0.24,-0.4")), fills.darker(colour, 0.28))
    canvas.paint(ellipse(*at(0.29, -0.72), s * 0.038), (20, 20, 22))
    canvas.paint(ellipse(*at(0.3, -0.73), s * 0.013), (255, 255, 255))


def aeroplane(canvas: Canvas, x: float, y: float, size: float, stripe: Colour, label: str = "") -> None:
    """A jet from the side, nose to the right; (x, y) is its middle, `size` its length."""
    owner = canvas.thing("airplane", label)
    s, white = size, (236, 240, 244)
    tail = polygon(Frame(x, y, s).points("-0.46,-0.02 -0.5,-0.2 -0.43,-0.2 -0.32,-0.04"))
    canvas.paint(
        polygon(Frame(x, y, s).points("0.02,-0.03 -0.12,-0.17 -0.07,-0.17 0.12,-0.03")),
        fills.darker(white, 0.35),
        owner,
    )
    canvas.paint(tail, stripe, owner)
    body = blob(
        Frame(x, y, s).points(
            "-0.5,-0.045 -0.3,-0.058 0.3,-0.06 0.44,-0.035 0.5,0 0.42,0.035 0.2,0.05 -0.25,0.045 -0.42,0"
        )
    )
    canvas.paint(
        body,
        fills.down(fills.lighter(white, 0.6), fills.darker(white, 0.35), y - s * 0.06, y + s * 0.05),
        owner,
    )
    canvas.paint(rectangle(x - s, y - s * 0.002, x + s, y + s * 0.012) & body, stripe)
    for number in range(17):
        wx = x - s * 0.3 + number * s * 0.038
        canvas.paint(rectangle(wx, y - s * 0.03, wx + s * 0.016, y - s * 0.012, s * 0.004), (58, 78, 98))
    canvas.paint(polygon(Frame(x, y, s).points("0.41,-0.034 0.455,-0.018 0.41,-0.018")), (40, 56, 72))
    wing = polygon(Frame(x, y, s).points("0.14,0.03 -0.17,0.2 -0.23,0.2 -0.08,0.03"))
    canvas.paint(
        rectangle(x - s * 0.04, y + s * 0.065, x + s * 0.07, y + s * 0.112, s * 0.02),
        fills.tube((150, 156, 164), y + s * 0.06, y + s * 0.115, upright=False),
        owner,
    )
    canvas.paint(wing, fills.down(fills.darker(white, 0.12), fills.darker(white, 0.3), y, y + s * 0.2), owner)
    canvas.paint(
        polygon(Frame(x, y, s).points("-0.36,-0.01 -0.5,0.055 -0.54,0.055 -0.46,-0.01")),
        fills.darker(white, 0.2),
        owner,
    )
