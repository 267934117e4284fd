"""Signs, lights, hydrants, benches."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.objects.shadow import contact_shadow
from lookcheck.dataset_builders.pictures.shapes import Region, ellipse, line, polygon, rectangle

_LAMPS: tuple[tuple[str, Colour], ...] = (
    ("red", (236, 48, 36)),
    ("yellow", (252, 198, 40)),
    ("green", (44, 204, 92)),
)


def stop_sign(canvas: Canvas, x: float, y: float, radius: float, ground: float) -> None:
    """A stop sign around (x, y) on a post that reaches down to `ground`."""
    post = rectangle(x - radius * 0.07, y, x + radius * 0.07, ground)
    contact_shadow(canvas, x, ground, radius * 0.3)
    owner = canvas.thing("stop sign")
    canvas.paint(post, fills.tube((150, 154, 158), x - radius * 0.07, x + radius * 0.07), 0)

    def octagon(r: float) -> Region:
        angles = np.deg2rad(np.arange(8) * 45 + 22.5)
        return polygon([(x + float(r * np.cos(a)), y + float(r * np.sin(a))) for a in angles])

    canvas.paint(octagon(radius), (240, 240, 238), owner)
    red = (196, 30, 38)
    canvas.paint(
        octagon(radius * 0.93),
        fills.down(fills.lighter(red, 0.1), fills.darker(red, 0.12), y - radius, y + radius),
    )
    canvas.text(x, y, "STOP", round(radius * 0.66), (248, 248, 246))


def traffic_light(canvas: Canvas, x: float, y: float, size: float, lit: str, ground: float) -> None:
    """A traffic light, `size` high with its top at y, on a post down to `ground`; one lamp shines."""
    half = size * 0.19
    post = rectangle(x - size * 0.04, y + size, x + size * 0.04, ground)
    contact_shadow(canvas, x, ground, size * 0.2)
    canvas.paint(post, fills.tube((96, 100, 106), x - size * 0.04, x + size * 0.04), 0)
    owner = canvas.thing("traffic light", lit)
    canvas.paint(
        rectangle(x - half, y, x + half, y + size, size * 0.06),
        fills.across((58, 62, 66), (30, 32, 36), x - half, x + half),
        owner,
    )
    canvas.paint(
        rectangle(x - half, y, x + half, y + size, size * 0.06).grown(-size * 0.012).outline(size * 0.016),
        (84, 88, 92),
    )
    for number, (name, colour) in enumerate(_LAMPS):
        cy = y + size * (0.19 + 0.31 * number)
        r = size * 0.12
        canvas.paint(ellipse(x, cy, r * 1.12), (18, 18, 20))
        shown = colour if name == lit else fills.darker(fills.mixed(colour, (60, 60, 60), 0.3), 0.68)
        canvas.paint(ellipse(x, cy, r), fills.ball(shown, x, cy, r * 1.5))
        if name == lit:
            canvas.paint(ellipse(x, cy, r * 0.9), fills.lighter(colour, 0.12), opacity=0.85)
            canvas.paint(ellipse(x, cy, r * 0.45), fills.lighter(colour, 0.6), opacity=0.7)
            canvas.shade(ellipse(x, cy, r * 1.2), r * 0.8, 0.38, colour)


def fire_hydrant(canvas: Canvas, x: float, y: float, size: float, colour: Colour, label: str) -> None:
    """A hydrant, `size` high, with its foot at (x, y)."""
    contact_shadow(canvas, x, y, size * 0.5)
    owner = canvas.thing("fire hydrant", label)
    s, body = size, fills.tube(colour, x - size * 0.17, x + size * 0.17)
    canvas.paint(
        rectangle(x - s * 0.22, y - s * 0.09, x + s * 0.22, y, s * 0.02), fills.darker(colour, 0.2), owner
    )
    for side in (-1, 1):
        nozzle = rectangle(
            min(x, x + side * s * 0.29), y - s * 0.58, max(x, x + side * s * 0.29), y - s * 0.4, s * 0.03
        )
        canvas.paint(nozzle, fills.tube(colour, y - s * 0.6, y - s * 0.38, upright=False), owner)
    canvas.paint(rectangle(x - s * 0.165, y - s * 0.74, x + s * 0.165, y - s * 0.07), body, owner)
    canvas.paint(
        ellipse(x, y - s * 0.74, s * 0.165, s * 0.17) & rectangle(x - s, y - s, x + s, y - s * 0.72),
        body,
        owner,
    )
    canvas.paint(
        rectangle(x - s * 0.21, y - s * 0.78, x + s * 0.21, y - s * 0.71, s * 0.02),
        fills.tube(fills.darker(colour, 0.1), x - s * 0.21, x + s * 0.21),
        owner,
    )
    canvas.paint(
        rectangle(x - s * 0.045, y - s * 1.0, x + s * 0.045, y - s * 0.88, s * 0.015),
        fills.darker(colour, 0.15),
        owner,
    )
    canvas.paint(ellipse(x, y - s * 0.49, s * 0.095), fills.darker(colour, 0.25))
    canvas.paint(ellipse(x - s * 0.01, y - s * 0.5, s * 0.065), fills.lighter(colour, 0.12))


def bench(canvas: Canvas, x: float, y: float, width: float) -> None:
    """A park bench seen from the front, its feet at y."""
    canvas.shade(ellipse(x + width * 0.03, y, width * 0.5, width * 0.05), width * 0.02, 0.45)
    owner = canvas.thing("bench")
    brown, half = (142, 92, 52), width / 2
    for side in (-0.82, 0.82):
        leg_x = x + half * side
        leg = rectangle(leg_x - width * 0.02, y - width * 0.42, leg_x + width * 0.02, y, 2)
        canvas.paint(leg, fills.tube((58, 60, 64), leg_x - width * 0.02, leg_x + width * 0.02), owner)
    for top in (-0.44, -0.355, -0.27):
        board = rectangle(x - half, y + width * top, x + half, y + width * (top + 0.062), 3)
        canvas.paint(
            board,
            fills.down(
                fills.lighter(brown, 0.18),
                fills.darker(brown, 0.2),
                y + width * top,
                y + width * (top + 0.07),
            ),
            owner,
        )
    seat = polygon(
        [
            (x - half * 0.94, y - width * 0.19),
            (x + half * 0.94, y - width * 0.19),
            (x + half * 1.03, y - width * 0.125),
            (x - half * 1.03, y - width * 0.125),
        ]
    )
    canvas.paint(
        seat, fills.down(fills.lighter(brown, 0.3), brown, y - width * 0.19, y - width * 0.12), owner
    )
    canvas.paint(
        line([(x - half * 0.985, y - width * 0.157), (x + half * 0.985, y - width * 0.157)], 1.4),
        fills.darker(brown, 0.5),
    )
    front = rectangle(x - half * 1.03, y - width * 0.127, x + half * 1.03, y - width * 0.095, 2)
    canvas.paint(front, fills.darker(brown, 0.28), owner)
