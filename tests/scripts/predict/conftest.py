"""Tiny segmenters on disk, and photographs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image


@pytest.fixture(scope="session")
def tiny_segmenters(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """From ``sam3``, ``sam2`` or ``grounding_dino`` to a folder with such a model, made once."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = getattr(_module(), name)(tmp_path_factory.mktemp("segmenters") / name)
        return made[name]

    return folder


@pytest.fixture
def photographs(shared_data: Path) -> list[Image.Image]:
    """Two photographs of COCO, one wide and one tall."""
    folder = shared_data / "coco" / "images"
    names = ("000000000030.jpg", "000000000072.jpg")
    return [Image.open(folder / name).convert("RGB") for name in names]


def _module() -> Any:
    # Loaded by path: tests are no package.
    spec = importlib.util.spec_from_file_location(
        "tiny_segmenters", Path(__file__).with_name("tiny_segmenters.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
