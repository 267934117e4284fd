"""Detections with scores: the top-scoring one reproduces the rule of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeGuard

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.core.masks import TOLERANCE
from lookcheck.dataset_builders.perturbed_pope.instances import CocoInstance, Instances, Photo, make_instance


def read_detections(path: Path, instances: Instances) -> tuple[dict[tuple[int, str], CocoInstance], int]:
    """The top-scoring detection of each photograph and category.

    Parameters
    ----------
    path : Path
        COCO results: a JSON list of ``{"image_id", "category_id" or "category" (a name), "score",
        "segmentation"}``; a record without a segmentation may have a ``bbox`` [x, y, w, h] in pixels.
    instances : Instances
        Detections in other photographs are passed over.

    Returns
    -------
    dict of (int, str) to CocoInstance
        By image id and category. Of equal scores the larger mask counts, whatever the order.
    int
        Boxes that reached out of their photograph by more than a pixel, and were cut at its border.

    Raises
    ------
    IntegrityError
        With every bad detection, by its number.
    InputError
        If the file is no list, or holds nothing for these photographs.
    """
    content = read_json(path)
    if not isinstance(content, list):
        raise InputError(f"{path}: expected a list of detections, found {type(content).__name__}")
    photos = {photo.id: photo for photo in instances.photos.values()}
    numbers = {name: number for number, name in instances.categories.items()}
    best: dict[tuple[int, str], tuple[tuple[float, int, str], CocoInstance]] = {}
    faults: list[Fault] = []
    clipped = 0
    for number, item in enumerate(content, start=1):
        name = f"{path.name} detection {number}"
        if not isinstance(item, dict):
            faults.append(Fault(name, "detection", f"expected a JSON object, found {str(item)[:80]}"))
            continue
        image_id = item.get("image_id")
        if isinstance(image_id, bool) or not isinstance(image_id, int):
            faults.append(Fault(name, "detection", f"image_id must be an integer, not {image_id!r}"))
            continue
        photo = photos.get(image_id)
        if photo is None:
            continue
        try:
            score = _score(item)
            annotation, cut = _as_annotation(item, photo, numbers)
            clipped += cut
            found = None if annotation is None else make_instance(annotation, photo, instances.categories)
        except ValueError as error:
            faults.append(Fault(name, "detection", str(error)))
            continue
        if found is not None:
            key, rank = (photo.id, found.category), (score, found.area, found.rle["counts"])
            if key not in best or rank > best[key][0]:
                best[key] = (rank, found)
    if faults:
        raise IntegrityError(str(path), faults)
    if not best:
        raise InputError(f"{path}: no detection in any of the {len(photos)} images")
    return {key: found for key, (_, found) in best.items()}, clipped


def _score(item: dict[str, Any]) -> float:
    score = item.get("score")
    if not _is_number(score):
        raise ValueError(f"score must be a number, not {score!r}")
    return float(score)


def _as_annotation(
    item: dict[str, Any], photo: Photo, numbers: dict[str, int]
) -> tuple[dict[str, Any] | None, bool]:
    """A detection as an annotation, None if its box misses the photograph; and whether the box was cut."""
    made: dict[str, Any] = {key: item[key] for key in ("category_id", "segmentation") if key in item}
    if "category" in item:
        category = item["category"]
        if not isinstance(category, str) or category not in numbers:
            raise ValueError(f"unknown category {category!r}")
        made["category_id"] = numbers[category]
    box = item.get("bbox")
    if "segmentation" in made or box is None:
        return made, False
    if not isinstance(box, list) or len(box) != 4 or not all(map(_is_number, box)):
        raise ValueError(f"bbox must be [x, y, w, h], not {box!r}")
    left, top, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
    cut = min(left, top) < -TOLERANCE or right > photo.width + TOLERANCE or bottom > photo.height + TOLERANCE
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, photo.width), min(bottom, photo.height)
    made["segmentation"] = [[left, top, right, top, right, bottom, left, bottom]]
    return (made if right > left and bottom > top else None), cut


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**31
