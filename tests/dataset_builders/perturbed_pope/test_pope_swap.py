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
from scipy import ndimage

from lookcheck.dataset_builders.core.masks import encode
from lookcheck.dataset_builders.perturbed_pope import donors as donor_rules
from lookcheck.dataset_builders.perturbed_pope import swap
from lookcheck.dataset_builders.perturbed_pope.donors import Donor, choose_donor, donors_of, inspect_donor
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


def test_a_flat_picture_is_filled_with_its_colour() -> None:
    image = np.full((*SHAPE, 3), (30, 140, 220), np.uint8)
    image[20:40, 20:60] = (255, 0, 0)
    made, touched = swap.fill(image, [_box(20, 20, 40, 20)])
    assert np.abs(made.astype(int) - (30, 140, 220)).max() <= 1
    assert np.array_equal(made[~touched], image[~touched])


def test_a_ramp_goes_on_through_the_hole() -> None:
    ramp = np.tile(np.linspace(20, 230, 200), (120, 1))
    image = np.repeat(ramp[..., None], 3, 2).round().astype(np.uint8)
    holed = image.copy()
    mask = _box(80, 40, 30, 30, (120, 200))
    holed[mask] = 255
    made, touched = swap.fill(holed, [mask])
    assert np.abs(made[touched].astype(int) - image[touched]).max() <= 12


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2), (31, 40), (40, 31)])
@pytest.mark.parametrize("kind", ["pixel", "all", "all but one", "corner"])
def test_fill_of_odd_regions(shape: tuple[int, int], kind: str) -> None:
    image = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
    mask = np.zeros(shape, bool)
    mask[shape[0] // 2, shape[1] // 2] = True
    if kind.startswith("all"):
        mask[:] = True
        mask[0, 0] = kind == "all" or mask.size == 1
    elif kind == "corner":
        mask[0, 0] = True
    made, touched = swap.fill(image, [mask])
    assert touched[mask].all()
    assert np.array_equal(made[~touched], image[~touched])
    if touched.all():
        assert (made == 127).all()


def test_the_fill_takes_a_rim_and_nothing_of_the_object() -> None:
    image = np.full((*SHAPE, 3), 90, np.uint8)
    mask = _box(20, 20, 30, 20)
    # The outline misses two pixels of the object all around.
    image[18:42, 18:52] = (255, 0, 255)
    made, touched = swap.fill(image, [mask])
    assert np.abs(made.astype(int) - 90).max() <= 1
    reach = ndimage.binary_dilation(mask, iterations=swap.RIM)
    assert not (touched & ~ndimage.binary_dilation(reach, np.ones((3, 3)))).any()


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1))
def test_a_swap_changes_its_region_only(seed: int) -> None:
    draw = np.random.default_rng(seed)
    image = draw.integers(0, 256, (*SHAPE, 3), dtype=np.uint8)
    image.setflags(write=False)
    masks = []
    for _ in range(int(draw.integers(1, 5))):
        left, top = int(draw.integers(0, 75)), int(draw.integers(0, 55))
        masks.append(_box(left, top, int(draw.integers(1, 81 - left)), int(draw.integers(1, 60 - top))))
    piece = swap.cut_out(draw.integers(0, 256, (40, 30, 3), dtype=np.uint8), _box(3, 4, 20, 30, (40, 30)))
    made, boxes, touched = swap.entity_swap(image, masks, piece)
    assert np.array_equal(made[~touched], image[~touched])
    assert all(touched[mask].all() for mask in masks)
    assert 1 <= len(boxes) <= swap.MOST
    for left, top, width, height in boxes:
        assert left >= 0 <= top
        assert left + width <= SHAPE[1]
        assert top + height <= SHAPE[0]
    again = swap.entity_swap(image, masks[::-1], piece)
    assert np.array_equal(again[0], made)


