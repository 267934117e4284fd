"""SalArt-VQA's labels and one model's published answers, ids and letters only, and their score."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.scores.report import Report

PUBLISHED = Path(__file__).parent / "published.csv"
MODEL = "Gemini 3.1 Pro"
SOURCE = "zhangruotian/SalArt-VQA (scorer MIT, annotations CC BY 4.0; arXiv 2606.12671)"


@dataclass(frozen=True)
class PublishedAnswers:
    """Ids, keys and answers of 950 images, in the form that the metric takes."""

    ids: list[str]
    references: list[dict[str, str]]
    predictions: list[dict[str, str]]


def load_published() -> PublishedAnswers:
    """Read the shipped table.

    Examples
    --------
    >>> known = load_published()
    >>> len(known.ids), known.ids[0], known.references[0]["role"], known.predictions[0]["q4"]
    (950, 'salart_ee751cb2d782', 'artifact', 'B')
    """
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return PublishedAnswers(
        ids=[row["row_id"] for row in rows],
        references=[{field: row[field] for field in ("role", *constants.QUESTIONS)} for row in rows],
        predictions=[
            {question: row[f"answer_{question}"] for question in constants.QUESTIONS} for row in rows
        ],
    )


def published_report() -> Report:
    """The published answers as the metric scores them: the figures of the paper."""
    from lookcheck.dataset_builders.salart_vqa.scoring import count_notes, report_of
    from lookcheck.metrics.salart_chain import compute

    known = load_published()
    result = compute(known.predictions, known.references, ids=known.ids)
    notes = [
        *count_notes(result),
        f"These are the answers of {MODEL} as published by the benchmark's authors, and the figures are "
        "those of its row in their paper.",
        f"Source: {SOURCE}.",
    ]
    report = report_of(f"{constants.PRETTY_NAME}, {MODEL}, percent", MODEL, result, notes)
    # The row of the paper, without what the paper does not have.
    return replace(report, tables=report.tables[:1])
