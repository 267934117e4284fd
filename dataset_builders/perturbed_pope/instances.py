"""COCO-style instances: photographs, masks and categories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pycocotools import mask as coco

from lookcheck.dataset_builders.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.jsonl import read_json
from lookcheck.metrics.grove.masks import decode as decode_checked
from lookcheck.metrics.grove.masks import to_rle

# Polygons of COCO reach the outer corner of the last pixel; rounding may take them a little past it.
TOLERANCE = 1.0


@dataclass(frozen=True)
class Photo:
    """One photograph and what is known of it."""

    id: int
    file_name: str
    width: int
    height: int
    license: str | None = None
    license_url: str | None = None
    source_url: str | None = None


@dataclass(frozen=True)
class Instance:
    """One instance with its mask as compressed COCO RLE.

    Attributes
    ----------
    id, image_id : int
    category : str
    rle : dict
        ``{"size": [H, W], "counts": str}``.
    area : int
        Pixels of the mask.
    crowd : bool
    score : float or None
        Of a detection.
    """

    id: int
    image_id: int
    category: str
    rle: Mapping[str, Any]
    area: int
    crowd: bool = False
    score: float | None = None

    def mask(self) -> np.ndarray:
        """The mask (bool, shape (H, W))."""
        return decode(self.rle)


def decode(rle: Mapping[str, Any]) -> np.ndarray:
    """Mask (bool, shape (H, W)) of a compressed RLE made here."""
    made: np.ndarray = coco.decode({"size": list(rle["size"]), "counts": rle["counts"].encode()}).astype(bool)
    return made


def encode(mask: np.ndarray) -> dict[str, Any]:
    """Compressed COCO RLE of a mask (bool, shape (H, W))."""
    rle = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
    return {"size": [int(side) for side in rle["size"]], "counts": rle["counts"].decode()}


@dataclass(frozen=True)
class Instances:
    """All that an instances file holds of some photographs.

    Attributes
    ----------
    photos : dict of str to Photo
        By file name.
    by_image : dict of int to list of Instance
    supercategories : dict of str to str
        Of every category, "" where the file gives none.
    """

    photos: Mapping[str, Photo]
    by_image: Mapping[int, list[Instance]]
    supercategories: Mapping[str, str]
    missing: tuple[str, ...] = field(default=())

    def of(self, image_id: int, category: str) -> list[Instance]:
        """The instances of a category in a photograph."""
        return [item for item in self.by_image.get(image_id, []) if item.category == category]


def read_instances(path: Path, wanted: set[str] | None = None) -> Instances:
    """Read a COCO instances file.

    Parameters
    ----------
    path : Path
    wanted : set of str, optional
        File names of photographs to keep; all if not given.

    Raises
    ------
    IntegrityError
        With every bad annotation, by its id.
    InputError
        If the file is not of COCO's form.
    """
    content = read_json(path)
    parts = {}
    for key in ("images", "annotations", "categories"):
        value = content.get(key) if isinstance(content, dict) else None
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise InputError(f"{path}: needs a list of objects under {key!r}")
        parts[key] = value
    licenses = {item.get("id"): item for item in content.get("licenses") or [] if isinstance(item, dict)}
    faults: list[Fault] = []
    names = {item.get("id"): item.get("name") for item in parts["categories"]}
    supers = {str(item.get("name")): str(item.get("supercategory") or "") for item in parts["categories"]}
    photos: dict[str, Photo] = {}
    by_id: dict[int, Photo] = {}
    for item in parts["images"]:
        if wanted is not None and item.get("file_name") not in wanted:
            continue
        photo = _photo(item, licenses, path, faults)
        if photo is None:
            continue
        if photo.id in by_id or photo.file_name in photos:
            faults.append(Fault(f"image {photo.id}", "duplicate-id", f"{photo.file_name} stands twice"))
        photos[photo.file_name] = by_id[photo.id] = photo
    by_image: dict[int, list[Instance]] = defaultdict(list)
    seen: set[Any] = set()
    for item in parts["annotations"]:
        image_id = item.get("image_id")
        if image_id not in by_id:
            continue
        name = f"{path.name} annotation {item.get('id')}"
        if item.get("id") in seen:
            faults.append(Fault(name, "duplicate-id", "this annotation id stands twice"))
        seen.add(item.get("id"))
        found, message = parse_instance(item, by_id[image_id], names)
        if found is None:
            faults.append(Fault(name, "annotation", message))
        elif found.area:
            by_image[found.image_id].append(found)
    if faults:
        raise IntegrityError(str(path), faults)
    return Instances(photos, dict(by_image), supers)


def _photo(
    item: dict[str, Any], licenses: Mapping[Any, Any], path: Path, faults: list[Fault]
) -> Photo | None:
    sides = (item.get("width"), item.get("height"))
    if not isinstance(item.get("id"), int) or not isinstance(item.get("file_name"), str):
        faults.append(Fault(path.name, "image", f"an image needs an integer id and a file_name: {item!r}"))
        return None
    if not all(isinstance(side, int) and side > 0 for side in sides):
        faults.append(
            Fault(f"image {item['id']}", "image", f"width and height must be positive, not {sides}")
        )
        return None
    license = licenses.get(item.get("license"), {})
    source = item.get("flickr_url") or item.get("coco_url")
    width, height = sides
    assert isinstance(width, int)
    assert isinstance(height, int)
    return Photo(
        item["id"], item["file_name"], width, height, license.get("name"), license.get("url"), source
    )


def parse_instance(
    item: Mapping[str, Any], photo: Photo, names: Mapping[Any, Any]
) -> tuple[Instance | None, str]:
    """One annotation or detection; gives what is wrong with it otherwise."""
    category = names.get(item.get("category_id"))
    if not isinstance(category, str):
        return None, f"unknown category_id {item.get('category_id')!r}"
    try:
        mask = _mask(item.get("segmentation"), photo)
    except ValueError as error:
        return None, f"{error} (image {photo.id}, {photo.width} × {photo.height})"
    if isinstance(item.get("id"), int):
        id = int(item["id"])
    else:
        id = 0
    score = item.get("score")
    crowd = bool(item.get("iscrowd", 0))
    return Instance(id, photo.id, category, encode(mask), int(mask.sum()), crowd, score), ""


def _mask(segmentation: Any, photo: Photo) -> np.ndarray:
    shape = (photo.height, photo.width)
    if isinstance(segmentation, dict):
        size = segmentation.get("size")
        if list(size or []) != list(shape):
            raise ValueError(f"a mask of {size} lies outside the image")
        return decode_checked(to_rle(segmentation))
    if not isinstance(segmentation, list) or not segmentation:
        raise ValueError(f"a segmentation must be RLE or polygons, not {segmentation!r}")
    for polygon in segmentation:
        numbers = isinstance(polygon, list) and all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in polygon
        )
        if not numbers or len(polygon) < 6 or len(polygon) % 2:
            raise ValueError(f"a polygon needs at least three points x, y: {str(polygon)[:80]}")
        for start, side in ((0, photo.width), (1, photo.height)):
            low, high = min(polygon[start::2]), max(polygon[start::2])
            if not (-TOLERANCE <= low and high <= side + TOLERANCE):
                raise ValueError(f"a polygon from {low} to {high} lies outside the image")
    merged = coco.merge(coco.frPyObjects(segmentation, *shape))
    decoded: np.ndarray = coco.decode(merged).astype(bool)
    return decoded


def read_detections(path: Path, instances: Instances) -> dict[tuple[int, str], Instance]:
    """The top-scoring detection of each image and category, which is the paper's rule.

    Parameters
    ----------
    path : Path
        COCO results: a list of ``{image_id, category_id or category, score, segmentation or bbox}``.
    instances : Instances

    Raises
    ------
    IntegrityError
        With every bad detection.
    """
    content = read_json(path)
    if not isinstance(content, list):
        raise InputError(f"{path}: expected a list of detections")
    photos = {photo.id: photo for photo in instances.photos.values()}
    best: dict[tuple[int, str], Instance] = {}
    faults = []
    for number, item in enumerate(content, start=1):
        name = f"{path.name} record {number}"
        if not isinstance(item, dict) or not isinstance(item.get("score"), int | float):
            faults.append(Fault(name, "detection", f"needs image_id, category, score: {str(item)[:80]}"))
            continue
        photo = photos.get(item.get("image_id", -1))
        if photo is None:
            continue
        category = item.get("category")
        if category not in instances.supercategories:
            faults.append(Fault(name, "detection", f"unknown category {category!r}; give its COCO name"))
            continue
        fields = dict(item, category_id=category)
        if "segmentation" not in fields and isinstance(fields.get("bbox"), list) and len(fields["bbox"]) == 4:
            x, y, width, height = fields["bbox"]
            fields["segmentation"] = [[x, y, x + width, y, x + width, y + height, x, y + height]]
        found, message = parse_instance(fields, photo, {category: category})
        if found is None:
            faults.append(Fault(name, "detection", message))
            continue
        key = (photo.id, found.category)
        # The first of equal scores, whatever the order of keys.
        if found.area and (key not in best or (found.score or 0) > (best[key].score or 0)):
            best[key] = found
    if faults:
        raise IntegrityError(str(path), faults)
    return best
