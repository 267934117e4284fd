"""Cars, buses and trucks from the side."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.shapes import Frame, Region, blob, ellipse, polygon, rectangle

_GLASS: Colour = (74, 96, 116)


def _wheel(canvas: Canvas, x: float, y: float, radius: float, owner: int) -> None:
    canvas.paint(ellipse(x, y, radius), (32, 33, 36), owner)
    canvas.paint(ellipse(x, y, radius * 0.62), fills.ball((172, 176, 182), x, y, radius))
    canvas.paint(ellipse(x, y, radius * 0.2), (70, 72, 78))


def _window(canvas: Canvas, region: Region, top: float, bottom: float) -> None:
    canvas.paint(region, fills.down(fills.lighter(_GLASS, 0.35), fills.darker(_GLASS, 0.25), top, bottom))


def _ground_shadow(canvas: Canvas, x: float, y: float, width: float) -> None:
    canvas.shade(ellipse(x + width * 0.02, y, width * 0.5, width * 0.03), width * 0.012 + 1, 0.65)


def car(
    canvas: Canvas, x: float, y: float, length: float, colour: Colour, label: str, facing: int = 1
) -> None:
    """A car whose wheels stand at y; (x, y) is the middle of its foot."""
    s, f = length, facing
    _ground_shadow(canvas, x, y, s)

    frame = Frame(x, y, s, mirror=f < 0)
    at, points = frame.at, frame.points

    owner = canvas.thing("car", label)
    cabin = blob(points("-0.33,-0.2 -0.24,-0.335 -0.12,-0.375 0.06,-0.37 0.15,-0.32 0.27,-0.21 0,-0.19"))
    body = blob(
        points(
            "-0.485,-0.09 -0.49,-0.17 -0.46,-0.225 -0.3,-0.24 0,-0.24 0.26,-0.228 0.43,-0.19 0.49,-0.13 "
            "0.49,-0.075 0.3,-0.06 -0.3,-0.06"
        )
    )
    paint = fills.down(fills.lighter(colour, 0.28), fills.darker(colour, 0.32), y - s * 0.38, y - s * 0.05)
    canvas.paint(cabin, paint, owner)
    for corners in (
        [(-0.285, -0.225), (-0.215, -0.325), (-0.12, -0.348), (-0.055, -0.35), (-0.055, -0.225)],
        [(-0.03, -0.225), (-0.03, -0.35), (0.05, -0.346), (0.125, -0.305), (0.21, -0.225)],
    ):
        _window(canvas, polygon([at(*point) for point in corners]), y - s * 0.35, y - s * 0.22)
    canvas.paint(body, paint, owner)
    canvas.paint(
        polygon(points("-0.47,-0.168 0.47,-0.16 0.47,-0.152 -0.47,-0.16")),
        fills.lighter(colour, 0.5),
        opacity=0.5,
    )
    left, right = sorted((at(-0.02, 0)[0], at(0.05, 0)[0]))
    canvas.paint(rectangle(left, y - s * 0.2, right, y - s * 0.188, 2), fills.darker(colour, 0.5))
    canvas.paint(
        polygon(points("-0.042,-0.225 -0.036,-0.225 -0.04,-0.08 -0.046,-0.08")), fills.darker(colour, 0.45)
    )
    canvas.paint(ellipse(*at(0.455, -0.155), s * 0.024, s * 0.02), (250, 240, 190))
    canvas.paint(ellipse(*at(-0.474, -0.17), s * 0.016, s * 0.022), (214, 40, 34))
    for u in (-0.29, 0.29):
        wx = at(u, 0)[0]
        canvas.paint(ellipse(wx, y - s * 0.085, s * 0.1) & body, (24, 24, 26), owner)
        _wheel(canvas, wx, y - s * 0.082, s * 0.082, owner)


def bus(
    canvas: Canvas, x: float, y: float, length: float, colour: Colour, sign: str, label: str = ""
) -> None:
    """A bus to the right whose wheels stand at y, with a text over its side windows."""
    s = length
    _ground_shadow(canvas, x, y, s)
    owner = canvas.thing("bus", label)
    left, right, top = x - s / 2, x + s / 2, y - s * 0.42
    body = rectangle(left, top, right, y - s * 0.055, s * 0.035)
    canvas.paint(body, fills.down(fills.lighter(colour, 0.25), fills.darker(colour, 0.25), top, y), owner)
    panel = rectangle(left + s * 0.16, top + s * 0.028, right - s * 0.1, top + s * 0.092, 3)
    canvas.paint(panel, (28, 28, 30))
    canvas.part(panel, owner, "sign", sign)
    canvas.text(x + s * 0.03, top + s * 0.06, sign, round(s * 0.055), (255, 196, 60))
    for number in range(5):
        wx = left + s * (0.05 + number * 0.155)
        _window(
            canvas,
            rectangle(wx, top + s * 0.115, wx + s * 0.135, top + s * 0.225, s * 0.012),
            top + s * 0.1,
            top + s * 0.23,
        )
    _window(
        canvas,
        rectangle(right - s * 0.155, top + s * 0.115, right - s * 0.012, top + s * 0.235, s * 0.014),
        top + s * 0.1,
        top + s * 0.24,
    )
    canvas.paint(rectangle(left, y - s * 0.15, right, y - s * 0.13), fills.lighter(colour, 0.65))
    canvas.paint(rectangle(left, y - s * 0.085, right, y - s * 0.06), fills.darker(colour, 0.45))
    canvas.paint(ellipse(right - s * 0.012, y - s * 0.11, s * 0.012, s * 0.02) & body, (250, 240, 190))
    canvas.paint(ellipse(left + s * 0.01, y - s * 0.11, s * 0.01, s * 0.022) & body, (214, 40, 34))
    for wx in (left + s * 0.2, right - s * 0.22):
        canvas.paint(ellipse(wx, y - s * 0.06, s * 0.07) & body, (24, 24, 26), owner)
        _wheel(canvas, wx, y - s * 0.055, s * 0.055, owner)


def truck(
    canvas: Canvas, x: float, y: float, length: float, cab: Colour, box: Colour, label: str = ""
) -> None:
    """A box truck to the right whose wheels stand at y."""
    s = length
    _ground_shadow(canvas, x, y, s)
    owner = canvas.thing("truck", label)
    left, right = x - s / 2, x + s / 2
    canvas.paint(
        rectangle(left + s * 0.02, y - s * 0.13, right - s * 0.05, y - s * 0.07), (46, 48, 52), owner
    )
    canvas.paint(
        rectangle(left, y - s * 0.52, right - s * 0.29, y - s * 0.1, 3),
        fills.down(fills.lighter(box, 0.2), fills.darker(box, 0.14), y - s * 0.52, y - s * 0.1),
        owner,
    )
    for number in range(1, 6):
        sx = left + (right - s * 0.29 - left) * number / 6
        canvas.paint(
            rectangle(sx - 0.7, y - s * 0.51, sx + 0.7, y - s * 0.11), fills.darker(box, 0.25), opacity=0.5
        )
    front = polygon(
        [
            (right - s * 0.275, y - s * 0.42),
            (right - s * 0.1, y - s * 0.42),
            (right - s * 0.025, y - s * 0.25),
            (right, y - s * 0.23),
            (right, y - s * 0.08),
            (right - s * 0.275, y - s * 0.08),
        ]
    )
    canvas.paint(
        front, fills.down(fills.lighter(cab, 0.25), fills.darker(cab, 0.3), y - s * 0.42, y - s * 0.08), owner
    )
    _window(
        canvas,
        polygon(
            [
                (right - s * 0.23, y - s * 0.385),
                (right - s * 0.115, y - s * 0.385),
                (right - s * 0.055, y - s * 0.25),
                (right - s * 0.23, y - s * 0.25),
            ]
        ),
        y - s * 0.39,
        y - s * 0.25,
    )
    canvas.paint(
        rectangle(right - s * 0.22, y - s * 0.225, right - s * 0.17, y - s * 0.212, 2), fills.darker(cab, 0.5)
    )
    canvas.paint(ellipse(right - s * 0.02, y - s * 0.15, s * 0.016, s * 0.022) & front, (250, 240, 190))
    for wx in (left + s * 0.13, left + s * 0.27, right - s * 0.14):
        canvas.paint(ellipse(wx, y - s * 0.075, s * 0.08), (24, 24, 26), owner)
        _wheel(canvas, wx, y - s * 0.066, s * 0.066, owner)
