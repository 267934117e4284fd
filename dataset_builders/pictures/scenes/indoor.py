"""Rooms and tables."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.objects import food, indoors, tableware
from lookcheck.dataset_builders.pictures.scenes.palette import COLOURS, HEIGHT, WIDTH, Dice
from lookcheck.dataset_builders.pictures.shapes import ellipse, polygon, rectangle

_WOOD: tuple[Colour, ...] = ((168, 116, 70), (132, 88, 54), (190, 146, 98))
_WALLS: tuple[Colour, ...] = ((206, 214, 208), (222, 208, 188), (196, 208, 222), (214, 202, 214))


def _wall(name: str, dice: Dice) -> Canvas:
    wall = _WALLS[dice.whole(0, len(_WALLS) - 1)]
    canvas = Canvas(WIDTH, HEIGHT, fills.soft(wall, name, 0.03, 60))
    # Light from a window above left.
    canvas.shade(ellipse(90, 60, 220, 160), 90, 0.35, (255, 252, 240))
    canvas.shade(ellipse(660, 430, 260, 200), 100, 0.25)
    return canvas


def _table(canvas: Canvas, name: str, dice: Dice, top: float) -> None:
    """A table whose far edge is at y = top and that leaves the picture below."""
    wood = _WOOD[dice.whole(0, len(_WOOD) - 1)]
    board = polygon([(40, top), (600, top), (700, 481), (-60, 481)])
    canvas.shade(board.moved(0, -6), 8, 0.3)
    canvas.paint(board, fills.wood(wood, name), canvas.thing("dining table"))
    canvas.paint(rectangle(0, top - 2, 640, top + 5) & board, fills.lighter(wood, 0.3), opacity=0.6)
    canvas.shade(ellipse(180, top + 60, 190, 40), 30, 0.16, (255, 250, 235))


def _top(name: str, dice: Dice) -> Canvas:
    """A table top that fills the picture, seen from above."""
    wood = _WOOD[dice.whole(0, len(_WOOD) - 1)]
    canvas = Canvas(WIDTH, HEIGHT, fills.wood(wood, name))
    canvas.owner[:] = canvas.thing("dining table")
    canvas.shade(ellipse(150, 90, 260, 180), 90, 0.22, (255, 248, 230))
    return canvas


def _floor(canvas: Canvas, name: str, top: float, colour: Colour = (150, 112, 78)) -> None:
    canvas.paint(rectangle(0, top, 640, 481), fills.wood(colour, name), 0)
    canvas.paint(
        rectangle(0, top - 14, 640, top), fills.down((246, 244, 238), (214, 210, 202), top - 14, top), 0
    )


def cups(name: str) -> Picture:
    """Cups and a bottle on a table, one cup partly before the bottle."""
    dice = Dice(name)
    canvas = _wall(name, dice)
    _table(canvas, name, dice, 285)
    chosen = dice.colours(4, "red", "blue", "green", "yellow", "white", "purple")
    tableware.bottle(canvas, 300, 352, 235, (44, 92, 62), "green glass")
    count = dice.whole(3, 4)
    for (label, colour), x, y in zip(
        chosen[:count], (150, 348, 500, 236), (372, 392, 352, 440), strict=False
    ):
        tableware.cup(canvas, x, y, 104 + (y - 350) * 0.35, colour, label)
    canvas.grain(name)
    return canvas.picture(name, "indoor")


def bottles(name: str) -> Picture:
    """Bottles in a row on a shelf."""
    dice = Dice(name)
    canvas = _wall(name, dice)
    canvas.shade(rectangle(30, 396, 610, 440), 12, 0.4)
    canvas.paint(rectangle(24, 372, 616, 404), fills.wood(_WOOD[dice.whole(0, 2)], name), 0)
    canvas.paint(rectangle(24, 372, 616, 376), (230, 214, 188), opacity=0.5)
    count = dice.whole(4, 5)
    for number, (label, colour) in enumerate(
        dice.colours(count, "green", "blue", "red", "yellow", "purple", "white")
    ):
        size = dice.between(200, 300)
        tableware.bottle(
            canvas, 90 + number * 460 / (count - 1), 378, size, fills.darker(colour, 0.15), label
        )
    canvas.grain(name)
    return canvas.picture(name, "indoor")


def living_room(name: str) -> Picture:
    """A clock over a couch, a plant beside it."""
    dice = Dice(name)
    canvas = _wall(name, dice)
    _floor(canvas, name, 392)
    (label, colour), (rim_label, rim) = dice.colours(2, "red", "blue", "green", "purple", "orange")
    indoors.clock(
        canvas, dice.between(230, 290), 116, 82, dice.whole(1, 12), 5 * dice.whole(0, 11), rim, rim_label
    )
    indoors.couch(canvas, 265, 444, 430, fills.mixed(colour, (150, 150, 150), 0.35), label)
    tableware.potted_plant(canvas, 544, 440, 236, (188, 104, 70))
    canvas.grain(name)
    return canvas.picture(name, "indoor")


def fruit(name: str) -> Picture:
    """A bowl of fruit with some beside it."""
    dice = Dice(name)
    canvas = _wall(name, dice)
    _table(canvas, name, dice, 262)
    blue = fills.mixed(COLOURS["blue"], (255, 255, 255), 0.2)
    owner = tableware.bowl(canvas, 270, 400, 300, blue)
    food.apple(canvas, 196, 262, 46, COLOURS["red"], "red")
    food.orange(canvas, 282, 254, 46)
    food.apple(canvas, 352, 268, 44, (120, 172, 60), "green")
    food.orange(canvas, 238, 290, 42)
    food.apple(canvas, 312, 296, 42, COLOURS["red"], "red")
    tableware.bowl_front(canvas, 270, 400, 300, blue, owner)
    food.banana(canvas, 520, 372, 180)
    if dice.whole(0, 1):
        food.apple(canvas, 92, 420, 44, (222, 180, 60), "yellow")
    canvas.grain(name)
    return canvas.picture(name, "indoor")


def desk(name: str) -> Picture:
    """A laptop, a mouse, a cup."""
    dice = Dice(name)
    canvas = _wall(name, dice)
    _table(canvas, name, dice, 300)
    (label, colour), (_, cover) = dice.colours(2, "red", "blue", "green", "yellow", "white")
    indoors.laptop(canvas, 270, 420, 300)
    indoors.mouse(canvas, 480, 432, 62)
    tableware.cup(canvas, 555, 372, 92, colour, label)
    tableware.potted_plant(canvas, 74, 342, 180, cover)
    canvas.grain(name)
    return canvas.picture(name, "indoor")


def bookshelf(name: str) -> Picture:
    """Books, a vase and a clock on two boards."""
    dice = Dice(name)
    canvas = _wall(name, dice)
    wood = _WOOD[dice.whole(0, 2)]
    titles = ["ATLAS", "BIRDS", "MUSIC", "TREES", "OCEAN"]
    for y in (236, 430):
        canvas.shade(rectangle(40, y + 10, 600, y + 60), 14, 0.35)
        canvas.paint(rectangle(30, y, 610, y + 24), fills.wood(wood, name), 0)
    left = 70.0
    for title, (_, colour) in zip(
        titles, dice.colours(5, "red", "blue", "green", "yellow", "purple", "orange"), strict=True
    ):
        width = dice.between(40, 54)
        indoors.book(canvas, left, 430, width, dice.between(138, 168), colour, title)
        left += width + 2
    (label, colour), (rim_label, rim) = dice.colours(2, "white", "blue", "green", "red")
    tableware.vase(canvas, 470, 432, 150, colour, label)
    indoors.clock(canvas, 180, 166, 68, dice.whole(1, 12), 5 * dice.whole(0, 11), rim, rim_label)
    tableware.potted_plant(canvas, 450, 238, 190, (120, 126, 140))
    canvas.grain(name)
    return canvas.picture(name, "indoor")


def dinner(name: str) -> Picture:
    """A pizza between cutlery, from above."""
    dice = Dice(name)
    canvas = _top(name, dice)
    tableware.plate(canvas, 330, 240, 196)
    food.pizza(canvas, 330, 240, 150)
    tableware.cutlery(canvas, "fork", 92, 250, 290)
    tableware.cutlery(canvas, "knife", 556, 250, 290)
    if dice.whole(0, 1):
        tableware.cutlery(canvas, "spoon", 604, 256, 262)
    canvas.grain(name)
    return canvas.picture(name, "indoor")


def doughnuts(name: str) -> Picture:
    """Doughnuts on a plate, from above."""
    dice = Dice(name)
    canvas = _top(name, dice)
    tableware.plate(canvas, 300, 240, 214, (226, 234, 240))
    icings: dict[str, Colour] = {"pink": (240, 140, 176), "chocolate": (92, 54, 36), "white": (246, 240, 230)}
    names = ["pink", "chocolate", "pink", "white", "chocolate"][: dice.whole(3, 5)]
    for label, x, y in zip(names, (216, 356, 380, 238, 304), (172, 150, 276, 312, 226), strict=False):
        food.donut(canvas, x, y, 62, icings[label], label)
    tableware.cutlery(canvas, "fork", 574, 244, 280)
    canvas.grain(name)
    return canvas.picture(name, "indoor")


def television(name: str) -> Picture:
    """A television on a sideboard with a remote control."""
    dice = Dice(name)
    canvas = _wall(name, dice)
    _floor(canvas, name, 440)
    wood = _WOOD[dice.whole(0, 2)]
    canvas.shade(rectangle(60, 420, 590, 470), 10, 0.45)
    canvas.paint(rectangle(60, 336, 590, 462, 4), fills.wood(fills.darker(wood, 0.12), name), 0)
    canvas.paint(rectangle(50, 322, 600, 342, 4), fills.wood(fills.lighter(wood, 0.12), name), 0)
    for left in (76, 250, 424):
        canvas.paint(rectangle(left, 352, left + 152, 452, 3).outline(2), fills.darker(wood, 0.5))
        canvas.paint(ellipse(left + 76, 366, 5), (214, 196, 140))
    indoors.tv(canvas, 290, 330, 350)
    indoors.remote(canvas, 424, 337, 72)
    ((label, colour),) = dice.colours(1, "white", "blue", "red")
    tableware.vase(canvas, 548, 328, 118, colour, label) if dice.whole(0, 1) else None
    canvas.grain(name)
    return canvas.picture(name, "indoor")
