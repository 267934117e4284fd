"""Bar, pie, scatter and line charts."""

from __future__ import annotations

import numpy as np

from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.figures import sheet
from lookcheck.dataset_builders.pictures.figures.sheet import (
    BLUE,
    GREEN,
    PURPLE,
    RED,
    TEAL,
    write,
)
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.shapes import Region, arc, line, polygon, rectangle

# Where charts with axes have their field, in pixels.
LEFT, TOP, RIGHT, BOTTOM = 90, 70, 600, 400

RAINFALL = {"Jan": 60, "Feb": 45, "Mar": 75, "Apr": 110, "May": 90, "Jun": 30}
RAINFALL_SCALE = 2.5  # pixels per millimetre
BAR_WIDTH, BAR_STEP = 52, 84

ENERGY = {"2020": (20, 35), "2021": (30, 40), "2022": (55, 45), "2023": (70, 50)}
ENERGY_SCALE = 4.0  # pixels per terawatt hour

PETS: dict[str, tuple[int, Colour]] = {
    "dogs": (35, BLUE),
    "cats": (30, RED),
    "fish": (20, GREEN),
    "birds": (15, PURPLE),
}
PIE = (250.0, 265.0, 165.0)  # centre x and y, radius

# Petal length and width in centimetres; 80 pixels per unit along x, 120 along y.
FLOWERS: dict[str, tuple[tuple[float, float], ...]] = {
    "Species A": ((1.0, 0.4), (1.4, 0.6), (1.8, 0.5), (1.5, 1.0), (2.2, 0.8)),
    "Species B": ((3.4, 1.5), (3.9, 1.9), (4.4, 1.7), (4.8, 2.2), (4.1, 1.3), (5.3, 1.9), (5.0, 2.5)),
}
FLOWERS_SCALE = (80.0, 120.0)
POINT_RADIUS = 9.0

TEMPERATURES = {"Arvik": (2, 5, 11, 16, 13, 6), "Solmar": (14, 15, 18, 24, 23, 17)}
TEMPERATURES_SCALE = 11.0  # pixels per degree
MONTHS = ("Jan", "Mar", "May", "Jul", "Sep", "Nov")
MONTH_STEP = 92


def _levels(canvas: Canvas, step: int, last: int, scale: float) -> None:
    for value in range(0, last + 1, step):
        y = BOTTOM - value * scale
        canvas.paint(line([(LEFT, y), (RIGHT, y)], 1), sheet.PALE)
        write(canvas, LEFT - 10, y, str(value), 15, sheet.GREY, at="rm")


def rainfall() -> Picture:
    """Bars of monthly rainfall."""
    canvas = sheet.paper()
    write(canvas, 320, 34, "Rainfall in Norvale (mm)", 24, category="title")
    _levels(canvas, 20, 120, RAINFALL_SCALE)
    for number, (month, value) in enumerate(RAINFALL.items()):
        left = LEFT + 20 + number * BAR_STEP
        bar = rectangle(left, BOTTOM - value * RAINFALL_SCALE, left + BAR_WIDTH, BOTTOM)
        canvas.paint(bar, TEAL, canvas.thing("bar", month))
        write(canvas, left + BAR_WIDTH / 2, BOTTOM + 20, month, 17, category="axis label")
    sheet.axes(canvas, LEFT, TOP, RIGHT, BOTTOM)
    return canvas.picture("rainfall", "science")


def energy() -> Picture:
    """Pairs of bars for two sources of energy, with a key."""
    canvas = sheet.paper()
    write(canvas, 320, 30, "Electricity by source (TWh)", 24, category="title")
    _levels(canvas, 20, 80, ENERGY_SCALE)
    for number, (year, values) in enumerate(ENERGY.items()):
        for which, (name, colour) in enumerate((("solar", RED), ("wind", BLUE))):
            left = LEFT + 26 + number * 124 + which * 42
            bar = rectangle(left, BOTTOM - values[which] * ENERGY_SCALE, left + 40, BOTTOM)
            canvas.paint(bar, colour, canvas.thing("bar", f"{name} {year}"))
        write(canvas, LEFT + 67 + number * 124, BOTTOM + 20, year, 17, category="axis label")
    sheet.axes(canvas, LEFT, TOP, RIGHT, BOTTOM)
    for number, (name, colour) in enumerate((("solar", RED), ("wind", BLUE))):
        canvas.paint(
            rectangle(120, 86 + number * 28, 140, 106 + number * 28), colour, canvas.thing("key", name)
        )
        write(canvas, 150, 96 + number * 28, name, 17, at="lm")
    return canvas.picture("energy", "science")


