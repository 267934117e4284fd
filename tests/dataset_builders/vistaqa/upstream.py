"""Writes small VistaQA records in the upstream layout, in the real composition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pycocotools import mask as coco

TASKS = {
    "identification": 214,
    "attribute": 191,
    "OCR": 173,
    "spatial relation": 199,
    "counting": 188,
    "comparison": 192,
}
DOMAINS = (
    "indoor",
    "outdoor",
    "autonomous driving",
    "robot manipulation",
    "scientific figures",
    "mathematics/geometry",
)
WIDTH, HEIGHT = 24, 16
WITHOUT = 314


def rle(mask: np.ndarray) -> dict[str, Any]:
    """Compressed COCO RLE, written by pycocotools."""
    encoded = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
    return {"size": list(encoded["size"]), "counts": encoded["counts"].decode()}


def record(number: int, task: str = "counting", *, evidence: bool = True) -> dict[str, Any]:
    """One sound record; its picture is made by `picture`."""
    annotations = []
    for instance in range(1 + number % 3 if evidence else 0):
        x, y = 2 + 6 * instance, 1 + number % 5
        mask = np.zeros((HEIGHT, WIDTH), bool)
        mask[y : y + 6, x : x + 5] = True
        annotations.append({"segmentation": rle(mask), "bbox": [x, y, 5, 6]})
    return {
        "image": {"image_id": number, "file_name": f"{number}.png", "width": WIDTH, "height": HEIGHT},
        "question": f"What is on picture {number}?",
        "answer": f"a box {number}",
        "task_type": task,
        "task_domain": DOMAINS[number % len(DOMAINS)],
        "num_instances": len(annotations),
        "hallucination": int(not evidence),
        "annotations": annotations,
    }


def picture(number: int) -> Image.Image:
    """A picture that no other number has."""
    noise = np.random.default_rng(number).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    return Image.fromarray(noise)


def write(folder: Path, number: int, content: Any) -> None:
    """Write a record and its picture."""
    (folder / "annotations").mkdir(parents=True, exist_ok=True)
    (folder / "images").mkdir(exist_ok=True)
    (folder / "annotations" / f"{number:04d}.json").write_text(json.dumps(content))
    picture(number).save(folder / "images" / f"{number}.png")


def write_all(folder: Path) -> Path:
    """All 1,157 records: 314 without evidence, in each of the ways that may be written."""
    number = 0
    for task, count in TASKS.items():
        for _ in range(count):
            content = record(number, task, evidence=number >= WITHOUT)
            if number < WITHOUT and number % 4 == 1:
                content["annotations"] = None
            elif number < WITHOUT and number % 4 == 2:
                del content["annotations"]
            elif number < WITHOUT and number % 4 == 3:
                empty = np.zeros((HEIGHT, WIDTH), bool)
                content["annotations"] = [{"segmentation": rle(empty), "bbox": [0, 0, 0, 0]}]
            write(folder, number, content)
            number += 1
    return folder
