"""The shipped sample: SalArt-VQA's labels and one model's answers, ids and letters only."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

QUESTIONS = ("q1", "q2", "q3", "q4")
SAMPLE = Path(__file__).parent / "salart_sample.csv"
MODEL = "Gemini 3.1 Pro"
SOURCE = "zhangruotian/SalArt-VQA (scorer MIT, annotations CC BY 4.0; arXiv 2606.12671)"


@dataclass(frozen=True)
class Sample:
    """Ids, keys and answers of 950 images, in the form that the metric takes."""

    ids: list[str]
    references: list[dict[str, str]]
    predictions: list[dict[str, str]]


def load_sample() -> Sample:
    """Read the shipped table.

    Examples
    --------
    >>> sample = load_sample()
    >>> len(sample.ids), sample.ids[0], sample.references[0]["role"], sample.predictions[0]["q4"]
    (950, 'salart_ee751cb2d782', 'artifact', 'B')
    """
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return Sample(
        ids=[row["row_id"] for row in rows],
        references=[{field: row[field] for field in ("role", *QUESTIONS)} for row in rows],
        predictions=[{question: row[f"answer_{question}"] for question in QUESTIONS} for row in rows],
    )
