"""One row: what was answered, whether it is right, how far apart yes and no are, where the object ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypedDict

from .common import without_thoughts
from .parsing import parse

MISSING_ANSWER = "missing"


class Row(TypedDict):
    """What :func:`score_sample` gives."""

    condition: str
    split: str
    parent_id: str
    label: str
    answer: str | None
    correct: bool | None
    empty: bool
    thought: bool
    cut: bool
    margin: float | None
    mass: float | None
    contradicts: bool
    entity_rank: int | None
    entity_prob: float | None


def score_sample(
    prediction: Mapping[str, Any],
    reference: Mapping[str, str],
    parser: str = "strict",
    unparsed: str = "wrong",
    thinking: str = "strip",
    missing: str = "wrong",
) -> Row:
    """Score one row; the inputs are taken as checked.

    Returns
    -------
    dict
        ``condition``, ``split``, ``parent_id``, ``label``; ``answer`` ("yes", "no", "unknown", "missing", or
        None where it could not be read); ``correct`` (bool; None for an unread answer that is dropped);
        ``empty`` (whether the text is only white space); ``thought`` and ``cut`` (whether it has a trace of
        thoughts, and ends in it); ``margin``, log p(yes) − log p(no) in nats; ``mass``, the probability of
        the two together; ``contradicts``, whether the answer is yes and the margin below 0, or no and above;
        ``entity_rank``, 1 the most probable; ``entity_prob`` in [0, 1]. Margin, mass, rank and probability
        are None where they were not given.

    Examples
    --------
    >>> answer = {"text": "Yes.", "logp_yes": -0.5, "logp_no": -2.0}
    >>> row = score_sample(
    ...     {**answer, "entity_rank": 0, "entity_prob": float("nan")},
    ...     {"label": "yes", "condition": "original", "parent_id": "", "split": "random"})
    >>> row["answer"], row["correct"], row["margin"], row["entity_rank"]
    ('yes', True, 1.5, None)
    """
    found = without_thoughts(prediction["text"])
    answer = parse(found.text if thinking == "strip" else prediction["text"], parser)
    empty = not prediction["text"].strip()
    if found.cut and thinking == "strip":
        answer = None
    elif empty and missing == "wrong":
        answer = MISSING_ANSWER
    margin = float(prediction["logp_yes"]) - float(prediction["logp_no"])
    probability = float(prediction["entity_prob"])
    return {
        "condition": reference["condition"],
        "split": reference["split"],
        "parent_id": reference["parent_id"],
        "label": reference["label"],
        "answer": answer,
        "correct": None if answer is None and unparsed == "drop" else answer == reference["label"],
        "empty": empty,
        "thought": found.thought,
        "cut": found.cut,
        "margin": None if math.isnan(margin) else margin,
        "mass": None
        if math.isnan(margin)
        else math.exp(prediction["logp_yes"]) + math.exp(prediction["logp_no"]),
        # NaN is on neither side.
        "contradicts": (answer == "yes" and margin < 0) or (answer == "no" and margin > 0),
        "entity_rank": int(prediction["entity_rank"]) or None,
        "entity_prob": None if math.isnan(probability) else probability,
    }
