"""Built folders to look at, and a browser."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

# Each would run, break the page or be cut if it were not handled as text.
HOSTILE = {
    1: "</script><script>window.hacked = 1</script>",
    2: '<img src=x onerror="window.hacked = 2"> <b>bold?</b> &amp; &lt;',
    3: "\"double\" 'single' `${window.hacked = 3}` \\ {{ 7 * 7 }} {% raw %}",
    4: "ما الذي يظهر في الصورة؟ עברית \u202e reversed",
    5: "👩‍🚀🏳️‍🌈 how many? 家族",
    6: "line\u2028separator\u2029paragraph\nnew line\ttab <!-- <script>",
    7: "javascript:window.hacked=7 " + "w" * 400,
}


@pytest.fixture(scope="session")
def upstream(repository: Path) -> ModuleType:
    """Writes VistaQA records in the upstream layout."""
    path = repository / "tests" / "dataset_builders" / "vistaqa" / "upstream.py"
    spec = importlib.util.spec_from_file_location("upstream_for_view", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def build_vistaqa(upstream: ModuleType) -> Callable[[Path, list[dict[str, Any]]], Path]:
    """Builds a VistaQA folder from records, through the real writer."""
    from lookcheck.dataset_builders.parquet.writer import write_folder
    from lookcheck.dataset_builders.vistaqa.plan import plan_source
    from lookcheck.dataset_builders.vistaqa.sources import folder_source

    def build(root: Path, records: list[dict[str, Any]]) -> Path:
        for number, record in enumerate(records):
            upstream.write(root / "upstream", number, record)
        source = folder_source(root / "upstream" / "annotations", root / "upstream" / "images")
        write_folder(plan_source(source, allow_partial=True, overlays=False), root / "vistaqa")
        return root / "vistaqa"

    return build


@pytest.fixture(scope="session")
def vistaqa_folder(
    upstream: ModuleType, build_vistaqa: Any, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """48 rows over all tasks, every sixth without evidence, some with hostile text."""
    tasks = list(upstream.TASKS)
    records = [upstream.record(number, tasks[number % 6], evidence=number % 7 != 3) for number in range(48)]
    for number, text in HOSTILE.items():
        records[number]["question"] = text
        records[number]["answer"] = text
    folder: Path = build_vistaqa(tmp_path_factory.mktemp("view"), records)
    return folder


@pytest.fixture(scope="session")
def salart_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample of SalArt-VQA."""
    from lookcheck.dataset_builders.parquet.writer import write_folder
    from lookcheck.dataset_builders.salart_vqa.plan import plan_source
    from lookcheck.dataset_builders.salart_vqa.sample import sample_source

    root = tmp_path_factory.mktemp("view")
    (root / "work").mkdir()
    plan = plan_source(sample_source(root / "work"))
    write_folder(plan, root / "salart")
    return root / "salart"


@pytest.fixture(scope="session")
def pope_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Perturbed POPE on six small pictures, each with a cat at the left and a bench at the right."""
    root = tmp_path_factory.mktemp("view")
    (root / "images").mkdir()
    photos, instances, questions = [], [], []
    for number in range(6):
        noise = np.random.default_rng(number).integers(90, 160, (96, 128, 3), dtype=np.uint8)
        noise[30:70, 10:50] = (200, 120, 40)
        noise[20:80, 70:120] = (40, 90, 200)
        Image.fromarray(noise).save(root / "images" / f"{number}.png")
        photos.append({"id": number, "file_name": f"{number}.png", "width": 128, "height": 96})
        for category, (x, y, width, height) in ((1, (10, 30, 40, 40)), (2, (70, 20, 50, 60))):
            outline = [x, y, x + width, y, x + width, y + height, x, y + height]
            instances.append(
                {
                    "id": len(instances) + 1,
                    "image_id": number,
                    "category_id": category,
                    "segmentation": [outline],
                    "bbox": [x, y, width, height],
                    "area": width * height,
                    "iscrowd": 0,
                }
            )
        for name, label in (("cat", "yes"), ("dog", "no")):
            text = f"Is there a {name} in the image?"
            place = {"question_id": len(questions) + 1, "image": f"{number}.png"}
            questions.append({**place, "text": text, "label": label})
    categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "bench"}, {"id": 3, "name": "dog"}]
    coco = {"images": photos, "annotations": instances, "categories": categories}
    (root / "instances.json").write_text(json.dumps(coco))
    (root / "random.json").write_text("".join(json.dumps(question) + "\n" for question in questions))
    command = [
        sys.executable,
        "-m",
        "lookcheck.scripts.cli",
        "build",
        "perturbed-pope",
        "--source",
        "coco-like",
    ]
    command += ["--questions", f"random={root / 'random.json'}", "--images", str(root / "images")]
    command += ["--instances", str(root / "instances.json"), "--output", str(root / "pope")]
    for condition in ("no_image", "black_50", "black_mask"):
        command += ["--condition", condition]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return root / "pope"


@pytest.fixture(scope="session")
def pope_gallery(pope_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `pope_folder`."""
    from lookcheck.scripts.view.gallery import write_gallery

    output = tmp_path_factory.mktemp("gallery") / "pope"
    write_gallery(pope_folder, output)
    return output


