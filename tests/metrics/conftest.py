"""What the tests of all metrics share."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

WAIT = 120_000
"""Milliseconds until something is taken not to come: the machine may be busy."""

BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        # evaluate imports transformers, and with it torch, wherever they are installed: 15 seconds.
        if name.split(".")[0] in ("lookcheck", "transformers"):
            raise ImportError(f"this process has no {name}")

sys.meta_path.insert(0, Blocker())
"""
RUN_APP = """
import runpy
runpy.run_path("app.py", run_name="__main__")
"""


@pytest.fixture(scope="module")
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the gradio page of the module's ``METRIC``, laid out as in a Space, in a process of its own."""
    folder = tmp_path_factory.mktemp("space")
    # A Space's folder has another name than the metric.
    shutil.copytree(request.module.METRIC, folder / "app", ignore=shutil.ignore_patterns("__pycache__"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / "hf"),
    }
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", BLOCKER + RUN_APP],
            cwd=folder / "app",
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/", process, folder / "log")
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(timeout=300)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(2400):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=60):
                return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"the page did not come up: {log.read_text()}")


@pytest.fixture
def run_alone(request: pytest.FixtureRequest) -> Callable[[str, Path], str]:
    """Runs code beside a copy of the module's ``METRIC``, in a process without network and lookcheck."""
    metric: Path = request.module.METRIC

    def run(code: str, folder: Path) -> str:
        shutil.copytree(
            metric, folder / "metrics" / metric.name, ignore=shutil.ignore_patterns("__pycache__")
        )
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(folder / "hf"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        process = subprocess.run(
            [sys.executable, "-c", BLOCKER + code],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert process.returncode == 0, process.stderr
        return process.stdout

    return run


class Page:
    """The gradio page of a metric in a browser, as somebody uses it."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def fill(self, predictions: str, references: str) -> None:
        self.page.locator("textarea").first.fill(predictions)
        self.fill_references(references)

    def fill_references(self, references: str) -> None:
        self.page.locator("textarea").nth(1).fill(references)

    def upload(self, label: str, path: Path) -> None:
        block = self.page.locator(".block").filter(has_text=label)
        block.locator("input[type=file]").last.set_input_files(path)

    def score(self) -> None:
        self.page.get_by_role("button", name="Score", exact=True).click()

    def download(self, label: str) -> str:
        with self.page.expect_download(timeout=WAIT) as waiting:
            self.page.get_by_role("link", name=label, exact=True).click(timeout=WAIT)
        return Path(waiting.value.path()).read_text(encoding="utf-8")

    def complaint(self) -> str:
        """What the page complains of; the complaint is closed."""
        toast = self.page.locator(".toast-body")
        toast.wait_for(timeout=WAIT)
        text: str = toast.inner_text()
        self.page.locator(".toast-close").click()
        toast.wait_for(state="detached", timeout=WAIT)
        return " ".join(text.split())

    def shows(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for(timeout=WAIT)

    def overflow(self) -> float:
        """Pixels by which anything but a table, which scrolls, is wider than the window."""
        wide: float = self.page.evaluate(
            "Math.max(document.scrollingElement.scrollWidth, ...[...document.querySelectorAll('main *')]"
            ".filter(node => !node.parentElement.closest('.table-wrap, svg'))"
            ".map(node => node.getBoundingClientRect().right)) - window.innerWidth"
        )
        return wide


@pytest.fixture
def narrow(address: str, chromium: Any) -> Iterator[Page]:
    """The page in a window as wide as a small phone."""
    page = chromium.new_page(viewport={"width": 360, "height": 800})
    page.set_default_timeout(WAIT)
    page.goto(address, timeout=WAIT)
    page.get_by_role("button", name="Score", exact=True).wait_for(timeout=WAIT)
    yield Page(page)
    page.close()
