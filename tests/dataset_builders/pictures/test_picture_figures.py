"""The masks of the figures, worked out again from the numbers that they show, pixel by pixel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from lookcheck.dataset_builders.pictures.figures import (
    DRAWN,
    charts,
    diagrams,
    figure,
    figures,
    geometry,
    plane,
)

HEIGHT, WIDTH = 480, 640
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
Masks = dict[tuple[str, str], np.ndarray]


def _disc(cx: float, cy: float, radius: float) -> np.ndarray:
    return (X - cx) ** 2 + (Y - cy) ** 2 < radius**2


def _box(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    return (np.abs(2 * X - left - right) < right - left) & (np.abs(2 * Y - top - bottom) < bottom - top)


def _stroke(a: tuple[float, float], b: tuple[float, float], width: float) -> np.ndarray:
    direction = np.subtract(b, a)
    t = ((X - a[0]) * direction[0] + (Y - a[1]) * direction[1]) / (direction @ direction)
    t = np.clip(t, 0, 1)
    return _near(X - a[0] - t * direction[0], Y - a[1] - t * direction[1], width / 2)


def _near(dx: np.ndarray, dy: np.ndarray, reach: float) -> np.ndarray:
    return dx**2 + dy**2 < reach**2


def _convex(points: list[tuple[float, float]]) -> np.ndarray:
    """Inside of a convex outline that runs clockwise as it is seen."""
    inside = np.ones((HEIGHT, WIDTH), bool)
    for (ax, ay), (bx, by) in zip(points, [*points[1:], points[0]], strict=True):
        inside &= (bx - ax) * (Y - ay) - (by - ay) * (X - ax) > 0
    return inside


def _wedge(cx: float, cy: float, radius: float, start: float, span: float) -> np.ndarray:
    turn = (np.rad2deg(np.arctan2(Y - cy, X - cx)) - start) % 360
    return _disc(cx, cy, radius) & (turn > 0) & (turn < span)


def _over(layers: list[tuple[tuple[str, str], np.ndarray]]) -> Masks:
    """Later layers hide earlier ones."""
    shown: Masks = {}
    for key, mask in layers:
        for other in shown:
            shown[other] = shown[other] & ~mask
        shown[key] = mask
    return shown


def _rainfall() -> Masks:
    left, low, scale = charts.LEFT + 20, charts.BOTTOM, charts.RAINFALL_SCALE
    return {
        ("bar", month): _box(left + n * 84, low - value * scale, left + n * 84 + 52, low)
        for n, (month, value) in enumerate(charts.RAINFALL.items())
    }


def _energy() -> Masks:
    made: Masks = {}
    for n, (year, values) in enumerate(charts.ENERGY.items()):
        for which, source in enumerate(("solar", "wind")):
            left = 116 + n * 124 + which * 42
            made["bar", f"{source} {year}"] = _box(left, 400 - 4 * values[which], left + 40, 400)
    return made


def _pets() -> Masks:
    made, start = {}, -90.0
    for name, (share, _) in charts.PETS.items():
        made["slice", name] = _wedge(*charts.PIE, start, share * 3.6)
        start += share * 3.6
    assert start == 270
    return made


def _planets() -> Masks:
    return {
        ("planet", name): _disc(x, diagrams.PLANETS_Y, radius)
        for name, (x, radius, _) in diagrams.PLANETS.items()
    }


def _molecules() -> Masks:
    layers = []
    for number, (x, y, turn) in enumerate(diagrams.WATER, start=1):
        for letter, bend in (("a", -52.25), ("b", 52.25)):
            angle = np.deg2rad(turn + bend)
            disc = _disc(x + 58 * np.cos(angle), y + 58 * np.sin(angle), 28)
            layers.append((("hydrogen atom", f"{number}{letter}"), disc))
        layers.append((("oxygen atom", str(number)), _disc(x, y, 46)))
    return _over(layers)


def _cylinders() -> Masks:
    return {
        ("liquid", name): _box(x - 37, 410 - 3 * level, x + 37, 407)
        for name, (x, level, _) in diagrams.LEVELS.items()
    }


def _cell() -> Masks:
    made: Masks = {("nucleus", ""): ((X - 320) / 82) ** 2 + ((Y - 250) / 74) ** 2 < 1}
    for number, (x, y, turn) in enumerate(diagrams.MITOCHONDRIA, start=1):
        cos, sin = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
        u, v = (X - x) * cos + (Y - y) * sin, (Y - y) * cos - (X - x) * sin
        made["mitochondrion", str(number)] = (u / 44) ** 2 + (v / 19) ** 2 < 1
    return made


def _triangle() -> Masks:
    places = geometry.corners()
    starts = {"A": -65, "B": 180, "C": 45}
    # The third corner is where the angles say: the directions to it are those at A and at B.
    (ax, ay), (bx, by), (cx, cy) = (places[name] for name in "ABC")
    assert np.rad2deg(np.arctan2(ay - cy, cx - ax)) == pytest.approx(65)
    assert np.rad2deg(np.arctan2(by - cy, bx - cx)) == pytest.approx(45)
    return {("angle", n): _wedge(*places[n], 52, starts[n], geometry.ANGLES[n]) for n in "ABC"}


def _right_triangle() -> Masks:
    corner = geometry.RIGHT_CORNERS
    return _over(
        [
            (("side", name), _stroke(corner[e[0]], corner[e[1]], 7))
            for name, e in (("a", "CB"), ("b", "AC"), ("c", "AB"))
        ]
    )


def _circle() -> Masks:
    def rim(degrees: float) -> tuple[float, float]:
        return 320 + 170 * np.cos(np.deg2rad(degrees)), 262 + 170 * np.sin(np.deg2rad(degrees))

    lines = {
        "diameter": (rim(155), rim(-25)),
        "chord": (rim(35), rim(115)),
        "radius": ((320.0, 262.0), rim(-110)),
    }
    return _over([(("line", name), _stroke(*ends, 7)) for name, ends in lines.items()])


def _number_line() -> Masks:
    return {("point", name): _disc(320 + 54 * at, 260, 9) for name, at in plane.MARKED.items()}


def _coordinates() -> Masks:
    return {("point", n): _disc(320 + 40 * x, 240 - 40 * y, 9) for n, (x, y) in plane.POINTS.items()}


def _fraction() -> Masks:
    made: Masks = {}
    for row in range(4):
        for column in range(5):
            kind = "shaded square" if (row, column) in plane.SHADED else "white square"
            left, top = 145 + 70 * column, 100 + 70 * row
            made[kind, f"{row} {column}"] = _box(left, top, left + 70, top + 70)
    return made


def _parallels() -> Masks:
    return _over([(("line", name), _stroke(*ends, 6)) for name, ends in plane.LINES.items()])


RULES = {
    "rainfall": _rainfall, "energy": _energy, "pets": _pets, "planets": _planets, "molecules": _molecules,
    "cylinders": _cylinders, "cell": _cell, "triangle": _triangle, "right_triangle": _right_triangle,
    "circle": _circle, "number_line": _number_line, "coordinates": _coordinates, "fraction": _fraction,
    "parallels": _parallels,
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_masks_are_exact(name: str) -> None:
    picture = figure(name)
    wanted = RULES[name]()
    categories = {category for category, _ in wanted}
    found = {
        (item.category, item.label): item.mask for item in picture.instances if item.category in categories
    }
    assert found.keys() == wanted.keys()
    for key, mask in wanted.items():
        assert np.array_equal(found[key], mask), (key, int((found[key] ^ mask).sum()))


def test_the_points_of_two_species() -> None:
    picture = figure("flowers")
    for name, points in charts.FLOWERS.items():
        for item, (length, width) in zip(picture.find("point", name), points, strict=True):
            x, y = 90 + 80 * length, 400 - 120 * width
            mark = [(x, y - 11), (x + 10.5, y + 8), (x - 10.5, y + 8)]
            assert np.array_equal(item.mask, _disc(x, y, 9) if name == "Species A" else _convex(mark))


def test_plain_shapes() -> None:
    instances = figure("shapes").instances
    assert len(instances) == len(geometry.SHAPES)
    for item, (kind, colour, x, y, size) in zip(instances, geometry.SHAPES, strict=True):
        assert (item.category, item.label) == (kind, colour)
        if kind == "circle":
            wanted = _disc(x, y, size)
        elif kind == "square":
            wanted = _box(x - size, y - size, x + size, y + size)
        else:
            turns = {"triangle": (-90, 30, 150), "hexagon": range(0, 360, 60)}[kind]
            angles = np.deg2rad(list(turns))
            wanted = _convex([(x + size * np.cos(a), y + size * np.sin(a)) for a in angles])
        assert np.array_equal(item.mask, wanted), kind


def test_the_lines_of_two_towns() -> None:
    picture = figure("temperatures")
    layers = []
    for town, values in charts.TEMPERATURES.items():
        points = [(110.0 + 92 * n, 400.0 - 11 * value) for n, value in enumerate(values)]
        mask = np.logical_or.reduce([_disc(x, y, 7) for x, y in points])
        for a, b in pairwise(points):
            mask |= _stroke(a, b, 5)
        layers.append((("line", town), mask))
    for (category, town), mask in _over(layers).items():
        (item,) = picture.find(category, town)
        assert np.array_equal(item.mask, mask)


def test_each_bar_has_the_height_of_its_number() -> None:
    for item in figure("rainfall").find("bar"):
        height = item.mask.any(axis=1).sum() / charts.RAINFALL_SCALE
        assert height == pytest.approx(charts.RAINFALL[item.label], abs=0.5)
    shares = {item.label: item.mask.sum() / (np.pi * 165**2) for item in figure("pets").find("slice")}
    assert shares == pytest.approx({name: share / 100 for name, (share, _) in charts.PETS.items()}, abs=0.001)


def test_written_words_lie_in_their_boxes() -> None:
    for picture in figures():
        for item in picture.instances:
            if item.category not in ("title", "axis label", "name", "length"):
                continue
            rows, columns = np.nonzero(item.mask)
            assert item.mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1].all()
            # Ink inside, paper all around.
            values = picture.image[item.mask].astype(int).sum(axis=1)
            assert values.max() - values.min() > 300, (picture.name, item.label)


def test_figures_are_the_same_again_and_read_only() -> None:
    assert [picture.name for picture in figures()] == list(DRAWN)
    for name, draw in DRAWN.items():
        again, picture = draw(), figure(name)
        assert again is not picture
        assert np.array_equal(again.image, picture.image)
        assert picture.domain in ("science", "math")
        assert not picture.image.flags.writeable
        assert not any(item.mask.flags.writeable for item in picture.instances)
