"""Speed, memory and size of building VistaQA: pytest tests/benchmarks/bench_build.py, or ratios.py.

Pictures are 1280 × 960 JPEG files with photograph-like noise, masks are unions of ellipses.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from pycocotools import mask as coco

WIDTH, HEIGHT = 1280, 960
ROWS = 120

PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.vistaqa.plan import plan_source
from lookcheck.dataset_builders.vistaqa.sources import VistaQASource, jobs_of

if __name__ == "__main__":
    folder, output, overlays, times = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    start = time.perf_counter()
    jobs = jobs_of(folder / "annotations", folder / "images")
    plan = plan_source(VistaQASource(jobs, {"kind": "folder"}), overlays=bool(overlays), allow_partial=True)
    if times > 1:
        # More rows of the same pictures: memory must not follow.
        from dataclasses import replace
        plan = replace(plan, groups=tuple(replace(group, jobs=group.jobs * times) for group in plan.groups))
    write_folder(plan, output)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak": peak}))
"""


def write_source(folder: Path, rows: int = ROWS) -> None:
    """Records of the real proportion of evidence (73 %), with one to four instances."""
    (folder / "annotations").mkdir(parents=True)
    (folder / "images").mkdir()
    for number in range(rows):
        draw = np.random.default_rng(number)
        coarse = Image.fromarray(draw.integers(0, 256, (30, 40, 3), dtype=np.uint8))
        smooth = coarse.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(2))
        grain = draw.normal(0, 6, (HEIGHT, WIDTH, 1))
        pixels = np.clip(np.asarray(smooth) + grain, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{number}.jpg", quality=90)
        annotations = [_instance(draw) for _ in range(0 if number % 100 < 27 else 1 + number % 4)]
        record = {
            "image": {"image_id": number, "file_name": f"{number}.jpg", "width": WIDTH, "height": HEIGHT},
            "question": f"Question {number}?",
            "answer": "yes",
            "task_type": ("identification", "OCR", "counting")[number % 3],
            "task_domain": "indoor",
            "num_instances": len(annotations),
            "hallucination": int(not annotations),
            "annotations": annotations,
        }
        (folder / "annotations" / f"{number}.json").write_text(json.dumps(record))


def _instance(draw: np.random.Generator) -> dict[str, Any]:
    image = Image.new("L", (WIDTH, HEIGHT))
    pen = ImageDraw.Draw(image)
    x, y = int(draw.integers(0, 900)), int(draw.integers(0, 600))
    for _ in range(6):
        left, top = x + int(draw.integers(0, 120)), y + int(draw.integers(0, 120))
        pen.ellipse(
            [left, top, left + int(draw.integers(40, 200)), top + int(draw.integers(40, 200))], fill=1
        )
    mask = np.asfortranarray(np.asarray(image))
    encoded = coco.encode(mask)
    counts = encoded["counts"].decode()
    box = [float(value) for value in coco.toBbox(encoded)]
    return {"segmentation": {"size": [HEIGHT, WIDTH], "counts": counts}, "bbox": box}


def _build(folder: Path, output: Path, overlays: bool, times: int = 1) -> dict[str, Any]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), str(folder), str(output), str(int(overlays)), str(times)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(run.stdout)
    result["bytes"] = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    return dict(result)


def ratios() -> list[dict[str, Any]]:
    """Measured figures with their limits."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_source(folder / "source")
        plain = _build(folder / "source", folder / "plain", False)
        shown = _build(folder / "source", folder / "shown", True)
        many = _build(folder / "source", folder / "many", True, 6)
        images, png, rle = _sizes(folder)
    return [
        {
            "name": "build: rows/s on one core",
            "measured": ROWS / shown["seconds"],
            "limit": 20,
            "rule": "at least",
        },
        {"name": "build: peak bytes", "measured": shown["peak"], "limit": 1.5e9, "rule": "at most"},
        {
            "name": "build: peak bytes, six times the rows",
            "measured": many["peak"],
            "limit": 1.5e9,
            "rule": "at most",
        },
        {
            "name": "build: bytes without overlays over images and masks",
            "measured": plain["bytes"] / (images + png + rle),
            "limit": 1.05,
            "rule": "at most",
        },
        {
            "name": "build: bytes with overlays over bytes without",
            "measured": shown["bytes"] / plain["bytes"],
            "limit": 1.15,
            "rule": "at most",
        },
        {
            "name": "build: masks as RLE, bytes per image byte",
            "measured": rle / images,
            "limit": 0,
            "rule": "info",
        },
        {
            "name": "build: masks as PNG, bytes per image byte",
            "measured": png / images,
            "limit": 0,
            "rule": "info",
        },
    ]


def _sizes(folder: Path) -> tuple[int, int, int]:
    """Bytes of the distinct images, of the masks as PNG and of the masks as RLE strings."""
    import pyarrow.parquet as pq

    images = sum(path.stat().st_size for path in (folder / "source" / "images").iterdir())
    png = rle = 0
    for path in (folder / "plain" / "data").iterdir():
        for row in pq.read_table(path, columns=["masks", "masks_rle"], partitioning=None).to_pylist():
            png += sum(len(mask["bytes"]) for mask in row["masks"])
            rle += sum(len(mask["counts"]) for mask in row["masks_rle"])
    return images, png, rle


def test_limits() -> None:
    for row in ratios():
        print(row)
        if row["rule"] == "at least":
            assert row["measured"] >= row["limit"], row
        elif row["rule"] == "at most":
            assert row["measured"] <= row["limit"], row
