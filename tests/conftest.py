"""Fixtures shared by all tests."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from lookcheck.scripts.models.torchvision_ops import define_when_imported

# Here, and by `site/sitecustomize.py` in the processes that tests start.
define_when_imported()
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
)

# The machine that runs the tests is shared: a slow example is no failure, and a run is repeatable.
settings.register_profile("lookcheck", deadline=None, derandomize=True)
settings.load_profile("lookcheck")

# Browsers that playwright drives as Chromium, by their usual names on PATH.
BROWSERS = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "microsoft-edge")

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


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless browser: playwright's own, Chrome, or what stands on PATH; a skip says what was tried.

    With ``LOOKCHECK_REQUIRE_BROWSER=1`` a missing browser is a failure, not a skip.
    """
    refuse = pytest.fail if os.environ.get("LOOKCHECK_REQUIRE_BROWSER") == "1" else pytest.skip
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        refuse(f"playwright is not installed: {error}")
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    ways: list[dict[str, str]] = [{}, {"channel": "chrome"}, *({"executable_path": path} for path in found)]
    with sync_playwright() as playwright:
        reasons = []
        for way in ways:
            try:
                # Root, as in a container, has no sandbox; the pages are our own.
                browser = playwright.chromium.launch(args=["--no-sandbox"], timeout=600_000, **way)
            except Error as error:
                reasons.append(f"{way or 'its own'}: {str(error).strip().splitlines()[0]}")
                continue
            yield browser
            browser.close()
            return
    refuse("no browser starts (playwright install chromium gets one): " + "; ".join(reasons))


@pytest.fixture
def lookcheck(capsys: pytest.CaptureFixture[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command as the console does, without the seconds that a new process takes to import."""
    from lookcheck.scripts import cli, console

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        command = [str(argument) for argument in arguments]
        code = 0
        try:
            console.run(lambda: cli.app(command, prog_name="lookcheck"))
        except SystemExit as left:
            code = int(left.code or 0)
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(command, code, shown.out, shown.err)

    return run


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
