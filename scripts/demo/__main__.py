"""`lookcheck demo`: score the shipped sample and print the paper's row beside the baselines."""

from __future__ import annotations

from typing import Annotated

import typer

from lookcheck.metrics.salart_chain import compute
from lookcheck.scripts import console
from lookcheck.scripts.demo.sample import MODEL, SOURCE, load_sample
from lookcheck.scripts.score.report import emit
from lookcheck.scripts.score.salart_vqa import count_notes, report_of


def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON instead.")] = False,
) -> None:
    """Score a model's published answers to SalArt-VQA that ship with the package."""
    sample = load_sample()
    result = compute(sample.predictions, sample.references, ids=sample.ids)
    notes = [
        *count_notes(result),
        f"These are the answers of {MODEL} as published by the benchmark's authors, and the figures are "
        "those of its row in their paper.",
        f"Source: {SOURCE}.",
    ]
    emit(report_of(f"SalArt-VQA, {MODEL}, percent", MODEL, result, notes), as_json=as_json, outputs=[])


if __name__ == "__main__":
    app = console.new_app("Score the shipped sample.")
    app.command()(demo)
    console.run(app)
