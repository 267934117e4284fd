"""What answering without looking reaches on the same images; to be printed beside every score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .aggregate import FIGURES, chain_counts, fractions
from .samples import score_sample

CONSTANT = {"q1": "no", "q2": "E", "q3": "E", "q4": "E"}
# Exact expectations of uniform guessing: two options for Q1, five for each of Q2 to Q4.
RANDOM = {
    "q1": 1 / 2,
    **dict.fromkeys(("q2", "q3", "q4"), 1 / 5),
    "all_1_4": 1 / 2 / 5**3,
    "all_2_4": 1 / 5**3,
}


def baselines(references: Sequence[Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """All figures of uniform guessing (``random``, its expectation) and of "no, E, E, E" (``constant``).

    Examples
    --------
    >>> real = {"role": "clean_reference", "q1": "no", "q2": "E", "q3": "E", "q4": "E"}
    >>> found = baselines([real])
    >>> found["constant"]["real_all_1_4"], found["random"]["real_all_1_4"], found["random"]["artifact_q1"]
    (1.0, 0.004, None)
    """
    counts = chain_counts([score_sample(CONSTANT, reference) for reference in references])
    random = {name: RANDOM[FIGURES[name][0]] if count["total"] else None for name, count in counts.items()}
    return {"random": random, "constant": fractions(counts)}
