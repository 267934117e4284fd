"""The chain metric of SalArt-VQA (arXiv 2606.12671) from validated inputs to one result.

Conventions. Each image has up to four questions: Q1 presence, Q2 region, Q3 box, Q4 evidence. A chain is
right when all its questions are. Missing and unparsed answers are wrong and stay in the denominator.
"""

from __future__ import annotations

from typing import Any, cast

from .aggregate import by_type, chain_counts, diagnose, fractions
from .baselines import baselines
from .common import (
    Id,
    Result,
    Sample,
    check_choice,
    checked_ids,
    checked_labels,
    checked_thinking,
    listed,
    signature,
)
from .headline import headline
from .intervals import add_intervals, checked_confidence
from .no_image import no_image_control
from .parsing import PARSERS, QUESTIONS
from .samples import ChainScore, asked, score_sample
from .validation import (
    GENERATED,
    ROLES,
    check_predictions,
    check_references,
    checked_no_image,
    checked_types,
)

VERSION = "2.0.0"


class SalartSample(Sample, ChainScore):
    """A row of ``per_sample``; ``score`` is 1.0 where every question that was asked is right, else 0.0.

    The type is None on other images, and where no types were given.
    """

    artifact_type: str | None


class SalartResult(Result[SalartSample]):
    """What :func:`compute` gives beside the figures, which are keys of their own."""

    failure_attribution: dict[str, float | None]
    q4_right_q3_wrong: float | None
    q3_right_q4_wrong: float | None
    patterns: dict[str, float | None]
    by_artifact_type: dict[str, dict[str, Any]] | None
    no_image: dict[str, Any] | None


def compute(
    predictions: Any,
    references: Any,
    *,
    ids: Any = None,
    groups: Any = None,
    artifact_types: Any = None,
    no_image: Any = None,
    parser: str = "strict",
    thinking: str | None = None,
    confidence: float | None = None,
) -> SalartResult:
    """Score chains of answers; every value is a fraction in [0, 1], or None where its denominator is 0.

    Parameters
    ----------
    predictions : sequence of dict
        ``{"q1", "q2", "q3", "q4"}``, the model's words; "" where an answer is missing. Q1 of a
        ``paired_generated_counterpart`` is never asked: what stands there is ignored, and counted.
    references : sequence of dict
        ``{"role", "q1", "q2", "q3", "q4"}``. Role ``artifact``: q1 "yes", the rest A to D;
        ``clean_reference``: "no" and E; ``paired_generated_counterpart``: q1 "" and E.
    ids : sequence of str or int, optional
        Unique; the index where not given.
    groups : sequence of str or int, optional
        An image or pair id for each row, carried into ``per_sample`` for clustered intervals.
    artifact_types : sequence of str or None, optional
        A type for each artifact image; ignored for the other rows.
    no_image : sequence of str, optional
        Q4 answers A to F given without the image.
    parser : {"strict", "json"}
    thinking : {"strip", "keep"}, optional
        Whether a trace of thoughts (``<think>…</think>``) is taken off before an answer is read; what is
        opened and not closed leaves no answer. Not given, ``strict`` keeps it, as the authors' parser
        does, and ``json`` strips it.
    confidence : float, optional
        The level of intervals of the figures, 0.95 for example, clustered by `groups`, or by row without
        them; adds ``intervals``. See :mod:`lookcheck.metrics.salart_chain.intervals`.

    Returns
    -------
    dict
        The ten metrics of the paper's main table (``artifact_q1`` … ``overall_all_2_4``), Q2, Q3 and Q4 alone
        (``artifact_q2`` … ``overall_q4``), then ``counts``, ``failure_attribution``, ``q4_right_q3_wrong``,
        ``q3_right_q4_wrong``, ``patterns`` (fractions of the artifact images), ``by_artifact_type`` and
        ``no_image`` (None where not given), ``baselines``, ``per_sample``, ``signature``.

    Raises
    ------
    ValueError
        Naming the row's id or index and the value.

    Examples
    --------
    >>> result = compute(
    ...     [{"q1": "yes", "q2": "A", "q3": "B", "q4": "D"}, {"q1": "Yes", "q2": "E", "q3": "E", "q4": "E"}],
    ...     [{"role": "artifact", "q1": "yes", "q2": "A", "q3": "A", "q4": "D"},
    ...      {"role": "clean_reference", "q1": "no", "q2": "E", "q3": "E", "q4": "E"}])
    >>> result["artifact_q1"], result["artifact_all_1_4"], result["overall_all_2_4"]
    (1.0, 0.0, 0.5)
    >>> result["failure_attribution"]["localisation"], result["generated_all_2_4"]
    (1.0, None)
    >>> result["signature"]
    'metric:salart_chain|parser:strict|thinking:keep|n:2|missing:0|unparsed:0|no_image:no|version:2.0.0'
    """
    check_choice("parser", parser, PARSERS)
    rule = checked_thinking(thinking, "keep" if parser == "strict" else "strip")
    level = checked_confidence(confidence)
    given = listed("predictions", predictions)
    keys = listed("references", references, len(given))
    row_ids = checked_ids(ids, len(given))
    check_predictions(given, row_ids)
    check_references(keys, row_ids)
    none: list[Id | None] = [None] * len(given)
    group_of = checked_labels("groups", groups, row_ids)
    types = checked_types(artifact_types, [key["role"] for key in keys], row_ids)
    blind = checked_no_image(no_image, row_ids)

    rows = [score_sample(prediction, key, parser, rule) for prediction, key in zip(given, keys, strict=True)]
    chains = chain_counts(rows)
    diagnosis, diagnosis_counts = diagnose(rows)
    counts: dict[str, Any] = {
        "n": len(rows),
        "roles": {role: sum(row["role"] == role for row in rows) for role in ROLES},
        "questions": sum(len(asked(row["role"])) for row in rows),
        **chains,
        **diagnosis_counts,
        "missing": {question: sum(question in row["missing"] for row in rows) for question in QUESTIONS},
        "unparsed": {question: sum(question in row["unparsed"] for row in rows) for question in QUESTIONS},
        "thinking": {
            "seen": sum(len(row["thought"]) for row in rows),
            "cut": sum(len(row["cut"]) for row in rows),
        },
        "ignored_q1": sum(
            key["role"] == GENERATED and bool(prediction["q1"].strip())
            for prediction, key in zip(given, keys, strict=True)
        ),
    }
    result: dict[str, Any] = {
        **fractions(chains),
        "counts": counts,
        **diagnosis,
        "by_artifact_type": None if types is None else by_type(rows, types),
        "no_image": None if blind is None else no_image_control(blind, keys, rows, parser, rule),
        "baselines": baselines(keys),
        "per_sample": [
            {
                "id": row_id,
                "group": group,
                "score": float(row["all_2_4"] and row["q1"] is not False),
                **row,
                "artifact_type": kind,
            }
            for row_id, group, row, kind in zip(
                row_ids, group_of or none, rows, types or [None] * len(rows), strict=True
            )
        ],
        "signature": signature(
            "salart_chain",
            VERSION,
            parser=parser,
            thinking=rule,
            n=len(rows),
            missing=sum(counts["missing"].values()),
            unparsed=sum(counts["unparsed"].values()),
            no_image="no" if blind is None else "yes",
        ),
    }
    add_intervals(result, headline, level)
    return cast("SalartResult", result)
