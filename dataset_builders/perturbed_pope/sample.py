"""The sample: free photographs, crops of them and drawn scenes, in COCO's form, made offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.core.masks import encode
from lookcheck.dataset_builders.core.processes import Track, no_track
from lookcheck.dataset_builders.perturbed_pope.coco_names import SUPERCATEGORIES
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource, pope_source
from lookcheck.dataset_builders.pictures.model import Instance, Picture
from lookcheck.dataset_builders.pictures.photographs import photographs
from lookcheck.dataset_builders.pictures.scenes import scenes

# Left, top, right, bottom of crops that show a part of a photograph by itself.
CROPS = {"astronaut": (90, 0, 330, 260), "chelsea": (90, 40, 400, 300), "coffee": (120, 40, 500, 390)}


def pictures() -> list[Picture]:
    """What the sample shows, each with an instance of a COCO category."""
    found = list(photographs())
    found += [_crop(picture, *CROPS[picture.name]) for picture in photographs() if picture.name in CROPS]
    found += scenes()
    halves = [_half(picture) for picture in found]
    return [picture for picture in halves if picture.instances]


def _crop(picture: Picture, left: int, top: int, right: int, bottom: int) -> Picture:
    place = (slice(top, bottom), slice(left, right))
    items = [Instance(item.category, item.mask[place], item.label) for item in picture.instances]
    return Picture(
        f"{picture.name}_crop",
        picture.image[place],
        tuple(item for item in items if item.mask.any()),
        picture.license,
        picture.credit,
        picture.domain,
    )


def _half(picture: Picture) -> Picture:
    """Half as wide and high, with COCO's categories only: a sample is to be small."""
    height, width = (side // 2 for side in picture.image.shape[:2])

    def shrink(values: np.ndarray) -> np.ndarray:
        blocks = values[: 2 * height, : 2 * width].reshape(height, 2, width, 2, -1)
        mean: np.ndarray = blocks.astype(float).mean((1, 3))
        return mean

    items = []
    for item in picture.instances:
        mask = shrink(item.mask)[..., 0] >= 0.5
        # A name that is no category of COCO is not asked for.
        if item.category in SUPERCATEGORIES and mask.any():
            items.append(Instance(item.category, mask, item.label))
    image = np.rint(shrink(picture.image)).astype(np.uint8)
    return Picture(picture.name, image, tuple(items), picture.license, picture.credit, picture.domain)


def write_coco(folder: Path) -> Path:
    """Write the sample's pictures and their instances in COCO's form; gives the instances file."""
    (folder / "images").mkdir()
    ids = {name: number for number, name in enumerate(SUPERCATEGORIES, start=1)}
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    licenses: dict[str, int] = {}
    for number, picture in enumerate(pictures(), start=1):
        height, width = picture.image.shape[:2]
        name = f"{picture.name}.png"
        Image.fromarray(picture.image).save(folder / "images" / name)
        images.append(
            {
                "id": number,
                "file_name": name,
                "width": width,
                "height": height,
                "license": licenses.setdefault(picture.license, len(licenses) + 1),
                "credit": picture.credit,
            }
        )
        for item in picture.instances:
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": ids[item.category],
                    "segmentation": encode(item.mask),
                    "iscrowd": 0,
                }
            )
    content = {
        "images": images,
        "annotations": annotations,
        "categories": [
            {"id": number, "name": name, "supercategory": SUPERCATEGORIES[name]}
            for name, number in ids.items()
        ],
        "licenses": [{"id": number, "name": name, "url": None} for name, number in licenses.items()],
    }
    path = folder / "instances.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def sample_source(workspace: Path, track: Track = no_track) -> PopeSource:
    """The sample as a source; `workspace` must outlive the build."""
    folder = workspace / "sample"
    folder.mkdir()
    return pope_source([], folder / "images", write_coco(folder), described={"kind": "sample"}, track=track)
