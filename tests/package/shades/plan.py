"""From pictures to rows, and what a row must be."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import datasets
from PIL import Image

from lookcheck.dataset_builders.core.errors import Fault, InputError
from lookcheck.dataset_builders.dataset import Source
from lookcheck.dataset_builders.parquet.plan import (
    CardPlan,
    ConfigFiles,
    EvalTask,
    FolderPlan,
    Row,
    ShardGroup,
)

COLOURS = {"red": (200, 0, 0), "green": (0, 160, 0), "blue": (0, 0, 220)}


def draw_sample(folder: Path) -> Path:
    """Write a picture of each colour."""
    for name, colour in COLOURS.items():
        Image.new("RGB", (32, 24), colour).save(folder / f"{name}.png")
    return folder


def find_source(folder: Path, kind: str) -> Source[Path]:
    """The pictures of a folder; the name of each is the answer."""
    jobs = sorted(folder.glob("*.png"))
    if odd := [path for path in jobs if path.stem not in COLOURS] or not jobs:
        raise InputError(f"{folder}: expected pictures named after {', '.join(COLOURS)}; found {odd}")
    return Source(jobs, {"kind": kind})


def make_rows(job: Path) -> dict[str, list[Row]]:
    """The row of one picture."""
    image = {"bytes": job.read_bytes(), "path": job.name}
    question = "Which colour is the picture?"
    return {"test": [{"id": job.stem, "image": image, "question": question, "answer": job.stem}]}


def plan_source(source: Source[Path]) -> FolderPlan:
    """Plan the folder."""
    text = datasets.Value("string")
    columns = datasets.Features({"id": text, "image": datasets.Image(), "question": text, "answer": text})
    return FolderPlan(
        "shades",
        "1.0.0",
        (ShardGroup({"test": columns}, source.jobs, make_rows),),
        (ConfigFiles("default", {"test": ("test",)}, default=True),),
        CardPlan("shades.md.jinja", {"pretty_name": "Shades", "license": "cc0-1.0"}),
        "Which colour is the picture?",
        (EvalTask("shades", "default", "test"),),
        source.described,
    )


class ShadesChecker:
    """The picture must have the colour that the answer names."""

    def row(self, row: dict[str, Any]) -> list[Fault]:
        """Faults of one row."""
        shown = Image.open(io.BytesIO(row["image"]["bytes"])).convert("RGB").getpixel((0, 0))
        if COLOURS.get(row["answer"]) == shown:
            return []
        return [Fault(row["id"], "answer", f"{row['answer']!r} is not the colour {shown}")]

    def finish(self) -> list[Fault]:
        """Faults across rows."""
        return []
