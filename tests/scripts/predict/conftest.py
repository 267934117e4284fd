"""The samples of all data sets, functions as models, tiny segmenters on disk, and photographs."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image

from lookcheck.dataset_builders.dataset import Work
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.registry import DATASETS


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of the whole samples by the data set's name."""
    found = {}
    for name, data_set in DATASETS.items():
        folder = tmp_path_factory.mktemp(f"built-{name}")
        write_folder(data_set.plan(data_set.build_options(source="sample"), Work(folder)), folder / name)
        found[name] = folder / name
    return found


@pytest.fixture(scope="session")
def stored(built: dict[str, Path]) -> Callable[..., list[dict[str, Any]]]:
    """Rows of a built folder, read by pyarrow alone, in the order of the card."""

    def read(name: str, *starts: str) -> list[dict[str, Any]]:
        paths = [
            path for start in starts for path in sorted((built[name] / "data").glob(f"{start}-*.parquet"))
        ]
        return [row for path in paths for row in pq.read_table(path).to_pylist()]

    return read


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Writes a module with the function `answer` and gives the name for ``--model``."""
    made = 0

    def write(source: str) -> str:
        nonlocal made
        made += 1
        name = f"model_of_{tmp_path.name.replace('-', '_')}_{made}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        monkeypatch.syspath_prepend(str(tmp_path))
        return f"{name}:answer"

    return write


@pytest.fixture(scope="session")
def tiny_segmenters(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """From ``sam3``, ``sam2`` or ``grounding_dino`` to a folder with such a model, made once."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = getattr(_beside("tiny_segmenters"), name)(
                tmp_path_factory.mktemp("segmenters") / name
            )
        return made[name]

    return folder


@pytest.fixture
def photographs(shared_data: Path) -> list[Image.Image]:
    """Two photographs of COCO, one wide and one tall."""
    folder = shared_data / "coco" / "images"
    names = ("000000000030.jpg", "000000000072.jpg")
    return [Image.open(folder / name).convert("RGB") for name in names]


@pytest.fixture(scope="session")
def recording() -> Any:
    """The module with the recording server."""
    return _beside("recording")


def _beside(name: str) -> Any:
    # Loaded by path: tests are no package.
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
