"""Fruit, doughnuts, pizza."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour, seed
from lookcheck.dataset_builders.pictures.objects.shadow import contact_shadow
from lookcheck.dataset_builders.pictures.shapes import Frame, Region, blob, ellipse, line


def apple(canvas: Canvas, x: float, y: float, radius: float, colour: Colour, label: str) -> None:
    """An apple whose middle is (x, y)."""
    contact_shadow(canvas, x, y + radius * 0.92, radius * 1.5, 0.35)
    owner = canvas.thing("apple", label)
    r = radius
    body = blob(
        Frame(x, y, r).points(
            "0,-0.78 0.45,-0.95 0.95,-0.5 0.95,0.15 0.6,0.8 0.22,0.96 0,0.9 "
            "-0.22,0.96 -0.6,0.8 -0.95,0.15 -0.95,-0.5 -0.45,-0.95"
        )
    )
    canvas.paint(body, fills.ball(colour, x, y, r * 1.1), owner)
    canvas.shade(ellipse(x, y - r * 0.76, r * 0.3, r * 0.09), r * 0.06, 0.55)
    stem = line(Frame(x, y, r).points("0,-0.74 0.06,-1 0.16,-1.2"), r * 0.1)
    canvas.paint(stem, (92, 62, 34), owner)


def orange(canvas: Canvas, x: float, y: float, radius: float, label: str = "") -> None:
    """An orange whose middle is (x, y)."""
    contact_shadow(canvas, x, y + radius * 0.95, radius * 1.6, 0.35)
    owner = canvas.thing("orange", label)
    colour = (242, 140, 26)
    canvas.paint(ellipse(x, y, radius), fills.ball(colour, x, y, radius * 1.05), owner)
    spots = np.random.default_rng(seed(f"orange {x:.0f} {y:.0f}")).uniform(-0.85, 0.85, (90, 2))
    for dx, dy in spots[np.hypot(spots[:, 0], spots[:, 1]) < 0.9]:
        canvas.paint(ellipse(x + dx * radius, y + dy * radius, 0.9), fills.darker(colour, 0.35), opacity=0.35)
    canvas.paint(ellipse(x + radius * 0.1, y - radius * 0.72, radius * 0.07), (96, 112, 48))


def banana(canvas: Canvas, x: float, y: float, size: float, label: str = "") -> None:
    """A banana that hangs like a smile around (x, y), `size` wide."""
    owner = canvas.thing("banana", label)
    s = size
    outline = blob(
        Frame(x, y, s).points(
            "-0.5,-0.2 -0.46,-0.24 -0.28,-0 0,0.06 0.28,-0.03 0.44,-0.22 "
            "0.49,-0.19 0.36,0.1 0,0.25 -0.34,0.11"
        )
    )
    canvas.shade(outline.moved(s * 0.02, s * 0.05), s * 0.03, 0.4)
    yellow = (246, 208, 62)
    canvas.paint(
        outline,
        fills.down(fills.lighter(yellow, 0.25), fills.darker(yellow, 0.28), y - s * 0.2, y + s * 0.25),
        owner,
    )
    ridge = line(Frame(x, y, s).points("-0.42,-0.1 -0.2,0.1 0.05,0.13 0.3,0.05 0.43,-0.12"), s * 0.014)
    canvas.paint(ridge, fills.darker(yellow, 0.3), opacity=0.6)
    for tip in (
        ellipse(x - s * 0.48, y - s * 0.215, s * 0.028),
        ellipse(x + s * 0.465, y - s * 0.205, s * 0.03),
    ):
        canvas.paint(tip, (86, 66, 30), owner)


def donut(canvas: Canvas, x: float, y: float, radius: float, icing: Colour, label: str) -> None:
    """An iced doughnut with sprinkles, seen from above."""
    r = radius
    ring = ellipse(x, y, r) - ellipse(x, y, r * 0.3)
    canvas.shade(ring.moved(r * 0.08, r * 0.1), r * 0.08, 0.5)
    owner = canvas.thing("donut", label)
    canvas.paint(ring, fills.ball((206, 150, 88), x - r * 0.2, y - r * 0.2, r * 1.7), owner)
    random = np.random.default_rng(seed(f"donut {label} {x:.0f} {y:.0f}"))
    angles = np.linspace(0, 2 * np.pi, 14, endpoint=False)
    rim = r * random.uniform(0.82, 0.92, 14)
    glaze = blob(
        [(x + float(a * np.cos(t)), y + float(a * np.sin(t))) for a, t in zip(rim, angles, strict=True)]
    )
    glaze = glaze - ellipse(x, y, r * 0.37)
    canvas.paint(glaze, fills.ball(icing, x - r * 0.25, y - r * 0.25, r * 1.9))
    canvas.paint(
        (ellipse(x, y, r * 0.62).outline(r * 0.1)) & ellipse(x - r * 0.4, y - r * 0.4, r * 0.5),
        (255, 255, 255),
        opacity=0.22,
    )
    colours = [(250, 224, 90), (90, 180, 230), (245, 245, 245), (110, 200, 120)]
    for number in range(26):
        angle, away, turn = random.uniform(0, 6.283), random.uniform(0.47, 0.76) * r, random.uniform(0, 3.14)
        sx, sy = x + away * np.cos(angle), y + away * np.sin(angle)
        dx, dy = r * 0.045 * np.cos(turn), r * 0.045 * np.sin(turn)
        canvas.paint(line([(sx - dx, sy - dy), (sx + dx, sy + dy)], r * 0.035), colours[number % 4])


def pizza(canvas: Canvas, x: float, y: float, radius: float) -> None:
    """A whole pizza with salami, seen from above."""
    r = radius
    canvas.shade(ellipse(x + r * 0.03, y + r * 0.04, r), r * 0.03, 0.4)
    owner = canvas.thing("pizza")
    random = np.random.default_rng(seed(f"pizza {x:.0f} {y:.0f}"))
    angles = np.linspace(0, 2 * np.pi, 26, endpoint=False)

    def wavy(low: float, high: float) -> Region:
        reach = r * random.uniform(low, high, 26)
        return blob(
            [(x + float(a * np.cos(t)), y + float(a * np.sin(t))) for a, t in zip(reach, angles, strict=True)]
        )

    canvas.paint(wavy(0.96, 1.0), fills.soft((204, 142, 74), "crust", 0.2, 18), owner)
    canvas.paint(wavy(0.82, 0.86), fills.soft((186, 52, 26), "sauce", 0.2, 20))
    canvas.paint(wavy(0.72, 0.82), fills.soft((244, 204, 104), "cheese", 0.16, 16))
    for number in range(9):
        angle = number * 2.4
        away = r * (0.16 + 0.5 * (number / 9) ** 0.6)
        px, py = x + away * np.cos(angle), y + away * np.sin(angle)
        canvas.shade(ellipse(px + 1, py + 2, r * 0.125), 2, 0.35)
        canvas.paint(ellipse(px, py, r * 0.125), fills.soft((168, 40, 34), f"salami {number}", 0.2, 6))
    for _ in range(14):
        angle, away = random.uniform(0, 6.283), r * random.uniform(0.1, 0.7)
        px, py = x + away * np.cos(angle), y + away * np.sin(angle)
        canvas.paint(ellipse(px, py, r * 0.055, r * 0.025, random.uniform(0, 180)), (62, 116, 46))