def pets() -> Picture:
    """A pie of pets."""
    canvas = sheet.paper()
    write(canvas, 320, 40, "Pets in the survey", 24, category="title")
    cx, cy, radius = PIE
    start = -90.0
    for name, (share, colour) in PETS.items():
        end = start + share * 3.6
        canvas.paint(arc(cx, cy, radius, start, end), colour, canvas.thing("slice", name))
        middle = np.deg2rad((start + end) / 2)
        x, y = cx + radius * 0.62 * float(np.cos(middle)), cy + radius * 0.62 * float(np.sin(middle))
        write(canvas, x, y, f"{share} %", 20, (255, 255, 255))
        start = end
    for number, (name, (_, colour)) in enumerate(PETS.items()):
        y = 190 + number * 44
        canvas.paint(rectangle(470, y, 496, y + 26), colour, canvas.thing("key", name))
        write(canvas, 508, y + 13, name, 20, at="lm")
    return canvas.picture("pets", "science")


def flowers() -> Picture:
    """A scatter chart of two species: discs and triangles."""
    canvas = sheet.paper()
    write(canvas, 320, 34, "Petals of two species", 24, category="title")
    for value in range(7):
        at = LEFT + value * FLOWERS_SCALE[0]
        canvas.paint(line([(at, TOP), (at, BOTTOM)], 1), sheet.PALE)
        write(canvas, at, BOTTOM + 18, str(value), 15, sheet.GREY)
    for half in range(6):
        level = BOTTOM - half * 60
        canvas.paint(line([(LEFT, level), (RIGHT, level)], 1), sheet.PALE)
        write(canvas, LEFT - 10, level, f"{half / 2:.1f}", 15, sheet.GREY, at="rm")
    sheet.axes(canvas, LEFT, TOP, RIGHT, BOTTOM)
    write(canvas, 345, BOTTOM + 48, "petal length (cm)", 17, category="axis label")
    for name, points in FLOWERS.items():
        for length, width in points:
            x, y = LEFT + length * FLOWERS_SCALE[0], BOTTOM - width * FLOWERS_SCALE[1]
            disc = name == "Species A"
            region = sheet.dot(x, y, POINT_RADIUS) if disc else triangle_mark(x, y)
            canvas.paint(region, RED if disc else BLUE, canvas.thing("point", name))
    canvas.paint(rectangle(112, 84, 262, 148).outline(1.4), sheet.GREY)
    canvas.paint(sheet.dot(130, 102, 8), RED)
    canvas.paint(triangle_mark(130, 130), BLUE)
    for y, name in ((102, "Species A"), (130, "Species B")):
        write(canvas, 148, y, name, 17, at="lm")
    return canvas.picture("flowers", "science")


def triangle_mark(x: float, y: float) -> Region:
    """The mark of the second species."""
    return polygon([(x, y - 11), (x + 10.5, y + 8), (x - 10.5, y + 8)])


def temperatures() -> Picture:
    """Lines of two towns' temperatures, written at their ends."""
    canvas = sheet.paper()
    write(canvas, 320, 30, "Mean temperature (°C)", 24, category="title")
    _levels(canvas, 5, 25, TEMPERATURES_SCALE)
    sheet.axes(canvas, LEFT, TOP, RIGHT, BOTTOM)
    for number, month in enumerate(MONTHS):
        write(canvas, LEFT + 20 + number * MONTH_STEP, BOTTOM + 20, month, 17, category="axis label")
    for (town, values), colour in zip(TEMPERATURES.items(), (BLUE, RED), strict=True):
        points = [
            (LEFT + 20.0 + number * MONTH_STEP, BOTTOM - value * TEMPERATURES_SCALE)
            for number, value in enumerate(values)
        ]
        owner = canvas.thing("line", town)
        canvas.paint(line(points, 5), colour, owner)
        for x, y in points:
            canvas.paint(sheet.dot(x, y, 7), colour, owner)
    for town, x, y, colour in (("Solmar", 268, 158, RED), ("Arvik", 384, 286, BLUE)):
        write(canvas, x, y, town, 19, colour)
    return canvas.picture("temperatures", "science")
