"""`lookcheck demo`: a published row from the shipped answers, then both samples from build to score."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.text import Text

from lookcheck.dataset_builders.salart_vqa.scoring import count_notes, report_of
from lookcheck.metrics.salart_chain import compute
from lookcheck.scripts import console
from lookcheck.scripts.demo.sample import MODEL, SOURCE, load_sample
from lookcheck.scripts.score.emit import emit

ORACLE = (
    "The oracle knows the key, answers right and finds an instance 8 times in 10, and draws its masks a "
    "little off. Its answers to VistaQA were judged by SmolLM2-135M-Instruct, which is far too small for a "
    "paper. The others never look. The samples are free pictures: scores on them compare with nothing."
)


def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON instead.")] = False,
    samples: Annotated[bool, typer.Option(help="Also build and score the samples.")] = True,
) -> None:
    """Score a model's published answers, then build both samples, load them and score them."""
    sample = load_sample()
    result: dict[str, Any] = {**compute(sample.predictions, sample.references, ids=sample.ids)}
    notes = [
        *count_notes(result),
        f"These are the answers of {MODEL} as published by the benchmark's authors, and the figures are "
        "those of its row in their paper.",
        f"Source: {SOURCE}.",
    ]
    report = report_of(f"SalArt-VQA, {MODEL}, percent", MODEL, result, notes)
    if as_json:
        report.result = {**result, "samples": _samples(quiet=True) if samples else None}
    emit([report], outputs=[], per_sample=None, as_json=as_json)
    if as_json:
        return
    if samples:
        from lookcheck.scripts.demo.samples import tables

        results = _samples(quiet=False)
        for table in tables(results):
            console.stdout.print()
            console.stdout.print(table)
        console.stdout.print(Text(ORACLE))
        console.stdout.print(Text(f"signature: {results['vistaqa']['noisy oracle']['signature']}"))


def _samples(*, quiet: bool) -> dict[str, Any]:
    # Nothing here needs the network, and a local folder must not be looked up there.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from lookcheck.scripts.build.tracking import tracking
    from lookcheck.scripts.demo.samples import run_samples

    with TemporaryDirectory(prefix="lookcheck-") as workspace, tracking(quiet=quiet) as track:
        return run_samples(Path(workspace), track)


if __name__ == "__main__":
    app = console.new_app("Score the shipped sample.")
    app.command()(demo)
    console.run(app)
