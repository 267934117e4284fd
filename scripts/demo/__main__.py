"""`lookcheck demo`: published rows from the shipped answers, then the samples from build to score."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.text import Text

from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.scripts import console

ABOUT = "All others never look. The samples are free pictures: scores on them compare with nothing."


def demo(
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
    samples: Annotated[bool, typer.Option(help="Also build and score the samples.")] = True,
) -> None:
    """Score a model's published answers, then build the samples, load them and score them.

    Example:

    \b
      lookcheck demo --json
    """
    from lookcheck.scripts.demo.samples import Results, demonstrations, run_samples, table
    from lookcheck.scripts.score.emit import draw, emit

    reports = [report for item in DATASETS.values() if (report := item.published()) is not None]
    results: dict[str, Results] = {}
    if not json:
        emit(reports, outputs=[], per_sample=None, as_json=False)
    if samples:
        # Nothing here needs the network, and a local folder must not be looked up there.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        with TemporaryDirectory(prefix="lookcheck-") as workspace, console.tracking(quiet=json) as track:
            results = run_samples(Path(workspace), track)
    if json:
        reports = [replace(item, result={**item.result, "samples": results or None}) for item in reports]
        emit(reports, outputs=[], per_sample=None, as_json=True)
        return
    for name, shown in demonstrations().items():
        if name in results:
            console.stdout.print()
            console.stdout.print(draw(table(name, shown, results[name])))
            console.stdout.print(Text(shown.about))
            console.stdout.print(Text(f"signature: {next(iter(results[name].values()))['signature']}"))
    if results:
        console.stdout.print(Text(ABOUT))


if __name__ == "__main__":
    app = console.new_app("Score the shipped sample.")
    app.command()(demo)
    console.run(app)
