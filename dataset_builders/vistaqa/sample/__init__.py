"""The sample of VistaQA: questions of our own about photographs, drawn scenes and figures.

`questions.jsonl` holds the questions in the order of their ids. Evidence is named as
``category``, ``category:label`` or ``category#n`` (the n-th of that category) of the picture; every
instance that fits is a mask of its own.

The evidence of a comparison is everything that is compared, not the answer alone: that a bottle is the
tallest is seen in all bottles. It is empty if one of the things compared is not there.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.core.jsonl import read_jsonl
from lookcheck.dataset_builders.core.masks import box_of, encode
from lookcheck.dataset_builders.pictures.figures import DRAWN, figure
from lookcheck.dataset_builders.pictures.model import Instance, Picture
from lookcheck.dataset_builders.pictures.photographs import credits, photographs
from lookcheck.dataset_builders.pictures.scenes import scene
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.dataset_builders.vistaqa.sources import VistaQASource, jobs_of

QUALITY = 92


@cache
def questions() -> tuple[dict[str, Any], ...]:
    """Lines of ``questions.jsonl``: picture, task, question, answer, evidence."""
    with as_file(files("lookcheck.dataset_builders.vistaqa.sample").joinpath("questions.jsonl")) as path:
        return tuple(line for _, line in read_jsonl(path))


def declared_counts() -> dict[str, Any]:
    """Counts of the sample, in the form of `constants.DECLARED`."""
    tasks = Counter(line["task"] for line in questions())
    return {
        "rows": len(questions()),
        "without_evidence": sum(not line["evidence"] for line in questions()),
        "task": {task: tasks[task] for task in constants.TASKS},
    }


def sample_source(workspace: Path) -> VistaQASource:
    """Write the sample in the upstream layout below `workspace`, and give it as a source.

    It then takes the way of the real samples, with all of their checks.

    Parameters
    ----------
    workspace : Path
        A folder that must outlive the build.
    """
    annotations, images = workspace / "annotations", workspace / "images"
    annotations.mkdir(parents=True)
    images.mkdir()
    for number, line in enumerate(questions(), start=1):
        picture = _picture(line["picture"])
        record = sample_record(number, line, picture)
        path = images / record["image"]["file_name"]
        if not path.exists():
            path.write_bytes(_encoded(picture))
        (annotations / f"{number:04d}.json").write_text(json.dumps(record), encoding="utf-8")
    described = {"kind": "sample", "credits": credits()}
    return VistaQASource(jobs_of(annotations, images), described, declared_counts())


def sample_record(number: int, line: dict[str, Any], picture: Picture) -> dict[str, Any]:
    """Record of a question in the upstream layout."""
    height, width = picture.image.shape[:2]
    instances = [item for name in line["evidence"] for item in _named(picture, name)]
    return {
        "image": {
            "image_id": number,
            "file_name": f"{picture.name}{_suffix(picture)}",
            "width": width,
            "height": height,
        },
        "question": line["question"],
        "answer": line["answer"],
        "task_type": line["task"],
        "task_domain": picture.domain,
        "num_instances": len(instances),
        "hallucination": int(not instances),
        "annotations": [_annotation(item) for item in instances],
    }


def _annotation(item: Instance) -> dict[str, Any]:
    return {"segmentation": encode(item.mask), "bbox": [float(side) for side in box_of(item.mask)]}


def _named(picture: Picture, name: str) -> tuple[Instance, ...]:
    """Instances that fit a name of ``questions.jsonl``."""
    name, _, number = name.partition("#")
    category, _, label = name.partition(":")
    found = picture.find(category, label or None)
    return found[int(number) - 1 : int(number)] if number else found


def _picture(name: str) -> Picture:
    for photograph in photographs():
        if photograph.name == name:
            return photograph
    return figure(name) if name in DRAWN else _scene(name)


@cache
def _scene(name: str) -> Picture:
    return scene(name)


def _suffix(picture: Picture) -> str:
    # Flat colours and thin lines suffer as JPEG, and are small as PNG.
    return ".png" if picture.name in DRAWN else ".jpg"


def _encoded(picture: Picture) -> bytes:
    stream = io.BytesIO()
    image = Image.fromarray(picture.image)
    if _suffix(picture) == ".png":
        image.save(stream, "PNG")
    else:
        image.save(stream, "JPEG", quality=QUALITY)
    return stream.getvalue()
