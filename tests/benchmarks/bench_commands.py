"""How long a person waits: for help, for the demo, for a sample, and for a gallery of a thousand rows.

Run with ratios.py, or with pytest by naming this file.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
# The help of a command that does nothing: what typer and rich take alone.
RICH = """
import typer
app = typer.Typer(rich_markup_mode="rich")
app.command("one")(lambda: None)
app.command("two")(lambda: None)
app(["--help"])
"""


def _seconds(*arguments: str) -> float:
    with tempfile.TemporaryDirectory(prefix="lookcheck-bench-") as name:
        arguments = tuple(argument.replace("OUT", f"{name}/out") for argument in arguments)
        environment = {**os.environ, "HF_HOME": f"{name}/hf"}
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
        return time.perf_counter() - start


def ratios() -> list[dict[str, Any]]:
    """Measured figures with their limits."""
    command = ("-m", "lookcheck.scripts.cli")
    pairs = [(_seconds(*command, "--help"), _seconds("-c", RICH)) for _ in range(5)]
    swap = ("build", "perturbed-pope", "--source", "sample", "--condition", "entity_swap", "--output", "OUT")
    waits = {
        "help": statistics.median(first for first, _ in pairs),
        "demo": _seconds(*command, "demo"),
        "entity_swap of the sample": _seconds(*command, *swap),
    }
    return [
        {
            "name": "lookcheck --help over typer and rich alone",
            "measured": statistics.median(first / second for first, second in pairs),
            "limit": 3,
            "rule": "at most",
        },
        *(
            {"name": f"seconds: {name}", "measured": seconds, "limit": 0, "rule": "info"}
            for name, seconds in waits.items()
        ),
    ]


def test_limits() -> None:
    for row in ratios():
        print(row)
        assert row["rule"] == "info" or row["measured"] <= row["limit"], row


def test_a_gallery_of_a_thousand_rows(chromium: Any, tmp_path: Path) -> None:
    from lookcheck.dataset_builders.parquet.writer import write_folder
    from lookcheck.dataset_builders.vistaqa.plan import plan_source
    from lookcheck.dataset_builders.vistaqa.sources import folder_source
    from lookcheck.scripts.view.gallery import write_gallery

    spec = importlib.util.spec_from_file_location("u", TESTS / "dataset_builders/vistaqa/upstream.py")
    assert spec is not None
    assert spec.loader is not None
    upstream = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(upstream)
    tasks = list(upstream.TASKS)
    for number in range(1000):
        upstream.write(tmp_path / "upstream", number, upstream.record(number, tasks[number % 6]))
    source = folder_source(tmp_path / "upstream" / "annotations", tmp_path / "upstream" / "images")
    write_folder(plan_source(source, allow_partial=True, overlays=False), tmp_path / "built")
    write_gallery(tmp_path / "built", tmp_path / "gallery")
    page = chromium.new_page()
    took = []
    for _ in range(3):
        start = time.perf_counter()
        page.goto((tmp_path / "gallery" / "index.html").as_uri())
        page.locator(".cell").first.wait_for()
        took.append(time.perf_counter() - start)
    start = time.perf_counter()
    page.locator("#text").fill("picture 99")
    page.get_by_text("19 of 1,000 rows").wait_for()
    print(f"opened in {min(took):.2f} s, searched in {time.perf_counter() - start:.2f} s")
    assert min(took) < 2


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-n", "0", "-s"]))
