"""Perturbed POPE ("Seeing without Looking", arXiv 2605.22903): from checked inputs to one result.

Conventions. A row is one question about one picture in one condition and split; "yes" is the positive
class. Conditions and splits are never pooled, but for the evidence reliance. Every figure is None where
its denominator is 0. Unparsed answers are wrong and stay in the denominator, unless they are dropped by
name.
"""

from __future__ import annotations

from typing import Any, TypeVar

from .baselines import BASELINES, baselines
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
from .conditions import CONDITIONS, ORIGINAL, SPLITS, ordered
from .figures import with_labels
from .headline import headline
from .intervals import add_intervals, checked_confidence
from .pairing import Pair, changed, evidence_reliance, margin_shift, originals_of, with_original_labels
from .parsing import PARSERS
from .samples import MISSING_ANSWER, Row, score_sample
from .validation import MISSING, UNPARSED, check_predictions, check_references

VERSION = "2.1.0"

T = TypeVar("T")
Cells = dict[str, dict[str, T]]
"""Condition → split → something, in the order of the reports."""


class PopeSample(Sample, Row):
    """A row of ``per_sample``; ``score`` is ``correct`` as a number; the last three need an original row."""

    original_id: Id | None
    changed: bool | None
    margin_shift: float | None


class PopeResult(Result[PopeSample]):
    """What :func:`compute` gives; every figure is defined in README.md."""

    by_condition: Cells[dict[str, Any]]
    paired: Cells[dict[str, Any]]
    evidence_reliance: dict[str, dict[str, Any]]


