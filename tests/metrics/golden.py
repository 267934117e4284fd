"""The figures of each version of the metrics, kept: a figure that changes needs a new version.

``golden/inputs.json`` of a metric's tests has rows and several sets of options for them, and
``golden/VERSION.json`` the results. After raising a ``VERSION``, ``python tests/metrics/golden.py`` writes the new
file; what is there already is never overwritten.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

METRICS = ("grove", "soft_vqa_acc", "salart_chain", "perturbed_pope")
HERE = Path(__file__).parent


def results(name: str) -> list[dict[str, Any]]:
    """What the metric gives now for each set of options, as JSON holds it."""
    inputs = json.loads((HERE / name / "golden" / "inputs.json").read_text(encoding="utf-8"))
    compute = importlib.import_module(f"lookcheck.metrics.{name}").compute
    found = [
        compute(inputs["predictions"], inputs["references"], **{**inputs["columns"], **options})
        for options in inputs["options"]
    ]
    kept: list[dict[str, Any]] = json.loads(json.dumps(found))
    return kept


def path_of(name: str) -> Path:
    """The file of the metric's present version."""
    version = importlib.import_module(f"lookcheck.metrics.{name}").VERSION
    return HERE / name / "golden" / f"{version}.json"


def main() -> int:
    status = 0
    for name in METRICS:
        path, found = path_of(name), results(name)
        if not path.exists():
            lines = [json.dumps(result, ensure_ascii=False) for result in found]
            path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
            print(f"wrote {path}")
        elif json.loads(path.read_text(encoding="utf-8")) != found:
            print(f"{path}: the figures are others now; raise VERSION in {name}/scoring.py first")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
