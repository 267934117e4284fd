"""COCO instances and detections: every form of mask, and every kind of bad one by its id."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.core.masks import Rle, decode
from lookcheck.dataset_builders.perturbed_pope.coco_names import SUPERCATEGORIES
from lookcheck.dataset_builders.perturbed_pope.detections import read_detections
from lookcheck.dataset_builders.perturbed_pope.generate import generate_questions
from lookcheck.dataset_builders.perturbed_pope.instances import CocoInstance, Instances, Photo, read_instances
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource


def _read(tmp_path: Path, content: Any, wanted: set[str] | None = None) -> Instances:
    path = tmp_path / "instances.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_instances(path, wanted)


def test_each_form_gives_its_mask(tiny_coco: ModuleType, tmp_path: Path) -> None:
    known = _read(tmp_path, tiny_coco.instances())
    for name, shown in tiny_coco.SHOWN.items():
        photo = known.photos[name]
        for category, boxes in shown.items():
            found = known.of(photo.id, category)
            assert [item.box for item in found] == boxes
            for item, box in zip(found, boxes, strict=True):
                assert np.array_equal(decode(item.rle), tiny_coco.mask(box))
                assert item.area == box[2] * box[3]
                assert item.crowd == (category == "person")
    assert known.supercategories["cup"] == "kitchen"
    assert known.photos["a.jpg"].license == "Attribution License"


def test_real_photographs(shared_data: Path) -> None:
    content = json.loads((shared_data / "coco" / "instances.json").read_text())
    known = read_instances(shared_data / "coco" / "instances.json")
    assert (len(known.photos), sum(map(len, known.by_image.values()))) == (31, 180)
    assert known.supercategories == SUPERCATEGORIES
    wanted = {item["id"]: item for item in content["annotations"]}
    for items in known.by_image.values():
        for item in items:
            rle = wanted[item.id]["segmentation"]
            assert np.array_equal(decode(item.rle), coco.decode(rle).astype(bool))
            assert item.area == coco.area(rle)
            assert list(item.box) == coco.toBbox(rle).tolist()


def test_only_wanted_photographs_are_read(tiny_coco: ModuleType, tmp_path: Path) -> None:
    content = tiny_coco.instances()
    content["annotations"][-1]["segmentation"] = "broken, but of d.jpg"
    known = _read(tmp_path, content, {"a.jpg", "c.jpg"})
    assert set(known.photos) == {"a.jpg", "c.jpg"}
    with pytest.raises(IntegrityError):
        _read(tmp_path, content)


def test_a_mask_without_a_pixel_is_counted_and_no_instance(tiny_coco: ModuleType, tmp_path: Path) -> None:
    content = tiny_coco.instances()
    size = [tiny_coco.HEIGHT, tiny_coco.WIDTH]
    content["annotations"][0]["segmentation"] = {"size": size, "counts": [size[0] * size[1]]}
    known = _read(tmp_path, content)
    assert known.without_pixels == 1
    assert known.of(1, "dog") == ()


SIZE = [120, 161]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"segmentation": [[10, 10, 170, 10, 20, 30]]},
            "instances.json annotation 1: a polygon with x from 10 to 170 lies outside an image of 161 × 120 (a.jpg)",
        ),
        ({"segmentation": [[10, -9, 60, 10, 20, 30]]}, "a polygon with y from -9 to 30 lies outside"),
        (
            {"segmentation": [[10, 10, 20, 20]]},
            "a polygon needs three points x, y or more, not [10, 10, 20, 20]",
        ),
        ({"segmentation": [[10, 10, 20, 20, 30, None]]}, "a polygon needs three points"),
        ({"segmentation": []}, "a segmentation must be an RLE or polygons, not []"),
        ({"segmentation": None}, "a segmentation must be an RLE or polygons, not None"),
        (
            {"segmentation": {"size": [161, 120], "counts": [0, 161 * 120]}},
            "a mask of size [161, 120] [h, w] does not fit an image of 161 × 120",
        ),
        (
            {"segmentation": {"size": SIZE, "counts": [5, 5]}},
            "the runs sum to 10, but the size [120, 161] has 19320 pixels",
        ),
        ({"segmentation": {"size": SIZE, "counts": "zz"}}, "instances.json annotation 1:"),
        (
            {"segmentation": {"size": SIZE, "counts": [-1, 161 * 120 + 1]}},
            "the counts hold the negative run -1",
        ),
        ({"category_id": 99}, "annotation 1: unknown category_id 99"),
        ({"image_id": 77}, "annotation 1: image_id 77 is no image of the file"),
        ({"id": 2}, "annotation 2: this annotation id stands twice"),
        ({"id": "x"}, "id must be an integer, not 'x'"),
        ({"iscrowd": 2}, "iscrowd must be 0 or 1, not 2"),
    ],
)
def test_bad_annotations(tiny_coco: ModuleType, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    content = tiny_coco.instances()
    content["annotations"][0] |= change
    with pytest.raises(IntegrityError) as caught:
        _read(tmp_path, content)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda content: content["images"][0].update(width=0),
            "image 1: width and height must be positive integers, not 0, 120",
        ),
        *(
            (
                lambda content, name=name: content["images"][0].update(file_name=name),
                f"image 1: file_name leaves the folder of images: {name!r}",
            )
            for name in ("../a.jpg", "a/../../b.jpg", "/etc/a.jpg")
        ),
        (lambda content: content["images"][0].update(file_name=None), "needs an integer id and a file_name"),
        (lambda content: content["images"][1].update(id=1), "the id or the file 'b.jpg' stands twice"),
        (
            lambda content: content["categories"][1].update(name="person"),
            "the id or the name 'person' stands twice",
        ),
        (
            lambda content: content["categories"][1].update(id="3"),
            "category 3: needs an integer id and a name",
        ),
        (lambda content: content.pop("categories"), "needs a list of objects under 'categories'"),
        (lambda content: content.update(annotations=[1]), "needs a list of objects under 'annotations'"),
    ],
)
def test_bad_images_and_categories(tiny_coco: ModuleType, tmp_path: Path, change: Any, said: str) -> None:
    content = tiny_coco.instances()
    change(content)
    with pytest.raises(InputError) as caught:
        _read(tmp_path, content)
    assert said in str(caught.value)


HUGE = 2**70


@pytest.mark.parametrize("value", [["a"], {"a": 1}, HUGE, True, 1.5, "x"], ids=repr)
@pytest.mark.parametrize(
    ("part", "key"),
    [
        ("images", "id"),
        ("images", "file_name"),
        ("images", "width"),
        ("images", "license"),
        ("images", "flickr_url"),
        ("annotations", "id"),
        ("annotations", "image_id"),
        ("annotations", "category_id"),
        ("annotations", "segmentation"),
        ("annotations", "iscrowd"),
        ("categories", "id"),
        ("categories", "name"),
        ("categories", "supercategory"),
        ("licenses", "id"),
        ("licenses", "name"),
        ("licenses", "url"),
    ],
)
def test_wrong_types_are_said_and_not_stumbled_over(
    tiny_coco: ModuleType, tmp_path: Path, part: str, key: str, value: Any
) -> None:
    """A sentence that names file and record, whatever the value; or the value is one that may stand there."""
    content = tiny_coco.instances()
    content[part][0][key] = value
    fine = {
        "file_name": [str],
        "license": [int, bool, str],
        "flickr_url": [str],
        "iscrowd": [bool],
        "name": [str],
        "supercategory": [str],
        "url": [str],
    }
    allowed = fine.get(key, [int, bool, str] if (part, key) == ("licenses", "id") else [])
    wanted = None if key == "file_name" else {"a.jpg"}
    if type(value) in allowed:
        _read(tmp_path, content, wanted)
        return
    with pytest.raises(IntegrityError) as caught:
        _read(tmp_path, content, wanted)
    assert all("instances.json" in str(fault) for fault in caught.value.faults)


@pytest.mark.parametrize("value", [["a"], {"a": 1}, HUGE, None, True, "x"], ids=repr)
@pytest.mark.parametrize("key", ["image_id", "category_id", "category", "score", "segmentation", "bbox"])
def test_wrong_types_of_detections(tmp_path: Path, known: Instances, key: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        _detect(tmp_path, known, [_detection(0.5) | {key: value}])
    assert "detections.json" in str(caught.value)


def test_boxes_that_overshoot_are_cut_and_counted(
    tmp_path: Path, known: Instances, tiny_coco: ModuleType
) -> None:
    """As detectors give them; a pixel of rounding is not worth counting."""
    found, clipped = _detect(
        tmp_path,
        known,
        [
            _detection(0.9, bbox=[-20, 100.0, 30, 500]),
            {"image_id": 2, "category": "cup", "score": 0.9, "bbox": [-0.5, 10, 20, 20]},
            {"image_id": 2, "category": "cup", "score": 0.99, "bbox": [400, 10, 20, 20]},
        ],
    )
    assert clipped == 2
    assert np.array_equal(decode(found[1, "dog"].rle), tiny_coco.mask((0, 100, 10, 20)))
    assert np.array_equal(decode(found[2, "cup"].rle), tiny_coco.mask((0, 10, 20, 20)))


def test_truncated_json(tiny_coco: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"instances\.json: not valid JSON"):
        _read(tmp_path, json.dumps(tiny_coco.instances())[:-40])


def _detection(score: float, **more: Any) -> dict[str, Any]:
    return {"image_id": 1, "category_id": 18, "score": score, "bbox": [10, 20, 30, 40], **more}


def _detect(tmp_path: Path, known: Instances, content: Any) -> Any:
    path = tmp_path / "detections.json"
    path.write_text(json.dumps(content))
    return read_detections(path, known)


@pytest.fixture
def known(tiny_coco: ModuleType, tmp_path: Path) -> Instances:
    return _read(tmp_path, tiny_coco.instances())


def test_the_top_detection_counts(tmp_path: Path, known: Instances, tiny_coco: ModuleType) -> None:
    rle = coco.encode(np.asfortranarray(tiny_coco.mask((50, 50, 20, 10)).astype(np.uint8)))
    masked = {"size": rle["size"], "counts": rle["counts"].decode()}
    content = [
        _detection(0.4),
        _detection(0.9, segmentation=masked),
        _detection(0.9, bbox=[0, 0, 5, 5]),
        {"image_id": 2, "category": "cup", "score": 0.35, "bbox": [1, 2, 3, 4]},
        _detection(0.99, image_id=4711),
    ]
    found, clipped = _detect(tmp_path, known, content)
    assert clipped == 0
    assert set(found) == {(1, "dog"), (2, "cup")}
    assert np.array_equal(decode(found[1, "dog"].rle), tiny_coco.mask((50, 50, 20, 10)))
    assert np.array_equal(decode(found[2, "cup"].rle), tiny_coco.mask((1, 2, 3, 4)))
    assert _detect(tmp_path, known, content[::-1]) == (found, 0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "expected a list of detections, found dict"),
        ([], "no detection in any of the 4 images"),
        ([_detection(0.5, image_id=99)], "no detection in any"),
        ([7], "detections.json detection 1: expected a JSON object"),
        ([_detection(0.5), _detection("high")], "detection 2: score must be a number, not 'high'"),  # type: ignore[arg-type]
        ([_detection(0.5, category_id=5)], "unknown category_id 5"),
        ([_detection(0.5, category="unicorn")], "unknown category 'unicorn'"),
        ([_detection(0.5, bbox=[1, 2, 3])], "bbox must be [x, y, w, h], not [1, 2, 3]"),
        ([_detection(0.5, bbox=None)], "a segmentation must be an RLE or polygons, not None"),
        ([_detection(0.5, bbox=[170, 2, 3, 4])], "no detection in any of the 4 images"),
        ([_detection(0.5, bbox=[1, 2, 3, "4"])], "bbox must be [x, y, w, h]"),
    ],
)
def test_bad_detections(tmp_path: Path, known: Instances, content: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        _detect(tmp_path, known, content)
    assert said in str(caught.value)


def test_mask_rules(tmp_path: Path, known: Instances, tiny_coco: ModuleType) -> None:
    source = PopeSource((), {}, instances=known, images=tmp_path)
    assert [item.box for item in source.masks_of("b.jpg", "cup")] == tiny_coco.SHOWN["b.jpg"]["cup"]
    largest = replace(source, mask_rule="largest_instance")
    assert [item.box for item in largest.masks_of("b.jpg", "cup")] == [(8, 60, 48, 50)]
    assert largest.masks_of("b.jpg", "dog") == ()
    detected = replace(source, detections=_detect(tmp_path, known, [_detection(0.4)])[0])
    assert [item.box for item in detected.masks_of("a.jpg", "dog")] == [(10, 20, 30, 40)]
    assert detected.masks_of("b.jpg", "cup") == ()


def test_a_crowd_is_the_largest_instance_only_among_crowds(tmp_path: Path) -> None:
    rle: Rle = {"size": [9, 9], "counts": "Q2"}

    def item(id: int, area: int, crowd: bool) -> CocoInstance:
        return CocoInstance(id, 1, "cup", rle, area, (0, 0, 1, 1), crowd=crowd)

    def largest(*items: CocoInstance) -> list[int]:
        known = Instances({"a.jpg": Photo(1, "a.jpg", 9, 9)}, {1: items}, {1: "cup"}, {"cup": "kitchen"})
        source = PopeSource((), {}, instances=known, images=tmp_path, mask_rule="largest_instance")
        return [found.id for found in source.masks_of("a.jpg", "cup")]

    assert largest(item(1, 900, True), item(2, 5, False), item(3, 4, False)) == [2]
    assert largest(item(1, 8, True), item(2, 9, True)) == [2]
    # Of two of one size the first.
    assert largest(item(1, 9, False), item(2, 9, False)) == [1]


def test_generated_questions_rank_equal_counts_by_name() -> None:
    # Twenty categories on three pictures each, in an order that is not that of their names.
    names = sorted((f"thing {number:02d}" for number in range(20)), key=lambda name: name[::-1])
    names = names[::2] + names[1::2][::-1]
    rle: Rle = {"size": [9, 9], "counts": "Q2"}
    photos = {f"{number}.jpg": Photo(number, f"{number}.jpg", 9, 9) for number in range(1, 5)}
    shown = {1: names, 2: names, 3: names, 4: ["cat"]}
    by_image = {
        image: tuple(
            CocoInstance(100 * image + place, image, name, rle, 5, (0, 0, 1, 1))
            for place, name in enumerate(held)
        )
        for image, held in shown.items()
    }
    categories = dict(enumerate([*names, "cat"], 1))
    known = Instances(photos, by_image, categories, dict.fromkeys(categories.values(), ""))
    asked = {file.split: file.questions for file in generate_questions(known)}
    assert [q.entity for q in asked["popular"] if q.image == "4.jpg"] == ["cat", "thing 00"]
    # One picture lacks the first ten: what most often stands beside an object is the first of them.
    by_image[3] = tuple(item for item in by_image[3] if item.category >= "thing 10")
    known = Instances(photos, by_image, categories, known.supercategories)
    (file,) = (file for file in generate_questions(known) if file.split == "adversarial")
    mine = [question for question in file.questions if question.image == "3.jpg"]
    assert [question.entity for question in mine[1::2]] == ["thing 00", "thing 01", "thing 02"]


def test_generated_questions(shared_data: Path) -> None:
    known = read_instances(shared_data / "coco" / "instances.json")
    files = {file.split: file.questions for file in generate_questions(known)}
    present = {
        photo.file_name: {item.category for item in known.by_image[photo.id]}
        for photo in known.photos.values()
    }
    held = [category for shown in present.values() for category in shown]
    yes = {split: [(q.image, q.entity) for q in asked if q.label == "yes"] for split, asked in files.items()}
    assert yes["random"] == yes["popular"] == yes["adversarial"]
    for split, asked in files.items():
        assert [question.label for question in asked] == ["yes", "no"] * (len(asked) // 2)
        assert len({question.id for question in asked}) == len(asked)
        for image, shown in present.items():
            mine = [question for question in asked if question.image == image]
            assert len(mine) == 2 * min(3, len(shown))
            assert len({question.entity for question in mine}) == len(mine)
            assert all((question.entity in shown) == (question.label == "yes") for question in mine)
            absent = [question.entity for question in mine if question.label == "no"]
            if split == "popular":
                ranked = sorted(set(held) - shown, key=lambda name: (-held.count(name), name))
                assert absent == ranked[: len(absent)]
            if split == "adversarial":
                for first, other in zip(mine[::2], mine[1::2], strict=True):
                    together = [
                        sum(first.entity in shown and name in shown for shown in present.values())
                        for name in (other.entity, *(set(held) - shown - set(absent)))
                    ]
                    assert together[0] == max(together)
    # The same whatever the order of the file.
    mixed = Instances(
        dict(reversed(list(known.photos.items()))), known.by_image, known.categories, known.supercategories
    )
    assert generate_questions(mixed) == generate_questions(known)


def test_articles_of_all_generated_questions() -> None:
    from lookcheck.dataset_builders.perturbed_pope.questions import TEMPLATE, ask

    an = {name for name in SUPERCATEGORIES if ask(name).startswith("Is there an ")}
    assert an == {"airplane", "apple", "elephant", "orange", "oven", "umbrella"}
    pairs = {name for name in SUPERCATEGORIES if ask(name).startswith("Is there a pair of ")}
    assert pairs == {"skis", "scissors"}
    for name in SUPERCATEGORIES:
        found = TEMPLATE.fullmatch(ask(name))
        assert found is not None
        assert found[2] == name


def test_nothing_to_ask(tiny_coco: ModuleType, tmp_path: Path) -> None:
    content = tiny_coco.instances()
    content["annotations"] = content["annotations"][:1]
    with pytest.raises(InputError, match="no question can be asked"):
        generate_questions(_read(tmp_path, content))
