"""Balls, umbrellas, surfboards, boats."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.objects.shadow import contact_shadow
from lookcheck.dataset_builders.pictures.shapes import (
    Frame,
    Point,
    Region,
    blob,
    ellipse,
    line,
    polygon,
    rectangle,
)


def ball(canvas: Canvas, kind: str, x: float, y: float, radius: float) -> None:
    """A football, basketball or tennis ball around (x, y); `kind` becomes its label."""
    r = radius
    contact_shadow(canvas, x, y + r * 0.97, r * 1.7, 0.5)
    owner = canvas.thing("sports ball", kind)
    disc = ellipse(x, y, r)
    base: Colour = {"football": (244, 244, 242), "basketball": (222, 112, 38), "tennis ball": (206, 226, 52)}[
        kind
    ]
    canvas.paint(disc, base, owner)
    if kind == "football":
        dark = (38, 38, 42)
        for angle, away, size in [(20, 0.0, 0.34)] + [(step * 72 + 20, 0.78, 0.27) for step in range(5)]:
            px = x + r * away * float(np.cos(np.deg2rad(angle)))
            py = y + r * away * float(np.sin(np.deg2rad(angle)))
            turn = np.deg2rad(np.arange(5) * 72 + angle + (36 if away else 0))
            patch = polygon(
                [(px + r * size * float(np.cos(a)), py + r * size * float(np.sin(a))) for a in turn]
            )
            canvas.paint(patch & disc, dark)
            if away:
                start = (
                    x + r * 0.34 * float(np.cos(np.deg2rad(angle))),
                    y + r * 0.34 * float(np.sin(np.deg2rad(angle))),
                )
                canvas.paint(line([start, (px, py)], r * 0.045) & disc, dark)
    elif kind == "basketball":
        seams = [
            line([(x - r, y - r * 0.1), (x + r, y + r * 0.1)], r * 0.06),
            line([(x + r * 0.1, y - r), (x - r * 0.1, y + r)], r * 0.06),
        ]
        seams += [
            ellipse(x - r * 1.08, y, r * 0.72).outline(r * 0.06),
            ellipse(x + r * 1.08, y, r * 0.72).outline(r * 0.06),
        ]
        for seam in seams:
            canvas.paint(seam & disc, (52, 32, 22))
    else:
        for side in (-1, 1):
            canvas.paint(
                ellipse(x + side * r * 1.05, y - side * r * 0.35, r * 0.78).outline(r * 0.09) & disc,
                (246, 248, 236),
            )
    # Light over the pattern: a dark crescent below right, a glow above left.
    canvas.paint(disc - ellipse(x - r * 0.3, y - r * 0.34, r * 1.12), (0, 0, 0), opacity=0.3)
    canvas.paint(disc - ellipse(x - r * 0.18, y - r * 0.2, r * 1.06), (0, 0, 0), opacity=0.2)
    canvas.shade(ellipse(x - r * 0.36, y - r * 0.42, r * 0.22), r * 0.14, 0.65, (255, 255, 255))


def parasol(
    canvas: Canvas, x: float, y: float, size: float, colours: tuple[Colour, Colour], label: str
) -> None:
    """A beach umbrella whose pole stands at (x, y), `size` high."""
    canvas.shade(ellipse(x + size * 0.22, y + size * 0.01, size * 0.46, size * 0.07), size * 0.03, 0.4)
    owner = canvas.thing("umbrella", label)
    canvas.paint(
        rectangle(x - size * 0.018, y - size * 0.8, x + size * 0.018, y),
        fills.tube((214, 206, 190), x - size * 0.018, x + size * 0.018),
        owner,
    )
    cx, cy, rx, ry = x, y - size * 0.56, size * 0.56, size * 0.42
    dome = ellipse(cx, cy, rx, ry) & rectangle(cx - rx, cy - ry, cx + rx, cy + size * 0.02)
    for number in range(7):
        # Strips between half ellipses of falling width look round.
        share = float(np.cos(np.pi * number / 7))
        region = ellipse(cx, cy, max(abs(share) * rx, 0.5), ry)
        half = (
            rectangle(cx - rx, cy - ry, cx, cy + size)
            if share > 0
            else rectangle(cx, cy - ry, cx + rx, cy + size)
        )
        rest = (
            dome & ((region & half) | rectangle(cx, cy - ry, cx + rx, cy + size))
            if share > 0
            else dome & (half - region)
        )
        canvas.paint(rest, colours[number % 2], owner)
    for number in range(7):
        left, right = (cx - rx * float(np.cos(np.pi * (number + step) / 7)) for step in (0, 1))
        notch = ellipse((left + right) / 2, cy + size * 0.02, (right - left) / 2, size * 0.03)
        canvas.paint(notch, fills.darker(colours[number % 2], 0.18), owner)
    canvas.paint(dome - ellipse(cx - rx * 0.25, cy - ry * 0.1, rx * 1.02, ry * 1.02), (0, 0, 0), opacity=0.16)
    canvas.paint(ellipse(x, y - size * 0.985, size * 0.022), (230, 224, 210), owner)


def surfboard(
    canvas: Canvas, x: float, y: float, size: float, colour: Colour, stripe: Colour, label: str = ""
) -> None:
    """A surfboard stuck upright in the sand at (x, y), `size` high."""
    canvas.shade(ellipse(x + size * 0.14, y, size * 0.2, size * 0.03), size * 0.02, 0.4)
    owner = canvas.thing("surfboard", label)
    board = blob(
        [
            (x, y - size),
            (x + size * 0.1, y - size * 0.72),
            (x + size * 0.135, y - size * 0.4),
            (x + size * 0.09, y - size * 0.05),
            (x + size * 0.05, y),
            (x - size * 0.05, y),
            (x - size * 0.09, y - size * 0.05),
            (x - size * 0.135, y - size * 0.4),
            (x - size * 0.1, y - size * 0.72),
        ]
    )
    canvas.paint(board, fills.tube(colour, x - size * 0.16, x + size * 0.16), owner)
    canvas.paint(rectangle(x - size * 0.022, y - size, x + size * 0.022, y) & board.grown(-2), stripe)
    for top in (0.62, 0.54):
        canvas.paint(rectangle(x - size, y - size * top, x + size, y - size * (top - 0.035)) & board, stripe)


def boat(canvas: Canvas, x: float, y: float, size: float, hull: Colour, sail: Colour, label: str) -> None:
    """A sailing boat whose water line is at y, `size` high."""
    mirrored = polygon(Frame(x, y, size).points("-0.34,0 0.38,0 0.3,0.16 -0.26,0.16"))
    canvas.shade(mirrored, size * 0.03, 0.35)
    owner = canvas.thing("boat", label)
    canvas.paint(
        rectangle(x - size * 0.012, y - size, x + size * 0.012, y - size * 0.08), (120, 88, 58), owner
    )
    main = _sail(Frame(x, y, size).points("0.025,-0.96 0.4,-0.2 0.025,-0.17"))
    fore = _sail(Frame(x, y, size).points("-0.03,-0.86 -0.03,-0.18 -0.33,-0.17"))
    canvas.paint(
        main, fills.across(fills.lighter(sail, 0.25), fills.darker(sail, 0.12), x, x + size * 0.4), owner
    )
    canvas.paint(
        fore, fills.across(fills.darker(sail, 0.1), fills.lighter(sail, 0.2), x - size * 0.33, x), owner
    )
    for cloth in (main, fore):
        canvas.part(cloth, owner, "sail", label)
    body = polygon(Frame(x, y, size).points("-0.42,-0.13 0.46,-0.13 0.36,0 -0.3,0"))
    canvas.paint(
        body, fills.down(fills.lighter(hull, 0.15), fills.darker(hull, 0.3), y - size * 0.13, y), owner
    )
    canvas.paint(
        polygon(Frame(x, y, size).points("-0.42,-0.13 0.46,-0.13 0.44,-0.1 -0.395,-0.1")), (240, 236, 226)
    )
    canvas.paint(line([(x - size * 0.34, y + 1), (x + size * 0.4, y + 1)], 2.2), (228, 240, 246), opacity=0.6)


def _sail(points: list[Point]) -> Region:
    """A triangle with a little belly."""
    (ax, ay), (bx, by), (cx, cy) = points
    return polygon(
        [
            (ax, ay),
            ((ax + bx) / 2 * 1.0 + (bx - cx) * 0.06, (ay + by) / 2),
            (bx, by),
            ((bx + cx) / 2, (by + cy) / 2 + 3),
            (cx, cy),
        ]
    )
