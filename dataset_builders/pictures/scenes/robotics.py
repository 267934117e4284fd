"""A gripper over a work bench."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.objects import food, robots, tableware
from lookcheck.dataset_builders.pictures.scenes.palette import COLOURS, HEIGHT, WIDTH, Dice
from lookcheck.dataset_builders.pictures.shapes import ellipse, rectangle

_ORANGE: Colour = (232, 126, 44)


def _bench(name: str) -> Canvas:
    canvas = Canvas(WIDTH, HEIGHT, fills.down((206, 212, 218), (170, 178, 188), 0, 300))
    for seam in range(0, 660, 80):
        canvas.paint(rectangle(seam, 0, seam + 2, 300), (188, 194, 202))
    canvas.paint(rectangle(0, 300, 640, 481), fills.soft((120, 128, 136), name, 0.05, 3), 0)
    for number in range(-6, 14):
        # Drilled holes of the bench.
        for row in range(4):
            depth = 1 + row * 0.32
            x = 320 + (number * 58 - 200) * depth * 0.8
            canvas.paint(ellipse(x, 326 + row * 40, 4 * depth, 2 * depth), (84, 90, 98))
    canvas.paint(rectangle(0, 298, 640, 304), (224, 228, 232), 0)
    canvas.shade(ellipse(140, 60, 220, 140), 80, 0.3, (255, 255, 255))
    return canvas


def blocks(name: str) -> Picture:
    """Letter blocks, one of them under the gripper."""
    dice = Dice(name)
    canvas = _bench(name)
    count = dice.whole(3, 4)
    chosen = dice.colours(count, "red", "blue", "green", "yellow", "purple")
    for (label, colour), (x, y), letter in zip(
        chosen, ((120, 396), (310, 410), (520, 390), (420, 452)), "ABCD", strict=False
    ):
        robots.block(canvas, x, y, 84, colour, label, letter)
    robots.gripper(canvas, 318, 318, 120, 96, (520, -30), _ORANGE)
    canvas.grain(name)
    return canvas.picture(name, "robotics")


def cup_and_bowl(name: str) -> Picture:
    """A gripper over a cup, a bottle beside it."""
    dice = Dice(name)
    canvas = _bench(name)
    chosen = dice.colours(2, "red", "blue", "green", "yellow", "white")
    tableware.bottle(canvas, 130, 386, 210, (48, 96, 150), "blue")
    tableware.cup(canvas, 330, 412, 108, chosen[0][1], chosen[0][0])
    owner = tableware.bowl(canvas, 520, 416, 170, chosen[1][1], chosen[1][0])
    tableware.bowl_front(canvas, 520, 416, 170, chosen[1][1], owner)
    robots.gripper(canvas, 322, 280, 118, 100, (120, -30), _ORANGE)
    canvas.grain(name)
    return canvas.picture(name, "robotics")


def sorting(name: str) -> Picture:
    """Fruit to be sorted into trays."""
    dice = Dice(name)
    canvas = _bench(name)
    robots.bin_box(canvas, 130, 452, 210, (90, 110, 150))
    robots.bin_box(canvas, 516, 452, 210, (150, 110, 90))
    food.apple(canvas, 92, 380, 34, COLOURS["red"], "red")
    food.apple(canvas, 166, 380, 34, COLOURS["red"], "red")
    food.orange(canvas, 516, 378, 34)
    robots.gripper(canvas, 322, 352, 116, 72, (322, -40), _ORANGE)
    if dice.whole(0, 1):
        food.orange(canvas, 322, 330, 34)
    else:
        food.apple(canvas, 322, 330, 34, (120, 172, 60), "green")
    canvas.grain(name)
    return canvas.picture(name, "robotics")