def test_the_cut_out_keeps_its_colours_and_has_a_soft_seam() -> None:
    photo = np.full((60, 60, 3), (255, 255, 255), np.uint8)
    photo[10:50, 10:50] = (200, 30, 20)
    piece = swap.cut_out(photo, _box(10, 10, 40, 40, (60, 60)))
    # A pixel at each side is lost, with what shines through there.
    assert piece.shape == (38, 38, 4)
    ground = np.full((*SHAPE, 3), (0, 0, 90), np.uint8)
    made, (left, top, width, height), covered = swap.paste(ground, piece, (30, 15, 38, 38))
    assert np.array_equal(covered, (made != ground).any(2))
    assert (left, top, width, height) == (30, 15, 38, 38)
    inner = made[top + 4 : top + height - 4, left + 4 : left + width - 4]
    assert np.abs(inner.astype(int) - (200, 30, 20)).max() <= 1
    # Between the two colours at the seam, without a trace of the white that stood around it.
    seam = made[top, left + 10 : left + 28].astype(int)
    assert ((seam[:, 0] > 20) & (seam[:, 0] < 190)).all()
    assert made[..., 1].max() <= 31


def test_splinters_are_no_part_of_a_cut_out() -> None:
    mask = _box(10, 10, 40, 30, (60, 60)) | _box(2, 55, 5, 4, (60, 60))
    assert swap.cut_out(np.zeros((60, 60, 3), np.uint8), mask).shape == (28, 38, 4)


@pytest.mark.parametrize(
    ("box", "width", "height"),
    [
        ((20, 10, 40, 40), 40, 40),
        # Wider than the piece: the area as far as it may stand out, stretched a little.
        ((5, 20, 60, 15), 28, 24),
        # Larger than the picture allows.
        ((0, 0, 81, 60), 69, 60),
    ],
)
def test_size_and_place_of_a_cut_out(box: Box, width: int, height: int) -> None:
    piece = np.full((40, 40, 4), 255, np.uint8)
    _, made, _ = swap.paste(np.zeros((*SHAPE, 3), np.uint8), piece, box)
    assert made[2:] == (width, height)
    # It stands where the object stood, on its lower side.
    assert made[1] + made[3] == min(SHAPE[0], max(box[1] + box[3], made[3]))
    assert abs(made[0] + made[2] / 2 - box[0] - box[2] / 2) <= 1


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
    ],
)
def test_what_is_a_good_cut_out(mask: np.ndarray, options: dict[str, Any], good: bool) -> None:
    assert (inspect_donor((_instance(mask, **options), ())) is not None) == good


def test_contact_with_others() -> None:
    """A box of 100 × 90 has a rim of 2 pixels: 2 × 2 × (100 + 90) and four corners of 1 pixel."""
    instance = _instance(_box(50, 50, 100, 90, BIG))
    rim = 2 * 2 * (100 + 90) + 4
    left = _box(20, 50, 30, 90, BIG)
    for category, weight in (("cat", 0.5), ("dog", 1.0)):
        contact = inspect_donor((instance, (_instance(left, category),)))
        assert contact == pytest.approx(weight * 2 * 90 / rim)
    both = (_instance(left, "dog"), _instance(_box(150, 50, 30, 90, BIG), "dog"))
    assert inspect_donor((instance, both)) is None


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
    donor = choose_donor(pool, entity, kind, box, banned, seed)
    return None if donor is None else donor.instance.category


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
    donor = choose_donor(cars, "dog", "animal", SQUARE, set(), 1)
    assert donor is not None
    assert donor.instance.id == 2
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
        ("c.jpg", "chair"),
    ]


def test_built_donors_are_no_evidence(tiny_built: Path, tiny_coco: ModuleType) -> None:
    import pyarrow.parquet as pq

    (path,) = (tiny_built / "data").glob("entity_swap-random-*")
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
    assert len(rows) == 6
    assert json.loads((tiny_built / "lookcheck.json").read_text())["options"]["left_out"]["no_donor"] == 1
