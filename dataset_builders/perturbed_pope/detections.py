"""Detections with scores: the top-scoring one reproduces the rule of the paper."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.perturbed_pope.instances import CocoInstance, Instances, make_instance


def read_detections(path: Path, instances: Instances) -> dict[tuple[int, str], CocoInstance]:
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
    for number, item in enumerate(content, start=1):
        name = f"{path.name} detection {number}"
        if not isinstance(item, dict):
            faults.append(Fault(name, "detection", f"expected a JSON object, found {str(item)[:80]}"))
            continue
        photo = photos.get(item.get("image_id", -1))
        if photo is None:
            continue
        try:
            score = _score(item)
            found = make_instance(_as_annotation(item, numbers), photo, instances.categories)
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
    return {key: found for key, (_, found) in best.items()}


def _score(item: dict[str, Any]) -> float:
    score = item.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise ValueError(f"score must be a number, not {score!r}")
    return float(score)


def _as_annotation(item: dict[str, Any], numbers: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {key: item[key] for key in ("category_id", "segmentation") if key in item}
    if "category" in item:
        category = item["category"]
        if category not in numbers:
            raise ValueError(f"unknown category {category!r}")
        made["category_id"] = numbers[category]
    box = item.get("bbox")
    if "segmentation" not in made and isinstance(box, list) and len(box) == 4:
        if not all(isinstance(value, int | float) and abs(value) < 2**31 for value in box):
            raise ValueError(f"bbox must be [x, y, w, h], not {box!r}")
        x, y, width, height = box
        made["segmentation"] = [[x, y, x + width, y, x + width, y + height, x, y + height]]
    return made