@pytest.fixture(scope="session")
def vistaqa_gallery(vistaqa_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `vistaqa_folder`."""
    from lookcheck.scripts.view.gallery import write_gallery

    output = tmp_path_factory.mktemp("gallery") / "vistaqa"
    write_gallery(vistaqa_folder, output)
    return output


@pytest.fixture(scope="session")
def salart_gallery(salart_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `salart_folder`."""
    from lookcheck.scripts.view.gallery import write_gallery

    output = tmp_path_factory.mktemp("gallery") / "salart"
    write_gallery(salart_folder, output)
    return output


@dataclass
class Opened:
    """A page in the browser, everything it asked for and all that went wrong in it."""

    page: Any
    requests: list[str]
    errors: list[str]
    root: Path

    def go(self, address: str = "") -> None:
        """Open the page at an address after the ``#``."""
        self.page.goto("about:blank")
        self.page.goto(f"{(self.root / 'index.html').as_uri()}{'#' + address if address else ''}")

    def follow(self, address: str) -> None:
        """Change the address as a link does, and wait until the page has followed."""
        self.page.evaluate(
            "address => new Promise(done => { addEventListener('hashchange', () => setTimeout(done), {once: true});"
            " location.hash = address; })",
            address,
        )

    def wait_until(self, expression: str, argument: Any = None) -> None:
        """Wait for a condition of the page, asked from outside: it allows no eval inside."""
        deadline = time.monotonic() + 600
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < deadline, f"never came true: {expression}"
            time.sleep(0.02)

    def wait_for_pictures(self) -> None:
        """Wait until every picture in sight is loaded."""
        self.wait_until(
            "[...document.images].filter(i => !i.hidden && i.getBoundingClientRect().top < innerHeight"
            " && i.offsetParent).every(i => i.complete && i.naturalWidth)"
        )


def _note_failure(made: Opened, request: Any) -> None:
    # A picture that is still on its way when the reader goes on is no failure.
    if "ERR_ABORTED" not in (request.failure or ""):
        made.errors.append(f"not loaded: {request.url} {request.failure}")


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Opened]]:
    """Opens a gallery in a context of its own; afterwards nothing may have gone wrong or left it."""
    opened: list[tuple[Any, Opened]] = []

    def open_gallery(
        root: Path, address: str = "", width: int = 1280, height: int = 860, **options: Any
    ) -> Opened:
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        page.set_default_timeout(600_000)
        made = Opened(page, [], [], root)
        context.on("request", lambda request: made.requests.append(request.url))
        page.on("requestfailed", lambda request: _note_failure(made, request))
        page.on("pageerror", lambda error: made.errors.append(str(error)))
        page.on("console", lambda message: made.errors.append(message.text))
        page.on("dialog", lambda dialog: made.errors.append("a dialog"))
        made.go(address)
        opened.append((context, made))
        return made

    yield open_gallery
    for context, made in opened:
        made.page.wait_for_load_state()
        context.close()
        inside = made.root.as_uri() + "/"
        assert [url for url in made.requests if not url.startswith((inside, "data:", "about:"))] == []
        assert made.errors == []
