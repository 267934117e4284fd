"""`entity_swap`: what is filled, what is pasted, and who may be a donor."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookcheck.dataset_builders.core.masks import encode
from lookcheck.dataset_builders.perturbed_pope import donors as donor_rules
from lookcheck.dataset_builders.perturbed_pope import swap
from lookcheck.dataset_builders.perturbed_pope.donors import Donor, donors_of, inspect_donor, rank_donors
from lookcheck.dataset_builders.perturbed_pope.filling import find_pieces
from lookcheck.dataset_builders.perturbed_pope.hole import hole_of
from lookcheck.dataset_builders.perturbed_pope.instances import CocoInstance, Photo, read_instances

SHAPE = (60, 81)
Box = tuple[int, int, int, int]


def _box(left: int, top: int, width: int, height: int, shape: tuple[int, int] = SHAPE) -> np.ndarray:
    mask = np.zeros(shape, bool)
    mask[top : top + height, left : left + width] = True
    return mask


def _instance(mask: np.ndarray, category: str = "dog", id: int = 1, crowd: bool = False) -> CocoInstance:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    box = (
        int(columns[0]),
        int(rows[0]),
        int(columns[-1] - columns[0] + 1),
        int(rows[-1] - rows[0] + 1),
    )
    return CocoInstance(id, 1, category, encode(mask), int(mask.sum()), box, crowd)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_swap_changes_its_region_only(seed: int) -> None:
    draw = np.random.default_rng(seed)
    image = draw.integers(0, 256, (*SHAPE, 3), dtype=np.uint8)
    image.setflags(write=False)

    def some(number: int, largest: int) -> list[np.ndarray]:
        made = []
        for _ in range(number):
            left, top = int(draw.integers(0, 75)), int(draw.integers(0, 55))
            across, down = (int(draw.integers(1, largest)) for _ in range(2))
            made.append(_box(left, top, across, down))
        return made

    masks, others, supports = some(int(draw.integers(1, 4)), 20), some(3, 30), some(1, 60)
    hole = hole_of(masks, others, supports)
    pieces = find_pieces(image, hole.wide, hole.barred)
    if pieces is None:
        return
    photo = draw.integers(0, 256, (40, 30, 3), dtype=np.uint8)
    made, touched = swap.entity_swap(
        image, swap.Swap(hole, pieces, swap.cut_out(photo, _box(3, 4, 20, 30, (40, 30))), (11, 7, 33, 41))
    )
    assert np.array_equal(made[~touched], image[~touched])
    own = np.logical_or.reduce(masks)
    assert touched[own].all()
    # Other labelled objects, tables among them, keep each pixel that is not the object's own.
    kept = np.logical_or.reduce([*others, *supports]) & ~own
    assert not (touched & kept).any()
    assert np.array_equal(made[kept], image[kept])
    again = hole_of(masks[::-1], others[::-1], supports)
    assert np.array_equal(again.wide, hole.wide)
    assert find_pieces(image, again.wide, again.barred) == pieces


def test_the_cut_out_keeps_its_colours_and_has_a_soft_seam() -> None:
    photo = np.full((60, 60, 3), (255, 255, 255), np.uint8)
    photo[10:50, 10:50] = (200, 30, 20)
    piece = swap.cut_out(photo, _box(10, 10, 40, 40, (60, 60)))
    # A pixel at each side is lost, with what shines through there.
    assert piece.shape == (38, 38, 4)
    ground = np.full((*SHAPE, 3), (0, 0, 90), np.uint8)
    left, top, width, height = (30, 15, 38, 38)
    made, covered = swap.paste(ground, piece, (left, top, width, height), np.zeros(SHAPE, bool))
    assert np.array_equal(covered, (made != ground).any(2))
    kept = _box(40, 0, 20, 30)
    behind, seen = swap.paste(ground, piece, (left, top, width, height), kept)
    assert np.array_equal(seen, covered & ~kept)
    assert np.array_equal(behind, np.where(seen[..., None], made, ground))
    inner = made[top + 4 : top + height - 4, left + 4 : left + width - 4]
    assert np.abs(inner.astype(int) - (200, 30, 20)).max() <= 1
    # Between the two colours at the seam, without a trace of the white that stood around it.
    seam = made[top, left + 10 : left + 28].astype(int)
    assert ((seam[:, 0] > 20) & (seam[:, 0] < 190)).all()
    assert made[..., 1].max() <= 31


def test_splinters_are_no_part_of_a_cut_out() -> None:
    mask = _box(10, 10, 40, 30, (60, 60)) | _box(2, 55, 5, 4, (60, 60))
    assert swap.cut_out(np.zeros((60, 60, 3), np.uint8), mask).shape == (28, 38, 4)


PHOTO = (120, 160)


def _place(own: np.ndarray, others: list[np.ndarray], cover: np.ndarray | None = None) -> Box | None:
    hole = hole_of([own], others, [])
    region = hole.own | (hole.tight & ~hole.kept)
    return swap.find_place(hole, region, np.ones((40, 40), bool) if cover is None else cover)


@pytest.mark.parametrize(
    ("box", "placed"),
    [
        # It stands where the object stood, on its lower side.
        ((40, 30, 40, 40), (40, 30, 40, 40)),
        # Wider than the piece: the area, stretched a little.
        ((30, 40, 80, 20), (48, 23, 43, 37)),
        # A smaller object gets a thing that can be recognised.
        ((60, 60, 24, 24), (52, 44, 40, 40)),
        # At the border it is moved inside.
        ((0, 0, 20, 60), (0, 17, 37, 43)),
    ],
)
def test_size_and_place_of_a_cut_out(box: Box, placed: Box) -> None:
    assert _place(_box(*box, PHOTO), []) == placed


def test_a_cut_out_is_not_hidden() -> None:
    own = _box(60, 40, 40, 40, PHOTO)
    # A narrow post covers more than a fiftieth: it moves away from it, and stays in the hole.
    found = _place(own, [_box(96, 0, 20, 120, PHOTO) & ~own])
    assert found is not None
    left, top, across, down = found
    assert left + across <= 100
    assert (own[top : top + down, left : left + across]).mean() > 0.5
    # Shut in on all sides it can't be large enough.
    narrow = _box(70, 40, 20, 40, PHOTO)
    assert _place(narrow, [~narrow]) is None


def test_a_thin_cut_out_is_none() -> None:
    """Of a pole nobody knows what it is: its shorter side would be under `SHORTEST`."""
    assert _place(_box(40, 30, 60, 60, PHOTO), [], np.ones((200, 8), bool)) is None


BIG = (200, 300)


@pytest.mark.parametrize(
    ("mask", "options", "good"),
    [
        (_box(50, 50, 100, 90, BIG), {}, True),
        (_box(50, 50, 100, 90, BIG), {"crowd": True}, False),
        (_box(50, 50, 100, 90, BIG), {"category": "dining table"}, False),
        (_box(0, 50, 100, 90, BIG), {}, False),  # cut off at the left
        (_box(50, 1, 100, 90, BIG), {}, False),  # at the top
        (_box(200, 50, 99, 90, BIG), {}, False),  # at the right
        (_box(50, 110, 100, 89, BIG), {}, False),  # at the bottom
        (_box(50, 50, 30, 140, BIG), {}, False),  # too narrow
        (_box(50, 50, 45, 45, BIG), {}, False),  # too small
        (_box(50, 20, 100, 60, BIG) | _box(50, 120, 100, 60, BIG), {}, False),  # two pieces
        (_box(50, 20, 15, 150, BIG) | _box(50, 20, 150, 15, BIG), {}, False),  # sprawling
        (_box(50, 50, 100, 90, BIG), {"category": "couch"}, False),
    ],
)
def test_what_is_a_good_cut_out(mask: np.ndarray, options: dict[str, Any], good: bool) -> None:
    assert (inspect_donor((_instance(mask, **options), ())) is not None) == good


def test_contact_with_others() -> None:
    """A box of 100 × 90 has a rim of 2 pixels: 2 × 2 × (100 + 90) and four corners of 1 pixel."""
    instance = _instance(_box(50, 50, 100, 90, BIG))
    rim = 2 * 2 * (100 + 90) + 4
    for category in ("cat", "dog"):
        contact = inspect_donor((instance, (_instance(_box(20, 50, 30, 30, BIG), category),)))
        assert contact == pytest.approx(2 * 30 / rim)
        # Whoever stands at all of one side may stand before it.
        assert inspect_donor((instance, (_instance(_box(20, 50, 30, 90, BIG), category),))) is None


def test_a_bite_makes_it_no_cut_out() -> None:
    """A piece is missing: by itself that is its shape, with another instance in it a bite."""
    bite = _box(90, 50, 20, 15, BIG)
    bitten = _instance(_box(50, 50, 100, 90, BIG) & ~bite)
    assert inspect_donor((bitten, ())) == 0
    assert inspect_donor((bitten, (_instance(bite, "cup"),))) is None
    assert inspect_donor((bitten, (_instance(_box(90, 20, 20, 28, BIG), "cup"),))) == 0


def _donor(
    category: str, kind: str, width: int = 200, height: int = 200, id: int = 1, contact: float = 0.0
) -> Donor:
    instance = CocoInstance(id, 1, category, {}, width * height, (5, 5, width, height))
    return Donor(Photo(1, f"{category}.jpg", 640, 480), instance, kind, contact)


POOL = [
    _donor("dog", "animal"),
    _donor("cat", "animal"),
    _donor("car", "vehicle"),
    _donor("bus", "vehicle"),
    _donor("cup", "kitchen"),
    _donor("pizza", "food", 220, 200),
    _donor("cake", "food", 210, 200),
]
SQUARE = (0, 0, 100, 100)


def _chosen(
    entity: str, kind: str, banned: set[str], seed: int, box: Box = SQUARE, pool: Any = POOL
) -> str | None:
    ranked = rank_donors(pool, entity, kind, box, banned, seed)
    return ranked[0].instance.category if ranked else None


@given(st.sets(st.sampled_from([donor.instance.category for donor in POOL])), st.integers(0, 2**63 - 1))
def test_a_donor_is_unrelated_absent_and_not_asked_for(banned: set[str], seed: int) -> None:
    chosen = _chosen("horse", "animal", banned, seed)
    left = {"car", "bus", "cup", "pizza", "cake"} - banned
    assert chosen in left if left else chosen is None
    # Neither the order of the pool nor a donor that may not be taken matters.
    assert _chosen("horse", "animal", banned, seed, pool=POOL[::-1]) == chosen
    assert _chosen("horse", "animal", banned, seed, pool=POOL[2:]) == chosen


def test_the_seed_chooses_among_what_fits() -> None:
    found = {_chosen("horse", "animal", set(), seed) for seed in range(60)}
    assert found == {"car", "bus", "cup", "pizza", "cake"}
    wide = [
        _donor("bus", "vehicle", 400, 100),
        _donor("vase", "indoor", 100, 400),
        _donor("cup", "kitchen", 40, 50),
    ]
    assert {_chosen("skis", "sports", set(), seed, (0, 0, 400, 90), wide) for seed in range(30)} == {"bus"}
    assert {_chosen("skis", "sports", set(), seed, (0, 0, 90, 400), wide) for seed in range(30)} == {"vase"}
    # Of one category the clean, large one.
    cars = [_donor("car", "vehicle", 200, 200, 1, contact=0.2), _donor("car", "vehicle", 200, 200, 2)]
    (donor,) = rank_donors(cars, "dog", "animal", SQUARE, set(), 1)
    assert donor.instance.id == 2
    # All that may be tried follow, each category once.
    ranked = rank_donors(POOL + cars, "horse", "animal", SQUARE, {"cup"}, 5)
    assert sorted(donor.instance.category for donor in ranked) == ["bus", "cake", "car", "pizza"]
    # Categories of the user's own without supercategories are all unrelated.
    assert _chosen("a", "", set(), 1, pool=[_donor("a", ""), _donor("b", "")]) == "b"
    assert _chosen("a", "", set(), 1, pool=[_donor("a", "")]) is None
    assert donor_rules.CHOICE >= 5


def test_donors_of_a_source(tiny_source: Path, tiny_coco: ModuleType) -> None:
    known = read_instances(tiny_source / "instances.json")
    found = donors_of(known, ["c.jpg", "b.jpg", "c.jpg", "a.jpg"])
    # The crowd of b.jpg is none; the rest is large, whole and inside.
    assert [(donor.photo.file_name, donor.instance.category) for donor in found] == [
        ("a.jpg", "dog"),
        ("a.jpg", "car"),
        ("b.jpg", "cup"),
        ("b.jpg", "cup"),
        ("c.jpg", "banana"),
        ("c.jpg", "clock"),
    ]


def test_built_donors_are_no_evidence(tiny_built: Path, tiny_coco: ModuleType) -> None:
    import pyarrow.parquet as pq

    (path,) = (tiny_built / "data").glob("entity_swap-test-*")
    asked = {image: {name for part in parts for name in part} for image, parts in tiny_coco.ASKED.items()}
    rows = pq.read_table(path, partitioning=None).to_pylist()
    for row in rows:
        assert row["donor"] not in asked[row["image_name"]] | set(tiny_coco.SHOWN[row["image_name"]])
        assert tiny_coco.CATEGORIES[row["donor"]][1] != tiny_coco.CATEGORIES[row["entity"]][1]
        assert row["donor"] in tiny_coco.SHOWN[row["donor_image"]]
        left, top, width, height = row["donor_box"]
        assert 0 <= left <= left + width <= tiny_coco.WIDTH
        assert 0 <= top <= top + height <= tiny_coco.HEIGHT
        assert row["donor_instance"] is not None
    assert len(rows) == 18
    assert json.loads((tiny_built / "lookcheck.json").read_text())["options"]["left_out"]["no_donor"] == 1
