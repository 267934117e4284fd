"""Filling a hole with pieces of the same picture: what is copied, from where, and how well it fits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lookcheck.dataset_builders.perturbed_pope import filling, hole
from lookcheck.dataset_builders.perturbed_pope.filling import find_pieces, lay, worst


def box(left: int, top: int, width: int, height: int, shape: tuple[int, int] = (60, 81)) -> np.ndarray:
    mask = np.zeros(shape, bool)
    mask[top : top + height, left : left + width] = True
    return mask


def filled(image: np.ndarray, region: np.ndarray, taken: np.ndarray) -> tuple[np.ndarray, float]:
    pieces = find_pieces(image, region, taken)
    assert pieces is not None
    made = lay(image, region, taken, pieces)
    assert np.array_equal(made[~region], image[~region])
    return made, worst(pieces)


NOTHING = np.zeros((60, 81), bool)


def test_a_flat_picture_is_filled_with_its_colour() -> None:
    image = np.full((60, 81, 3), (30, 140, 220), np.uint8)
    wanted = image.copy()
    image[20:40, 20:60] = (255, 0, 0)
    made, mismatch = filled(image, box(20, 20, 40, 20), NOTHING)
    assert np.array_equal(made, wanted)
    assert mismatch == 0


@pytest.mark.parametrize("across", [True, False])
def test_a_ramp_goes_on_through_the_hole(across: bool) -> None:
    ramp = np.linspace(20, 230, 150 if across else 120)
    plane = np.broadcast_to(ramp if across else ramp[:, None], (120, 150))
    image = np.repeat(plane[..., None], 3, 2).round().astype(np.uint8)
    holed = image.copy()
    region = box(60, 40, 30, 30, (120, 150))
    holed[region] = 255
    made, mismatch = filled(holed, region, np.zeros_like(region))
    assert np.array_equal(made, image)
    assert mismatch == 0


@settings(max_examples=20, deadline=None)
@example(seed=2**32 - 1)
@given(seed=st.integers(0, 2**32 - 1))
def test_grain_and_lines_are_carried_on(seed: int) -> None:
    """A pattern that repeats is restored to the bit, whatever its grain."""
    draw = np.random.default_rng(seed)
    tile = draw.integers(0, 256, (int(draw.integers(5, 14)), int(draw.integers(5, 14)), 3), dtype=np.uint8)
    image = np.tile(tile, (25, 25, 1))[:100, :120]
    holed = image.copy()
    left, top = int(draw.integers(0, 80)), int(draw.integers(0, 70))
    region = box(left, top, int(draw.integers(1, 21)), int(draw.integers(1, 21)), (100, 120))
    holed[region] = 0
    made, mismatch = filled(holed, region, np.zeros_like(region))
    assert np.array_equal(made, image)
    assert mismatch == 0


def test_nothing_is_copied_from_what_the_picture_is_known_to_show() -> None:
    draw = np.random.default_rng(3)
    image = draw.integers(0, 256, (60, 81, 3), dtype=np.uint8)
    region, taken = box(8, 16, 18, 18), box(50, 16, 18, 18)
    # The same surroundings to the bit, with green between them.
    image[10:40, 44:74] = image[10:40, 2:32]
    image[taken] = (0, 255, 0)
    assert (filled(image, region, NOTHING)[0][region] == (0, 255, 0)).all()
    found = find_pieces(image, region, taken)
    assert found is not None
    assert not (lay(image, region, taken, found)[region] == (0, 255, 0)).all(1).any()


def test_it_is_the_best_of_all_pieces() -> None:
    """Against every offset, tried one by one."""
    draw = np.random.default_rng(11)
    for _ in range(6):
        image = (
            ndimage.gaussian_filter(draw.normal(128, 90, (30, 36, 3)), (1, 1, 0))
            .clip(0, 255)
            .astype(np.uint8)
        )
        region = box(int(draw.integers(4, 20)), int(draw.integers(4, 16)), 6, 7, (30, 36))
        taken = box(2, 20, 12, 6, (30, 36)) & ~region
        (piece,) = filling._Search(image, region, taken).fill(region, 0)
        ring = ndimage.binary_dilation(region, np.ones((3, 3)), filling.RING) & ~region & ~taken
        need, free = np.argwhere(region | ring), ~(region | taken)
        costs = {}
        for down in range(-30, 30):
            for right in range(-36, 36):
                moved = need + (down, right)
                inside = ((moved >= 0) & (moved < (30, 36))).all()
                if inside and free[moved[:, 0], moved[:, 1]].all():
                    here, there = np.argwhere(ring), np.argwhere(ring) + (down, right)
                    change = image[here[:, 0], here[:, 1]].astype(int) - image[there[:, 0], there[:, 1]]
                    costs[down, right] = (change**2).mean(), (change**2).mean() + down**2 * filling.LEVEL
        best = min(cost for _, cost in costs.values())
        assert costs[piece.down, piece.right][1] == pytest.approx(best)
        assert piece.mismatch == pytest.approx(costs[piece.down, piece.right][0] ** 0.5)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2), (31, 40)])
@pytest.mark.parametrize("kind", ["pixel", "all", "corner"])
def test_odd_regions(shape: tuple[int, int], kind: str) -> None:
    image = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
    region = np.zeros(shape, bool)
    region[0, 0] = True
    if kind == "all":
        region[:] = True
    elif kind == "pixel":
        region[0, 0], region[shape[0] // 2, shape[1] // 2] = False, True
    pieces = find_pieces(image, region, np.zeros(shape, bool))
    if region.all():
        assert pieces is None
    elif pieces is not None:
        made = lay(image, region, np.zeros(shape, bool), pieces)
        assert np.array_equal(made[~region], image[~region])


def test_an_edge_is_no_reason_to_smear() -> None:
    """What differs by more than its shade at one side is not spread over the hole."""
    image = np.full((60, 81, 3), 100, np.uint8)
    image[:, 40:] = 200
    made, _ = filled(image, box(20, 20, 20, 20), box(0, 0, 20, 60) | box(0, 0, 40, 20))
    inside = made[20:40, 20:40].astype(int)
    assert (np.minimum(abs(inside - 100), abs(inside - 200)) <= filling.SHADE).all()


def _scene() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grey ground with a red object, and its shadow below it."""
    image = np.full((120, 150, 3), 120, np.uint8)
    own = box(60, 40, 30, 30, (120, 150))
    shadow = box(66, 70, 18, 4, (120, 150))
    image[own], image[shadow] = (255, 0, 0), 60
    return image, own, shadow


