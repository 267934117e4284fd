"""A robot arm with a gripper, blocks and bins."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.objects.shadow import contact_shadow
from lookcheck.dataset_builders.pictures.shapes import Point, ellipse, line, polygon, rectangle


def gripper(
    canvas: Canvas, x: float, y: float, size: float, spread: float, shoulder: Point, colour: Colour
) -> None:
    """An arm from `shoulder` to a gripper whose finger tips are at height y, `spread` pixels apart."""
    owner = canvas.thing("robot gripper")
    wrist = (x, y - size * 0.9)
    elbow = ((shoulder[0] + x) / 2 + size * 0.3, min(shoulder[1], wrist[1]) - size * 0.25)
    canvas.shade(line([shoulder, elbow, wrist], size * 0.26).moved(8, 14), 10, 0.25)
    for start, end in ((shoulder, elbow), (elbow, wrist)):
        canvas.paint(line([start, end], size * 0.28), fills.darker(colour, 0.22), owner)
        canvas.paint(line([start, end], size * 0.2), colour)
        canvas.paint(
            line([(start[0] - 3, start[1] - 4), (end[0] - 3, end[1] - 4)], size * 0.05),
            fills.lighter(colour, 0.6),
        )
    for px, py in (elbow, wrist):
        canvas.paint(ellipse(px, py, size * 0.2), fills.ball((92, 98, 108), px, py, size * 0.28), owner)
        canvas.paint(ellipse(px, py, size * 0.08), (46, 50, 56))
    steel = (128, 134, 142)
    canvas.paint(
        rectangle(x - size * 0.1, y - size * 0.8, x + size * 0.1, y - size * 0.55, 3),
        fills.tube(steel, x - size * 0.1, x + size * 0.1),
        owner,
    )
    half = max(spread / 2 + size * 0.12, size * 0.32)
    canvas.paint(
        rectangle(x - half, y - size * 0.6, x + half, y - size * 0.44, 5),
        fills.down(fills.lighter(steel, 0.3), fills.darker(steel, 0.35), y - size * 0.6, y - size * 0.44),
        owner,
    )
    for side in (-1, 1):
        inner = x + side * spread / 2
        outer = inner + side * size * 0.1
        left, right = sorted((inner, outer))
        canvas.paint(
            rectangle(left, y - size * 0.5, right, y, 3), fills.tube((84, 90, 98), left, right), owner
        )
        tip = inner + side * size * 0.03
        pad = rectangle(min(inner, tip), y - size * 0.2, max(inner, tip), y)
        canvas.paint(pad, (34, 36, 40))


def block(
    canvas: Canvas, x: float, y: float, size: float, colour: Colour, label: str, letter: str = ""
) -> None:
    """A wooden cube from the front with a lit top; (x, y) is the middle of its foot."""
    contact_shadow(canvas, x, y, size * 1.0, 0.5)
    owner = canvas.thing("block", label)
    left, right, top, depth = x - size / 2, x + size / 2, y - size, size * 0.2
    slope = depth * 0.7
    lid = polygon([(left, top), (left + slope, top - depth), (right + slope, top - depth), (right, top)])
    side = polygon([(right, top), (right + slope, top - depth), (right + slope, y - depth), (right, y)])
    canvas.paint(lid.grown(0.5), fills.lighter(colour, 0.38), owner)
    canvas.paint(side.grown(0.5), fills.darker(colour, 0.34), owner)
    canvas.paint(
        rectangle(left, top, right, y),
        fills.down(fills.lighter(colour, 0.08), fills.darker(colour, 0.1), top, y),
        owner,
    )
    canvas.paint(
        rectangle(left, top, right, y).grown(-1).outline(1.6), fills.lighter(colour, 0.35), opacity=0.6
    )
    if letter:
        canvas.text(x, y - size / 2, letter, round(size * 0.62), fills.lighter(colour, 0.88))


def bin_box(canvas: Canvas, x: float, y: float, width: float, colour: Colour) -> None:
    """A shallow tray from the front, scenery."""
    contact_shadow(canvas, x, y, width * 0.9, 0.4)
    canvas.paint(
        rectangle(x - width / 2, y - width * 0.2, x + width / 2, y, 4),
        fills.down(fills.lighter(colour, 0.2), fills.darker(colour, 0.2), y - width * 0.2, y),
        0,
    )
    canvas.paint(
        rectangle(x - width / 2 - 3, y - width * 0.21, x + width / 2 + 3, y - width * 0.17, 4),
        fills.lighter(colour, 0.3),
        0,
    )
