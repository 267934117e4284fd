"""The table, the sentences and the CSV rows of a score of perturbed POPE."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.scores.report import Report, percent
from lookcheck.metrics.perturbed_pope import BASELINES, ORIGINAL, relative_change

# The last three are accuracies of policies that don't look.
COLUMNS = ("acc.", "yes", "seen", "relies", "all yes", "all no", "copied")
_ANSWERS = ("n", "accuracy", "precision", "recall", "f1", "yes_ratio", "unknown_rate", "unparsed_rate")
_MARGINS = ("margin_mean", "margin_median", "margin_positive")
_RANKS = ("mrr", "mean_rank", "median_rank", "mean_probability")
_PAIRED = ("changed", "margin_shift_mean", "margin_shift_median", "margin_stays_positive")
_SIDES = ("original", "perturbed")


def report(result: dict[str, Any], notes: Sequence[str], split: str | None = None) -> Report:
    """The table of a result: one row a condition, with policies that never look beside it.

    Parameters
    ----------
    result : dict
        What :func:`lookcheck.metrics.perturbed_pope.compute` gave.
    notes : sequence of str
        Sentences to show first.
    split : str, optional
        The split to show; where not given, every figure is the mean over the splits. Evidence reliance
        is then over the pairs of all splits together.

    Raises
    ------
    InputError
        If there is no such split.
    """
    found = dict.fromkeys(name for splits in result["by_condition"].values() for name in splits)
    if split is not None and split not in found:
        raise InputError(f"--split is {split!r}; the rows have {', '.join(found)}")
    rows: list[tuple[str, Sequence[float | None]]] = []
    for condition, splits in result["by_condition"].items():
        shown = [name for name in splits if split in (None, name)]
        if not shown:
            continue
        own = [splits[name] for name in shown]
        reliance = result["evidence_reliance"].get(condition, {"share": None, "by_split": {}})
        relies = reliance if split is None else reliance["by_split"].get(split, {"share": None})
        figures = [
            *(_mean([part[key] for part in own]) for key in ("accuracy", "yes_ratio")),
            _mean(_seen(result, condition, shown)),
            relies["share"],
        ]
        for policy in BASELINES:
            found_by = result["baselines"][policy][condition]
            figures.append(_mean([found_by[name]["accuracy"] for name in shown]))
        rows.append((condition, figures))
    counts = result["counts"]
    over = f"split {split or next(iter(found))}"
    if split is None and len(found) > 1:
        over = f"means over the splits {', '.join(found)}"
    lines = [
        f"{counts['n']:,} rows scored; shown: {over}",
        "acc.: accuracy; yes: yes ratio; seen: where the original is labelled yes, the share answered yes",
        "relies: of the objects seen in the original, the share answered no or unknown when they are gone",
        "all yes, all no, copied: accuracy without looking (copied: the original's answer again)",
        *notes,
        *_count_notes(result, split),
        *_margin_notes(result, split),
        *_rank_notes(result, split),
    ]
    return Report("Perturbed POPE, percent", COLUMNS, rows, result, lines, in_files=_flat(result))


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None where a value is missing, for a mean over some splits would be another figure."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known and len(known) == len(values) else None


def _seen(result: dict[str, Any], condition: str, splits: Sequence[str]) -> list[float | None]:
    """The paper's yes rate: of the rows whose original is labelled yes, as a swapped object's is not."""
    if condition == ORIGINAL:
        own = result["by_condition"][condition]
        return [own[name]["by_label"]["yes"]["yes_ratio"] for name in splits]
    paired = result["paired"][condition]
    return [paired[name]["by_label"]["yes"]["perturbed"]["yes_ratio"] for name in splits]


def _count_notes(result: dict[str, Any], split: str | None) -> list[str]:
    counts = result["counts"]
    notes = []
    if counts["unparsed"]:
        became = "left out" if "unparsed_rule:drop" in result["signature"] else "counted as wrong"
        notes.append(f"{counts['unparsed']:,} answers can't be read: {became}")
    if counts["unknown"]:
        notes.append(
            f"{counts['unknown']:,} answers are unknown, which is never right ({_unknown(result, split)})"
        )
    if counts["unpaired"]:
        notes.append(f"{counts['unpaired']:,} perturbed rows have no original row: in no paired figure")
    return notes


def _unknown(result: dict[str, Any], split: str | None) -> str:
    shares = []
    for condition, splits in result["by_condition"].items():
        own = [part["unknown_rate"] for name, part in splits.items() if split in (None, name)]
        if own and (share := _mean(own)):
            shares.append(f"{condition} {percent(share)} %")
    return ", ".join(shares) or "none in this split"


def _paired(result: dict[str, Any], condition: str, split: str | None) -> list[dict[str, Any]]:
    splits = result["paired"][condition]
    return [part for name, part in splits.items() if split in (None, name)]


def _margin_notes(result: dict[str, Any], split: str | None) -> list[str]:
    notes = []
    for condition in result["paired"]:
        parts = _paired(result, condition, split)
        before, after = (_mean([part[side]["margin_mean"] for part in parts]) for side in _SIDES)
        if before is None or after is None:
            continue
        stays = percent(_mean([part["margin_stays_positive"] for part in parts]))
        notes.append(
            f"margin, {condition}: {before:.3f} to {after:.3f} nats ({after - before:+.3f}); "
            f"stays positive {stays} %"
        )
    return notes


def _rank_notes(result: dict[str, Any], split: str | None) -> list[str]:
    notes = []
    for condition in result["paired"]:
        parts = _paired(result, condition, split)
        shown = []
        # A mean of medians would be no median, so that one is shown for a single split only.
        for key in _RANKS if len(parts) == 1 else ("mrr", "mean_rank", "mean_probability"):
            before, after = (_mean([part[side][key] for part in parts]) for side in _SIDES)
            if before is not None and after is not None:
                change = relative_change(before, after)
                moved = "" if change is None else f" ({change:+.1%})"
                shown.append(f"{key.replace('_', ' ')} {before:.4g} to {after:.4g}{moved}")
        if shown:
            notes.append(f"rank, {condition}: {'; '.join(shown)}")
    return notes


def _flat(result: dict[str, Any]) -> Report:
    """Every figure of every condition and split, one row each, for CSV files."""
    columns = [*_ANSWERS, *_MARGINS, *_RANKS, "pairs", "unpaired", *_PAIRED, "evidence_reliance"]
    columns += [f"{policy}_{figure}" for policy in BASELINES for figure in ("accuracy", "f1")]
    rows: list[tuple[str, Sequence[float | None]]] = []
    for condition, splits in result["by_condition"].items():
        reliance = result["evidence_reliance"].get(condition, {"by_split": {}})["by_split"]
        for split, figures in splits.items():
            pair = result["paired"].get(condition, {}).get(split, {})
            row = [figures[name] for name in (*_ANSWERS, *_MARGINS, *_RANKS)]
            row += [pair.get(name) for name in ("n", "unpaired", *_PAIRED)]
            row.append(reliance.get(split, {}).get("share"))
            for policy in BASELINES:
                row += [result["baselines"][policy][condition][split][name] for name in ("accuracy", "f1")]
            rows.append((f"{condition}/{split}", row))
    return Report("", columns, rows, result)
