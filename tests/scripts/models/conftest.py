"""A server that records what it is sent."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def recording() -> ModuleType:
    """The module with the recording server."""
    # Loaded by path: tests are no package.
    spec = importlib.util.spec_from_file_location("models_recording", Path(__file__).parent / "recording.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