def compute(
    predictions: Any,
    references: Any,
    *,
    ids: Any = None,
    groups: Any = None,
    parser: str = "strict",
    unparsed: str = "wrong",
    thinking: str | None = None,
    missing: str = "wrong",
    confidence: float | None = None,
) -> PopeResult:
    """Score answers to perturbed pictures, each condition and split by itself and beside the original.

    Parameters
    ----------
    predictions : sequence of dict
        ``text`` (str, the model's words, "" where they are missing); ``logp_yes`` and ``logp_no`` (float,
        nats, at most 0; both NaN where they were not taken); ``entity_rank`` (int, 1 the most probable
        first token; 0 not asked) and ``entity_prob`` (float in [0, 1], or NaN).
    references : sequence of dict
        ``label`` ("yes" or "no"), ``condition``, ``parent_id`` and ``split`` (str). ``parent_id`` names a
        perturbed row's original: the row of condition ``original`` and the same split that has this
        ``parent_id`` itself, or has "" there and this id.
    ids : sequence of str or int, optional
        Unique; the index where not given.
    groups : sequence of str or int, optional
        An image id for each row, carried into ``per_sample`` for clustered intervals.
    parser : {"strict", "official"}
        See :mod:`lookcheck.metrics.perturbed_pope.parsing`.
    unparsed : {"wrong", "drop"}
        Whether an answer that can't be read is wrong, or out of the denominators.
    thinking : {"strip", "keep"}, optional
        Whether a trace of thoughts (``<think>…</think>``) is taken off before an answer is read; what is
        opened and not closed leaves no answer. Not given, ``official`` keeps it, as POPE's script does,
        and ``strict`` strips it.
    missing : {"wrong", "parsed"}
        Whether an empty text is a missing answer, wrong and in every denominator, or is left to `parser`
        and `unparsed`: ``official`` reads it as yes, as POPE's script does.
    confidence : float, optional
        The level of intervals of the figures, 0.95 for example, clustered by `groups`, or by row without
        them; adds ``intervals``. See :mod:`lookcheck.metrics.perturbed_pope.intervals`.

    Returns
    -------
    dict
        ``by_condition`` and ``paired`` (condition → split → figures), ``evidence_reliance`` (condition →
        figures), ``baselines`` (name → condition → split → figures), ``counts``, ``per_sample`` and
        ``signature``; README.md defines every figure.

    Raises
    ------
    ValueError
        Naming the row's id or index and the value.

    Examples
    --------
    >>> nan = float("nan")
    >>> def answer(text, yes=nan, no=nan):
    ...     return {"text": text, "logp_yes": yes, "logp_no": no, "entity_rank": 0, "entity_prob": nan}
    >>> def asked(condition, parent, label="yes"):
    ...     return {"label": label, "condition": condition, "parent_id": parent, "split": "random"}
    >>> result = compute(
    ...     [answer("Yes", -0.1, -2.6), answer("yes"), answer("Yes.", -0.5, -1.0), answer("No")],
    ...     [asked("original", ""), asked("original", ""), asked("black_mask", "q1"),
    ...      asked("black_mask", "q2")],
    ...     ids=["q1", "q2", "q1-mask", "q2-mask"])
    >>> result["by_condition"]["black_mask"]["random"]["yes_ratio"]
    0.5
    >>> result["evidence_reliance"]["black_mask"]["share"]
    0.5
    >>> result["paired"]["black_mask"]["random"]["margin_shift_mean"]
    -2.0
    >>> result["baselines"]["copy_original"]["black_mask"]["random"]["accuracy"]
    1.0
    """
    check_choice("parser", parser, PARSERS)
    check_choice("unparsed", unparsed, UNPARSED)
    check_choice("missing", missing, MISSING)
    rule = checked_thinking(thinking, "keep" if parser == "official" else "strip")
    level = checked_confidence(confidence)
    given = listed("predictions", predictions)
    wanted = listed("references", references, len(given))
    row_ids = checked_ids(ids, len(given))
    check_predictions(given, row_ids)
    check_references(wanted, row_ids)
    none: list[Id | None] = [None] * len(given)
    group_of = checked_labels("groups", groups, row_ids) or none

    rows = [score_sample(*pair, parser, unparsed, rule, missing) for pair in zip(given, wanted, strict=True)]
    originals = originals_of(rows, row_ids)
    cells = _cells(rows, originals)
    paired = {name: splits for name, splits in cells.items() if name != ORIGINAL}
    policies = {
        condition: {split: baselines(*cell, unparsed) for split, cell in splits.items()}
        for condition, splits in cells.items()
    }
    counts = {
        "n": len(rows),
        "conditions": {name: sum(len(cell[0]) for cell in splits.values()) for name, splits in cells.items()},
        "unparsed": sum(row["answer"] is None for row in rows),
        "unknown": sum(row["answer"] == "unknown" for row in rows),
        "missing": sum(row["answer"] == MISSING_ANSWER for row in rows),
        "empty": sum(row["empty"] for row in rows),
        "contradicting": sum(row["contradicts"] for row in rows),
        "thinking": {"seen": sum(row["thought"] for row in rows), "cut": sum(row["cut"] for row in rows)},
        "unpaired": sum(
            original is None and row["condition"] != ORIGINAL
            for row, original in zip(rows, originals, strict=True)
        ),
    }
    result: PopeResult = {
        "by_condition": {
            condition: {split: with_labels(cell[0], unparsed) for split, cell in splits.items()}
            for condition, splits in cells.items()
        },
        "paired": {
            condition: {
                split: {
                    **with_original_labels(pairs, unparsed),
                    "unpaired": len(own) - len(pairs),
                }
                for split, (own, pairs) in splits.items()
            }
            for condition, splits in paired.items()
        },
        "evidence_reliance": evidence_reliance(
            {name: {split: cell[1] for split, cell in splits.items()} for name, splits in paired.items()},
            unparsed,
        ),
        "baselines": {
            name: {
                condition: {split: figures[name] for split, figures in splits.items()}
                for condition, splits in policies.items()
            }
            for name in BASELINES
        },
        "counts": counts,
        "per_sample": [
            _sample(row_ids, group_of[index], rows, originals, index) for index in range(len(rows))
        ],
        "signature": signature(
            "perturbed_pope",
            VERSION,
            parser=parser,
            unparsed_rule=unparsed,
            missing_rule=missing,
            thinking=rule,
            n=len(rows),
            missing=counts["missing"],
            unparsed=counts["unparsed"],
            unpaired=counts["unpaired"],
            conditions=",".join(cells),
        ),
    }
    add_intervals(result, headline, level)
    return result


def _cells(rows: list[Row], originals: list[int | None]) -> Cells[tuple[list[Row], list[Pair]]]:
    """The rows and the pairs of each condition and split."""
    found: dict[tuple[str, str], tuple[list[Row], list[Pair]]] = {}
    for row, original in zip(rows, originals, strict=True):
        own, pairs = found.setdefault((row["condition"], row["split"]), ([], []))
        own.append(row)
        if row["condition"] == ORIGINAL:
            pairs.append((row, row))
        elif original is not None:
            pairs.append((rows[original], row))
    return {
        condition: {
            split: found[condition, split]
            for split in ordered((name for key, name in found if key == condition), SPLITS)
        }
        for condition in ordered((name for name, _ in found), CONDITIONS)
    }


def _sample(
    ids: list[Id], group: Id | None, rows: list[Row], originals: list[int | None], index: int
) -> PopeSample:
    row, original = rows[index], originals[index]
    pair = None if original is None else (rows[original], row)
    return {
        "id": ids[index],
        "group": group,
        "score": None if row["correct"] is None else float(row["correct"]),
        **row,
        "original_id": None if original is None else ids[original],
        "changed": None if pair is None else changed(pair),
        "margin_shift": None if pair is None else margin_shift(pair),
    }
