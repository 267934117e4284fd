"""The outlines of the photographs: their areas, and what lies in and beside what."""

from __future__ import annotations

import numpy as np
import pytest
import skimage.data

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.pictures import photographs as module
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.photographs import photographs

AREAS = {
    "astronaut": [
        ("person", "", 107595),
        ("suit", "", 89593),
        ("head", "", 18002),
        ("flag", "", 25906),
        ("space shuttle model", "", 20735),
        ("helmet", "", 32398),
        ("patch", "round", 4204),
        ("patch", "name", 1456),
    ],
    "chelsea": [
        ("cat", "", 99737),
        ("eye", "left", 3079),
        ("eye", "right", 1699),
        ("nose", "", 1037),
    ],
    "coffee": [
        ("cup", "", 49109),
        ("spoon", "", 6443),
        ("saucer", "", 57386),
        ("coffee", "", 12389),
        ("dining table", "", 118662),
    ],
    "rocket": [
        ("rocket", "", 4856),
        ("tower", "far left", 25219),
        ("tower", "near left", 6325),
        ("tower", "near right", 6529),
        ("tower", "far right", 25387),
        ("lamp", "yellow", 88),
        ("lamp", "white", 192),
        ("lamp", "yellow", 148),
        ("lamp", "yellow", 216),
        ("lamp", "yellow", 216),
        ("lamp", "yellow", 120),
        ("lamp", "white", 248),
    ],
}


@pytest.fixture(scope="module")
def taken() -> dict[str, Picture]:
    return {picture.name: picture for picture in photographs()}


def _mask(picture: Picture, category: str, label: str | None = None) -> np.ndarray:
    return np.logical_or.reduce([item.mask for item in picture.find(category, label)])


def test_areas_are_pinned(taken: dict[str, Picture]) -> None:
    found = {
        name: [(item.category, item.label, int(item.mask.sum())) for item in picture.instances]
        for name, picture in taken.items()
    }
    assert found == AREAS


def test_pixels_are_those_of_the_package_and_read_only(taken: dict[str, Picture]) -> None:
    for name, picture in taken.items():
        assert np.array_equal(picture.image, getattr(skimage.data, name)())
        assert picture.image.dtype == np.uint8
        assert picture.license in ("public domain", "CC0-1.0")
        for item in picture.instances:
            assert item.mask.dtype == bool
            assert item.mask.shape == picture.image.shape[:2]
            with pytest.raises(ValueError, match="read-only"):
                item.mask[0, 0] = True


def test_parts_lie_in_their_wholes_and_things_beside_each_other(taken: dict[str, Picture]) -> None:
    astronaut = taken["astronaut"]
    person, head, suit = (_mask(astronaut, name) for name in ("person", "head", "suit"))
    assert np.array_equal(person, head | suit)
    assert not (head & suit).any()
    assert (suit & _mask(astronaut, "patch")).sum() == _mask(astronaut, "patch").sum()
    for other in ("flag", "space shuttle model", "helmet"):
        assert not (person & _mask(astronaut, other)).any()
    cat = _mask(taken["chelsea"], "cat")
    for part in ("eye", "nose"):
        assert cat[_mask(taken["chelsea"], part)].all()
    names = ("cup", "spoon", "saucer", "dining table")
    cover = np.sum([_mask(taken["coffee"], name) for name in names], axis=0)
    assert cover.max() == 1
    # All but the dark corner behind the table.
    assert (cover == 0).sum() < 0.04 * cover.size
    assert (_mask(taken["coffee"], "coffee") & ~_mask(taken["coffee"], "cup")).sum() == 0


def test_outlines_hug_what_they_outline(taken: dict[str, Picture]) -> None:
    """Colours differ between the two sides of an outline, and agree with what is outlined."""
    orange = taken["astronaut"].image[_mask(taken["astronaut"], "suit")].astype(int)
    assert np.median(orange, axis=0)[0] > np.median(orange, axis=0)[2] + 80
    coffee = taken["coffee"].image.astype(int)
    saucer = coffee[_mask(taken["coffee"], "saucer")]
    assert (saucer[:, 0] > 1.5 * saucer[:, 1]).mean() > 0.97
    rocket = taken["rocket"].image.astype(int).sum(axis=2)
    mask = _mask(taken["rocket"], "rocket")
    ring = np.roll(mask, 6, axis=1) & ~np.roll(mask, 3, axis=1) & ~mask
    assert np.median(rocket[mask]) > 1.5 * np.median(rocket[ring])
    for item in taken["rocket"].find("lamp"):
        assert rocket[item.mask].mean() > 500


def test_another_picture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = skimage.data.coffee()
    changed[0, 0, 0] ^= 1
    monkeypatch.setattr(skimage.data, "coffee", lambda: changed, raising=False)
    with pytest.raises(InputError, match=r"skimage\.data\.coffee: not the picture"):
        module._photograph("coffee")


def test_a_thing_that_is_not_there(taken: dict[str, Picture]) -> None:
    with pytest.raises(LookupError, match="coffee: no instance cup 'blue'"):
        taken["coffee"].find("cup", "blue")
