"""What a researcher does, over HTTP: load the data set, load the metric, get a score."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOKEN = "hf_loopbackSECRETtoken0123456789"

# A process that has no lookcheck: what is on the Hub must be enough.
THREE_LINES = """
import json, sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        # evaluate imports transformers, and with it torch, wherever they are installed.
        if name.split(".")[0] in ("lookcheck", "transformers"):
            raise ImportError("this process has no " + name)
sys.meta_path.insert(0, Blocker())

from datasets import load_dataset
import evaluate

data = load_dataset("org/VistaQA", split="test")
references = [{"masks": row["masks_rle"]} for row in data]
grove = evaluate.load("org/grove")
for predictions in (
    [{"verdict": "yes", "masks": row["masks_rle"]} for row in data],
    [{"verdict": "no", "masks": row["masks_rle"]} for row in data],
    [{"verdict": "yes", "masks": []} for row in data],
):
    result = grove.compute(predictions=predictions, references=references, ids=data["id"][:])
    print(json.dumps([result["grove"], result["without_evidence"]["grove"]]))
"""


def _upstream() -> Any:
    path = Path(__file__).parents[1] / "dataset_builders" / "vistaqa" / "upstream.py"
    spec = importlib.util.spec_from_file_location("upstream_for_hub", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(hub: Any, folder: Path, *command: str) -> str:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": TOKEN,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(folder / "hf"),
    }
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_build_publish_load_and_score_over_http(loopback_hub: Any, tmp_path: Path) -> None:
    upstream = _upstream()
    for number in range(20):
        upstream.write(tmp_path / "in", number, upstream.record(number, evidence=number % 4 > 0))
    build = ["build", "vistaqa", "--source", "folder", "--allow-partial", "--output", "built"]
    build += ["--annotations", "in/annotations", "--images", "in/images"]
    _run(loopback_hub, tmp_path, "-m", "lookcheck.scripts.cli", *build)
    _run(
        loopback_hub,
        tmp_path,
        "-m",
        "lookcheck.scripts.cli",
        "publish",
        "--dataset",
        "built",
        "--to",
        "org/VistaQA",
    )
    _run(
        loopback_hub, tmp_path, "-m", "lookcheck.scripts.cli", "publish-metric", "grove", "--to", "org/grove"
    )
    printed = [json.loads(line) for line in _run(loopback_hub, tmp_path, "-c", THREE_LINES).splitlines()]
    # 15 of 20 rows have evidence. Right answers without masks: sqrt(1 x 0.1) on the 15, 1 on the 5.
    assert printed[0] == [1.0, 1.0]
    assert printed[1] == pytest.approx([0.1**0.5, 0.1**0.5])
    assert printed[2] == pytest.approx([(15 * 0.1**0.5 + 5) / 20, 1.0])