def test_the_shadow_goes_with_the_object() -> None:
    image, own, shadow = _scene()
    place = hole.hole_of([own], [], [])
    pieces = find_pieces(image, place.wide, place.barred)
    assert pieces is not None
    made, region, left = hole.clean(image, place, pieces)
    assert place.wide[shadow].all()
    assert (made[own | shadow] == 120).all()
    assert region[shadow].all()
    assert left == 0
    # What is no part of object or shadow stays: not all of what was looked at is replaced.
    assert not region[place.wide].all()


def test_a_shadow_on_another_object_stays_and_is_counted() -> None:
    image, own, _shadow = _scene()
    table = box(0, 70, 150, 50, (120, 150))
    place = hole.hole_of([own], [], [table])
    # The table may be copied, for the object stands on it, but keeps its pixels.
    assert not place.barred.any()
    pieces = find_pieces(image, place.wide, place.barred)
    assert pieces is not None
    made, region, left = hole.clean(image, place, pieces)
    assert np.array_equal(made[table], image[table])
    assert not (region & table).any()
    assert left > 0.1
    # A table elsewhere is no ground: nothing is copied from it.
    far = hole.hole_of([own], [], [box(0, 100, 150, 20, (120, 150))])
    assert far.barred.sum() == 150 * 20


def test_touching_objects_are_measured_along_the_outline() -> None:
    own = box(60, 40, 30, 30, (120, 150))
    left = box(30, 40, 30, 30, (120, 150))
    rim = 4 * 30 + 4
    assert hole.contact(hole.hole_of([own], [left], [])) == pytest.approx(30 / rim)
    around = ~own
    assert hole.contact(hole.hole_of([own], [around], [])) == 1
    assert hole.contact(hole.hole_of([own], [], [])) == 0
    # What lies inside the object's own mask is the object's.
    place = hole.hole_of([own], [box(70, 50, 60, 10, (120, 150))], [])
    assert not (place.kept & own).any()
