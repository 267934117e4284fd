"""The sample: free photographs, crops of them and drawn scenes, in COCO's form, made offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.folder.mapping import Track, no_track
from lookcheck.dataset_builders.perturbed_pope.instances import encode
from lookcheck.dataset_builders.perturbed_pope.sources import Source, pope_source
from lookcheck.dataset_builders.pictures.model import Picture
from lookcheck.dataset_builders.pictures.photographs import photographs
from lookcheck.dataset_builders.pictures.scenes import scenes

# Left, top, right, bottom of crops that show a part of a photograph by itself.
CROPS = {"astronaut": (300, 0, 512, 300), "chelsea": (90, 40, 400, 300), "coffee": (120, 40, 500, 390)}
# Names that are no category of COCO are not asked for.
CATEGORIES: dict[str, str] = {
    "person": "person",
    "cat": "animal",
    "dog": "animal",
    "bird": "animal",
    "cup": "kitchen",
    "spoon": "kitchen",
    "fork": "kitchen",
    "knife": "kitchen",
    "bowl": "kitchen",
    "bottle": "kitchen",
    "wine glass": "kitchen",
    "dining table": "furniture",
    "chair": "furniture",
    "couch": "furniture",
    "bed": "furniture",
    "potted plant": "furniture",
    "clock": "indoor",
    "book": "indoor",
    "vase": "indoor",
    "scissors": "indoor",
    "teddy bear": "indoor",
    "traffic light": "outdoor",
    "stop sign": "outdoor",
    "bench": "outdoor",
    "fire hydrant": "outdoor",
    "parking meter": "outdoor",
    "car": "vehicle",
    "bus": "vehicle",
    "truck": "vehicle",
    "bicycle": "vehicle",
    "boat": "vehicle",
    "airplane": "vehicle",
    "train": "vehicle",
    "sports ball": "sports",
    "kite": "sports",
    "umbrella": "accessory",
    "backpack": "accessory",
    "handbag": "accessory",
    "suitcase": "accessory",
    "tie": "accessory",
    "apple": "food",
    "orange": "food",
    "banana": "food",
    "broccoli": "food",
    "carrot": "food",
    "cake": "food",
    "donut": "food",
    "pizza": "food",
    "sandwich": "food",
    "laptop": "electronic",
    "mouse": "electronic",
    "keyboard": "electronic",
    "cell phone": "electronic",
    "tv": "electronic",
    "toaster": "appliance",
    "microwave": "appliance",
    "oven": "appliance",
    "refrigerator": "appliance",
}


def pictures() -> list[Picture]:
    """Everything that the sample shows, each with at least one COCO category."""
    found = list(photographs())
    for picture in photographs():
        if picture.name in CROPS:
            left, top, right, bottom = CROPS[picture.name]
            items = tuple(
                type(item)(item.category, item.mask[top:bottom, left:right], item.label)
                for item in picture.instances
                if item.mask[top:bottom, left:right].any()
            )
            image = picture.image[top:bottom, left:right]
            name = f"{picture.name}_crop"
            found.append(Picture(name, image, items, picture.license, picture.credit, picture.domain))
    found += scenes()
    return [
        _half(picture) for picture in found if any(item.category in CATEGORIES for item in picture.instances)
    ]


def _half(picture: Picture) -> Picture:
    """Half as wide and high: twelve conditions of full pictures would be too much for a sample."""
    height, width = (side // 2 for side in picture.image.shape[:2])

    def shrink(values: np.ndarray) -> np.ndarray:
        blocks = values[: 2 * height, : 2 * width].reshape(height, 2, width, 2, -1)
        mean: np.ndarray = blocks.astype(float).mean((1, 3))
        return mean

    items = []
    for item in picture.instances:
        mask = shrink(item.mask)[..., 0] >= 0.5
        if mask.any():
            items.append(type(item)(item.category, mask, item.label))
    image = np.rint(shrink(picture.image)).astype(np.uint8)
    return Picture(picture.name, image, tuple(items), picture.license, picture.credit, picture.domain)


def write_coco(folder: Path) -> Path:
    """Write the sample's pictures and their instances in COCO's form; gives the instances file."""
    (folder / "images").mkdir()
    ids = {name: number for number, name in enumerate(CATEGORIES, start=1)}
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    licenses: dict[str, int] = {}
    for number, picture in enumerate(pictures(), start=1):
        height, width = picture.image.shape[:2]
        name = f"{picture.name.replace(' ', '_')}.png"
        Image.fromarray(np.ascontiguousarray(picture.image)).save(folder / "images" / name)
        license = licenses.setdefault(picture.license, len(licenses) + 1)
        images.append({"id": number, "file_name": name, "width": width, "height": height, "license": license})
        for item in picture.instances:
            if item.category in ids:
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": number,
                        "category_id": ids[item.category],
                        "segmentation": encode(np.asarray(item.mask)),
                        "iscrowd": 0,
                    }
                )
    content = {
        "images": images,
        "annotations": annotations,
        "categories": [
            {"id": number, "name": name, "supercategory": CATEGORIES[name]} for name, number in ids.items()
        ],
        "licenses": [{"id": number, "name": name, "url": None} for name, number in licenses.items()],
    }
    path = folder / "instances.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def sample_source(workspace: Path, track: Track = no_track) -> Source:
    """The sample as a source; `workspace` must outlive the build."""
    folder = workspace / "sample"
    folder.mkdir()
    return pope_source([], folder / "images", write_coco(folder), kind="sample", track=track)
