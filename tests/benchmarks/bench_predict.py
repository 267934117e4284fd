"""Speed of what `predict` does beside the model: from a picture's file to tensors, and ahead of a slow model."""

from __future__ import annotations

import importlib.util
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from lookcheck.dataset_builders.requests.pictures import picture_of_file
from lookcheck.dataset_builders.requests.request import Answer, Request
from lookcheck.scripts.models.processes import Share
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.models.torchvision_ops import define_missing_ops
from lookcheck.scripts.predict.local.backend import LocalBackend

TESTS = Path(__file__).resolve().parents[1]

# Rows per two seconds of processor time that have to be reached, from file to tensors.
LIMITS = {"llava": 200.0, "qwen2_5_vl": 100.0}
# Rows at 640×480, of which all pictures differ.
ROWS = 96
# Times that a slow model takes for a row, of what the row's preparation takes.
SLOWNESS = 3.0


def _tiny() -> ModuleType:
    path = TESTS / "scripts" / "predict" / "local" / "tiny_vlm.py"
    spec = importlib.util.spec_from_file_location("bench_tiny_vlm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def photographs(folder: Path, count: int) -> list[Request]:
    """Questions on as many JPEG files of 640×480 that compress as photographs do, about 60 kB each."""
    requests = []
    for number in range(count):
        pixels = np.random.default_rng(number).integers(0, 255, (480, 640, 3), dtype=np.uint8)
        image = Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(1.5))
        image.save(folder / f"{number}.jpg", quality=90)
        picture = picture_of_file(folder / f"{number}.jpg")
        requests.append(Request("Is there a dog in the picture?\nAnswer yes or no only.", picture=picture))
    return requests


def longer(request: Request, turn: int) -> Request:
    """The same photograph as another file: what stands behind its end is not decoded."""
    if request.picture is None:
        raise TypeError("the request has no picture")
    path = request.picture.file.with_suffix(f".{turn}.jpg")
    path.write_bytes(request.picture.file.read_bytes() + bytes([turn]))
    return replace(request, picture=picture_of_file(path))


def full_size(backend: LocalBackend, family: str) -> None:
    """Give a tiny model's processor the pictures of the real one."""
    from transformers import CLIPImageProcessor, Qwen2VLImageProcessor

    processor: Any = backend._checkpoint.processor
    if family == "llava":
        size = {"height": 336, "width": 336}
        processor.image_processor = CLIPImageProcessor(size={"shortest_edge": 336}, crop_size=size)
    else:
        processor.image_processor = Qwen2VLImageProcessor()


class Pretended:
    """A model that takes its time: sleeps, so that all processor time is the pipeline's."""

    def __init__(self, reader: Any, seconds: float) -> None:
        self.reader, self.seconds, self.spent = reader, seconds, 0.0
        self.rows = 0

    def answer(self, requests: Sequence[Request], *others: Any) -> list[Answer]:
        self.rows += len(requests)
        begin = time.perf_counter()
        time.sleep(self.seconds * len(requests))
        self.spent += time.perf_counter() - begin
        return [Answer() for _ in requests]


def asked(backend: LocalBackend, requests: Sequence[Request]) -> tuple[float, float]:
    """Processor seconds and wall seconds of all requests."""
    begin = time.process_time(), time.perf_counter()
    for _ in backend.answer(requests, set(range(len(requests))), Share(), print):
        pass
    return time.process_time() - begin[0], time.perf_counter() - begin[1]


def peak() -> int:
    """Megabytes that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def ratios() -> list[dict[str, Any]]:
    """Measured figures with their limits."""
    import torch

    # Before transformers is imported.
    define_missing_ops()
    torch.set_num_threads(1)
    tiny, rows = _tiny(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        requests = photographs(folder, ROWS)
        many = [longer(request, turn) for turn in range(8) for request in requests]
        for family, limit in LIMITS.items():
            backend = LocalBackend(str(tiny.save(family, folder / family)), None, Place(device="cpu"))
            full_size(backend, family)
            # No row is longer than the model may think it is.
            backend._checkpoint.longest = lambda: None  # type: ignore[method-assign]
            made: Any = backend
            made._load()
            reader = made._answerer.reader
            made._answerer = Pretended(reader, 0)
            asked(backend, requests[:16])
            used = min(asked(backend, requests)[0] for _ in range(3))
            rows.append(
                {"name": f"predict: {family}, rows from file to tensors in two seconds of one core",
                 "measured": 2 * ROWS / used, "limit": limit, "rule": "at least"}
            )  # fmt: skip
            before = peak()
            asked(backend, many)
            rows.append(
                {"name": f"predict: {family}, megabytes more at the peak for eight times the rows",
                 "measured": peak() - before, "limit": 64, "rule": "at most"}
            )  # fmt: skip
            slow = Pretended(reader, SLOWNESS * used / ROWS)
            made._answerer = slow
            wall = asked(backend, requests)[1]
            rows.append(
                {"name": f"predict: {family}, time beside a model {SLOWNESS:.0f}× as slow as preparing",
                 "measured": wall / slow.spent, "limit": 1.1, "rule": "at most"}
            )  # fmt: skip
    return rows


if __name__ == "__main__":
    for row in ratios():
        print(f"{row['measured']:10.2f}  {row['rule']} {row['limit']:.2f}  {row['name']}")
