"""Triangles, a circle with its lines, an assortment of shapes."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Colour
from lookcheck.dataset_builders.pictures.figures import sheet
from lookcheck.dataset_builders.pictures.figures.sheet import BLUE, GREEN, INK, PURPLE, RED, write
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.shapes import Point, Region, arc, ellipse, line, polygon, rectangle

# Angles in degrees at A, B and C; the side from A to B is level at y = 390.
ANGLES = {"A": 65, "B": 45, "C": 70}
BASE = ((120.0, 390.0), (530.0, 390.0))
ANGLE_RADIUS = 52.0

# The right angle is at C; 45 pixels per centimetre.
RIGHT_CORNERS: dict[str, Point] = {"A": (150.0, 120.0), "C": (150.0, 390.0), "B": (510.0, 390.0)}
SIDE_WIDTH = 7.0

CIRCLE = (320.0, 262.0, 170.0)

# Kind, colour, centre and half size in pixels.
SHAPES: tuple[tuple[str, str, float, float, float], ...] = (
    ("triangle", "red", 110, 120, 58),
    ("circle", "blue", 300, 110, 50),
    ("square", "green", 500, 120, 46),
    ("triangle", "blue", 220, 250, 44),
    ("circle", "red", 410, 250, 62),
    ("triangle", "red", 560, 270, 40),
    ("square", "blue", 90, 300, 54),
    ("hexagon", "purple", 290, 390, 56),
    ("circle", "green", 480, 400, 38),
    ("triangle", "green", 160, 420, 34),
)
_COLOURS: dict[str, Colour] = {"red": RED, "blue": BLUE, "green": GREEN, "purple": PURPLE}


def corners() -> dict[str, Point]:
    """Corners of the triangle with `ANGLES`, in pixels."""
    (ax, ay), (bx, by) = BASE
    a, b, c = (np.deg2rad(ANGLES[name]) for name in "ABC")
    side = (bx - ax) * float(np.sin(b) / np.sin(c))
    return {"A": (ax, ay), "B": (bx, by), "C": (ax + side * float(np.cos(a)), ay - side * float(np.sin(a)))}


def triangle() -> Picture:
    """A triangle with two angles given and the third to be found."""
    canvas = sheet.paper()
    places = corners()
    canvas.paint(polygon(list(places.values())), (232, 240, 250))
    # Clockwise from the right, as y points down.
    starts = {"A": -ANGLES["A"], "B": 180, "C": 180 - ANGLES["A"] - ANGLES["C"]}
    for name, (x, y) in places.items():
        wedge = arc(x, y, ANGLE_RADIUS, starts[name], starts[name] + ANGLES[name])
        colour = {"A": RED, "B": BLUE, "C": PURPLE}[name]
        canvas.paint(wedge, fills.lighter(colour, 0.35), canvas.thing("angle", name))
        middle = np.deg2rad(starts[name] + ANGLES[name] / 2)
        text = "?" if name == "C" else f"{ANGLES[name]}°"
        write(canvas, x + 78 * float(np.cos(middle)), y + 78 * float(np.sin(middle)), text, 24)
        write(
            canvas, x - 26 * float(np.cos(middle)), y - 26 * float(np.sin(middle)), name, 28, category="name"
        )
    canvas.paint(line([*places.values(), places["A"]], 3), INK)
    return canvas.picture("triangle", "math")


def right_triangle() -> Picture:
    """A right triangle with two sides given."""
    canvas = sheet.paper()
    c = RIGHT_CORNERS
    canvas.paint(polygon(list(c.values())), (244, 240, 226))
    canvas.paint(rectangle(150, 362, 178, 390).outline(2), INK)
    for name, ends, colour in (("a", "CB", BLUE), ("b", "AC", GREEN), ("c", "AB", RED)):
        canvas.paint(line([c[ends[0]], c[ends[1]]], SIDE_WIDTH), colour, canvas.thing("side", name))
    write(canvas, 112, 255, "6 cm", 24, category="length")
    write(canvas, 330, 424, "8 cm", 24, category="length")
    write(canvas, 352, 228, "?", 28)
    for name, x, y in (("A", 140, 90), ("B", 538, 398), ("C", 126, 412)):
        write(canvas, x, y, name, 26, category="name")
    return canvas.picture("right_triangle", "math")


def circle() -> Picture:
    """A circle with a radius, a diameter and a chord."""
    canvas = sheet.paper()
    cx, cy, radius = CIRCLE
    canvas.paint(ellipse(cx, cy, radius), (238, 244, 240))
    canvas.paint(ellipse(cx, cy, radius).outline(4), INK)

    def rim(degrees: float) -> Point:
        angle = np.deg2rad(degrees)
        return cx + radius * float(np.cos(angle)), cy + radius * float(np.sin(angle))

    for name, start, end, colour in (
        ("diameter", rim(155), rim(-25), BLUE),
        ("chord", rim(35), rim(115), RED),
        ("radius", (cx, cy), rim(-110), PURPLE),
    ):
        canvas.paint(line([start, end], SIDE_WIDTH), colour, canvas.thing("line", name))
    canvas.paint(ellipse(cx, cy, 7), INK)
    write(canvas, cx + 6, cy + 24, "O", 24)
    for text, degrees in (("A", 155), ("B", -25), ("C", 35), ("D", 115), ("E", -110)):
        angle = np.deg2rad(degrees)
        write(
            canvas,
            cx + (radius + 22) * float(np.cos(angle)),
            cy + (radius + 22) * float(np.sin(angle)),
            text,
            24,
            category="name",
        )
    return canvas.picture("circle", "math")


def shapes() -> Picture:
    """Ten plain shapes."""
    canvas = sheet.paper()
    for kind, colour, x, y, size in SHAPES:
        canvas.paint(shape(kind, x, y, size), _COLOURS[colour], canvas.thing(kind, colour))
    return canvas.picture("shapes", "math")


def shape(kind: str, x: float, y: float, size: float) -> Region:
    """A shape around (x, y); `size` is the radius of its circle, or half a square's side."""
    if kind == "circle":
        return ellipse(x, y, size)
    if kind == "square":
        return rectangle(x - size, y - size, x + size, y + size)
    sides, turn = {"triangle": (3, -90), "hexagon": (6, 0)}[kind]
    angles = np.deg2rad(turn + np.arange(sides) * 360 / sides)
    return polygon([(x + float(size * np.cos(a)), y + float(size * np.sin(a))) for a in angles])
