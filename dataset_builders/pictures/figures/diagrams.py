"""Planets, molecules, a cell, measuring cylinders."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.figures import sheet
from lookcheck.dataset_builders.pictures.figures.sheet import write
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.shapes import Frame, ellipse, line, rectangle

# Centre x and radius in pixels; all centres lie at y = 250.
PLANETS: dict[str, tuple[float, float, Colour]] = {
    "Mercury": (138, 11, (168, 160, 152)),
    "Venus": (222, 20, (222, 188, 120)),
    "Earth": (300, 22, (66, 126, 196)),
    "Mars": (374, 15, (196, 92, 56)),
    "Jupiter": (478, 56, (206, 166, 126)),
}
PLANETS_Y = 250.0

# Centre of each oxygen atom and the turn of its molecule in degrees.
WATER = ((150.0, 190.0, 20.0), (420.0, 160.0, 200.0), (300.0, 350.0, 100.0))
OXYGEN_RADIUS, HYDROGEN_RADIUS, BOND = 46.0, 28.0, 58.0

# Level in millilitres; 3 pixels per millilitre above the foot at y = 410.
LEVELS: dict[str, tuple[float, int, Colour]] = {
    "A": (140, 40, (70, 140, 220)),
    "B": (320, 80, (220, 80, 90)),
    "C": (500, 60, (90, 180, 110)),
}
LEVEL_SCALE, FOOT = 3.0, 410.0

# Centre x and y and turn in degrees; half axes 44 and 19 pixels.
MITOCHONDRIA = ((180.0, 190.0, 30.0), (440.0, 170.0, -25.0), (200.0, 340.0, -40.0), (450.0, 330.0, 20.0))


def planets() -> Picture:
    """The Sun and the five planets next to it."""
    canvas = Canvas(sheet.WIDTH, sheet.HEIGHT, (18, 22, 40))
    stars = np.random.default_rng(7)
    for x, y, radius in zip(
        stars.uniform(0, 640, 90), stars.uniform(0, 480, 90), stars.uniform(0.4, 1.2, 90), strict=True
    ):
        canvas.paint(ellipse(x, y, radius), (206, 212, 230), opacity=0.8)
    write(canvas, 330, 60, "From the Sun to Jupiter (not to scale)", 22, (236, 238, 244), category="title")
    canvas.shade(ellipse(-30, PLANETS_Y, 122), 26, 0.7, (255, 190, 80))
    canvas.paint(
        ellipse(-30, PLANETS_Y, 116),
        fills.ball((255, 196, 70), -30, PLANETS_Y, 170),
        canvas.thing("star", "Sun"),
    )
    for name, (x, radius, colour) in PLANETS.items():
        disc = ellipse(x, PLANETS_Y, radius)
        canvas.paint(disc, fills.ball(colour, x, PLANETS_Y, radius * 1.15), canvas.thing("planet", name))
        if name == "Jupiter":
            for offset in (-0.5, -0.12, 0.3):
                band = rectangle(
                    x - radius, PLANETS_Y + radius * offset, x + radius, PLANETS_Y + radius * (offset + 0.14)
                )
                canvas.paint(band & disc, (150, 98, 66), opacity=0.5)
        if name == "Earth":
            land = Frame(x, PLANETS_Y, radius).blob(
                "-0.55,-0.5 0.1,-0.65 0.3,0 -0.1,0.1 0,0.5 -0.3,0.6 -0.4,0"
            )
            canvas.paint(land & disc, (86, 160, 92), opacity=0.8)
        write(canvas, x, PLANETS_Y + 84, name, 18, (222, 226, 236), category="name")
    return canvas.picture("planets", "science")


def molecules() -> Picture:
    """Three water molecules."""
    canvas = sheet.paper()
    write(canvas, 320, 40, "Water molecules", 24, category="title")
    for number, (x, y, turn) in enumerate(WATER, start=1):
        for side, bend in enumerate((-52.25, 52.25)):
            hx, hy = hydrogen(x, y, turn + bend)
            owner = canvas.thing("hydrogen atom", f"{number}{'ab'[side]}")
            canvas.paint(
                ellipse(hx, hy, HYDROGEN_RADIUS),
                fills.ball((214, 220, 228), hx, hy, HYDROGEN_RADIUS * 1.1),
                owner,
            )
            canvas.text(hx + 4 * np.cos(np.deg2rad(turn + bend)), hy, "H", 24, (50, 56, 66))
        owner = canvas.thing("oxygen atom", str(number))
        canvas.paint(
            ellipse(x, y, OXYGEN_RADIUS), fills.ball((206, 54, 48), x, y, OXYGEN_RADIUS * 1.1), owner
        )
        canvas.text(x, y, "O", 36, (255, 250, 248))
    return canvas.picture("molecules", "science")


def hydrogen(x: float, y: float, degrees: float) -> tuple[float, float]:
    """Centre of a hydrogen atom in the given direction from the oxygen atom at (x, y)."""
    angle = np.deg2rad(degrees)
    return x + BOND * float(np.cos(angle)), y + BOND * float(np.sin(angle))


def cylinders() -> Picture:
    """Three measuring cylinders with liquids of different colours and levels."""
    canvas = Canvas(sheet.WIDTH, sheet.HEIGHT, fills.down((246, 247, 249), (226, 230, 235), 0, 480))
    canvas.paint(rectangle(0, FOOT + 14, 640, 481), (190, 178, 160))
    for name, (x, level, colour) in LEVELS.items():
        canvas.shade(ellipse(x + 6, FOOT + 16, 66, 10), 5, 0.4)
        canvas.paint(rectangle(x - 62, FOOT, x + 62, FOOT + 16, 6), (176, 196, 208))
        glass = rectangle(x - 40, FOOT - 320, x + 40, FOOT)
        canvas.paint(glass, (236, 244, 248))
        liquid = rectangle(x - 37, FOOT - level * LEVEL_SCALE, x + 37, FOOT - 3)
        canvas.paint(
            liquid,
            fills.across(fills.lighter(colour, 0.25), fills.darker(colour, 0.12), x - 37, x + 37),
            canvas.thing("liquid", name),
        )
        canvas.paint(glass.outline(3), (150, 172, 186))
        for value in range(10, 101, 10):
            y = FOOT - value * LEVEL_SCALE
            long = value % 20 == 0
            canvas.paint(line([(x + 40 - (22 if long else 12), y), (x + 40, y)], 2), sheet.INK)
            if long:
                write(canvas, x + 48, y, str(value), 16, at="lm")
        write(canvas, x, FOOT - 346, name, 28, category="name")
    write(canvas, 320, 26, "volume in mL", 18)
    return canvas.picture("cylinders", "science")


def cell() -> Picture:
    """An animal cell with its nucleus and mitochondria, named with lines."""
    canvas = sheet.paper()
    outline = "-210,0 -180,-110 -80,-166 40,-174 160,-140 216,-30 200,90 110,160 -20,174 -150,134"
    membrane = Frame(320, 250, 1).blob(outline)
    canvas.paint(membrane, (170, 110, 70), canvas.thing("cell membrane"))
    inside = membrane.grown(-8)
    canvas.paint(inside, fills.soft((252, 226, 196), "cytoplasm", 0.03, 60), 0)
    for number, (x, y, turn) in enumerate(MITOCHONDRIA, start=1):
        canvas.paint(ellipse(x, y, 44, 19, turn), (206, 104, 84), canvas.thing("mitochondrion", str(number)))
        canvas.paint(ellipse(x, y, 38, 13, turn), (244, 180, 150))
        folds = Frame(x, y, 1, degrees=turn).line("-30,7 -20,-7 -10,7 0,-7 10,7 20,-7 30,7", 3)
        canvas.paint(folds, (206, 104, 84))
    canvas.paint(ellipse(320, 250, 82, 74), (132, 96, 168), canvas.thing("nucleus"))
    canvas.paint(ellipse(320, 250, 76, 68), fills.ball((176, 146, 208), 310, 240, 120))
    canvas.paint(ellipse(340, 262, 26, 24), (104, 66, 142))
    write(canvas, 320, 40, "Animal cell", 24, category="title")
    for text, x, y, start, end in (
        ("nucleus", 590.0, 180.0, (552.0, 184.0), (388.0, 222.0)),
        ("mitochondrion", 548.0, 440.0, (538.0, 424.0), (470.0, 340.0)),
        ("membrane", 58.0, 120.0, (106.0, 124.0), (146.0, 144.0)),
    ):
        write(canvas, x, y, text, 18, category="name")
        canvas.paint(line([start, end], 1.6), sheet.INK)
    return canvas.picture("cell", "science")
