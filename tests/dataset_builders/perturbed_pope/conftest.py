"""The small source, written and built once."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def tiny_coco() -> ModuleType:
    """The helper beside this file."""
    spec = importlib.util.spec_from_file_location("tiny_coco", Path(__file__).parent / "tiny_coco.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny_source(tiny_coco: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the small source; not to be changed."""
    folder: Path = tiny_coco.write(tmp_path_factory.mktemp("tiny") / "source")
    return folder


@pytest.fixture(scope="session")
def tiny_built(tiny_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder built from `tiny_source`; not to be changed."""
    from lookcheck.dataset_builders.parquet.writer import write_folder
    from lookcheck.dataset_builders.perturbed_pope.plan import plan_source
    from lookcheck.dataset_builders.perturbed_pope.sources import pope_source

    output = tmp_path_factory.mktemp("tiny_built") / "perturbed"
    files = [(None, tiny_source / f"{split}.json") for split in ("random", "popular", "adversarial")]
    source = pope_source(
        files, tiny_source / "images", tiny_source / "instances.json", described={"kind": "pope"}
    )
    write_folder(plan_source(source), output)
    return output


@pytest.fixture
def files(tiny_coco: ModuleType, tmp_path: Path) -> Path:
    folder: Path = tiny_coco.write(tmp_path / "source", splits=("random",))
    return folder
