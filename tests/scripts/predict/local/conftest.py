"""Tiny random models of every family, pictures, and the back end asked as a run asks it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lookcheck.dataset_builders.requests.pictures import picture_of_file
from lookcheck.dataset_builders.requests.request import Answer, Picture, Request
from lookcheck.scripts.models.processes import Share
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.local.backend import LocalBackend

Ask = Callable[..., list[Answer]]


@pytest.fixture(scope="session")
def tiny_vlm() -> ModuleType:
    """The module that makes random models."""
    import torch

    # Several threads only get into each other's way on so small a model.
    torch.set_num_threads(1)
    # Loaded by path: tests are no package.
    spec = importlib.util.spec_from_file_location("tiny_vlm", Path(__file__).parent / "tiny_vlm.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def vlm_folder(tiny_vlm: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a family's model, made once; not to be changed."""
    made: dict[str, Path] = {}

    def folder(family: str) -> Path:
        if family not in made:
            made[family] = tiny_vlm.save(family, tmp_path_factory.mktemp("vlm") / family)
        return made[family]

    return folder


@pytest.fixture(scope="session")
def backend_of(vlm_folder: Callable[[str], Path]) -> Callable[[str], LocalBackend]:
    """Gives a loaded back end of a family, the same one each time."""
    made: dict[str, LocalBackend] = {}

    def backend(family: str) -> LocalBackend:
        if family not in made:
            made[family] = LocalBackend(str(vlm_folder(family)), None, Place(device="cpu"))
        return made[family]

    return backend


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[Picture]:
    """Three pictures of noise: wide, square and tall."""
    folder = tmp_path_factory.mktemp("pictures")
    made = []
    for number, (width, height) in enumerate([(130, 90), (64, 64), (90, 130)]):
        pixels = np.random.default_rng(number).integers(0, 255, (height, width, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        made.append(picture_of_file(folder / f"{number}.png"))
    return made


@pytest.fixture(scope="session")
def ask() -> Ask:
    """Asks a back end for all requests, or for those whose index is wanted."""

    def answers(
        backend: Any,
        requests: Sequence[Request],
        wanted: set[int] | None = None,
        said: list[str] | None = None,
    ) -> list[Answer]:
        found: dict[int, Answer] = {}
        asked = set(range(len(requests))) if wanted is None else wanted
        for part in backend.answer(requests, asked, Share(), [].append if said is None else said.append):
            for index, answer in part:
                assert index not in found
                found[index] = answer
        assert set(found) == asked
        return [found[index] for index in sorted(found)]

    return answers
