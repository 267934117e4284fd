"""SalArt-VQA's sample without a model: a noisy oracle, and the constant answers that never look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.scores.demonstration import Demonstration, Policy, Trial, chance_of, hits

ANSWERS = {question: f"{question}_answer" for question in constants.QUESTIONS}


def noisy_chain(reference: Mapping[str, str], id: str) -> dict[str, str]:
    """The key of a chain with some answers replaced by another letter."""
    answers = {}
    for question in constants.QUESTIONS:
        key = reference[question]
        chance = chance_of(id, question)
        letters = ("yes", "no") if question == "q1" else constants.LETTERS
        wrong = [letter for letter in letters if letter != key]
        answers[question] = key if hits(chance) else wrong[chance.integers(len(wrong))]
    return answers


def _trial(rows: Sequence[Mapping[str, Any]]) -> Trial:
    references = [
        {"role": row["image_role"]} | {question: row[column] or "" for question, column in ANSWERS.items()}
        for row in rows
    ]
    ids = [row["row_id"] for row in rows]
    constant = {"q1": "no", "q2": "E", "q3": "E", "q4": "E"}
    policies = {
        "noisy oracle": Policy([noisy_chain(key, id) for key, id in zip(references, ids, strict=True)]),
        "no, E, E, E": Policy([constant for _ in ids]),
    }
    return Trial(ids, references, policies)


DEMONSTRATION = Demonstration(
    "salart_chain",
    "images",
    ("row_id", "image_role", *ANSWERS.values()),
    {
        "artifact 1-4": "artifact_all_1_4",
        "real 1-4": "real_all_1_4",
        "overall 1-4": "overall_all_1_4",
        "overall 2-4": "overall_all_2_4",
    },
    _trial,
    "The oracle knows the key and answers right 8 times in 10.",
)
