"""Sky, sea, lawns."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.objects import flying, outdoors, street
from lookcheck.dataset_builders.pictures.scenes.palette import HEIGHT, WIDTH, Dice
from lookcheck.dataset_builders.pictures.shapes import blob, ellipse, line, rectangle

_SKY: tuple[Colour, Colour] = ((76, 142, 212), (196, 222, 240))
_GRASS: Colour = (86, 142, 62)


def _sky(name: str, horizon: float, share: float = 0.6) -> Canvas:
    return Canvas(WIDTH, HEIGHT, fills.clouded(*_SKY, horizon, name, share))


def _hills(canvas: Canvas, horizon: float) -> None:
    far, near = (128, 160, 168), (104, 144, 108)
    canvas.paint(
        blob(
            [
                (-60, horizon),
                (60, horizon - 34),
                (190, horizon - 16),
                (330, horizon - 44),
                (470, horizon - 14),
                (600, horizon - 32),
                (720, horizon),
                (320, horizon + 90),
            ]
        ),
        far,
        0,
    )
    canvas.paint(
        blob(
            [
                (-80, horizon + 4),
                (120, horizon - 16),
                (260, horizon - 4),
                (420, horizon - 20),
                (560, horizon - 6),
                (720, horizon - 14),
                (700, horizon + 60),
                (0, horizon + 60),
            ]
        ),
        near,
        0,
    )


def tree(canvas: Canvas, x: float, y: float, size: float) -> None:
    """A leafy tree, scenery."""
    canvas.shade(ellipse(x + size * 0.2, y, size * 0.36, size * 0.05), size * 0.04, 0.45)
    trunk: Colour = (98, 70, 46)
    canvas.paint(
        rectangle(x - size * 0.04, y - size * 0.45, x + size * 0.04, y),
        fills.tube(trunk, x - size * 0.04, x + size * 0.04),
        0,
    )
    green: Colour = (58, 112, 50)
    for number, (dx, dy, r) in enumerate(
        [
            (-0.2, 0.5, 0.19),
            (0.2, 0.52, 0.19),
            (0.0, 0.46, 0.2),
            (-0.12, 0.68, 0.2),
            (0.13, 0.7, 0.19),
            (0.0, 0.82, 0.16),
        ]
    ):
        leaf = fills.mixed(green, (112, 160, 70), 0.1 + number * 0.09)
        cx, cy = x + dx * size, y - dy * size
        canvas.shade(ellipse(cx, cy + size * 0.03, r * size), size * 0.02, 0.22)
        canvas.paint(ellipse(cx, cy, r * size), fills.ball(leaf, cx, cy, r * size * 1.25), 0)


def kites(name: str) -> Picture:
    """Kites over a meadow."""
    dice = Dice(name)
    canvas = _sky(name, 420)
    _hills(canvas, 420)
    canvas.paint(rectangle(0, 426, 640, 481), fills.grass(_GRASS, name), 0)
    count = dice.whole(2, 4)
    chosen = dice.colours(count, "red", "blue", "green", "purple", "orange")
    places = ((150, 130, 132), (430, 92, 112), (312, 236, 96), (540, 250, 92))
    for (label, colour), (x, y, size) in zip(chosen, places, strict=False):
        flying.kite(canvas, x, y, size, (colour, fills.lighter(colour, 0.55)), label, dice.between(-24, 24))
    canvas.grain(name)
    return canvas.picture(name, "outdoor")


def boats(name: str) -> Picture:
    """Sailing boats on a lake."""
    dice = Dice(name)
    canvas = _sky(name, 230)
    _hills(canvas, 226)
    canvas.paint(rectangle(0, 228, 640, 481), fills.water((58, 116, 158), name), 0)
    canvas.shade(rectangle(0, 226, 640, 250), 12, 0.3, (220, 236, 244))
    count = dice.whole(2, 3)
    chosen = dice.colours(count, "red", "yellow", "white", "orange", "purple")
    for (label, colour), (x, y, size) in zip(
        chosen, ((190, 352, 230), (470, 302, 150), (560, 428, 210)), strict=False
    ):
        outdoors.boat(canvas, x, y, size, (112, 66, 42), colour, label)
    canvas.grain(name)
    return canvas.picture(name, "outdoor")


def balls(name: str) -> Picture:
    """A football, a basketball and tennis balls on a lawn."""
    dice = Dice(name)
    canvas = _sky(name, 160)
    _hills(canvas, 158)
    canvas.paint(rectangle(0, 160, 640, 481), fills.grass(_GRASS, name), 0)
    canvas.shade(rectangle(0, 150, 640, 190), 26, 0.35, (170, 200, 150))
    outdoors.ball(canvas, "football", 170, 330, 74)
    outdoors.ball(canvas, "basketball", 430, 290, 80)
    for x, y in ((330, 420), (548, 400), (60, 440))[: dice.whole(1, 3)]:
        outdoors.ball(canvas, "tennis ball", x, y, 26)
    canvas.grain(name)
    return canvas.picture(name, "outdoor")


def beach(name: str) -> Picture:
    """An umbrella and surfboards on a beach."""
    dice = Dice(name)
    canvas = _sky(name, 220, 0.4)
    canvas.paint(rectangle(0, 218, 640, 320), fills.water((40, 132, 164), name), 0)
    canvas.paint(rectangle(0, 216, 640, 219), (70, 140, 176), opacity=0.6)
    shore = blob([(-80, 296), (120, 306), (300, 288), (480, 300), (760, 284), (760, 620), (-80, 620)])
    canvas.paint(shore.grown(5), (238, 246, 246), 0, 0.8)
    canvas.paint(shore, fills.soft((226, 200, 152), name, 0.1, 4), 0)
    (label, colour), (_, board), (_, other) = dice.colours(3, "red", "blue", "yellow", "orange", "green")
    outdoors.surfboard(canvas, 520, 404, 236, board, (248, 246, 240))
    if dice.whole(0, 1):
        outdoors.surfboard(canvas, 596, 420, 222, other, (248, 246, 240))
    outdoors.parasol(canvas, 210, 410, 300, (colour, (248, 244, 236)), label)
    outdoors.ball(canvas, "basketball", 388, 440, 26) if dice.whole(0, 1) else None
    canvas.grain(name)
    return canvas.picture(name, "outdoor")


def birds(name: str) -> Picture:
    """Birds on a wire."""
    dice = Dice(name)
    canvas = _sky(name, 480, 0.8)
    points = [(step * 40.0, _wire(step * 40.0) + 1) for step in range(17)]
    canvas.paint(line(points, 3.4), (52, 52, 58), 0)
    count = dice.whole(3, 5)
    for number in range(count):
        x = 84.0 + number * 446 / (count - 1)
        y = _wire(x)
        label, colour = dice.colours(1, "blue", "red", "green", "yellow", "black")[0]
        flying.bird(
            canvas,
            x,
            y,
            dice.between(84, 104),
            fills.mixed(colour, (120, 110, 100), 0.2),
            1 if dice.whole(0, 1) else -1,
            label,
        )
    canvas.grain(name)
    return canvas.picture(name, "outdoor")


def _wire(x: float) -> float:
    """Height of the slack wire."""
    return 311 + 26 * (1 - ((x - 320) / 320) ** 2)


def park(name: str) -> Picture:
    """A bench under trees with a ball before it."""
    dice = Dice(name)
    canvas = _sky(name, 240)
    _hills(canvas, 236)
    canvas.paint(rectangle(0, 238, 640, 481), fills.grass(_GRASS, name), 0)
    canvas.shade(rectangle(0, 230, 640, 262), 18, 0.3, (170, 200, 150))
    tree(canvas, 96, 330, 270)
    tree(canvas, 566, 316, 240)
    street.bench(canvas, 320, 392, 270)
    kind = ("football", "basketball")[dice.whole(0, 1)]
    outdoors.ball(canvas, kind, dice.between(470, 520), 424, 32)
    canvas.grain(name)
    return canvas.picture(name, "outdoor")


def aeroplanes(name: str) -> Picture:
    """One or two jets in the sky."""
    dice = Dice(name)
    canvas = _sky(name, 520, 0.75)
    count = dice.whole(1, 2)
    for (label, colour), (x, y, size) in zip(
        dice.colours(count, "red", "blue", "green", "orange"),
        ((300, 190, 400), (470, 372, 230)),
        strict=False,
    ):
        flying.aeroplane(canvas, x, y, size, colour, label)
    canvas.grain(name)
    return canvas.picture(name, "outdoor")
