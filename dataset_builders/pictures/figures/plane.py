"""A number line, points of a plane, a fraction, parallel lines."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures.figures import sheet
from lookcheck.dataset_builders.pictures.figures.sheet import BLUE, GREEN, INK, PURPLE, RED, write
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.shapes import line, polygon, rectangle

# Places on the number line; 54 pixels per unit, 0 at x = 320.
MARKED = {"P": -4.0, "Q": -1.0, "R": 2.0, "S": 4.5}
UNIT, ORIGIN_X, LINE_Y = 54.0, 320.0, 260.0

# Points of the plane; 40 pixels per unit around (320, 240).
POINTS = {"A": (3, 4), "B": (-5, 2), "C": (-3, -4), "D": (5, -3)}
GRID, CENTRE = 40.0, (320.0, 240.0)
DOT = 9.0

# Shaded squares of the board of 4 × 5, by row and column; 70 pixels each, from (145, 110).
SHADED = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 3), (2, 4))
ROWS, COLUMNS, SQUARE, CORNER = 4, 5, 70.0, (145.0, 100.0)

# End points of the four lines; p and q are parallel.
LINES = {
    "p": ((60.0, 330.0), (560.0, 130.0)),
    "q": ((120.0, 430.0), (620.0, 230.0)),
    "r": ((190.0, 90.0), (330.0, 440.0)),
    "s": ((60.0, 60.0), (600.0, 300.0)),
}
LINE_WIDTH = 6.0


def number_line() -> Picture:
    """A number line from -5 to 5 with four points."""
    canvas = sheet.paper()
    canvas.paint(line([(28, LINE_Y), (612, LINE_Y)], 3), INK)
    for tip, back in ((618, 602), (22, 38)):
        canvas.paint(polygon([(tip, LINE_Y), (back, LINE_Y - 8), (back, LINE_Y + 8)]), INK)
    for whole in range(-5, 6):
        x = ORIGIN_X + whole * UNIT
        canvas.paint(line([(x, LINE_Y - 10), (x, LINE_Y + 10)], 2), INK)
        write(canvas, x, LINE_Y + 32, str(whole), 20)
    for (name, value), colour in zip(MARKED.items(), (RED, BLUE, GREEN, PURPLE), strict=True):
        x = ORIGIN_X + value * UNIT
        canvas.paint(sheet.dot(x, LINE_Y, DOT), colour, canvas.thing("point", name))
        write(canvas, x, LINE_Y - 34, name, 26, category="name")
    return canvas.picture("number_line", "math")


def coordinates() -> Picture:
    """Four points of a plane with axes."""
    canvas = sheet.paper()
    cx, cy = CENTRE
    for value in range(-7, 8):
        x = cx + value * GRID
        canvas.paint(line([(x, 20), (x, 460)], 1), sheet.PALE)
        if abs(value) <= 5:
            canvas.paint(line([(40, cy + value * GRID), (600, cy + value * GRID)], 1), sheet.PALE)
    canvas.paint(line([(34, cy), (606, cy)], 2.4), INK)
    canvas.paint(line([(cx, 14), (cx, 466)], 2.4), INK)
    canvas.paint(polygon([(614, cy), (600, cy - 7), (600, cy + 7)]), INK)
    canvas.paint(polygon([(cx, 8), (cx - 7, 22), (cx + 7, 22)]), INK)
    write(canvas, 612, cy + 20, "x", 20)
    write(canvas, cx + 18, 16, "y", 20)
    for value in (-6, -4, -2, 2, 4, 6):
        write(canvas, cx + value * GRID, cy + 16, str(value), 15, sheet.GREY)
        if abs(value) < 6:
            write(canvas, cx - 16, cy - value * GRID, str(value), 15, sheet.GREY)
    for (name, (px, py)), colour in zip(POINTS.items(), (RED, BLUE, GREEN, PURPLE), strict=True):
        x, y = cx + px * GRID, cy - py * GRID
        canvas.paint(sheet.dot(x, y, DOT), colour, canvas.thing("point", name))
        write(canvas, x + 20, y - 16, name, 24, category="name")
    return canvas.picture("coordinates", "math")


def fraction() -> Picture:
    """A board of 20 squares, 7 of them shaded."""
    canvas = sheet.paper()
    left, top = CORNER
    for row in range(ROWS):
        for column in range(COLUMNS):
            x, y = left + column * SQUARE, top + row * SQUARE
            box = rectangle(x, y, x + SQUARE, y + SQUARE)
            shaded = (row, column) in SHADED
            owner = canvas.thing("shaded square" if shaded else "white square", f"{row} {column}")
            canvas.paint(box, (122, 172, 222) if shaded else (255, 255, 255), owner)
            canvas.paint(box.outline(2.4), INK)
    write(canvas, 320, 56, "What part is shaded?", 24, category="title")
    return canvas.picture("fraction", "math")


def parallels() -> Picture:
    """Four lines, two of them parallel."""
    canvas = sheet.paper()
    for (name, ends), colour in zip(LINES.items(), (BLUE, PURPLE, GREEN, RED), strict=True):
        canvas.paint(line(list(ends), LINE_WIDTH), colour, canvas.thing("line", name))
    for name, x, y in (("p", 580, 114), ("q", 622, 206), ("r", 178, 66), ("s", 616, 312)):
        write(canvas, x, y, name, 26, category="name")
    return canvas.picture("parallels", "math")
