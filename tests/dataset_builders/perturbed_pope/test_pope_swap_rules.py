"""Which swaps are made: each rule by itself, and all of them on photographs."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lookcheck.dataset_builders.core.images import load
from lookcheck.dataset_builders.core.masks import decode, encode
from lookcheck.dataset_builders.core.processes import no_track
from lookcheck.dataset_builders.perturbed_pope import swap_rules
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS
from lookcheck.dataset_builders.perturbed_pope.donors import SUPPORTS, Donor, inspect_donor
from lookcheck.dataset_builders.perturbed_pope.filling import worst
from lookcheck.dataset_builders.perturbed_pope.instances import CocoInstance, Photo
from lookcheck.dataset_builders.perturbed_pope.jobs import LeftOut, Planner
from lookcheck.dataset_builders.perturbed_pope.rows import make_picture
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource, pope_source
from lookcheck.dataset_builders.perturbed_pope.swap_rules import REASONS, Scene, SwapJob, SwapPlan, plan_swap
from lookcheck.dataset_builders.perturbed_pope.swaps import Swaps

SHAPE = (120, 160)


def _box(left: int, top: int, width: int, height: int) -> np.ndarray:
    mask = np.zeros(SHAPE, bool)
    mask[top : top + height, left : left + width] = True
    return mask


OWN = _box(60, 40, 40, 40)
WHOLE = encode(np.ones((50, 50), bool))
DONOR = Donor(
    Photo(2, "other.png", 50, 50), CocoInstance(9, 2, "clock", WHOLE, 2500, (0, 0, 50, 50)), "indoor"
)


def _plan(
    folder: Path,
    image: np.ndarray | None = None,
    own: np.ndarray = OWN,
    others: tuple[np.ndarray, ...] = (),
    supports: tuple[np.ndarray, ...] = (),
    **more: Any,
) -> SwapPlan | str:
    pixels = np.full((*SHAPE, 3), 120, np.uint8) if image is None else image.copy()
    pixels[own] = (255, 0, 0)
    path = folder / f"{len(list(folder.iterdir()))}.png"
    Image.fromarray(pixels).save(path)
    scene = Scene((encode(own),), tuple(map(encode, others)), tuple(map(encode, supports)))
    return plan_swap(replace(SwapJob(path, "dog", scene, (DONOR,)), **more))


def test_a_good_swap(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    assert isinstance(plan, SwapPlan)
    assert (plan.donor, plan.box, worst(plan.pieces)) == (DONOR, (60, 40, 40, 40), 0)


@pytest.mark.parametrize("name", sorted(SUPPORTS))
def test_no_supporting_surface_is_replaced(tmp_path: Path, name: str) -> None:
    assert _plan(tmp_path, entity=name) == "support"


def test_no_large_hole_is_filled(tmp_path: Path) -> None:
    # 30 % of 120 × 160 are 5,760 pixels.
    assert _plan(tmp_path, own=_box(0, 0, 48, 120)) != "large"
    assert _plan(tmp_path, own=_box(0, 0, 48, 120) | _box(48, 0, 1, 1)) == "large"


def test_touching_objects_would_keep_its_shape(tmp_path: Path) -> None:
    # The rim of 40 × 40 pixels has 164: a third of them, and half of them.
    assert isinstance(_plan(tmp_path, others=(_box(0, 40, 60, 40), _box(100, 40, 60, 15))), SwapPlan)
    assert _plan(tmp_path, others=(_box(0, 40, 60, 40), _box(100, 40, 60, 40))) == "touched"
    assert _plan(tmp_path, supports=(~OWN,)) == "touched"


def test_a_place_that_nothing_continues(tmp_path: Path) -> None:
    # Four quarters of different colours meet behind the object, and nowhere else.
    image = np.zeros((*SHAPE, 3), np.uint8)
    image[:60, 80:], image[60:, :80], image[60:, 80:] = (255, 255, 0), (0, 0, 255), (255, 255, 255)
    assert _plan(tmp_path, image) == "no_fill"
    # A model may fill it.
    assert isinstance(_plan(tmp_path, image, modelled=True), SwapPlan)
    # Grain is no such place, up to a limit.
    draw = np.random.default_rng(1)
    for spread, good in ((20, True), (60, False)):
        image = draw.normal(128, spread, (*SHAPE, 3)).clip(0, 255).astype(np.uint8)
        assert isinstance(_plan(tmp_path, image), SwapPlan) is good


def test_a_shadow_that_would_stay(tmp_path: Path) -> None:
    image = np.full((*SHAPE, 3), 120, np.uint8)
    shadow = _box(60, 80, 40, 8)
    image[shadow] = 40
    assert isinstance(_plan(tmp_path, image), SwapPlan)
    assert _plan(tmp_path, image, supports=(_box(0, 80, 160, 40),)) == "shadow"
    # The same on a table without a shadow.
    image[shadow] = 120
    assert isinstance(_plan(tmp_path, image, supports=(_box(0, 80, 160, 40),)), SwapPlan)


def test_nothing_to_paste_and_no_place_for_it(tmp_path: Path) -> None:
    assert _plan(tmp_path, donors=()) == "no_donor"
    pole = encode(np.ones((200, 8), bool))
    thin = replace(DONOR, instance=replace(DONOR.instance, rle=pole))
    assert _plan(tmp_path, donors=(thin,)) == "no_place"
    # The first that can be shown is taken.
    plan = _plan(tmp_path, donors=(thin, DONOR))
    assert isinstance(plan, SwapPlan)
    assert plan.donor is DONOR
    assert _plan(tmp_path, own=_box(60, 40, 8, 8)) == "no_place"


def test_every_reason_is_counted() -> None:
    assert set(REASONS) < set(vars(LeftOut()))


@pytest.fixture(scope="module")
def photographs(shared_data: Path) -> PopeSource:
    folder = shared_data / "coco"
    if not folder.is_dir():
        pytest.skip("COCO photographs are not in ../shared/data/coco")
    return pope_source([], folder / "images", folder / "instances.json", described={"kind": "coco-like"})


def test_photographs(photographs: PopeSource) -> None:
    """What is swapped on real photographs, and that nothing but the object and its ground changes."""
    planner = Planner(photographs)
    jobs = planner.jobs(CONDITIONS["entity_swap"])
    left_out = {reason: len(pairs) for reason, pairs in vars(planner.left_out).items() if pairs}
    pairs = {(q.image, q.entity) for q in photographs.jobs if q.label == "yes"}
    assert len(pairs) == 70
    assert len(jobs) + sum(left_out.values()) == len(pairs)
    assert len(jobs) >= 5
    assert not {entity for _, entity in planner.left_out.support} - SUPPORTS
    for job in jobs:
        made = make_picture(job.picture)
        assert made.data is not None
        assert made.mask is not None
        image, scene = load(job.picture.path), job.picture.swap.scene  # type: ignore[union-attr]
        pixels = np.asarray(Image.open(io.BytesIO(made.data)).convert("RGB"))
        changed, own = (pixels != image).any(2), scene.hole().own
        assert not (changed & ~decode(made.mask)).any()
        for rle in (*scene.others, *scene.supports):
            kept = decode(rle) & ~own
            assert np.array_equal(pixels[kept], image[kept])
        assert own.mean() <= swap_rules.LARGEST_HOLE
        # The object is gone: most of its pixels are others.
        assert changed[own].mean() > 0.5


def test_donors_of_photographs_are_whole(photographs: PopeSource) -> None:
    donors = Swaps(photographs, 1, no_track)._donors()
    assert donors
    known = photographs.instances
    for donor in donors:
        left, top, width, height = donor.instance.box
        assert min(left, top) >= 2
        assert left + width <= donor.photo.width - 2
        assert top + height <= donor.photo.height - 2
        others = [item for item in known.by_image[donor.photo.id] if item is not donor.instance]
        assert inspect_donor((donor.instance, others)) == donor.contact <= 0.08
