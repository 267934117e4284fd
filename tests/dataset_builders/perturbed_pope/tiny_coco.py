"""A small COCO-like source in every form of mask, with POPE-style questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pycocotools import mask as coco

WIDTH, HEIGHT = 161, 120
CATEGORIES = {
    "person": (1, "person"),
    "car": (3, "vehicle"),
    "dog": (18, "animal"),
    "cup": (47, "kitchen"),
    "banana": (52, "food"),
    "clock": (85, "indoor"),
}
# Image → category → (left, top, width, height) of its instances; the second category of b.jpg is a crowd.
SHOWN: dict[str, dict[str, list[tuple[int, int, int, int]]]] = {
    "a.jpg": {"dog": [(10, 20, 60, 70)], "car": [(100, 50, 52, 48)]},
    "b.jpg": {"cup": [(8, 60, 48, 50), (100, 60, 48, 49)], "person": [(0, 0, 161, 16)]},
    "c.jpg": {"banana": [(20, 20, 60, 44)], "clock": [(100, 20, 50, 80)]},
    "d.jpg": {"car": [(70, 60, 12, 9)]},
}
# Image → yes and no objects of each split; the dog of d.jpg has no instance.
ASKED = {
    "a.jpg": (("dog", "car"), ("cup", "banana")),
    "b.jpg": (("cup", "person"), ("car", "dog")),
    "c.jpg": (("banana", "clock"), ("person", "cup")),
    "d.jpg": (("car", "dog"), ("clock", "person")),
}
# With these every category is named for d.jpg, so that nothing is left to paste.
MORE = {"d.jpg": ("cup", "banana")}


def pixels(name: str) -> np.ndarray:
    """A slight ramp with the boxes of the instances in flat colours."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    base = np.stack([90 + x // 8, 100 + y // 6, 80 + (x + y) // 12], -1).astype(np.uint8)
    for number, boxes in enumerate(SHOWN[name].values()):
        for left, top, width, height in boxes:
            base[top : top + height, left : left + width] = (200, 40 + 90 * number, 60)
    return base


def mask(box: tuple[int, int, int, int]) -> np.ndarray:
    left, top, width, height = box
    made = np.zeros((HEIGHT, WIDTH), bool)
    made[top : top + height, left : left + width] = True
    return made


def instances() -> dict[str, Any]:
    """COCO instances: a.jpg has compressed RLE and polygons, b.jpg a crowd of plain runs."""
    images, annotations = [], []
    for number, (name, shown) in enumerate(SHOWN.items(), start=1):
        images.append({"id": number, "file_name": name, "width": WIDTH, "height": HEIGHT, "license": 4})
        images[-1]["flickr_url"] = f"http://example.org/{name}"
        for category, boxes in shown.items():
            for box in boxes:
                crowd = category == "person"
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": number,
                        "category_id": CATEGORIES[category][0],
                        "segmentation": _segmentation(box, len(annotations), crowd),
                        "iscrowd": int(crowd),
                    }
                )
    return {
        "images": images,
        "annotations": annotations,
        "categories": [
            {"id": id, "name": name, "supercategory": kind} for name, (id, kind) in CATEGORIES.items()
        ],
        "licenses": [{"id": 4, "name": "Attribution License", "url": "http://example.org/by"}],
    }


def _segmentation(box: tuple[int, int, int, int], number: int, crowd: bool) -> Any:
    left, top, width, height = box
    if crowd:
        flat = mask(box).ravel(order="F").astype(int)
        edges = np.flatnonzero(np.diff(flat)) + 1
        runs = np.diff([0, *edges.tolist(), flat.size]).tolist()
        return {"size": [HEIGHT, WIDTH], "counts": runs if flat[0] == 0 else [0, *runs]}
    if number % 2:
        right, bottom = left + width, top + height
        return [[left, top, right, top, right, bottom, left, bottom]]
    rle = coco.encode(np.asfortranarray(mask(box).astype(np.uint8)))
    return {"size": [HEIGHT, WIDTH], "counts": rle["counts"].decode()}


def questions() -> list[dict[str, Any]]:
    """The rows of a question file; the same in every split."""
    rows: list[dict[str, Any]] = []
    for image, (yes, no) in ASKED.items():
        for pair in zip(yes, no, strict=True):
            for name, label in zip(pair, ("yes", "no"), strict=True):
                rows.append(_question(len(rows) + 1, image, name, label))
    for image, names in MORE.items():
        rows += [_question(len(rows) + place, image, name, "no") for place, name in enumerate(names, 1)]
    return rows


def _question(number: int, image: str, name: str, label: str) -> dict[str, Any]:
    text = f"Is there a {name} in the image?"
    return {"question_id": number, "image": image, "text": text, "label": label}


def write(folder: Path, splits: tuple[str, ...] = ("random", "popular", "adversarial")) -> Path:
    """Write images, instances.json and <split>.json."""
    (folder / "images").mkdir(parents=True)
    for name in SHOWN:
        Image.fromarray(pixels(name)).save(folder / "images" / name, quality=95, subsampling=0)
    (folder / "instances.json").write_text(json.dumps(instances()))
    for split in splits:
        lines = [json.dumps(row) for row in questions()]
        (folder / f"{split}.json").write_text("\n".join(lines) + "\n")
    return folder
