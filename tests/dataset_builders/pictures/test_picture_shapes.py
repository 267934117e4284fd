"""Regions against outside oracles, and a canvas that knows what hides what."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.measure import points_in_poly

from lookcheck.dataset_builders.pictures import canvas, figures, photographs, shapes
from lookcheck.dataset_builders.pictures.canvas import Canvas
from lookcheck.dataset_builders.pictures.shapes import Frame, Region

HEIGHT, WIDTH = 40, 60
POINT = st.tuples(
    st.floats(-10, 70).map(lambda v: round(v, 3)), st.floats(-10, 50).map(lambda v: round(v, 3))
)
Y, X = (axis + 0.5 for axis in np.ogrid[:HEIGHT, :WIDTH])


def _mask(region: Region) -> np.ndarray:
    return region.distance(X, Y) < 0


@given(st.lists(POINT, min_size=3, max_size=7, unique=True))
def test_polygons_hold_the_pixels_that_scikit_image_puts_inside(points: list[tuple[float, float]]) -> None:
    region = shapes.polygon(points)
    grid = np.stack(np.broadcast_arrays(X, Y), axis=-1).reshape(-1, 2)
    wanted = points_in_poly(grid, np.array(points)).reshape(HEIGHT, WIDTH)
    # A centre on the very edge belongs to neither side.
    clear = np.abs(region.distance(X, Y)) > 1e-9
    assert np.array_equal(_mask(region)[clear], wanted[clear])


@given(POINT, POINT, st.floats(1, 8))
def test_lines_hold_the_pixels_within_half_their_width(
    a: tuple[float, float], b: tuple[float, float], width: float
) -> None:
    steps = np.linspace(0, 1, 4001)[:, None]
    dots = np.array(a) * (1 - steps) + np.array(b) * steps
    grid = np.stack(np.broadcast_arrays(X, Y), axis=-1).reshape(-1, 2)[::17]
    near = np.sqrt(((grid[:, None] - dots[None, ::4]) ** 2).sum(-1)).min(axis=1)
    found = _mask(shapes.line([a, b], width)).reshape(-1)[::17]
    sure = np.abs(near - width / 2) > 0.1
    assert np.array_equal(found[sure], (near < width / 2)[sure])


@settings(max_examples=50)
@given(st.floats(20, 40), st.floats(15, 25), st.floats(2, 18), st.floats(2, 14), st.floats(0, 180))
def test_ellipses(cx: float, cy: float, rx: float, ry: float, degrees: float) -> None:
    angle = np.deg2rad(degrees)
    u, v = X - cx, Y - cy
    level = ((u * np.cos(angle) + v * np.sin(angle)) / rx) ** 2 + (
        (v * np.cos(angle) - u * np.sin(angle)) / ry
    ) ** 2
    clear = np.abs(level - 1) > 1e-9
    assert np.array_equal(_mask(shapes.ellipse(cx, cy, rx, ry, degrees))[clear], (level < 1)[clear])


def test_sectors_rectangles_and_their_sums() -> None:
    sector = _mask(shapes.arc(30, 20, 15, -90, 30))
    turn = np.rad2deg(np.arctan2(Y - 20, X - 30))
    assert np.array_equal(sector, (np.hypot(X - 30, Y - 20) < 15) & (turn > -90) & (turn < 30))
    box = shapes.rectangle(5, 6, 20, 18)
    wanted = np.zeros((HEIGHT, WIDTH), bool)
    wanted[6:18, 5:20] = True
    assert np.array_equal(_mask(box), wanted)
    disc = shapes.ellipse(20, 18, 7)
    a, b = _mask(box), _mask(disc)
    assert np.array_equal(_mask(box | disc), a | b)
    assert np.array_equal(_mask(box & disc), a & b)
    assert np.array_equal(_mask(box - disc), a & ~b)
    assert np.array_equal(_mask(box.moved(3, 2))[2:, 3:], a[:-2, :-3])
    assert _mask(box.grown(1)).sum() > a.sum() > _mask(box.grown(-1)).sum()


def test_a_frame_turns_and_mirrors() -> None:
    assert Frame(10, 20, 4, mirror=True).at(1, 0.5) == (6, 22)
    x, y = Frame(10, 20, 4, degrees=90).at(1, 0)
    assert (round(x, 9), round(y, 9)) == (10, 24)


def test_what_is_hidden_is_in_no_mask() -> None:
    drawn = Canvas(20, 10, (255, 255, 255))
    below, above = drawn.thing("plate", "low"), drawn.thing("cup")
    hidden = drawn.thing("spoon")
    drawn.paint(shapes.rectangle(0, 0, 12, 10), (10, 10, 10), below)
    drawn.part(shapes.rectangle(6, 0, 20, 5), below, "rim")
    drawn.paint(shapes.rectangle(2, 2, 4, 4), (9, 9, 9), hidden)
    drawn.paint(shapes.rectangle(8, 0, 20, 10), (200, 0, 0), above)
    # Light and scenery: the first leaves owners as they are, the second takes pixels from all.
    drawn.paint(shapes.rectangle(0, 0, 20, 10), (255, 255, 255), opacity=0.5)
    drawn.paint(shapes.rectangle(2, 2, 4, 4), (0, 255, 0), 0)
    found = {(item.category, item.label): item.mask for item in drawn.instances()}
    assert list(found) == [("plate", "low"), ("cup", ""), ("rim", "")]
    assert found["plate", "low"].sum() == 8 * 10 - 4
    assert found["cup", ""].sum() == 12 * 10
    assert found["rim", ""].sum() == 2 * 5
    assert drawn.image()[0, 19].tolist() == [228, 128, 128]


def test_edges_are_smooth() -> None:
    drawn = Canvas(4, 1, (0, 0, 0))
    drawn.paint(shapes.rectangle(0, -5, 1.5, 5), (200, 200, 200))
    assert drawn.image()[0, :, 0].tolist() == [200, 100, 0, 0]


@pytest.mark.parametrize("module", [canvas, figures, photographs, shapes])
def test_doctests(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0
