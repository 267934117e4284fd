"""The upstream layout, written once."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def upstream() -> ModuleType:
    """The helper beside this file."""
    spec = importlib.util.spec_from_file_location("upstream", Path(__file__).parent / "upstream.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def whole_source(upstream: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,157 records in the real composition."""
    folder: Path = upstream.write_all(tmp_path_factory.mktemp("upstream"))
    return folder


@pytest.fixture(scope="session")
def built(whole_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder built from `whole_source`; not to be changed."""
    from lookcheck.dataset_builders.parquet.writer import write_folder
    from lookcheck.dataset_builders.vistaqa.plan import plan_source
    from lookcheck.dataset_builders.vistaqa.sources import folder_source

    output = tmp_path_factory.mktemp("built") / "vistaqa"
    source = folder_source(whole_source / "annotations", whole_source / "images")
    write_folder(plan_source(source), output)
    return output
