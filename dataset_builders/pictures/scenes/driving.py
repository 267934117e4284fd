"""Streets."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.objects import street, vehicles
from lookcheck.dataset_builders.pictures.scenes.outdoor import tree
from lookcheck.dataset_builders.pictures.scenes.palette import HEIGHT, WIDTH, Dice
from lookcheck.dataset_builders.pictures.shapes import polygon, rectangle

_ROAD: Colour = (98, 100, 106)
_HOUSES: tuple[Colour, ...] = ((188, 150, 120), (170, 176, 184), (206, 190, 158), (152, 120, 108))


def _town(name: str, dice: Dice, kerb: float) -> Canvas:
    """Houses, a pavement down to y = kerb, a road to the lower edge."""
    canvas = Canvas(WIDTH, HEIGHT, fills.clouded((96, 156, 216), (210, 228, 240), 300, name, 0.5))
    left = -20.0
    while left < 640:
        width = dice.between(110, 170)
        top = dice.between(70, 150)
        wall = _HOUSES[dice.whole(0, len(_HOUSES) - 1)]
        canvas.paint(
            rectangle(left, top, left + width, kerb), fills.soft(wall, f"{name} {left:.0f}", 0.05, 6), 0
        )
        canvas.paint(rectangle(left - 3, top - 8, left + width + 3, top + 4), fills.darker(wall, 0.3), 0)
        columns = int(width // 38)
        for column in range(columns):
            for row in range(3):
                wx = left + width * (column + 0.5) / columns - 10
                wy = top + 22 + row * 52
                if wy + 34 < kerb - 60:
                    canvas.paint(
                        rectangle(wx, wy, wx + 20, wy + 32),
                        fills.down((66, 88, 108), (120, 146, 164), wy, wy + 32),
                    )
                    canvas.paint(rectangle(wx, wy, wx + 20, wy + 32).outline(2.4), (232, 228, 220))
        left += width
    canvas.shade(rectangle(0, 60, 640, kerb), 30, 0.2, (214, 226, 236))
    _street(canvas, name, kerb)
    return canvas


def _street(canvas: Canvas, name: str, kerb: float) -> None:
    canvas.paint(rectangle(0, kerb - 34, 640, kerb), fills.soft((178, 174, 166), name + "p", 0.06, 3), 0)
    canvas.paint(rectangle(0, kerb - 3, 640, kerb + 4), (210, 208, 202), 0)
    canvas.paint(rectangle(0, kerb + 4, 640, 481), fills.soft(_ROAD, name + "r", 0.09, 2.4), 0)
    for number in range(6):
        x = number * 130 - 40
        canvas.paint(polygon([(x, 462), (x + 64, 462), (x + 60, 470), (x - 8, 470)]), (232, 230, 222))


def _country(name: str, kerb: float) -> Canvas:
    canvas = Canvas(WIDTH, HEIGHT, fills.clouded((88, 152, 216), (208, 228, 240), 300, name))
    canvas.paint(rectangle(0, 250, 640, kerb), fills.grass((98, 146, 72), name), 0)
    canvas.shade(rectangle(0, 244, 640, 272), 16, 0.35, (180, 204, 170))
    for x, y, size in ((60, 300, 170), (250, 288, 130), (420, 296, 150), (585, 304, 180)):
        tree(canvas, x, y, size)
    _street(canvas, name, kerb)
    return canvas


def stop_sign(name: str) -> Picture:
    """A stop sign before a car."""
    dice = Dice(name)
    canvas = _country(name, 360)
    ((label, colour),) = dice.colours(1, "red", "blue", "white", "green", "yellow")
    vehicles.car(canvas, 220, 424, 290, colour, label, facing=1)
    street.stop_sign(canvas, 500, 158, 74, 352)
    canvas.grain(name)
    return canvas.picture(name, "driving")


def traffic_lights(name: str) -> Picture:
    """Traffic lights over a road, with a car."""
    dice = Dice(name)
    canvas = _town(name, dice, 376)
    ((label, colour),) = dice.colours(1, "blue", "white", "yellow", "black")
    vehicles.car(canvas, 300, 438, 250, colour, label, facing=-1)
    states = ("red", "green", "yellow")
    first = dice.whole(0, 2)
    street.traffic_light(canvas, 100, 120, 150, states[first], 372)
    if dice.whole(0, 1):
        street.traffic_light(canvas, 540, 104, 162, states[first], 372)
    canvas.grain(name)
    return canvas.picture(name, "driving")


def bus_stop(name: str) -> Picture:
    """A bus with its line's name."""
    dice = Dice(name)
    canvas = _town(name, dice, 384)
    ((label, colour),) = dice.colours(1, "red", "blue", "green", "yellow", "orange")
    sign = ("12 HARBOUR", "7 STATION", "35 AIRPORT", "4 MUSEUM")[dice.whole(0, 3)]
    vehicles.bus(canvas, 316, 442, 470, colour, sign, label)
    canvas.grain(name)
    return canvas.picture(name, "driving")


def parked_cars(name: str) -> Picture:
    """Cars in a row and a hydrant on the pavement."""
    dice = Dice(name)
    canvas = _town(name, dice, 366)
    chosen = dice.colours(3, "red", "blue", "white", "green", "yellow", "black")
    vehicles.car(canvas, 124, 404, 236, chosen[0][1], chosen[0][0])
    vehicles.car(canvas, 440, 404, 236, chosen[1][1], chosen[1][0])
    if dice.whole(0, 1):
        vehicles.car(canvas, 288, 458, 262, chosen[2][1], chosen[2][0], facing=-1)
    street.fire_hydrant(canvas, 600, 364, 92, (226, 176, 40), "yellow")
    canvas.grain(name)
    return canvas.picture(name, "driving")


def delivery(name: str) -> Picture:
    """A truck with a car behind it."""
    dice = Dice(name)
    canvas = _country(name, 366)
    chosen = dice.colours(3, "red", "blue", "white", "green", "yellow", "orange")
    vehicles.truck(canvas, 410, 424, 380, chosen[0][1], fills.lighter(chosen[1][1], 0.35), chosen[0][0])
    vehicles.car(canvas, 110, 426, 190, chosen[2][1], chosen[2][0])
    canvas.grain(name)
    return canvas.picture(name, "driving")
