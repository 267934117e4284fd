"""Fixtures shared by all tests."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The machine that runs the tests is shared: a slow example is no failure, and a run is repeatable.
settings.register_profile("lookcheck", deadline=None, derandomize=True)
settings.load_profile("lookcheck")

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The repository's root."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real labels, answers and pictures that lie beside the repository and are not part of it."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the folder shared/data with the real files is not beside the repository")
    return folder


@pytest.fixture
def loopback_hub() -> Iterator[Any]:
    """A Hub on 127.0.0.1 (tests/hub/server.py): give its ``url`` to a subprocess as HF_ENDPOINT."""
    # Loaded by path: tests are no package.
    spec = importlib.util.spec_from_file_location("loopback_hub_server", REPOSITORY / "tests/hub/server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    hub = module.LoopbackHub()
    yield hub
    hub.close()
