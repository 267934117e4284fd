"""Drawn scenes: the same each time, named as COCO names things, hidden pixels left out."""

from __future__ import annotations

import numpy as np
import pytest

from lookcheck.dataset_builders.pictures.canvas import Canvas
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.objects import tableware
from lookcheck.dataset_builders.pictures.scenes import KINDS, scene, scenes

COCO = {
    "airplane", "apple", "banana", "bench", "bird", "boat", "book", "bottle", "bowl", "bus", "car", "clock",
    "couch", "cup", "dining table", "donut", "fire hydrant", "fork", "kite", "knife", "laptop", "mouse",
    "orange", "pizza", "potted plant", "remote", "spoon", "sports ball", "stop sign", "surfboard",
    "traffic light", "truck", "tv", "umbrella", "vase",
}  # fmt: skip
OTHERS = {"robot gripper", "block", "sign", "sail"}


@pytest.fixture(scope="module")
def drawn() -> tuple[Picture, ...]:
    return scenes()


def test_scenes_are_whole(drawn: tuple[Picture, ...]) -> None:
    assert len(drawn) == 24 == len({picture.name for picture in drawn})
    assert {picture.domain for picture in drawn} == {"indoor", "outdoor", "driving", "robotics"}
    found = {item.category for picture in drawn for item in picture.instances}
    assert found <= COCO | OTHERS
    assert len(found & COCO) >= 30
    for picture in drawn:
        assert picture.image.shape == (480, 640, 3)
        assert picture.image.dtype == np.uint8
        assert not picture.image.flags.writeable
        for item in picture.instances:
            assert item.mask.dtype == bool
            assert item.mask.shape == (480, 640)
            assert item.mask.sum() > 400, (picture.name, item.category)
            assert not item.mask.flags.writeable


def test_no_pixel_belongs_to_two_things(drawn: tuple[Picture, ...]) -> None:
    for picture in drawn:
        cover = np.sum(
            [item.mask for item in picture.instances if item.category not in ("sign", "sail")], axis=0
        )
        assert cover.max() == 1, picture.name
    (bus,) = (picture for picture in drawn if picture.name == "bus_stop-1")
    assert bus.find("bus")[0].mask[bus.find("sign")[0].mask].all()
    (boats,) = (picture for picture in drawn if picture.name == "boats-1")
    for label in ("yellow", "white"):
        (boat,), sails = boats.find("boat", label), boats.find("sail", label)
        assert len(sails) == 2
        assert all(boat.mask[sail.mask].all() for sail in sails)
        # The hull and the mast are no sail.
        assert 0.5 < sum(int(sail.mask.sum()) for sail in sails) / boat.mask.sum() < 0.8


def test_the_hydrant_stands_on_the_pavement(drawn: tuple[Picture, ...]) -> None:
    """Beside the cars and on nothing of them."""
    pictures = [picture for picture in drawn if picture.name.startswith("parked_cars")]
    assert pictures
    for picture in pictures:
        (hydrant,) = picture.find("fire hydrant")
        columns = np.flatnonzero(hydrant.mask.any(0))
        for car in picture.find("car"):
            assert not car.mask[:, columns[0] : columns[-1] + 1].any()
        assert 330 < np.flatnonzero(hydrant.mask.any(1))[-1] < 366


def test_the_cups_hide_the_bottle(drawn: tuple[Picture, ...]) -> None:
    picture = drawn[0]
    alone = Canvas(640, 480, (0, 0, 0))
    tableware.bottle(alone, 300, 352, 235, (44, 92, 62), "green glass")
    (whole,) = alone.instances()
    cups = np.logical_or.reduce([item.mask for item in picture.find("cup")])
    assert (whole.mask & cups).any()
    assert np.array_equal(picture.find("bottle")[0].mask, whole.mask & ~cups)


def test_the_same_again_and_whatever_the_count(drawn: tuple[Picture, ...]) -> None:
    for picture in (drawn[0], drawn[3], drawn[9]):
        again = scene(picture.name)
        assert np.array_equal(again.image, picture.image)
        for item, other in zip(again.instances, picture.instances, strict=True):
            assert (item.category, item.label) == (other.category, other.label)
            assert np.array_equal(item.mask, other.mask)
    assert [picture.name for picture in scenes(2)] == [picture.name for picture in drawn[:2]]
    assert scenes(0) == ()


def test_kinds_come_again_in_other_colours() -> None:
    assert len(KINDS) == 24
    first, second = scene("parked_cars-1"), scene("parked_cars-2")
    assert not np.array_equal(first.image, second.image)
    assert [item.label for item in first.find("car")] != [item.label for item in second.find("car")]


@pytest.mark.parametrize("name", ["cups", "zoo-1", "cups-x", ""])
def test_unknown_scenes(name: str) -> None:
    with pytest.raises(LookupError, match="no scene"):
        scene(name)
