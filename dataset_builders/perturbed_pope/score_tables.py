"""The tables and the sentences of a score of perturbed POPE."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import fsum
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.scores.report import (
    Cell,
    Line,
    Report,
    Table,
    interval_notes,
    interval_of,
    percent,
    thinking_notes,
)
from lookcheck.metrics.perturbed_pope import BASELINES, ORIGINAL, relative_change

# The last three are accuracies of policies that don't look.
COLUMNS = {
    "accuracy": "acc.",
    "yes_ratio": "yes",
    "seen": "seen",
    "evidence_reliance": "relies",
    "always_yes_accuracy": "all yes",
    "always_no_accuracy": "all no",
    "copy_original_accuracy": "copied",
}
# From each figure of a condition and split, and of its pairs, to the counts whose sum it is over.
_SINGLE = {
    **dict.fromkeys(("accuracy", "f1", "yes_ratio", "unknown_rate"), ("scored",)),
    "precision": ("tp", "fp"),
    "recall": ("tp", "fn"),
    **dict.fromkeys(("margin_mean", "margin_median", "margin_positive"), ("margins",)),
    **dict.fromkeys(("mrr", "mean_rank", "median_rank"), ("ranks",)),
    "mean_probability": ("probabilities",),
}
_PAIRED = {
    "changed": ("scored",),
    **dict.fromkeys(("margin_shift_mean", "margin_shift_median"), ("margins",)),
    "margin_stays_positive": ("margin_positive_original",),
}
_RANKS = ("mrr", "mean_rank", "median_rank", "mean_probability")
_SIDES = ("original", "perturbed")


def report(
    system: str,
    result: Mapping[str, Any],
    notes: Sequence[str],
    split: str | None = None,
    answered: Collection[str] | None = None,
) -> Report:
    """The tables of a result: one line a condition, with policies that never look beside it.

    Parameters
    ----------
    system : str
    result : mapping
        What :func:`lookcheck.metrics.perturbed_pope.compute` gave.
    notes : sequence of str
        Sentences to show first.
    split : str, optional
        The split to show; where not given, every figure is the mean over the splits, and there is none for
        a condition that lacks a split that others have: it would be a mean of something else. Evidence
        reliance is then over the pairs of all splits together.
    answered : collection of str, optional
        Conditions of which at least one row has an answer; the others show no figures. All if not given.

    Raises
    ------
    InputError
        If there is no such split.
    """
    found = dict.fromkeys(name for splits in result["by_condition"].values() for name in splits)
    if split is not None and split not in found:
        raise InputError(f"--split is {split!r}; the rows have {', '.join(found)}")
    chosen = list(found) if split is None else [split]
    lines, lacking = [], []
    for condition, splits in result["by_condition"].items():
        if missing := [name for name in chosen if name not in splits]:
            if split is None:
                lacking.append(f"{condition} has no rows of {', '.join(missing)}: no means; see --split")
                lines.append(Line("condition", condition, [Cell(None)] * len(COLUMNS)))
            continue
        if answered is not None and condition not in answered:
            lacking.append(f"{condition}: no row has an answer, no figures")
            lines.append(Line("condition", condition, [Cell(None)] * len(COLUMNS)))
            continue
        lines.append(Line("condition", condition, _summary(result, condition, chosen, split)))
    counts = result["counts"]
    over = f"split {chosen[0]}" if len(chosen) == 1 else f"means over the splits {', '.join(chosen)}"
    sentences = [
        f"{counts['n']:,} rows scored; shown: {over}",
        "acc.: accuracy; yes: yes ratio; seen: where the original is labelled yes, the share answered yes",
        "relies: of the objects seen in the original, the share answered no or unknown when they are gone",
        "all yes, all no, copied: accuracy without looking (copied: the original's answer again)",
        *lacking,
        *notes,
        *_count_notes(result, split),
        *thinking_notes(result),
        *interval_notes(result),
        *_margin_notes(result, chosen),
        *_rank_notes(result, chosen),
    ]
    tables = [Table("Perturbed POPE, percent", COLUMNS, lines), _every_figure(result, answered)]
    # The figures shown depend on it.
    shown = split if split is not None else "mean" if len(chosen) > 1 else "only"
    told = {**result, "signature": f"{result['signature']}|split:{shown}({','.join(chosen)})"}
    return Report(system, tables, told, sentences)


def _summary(
    result: Mapping[str, Any], condition: str, chosen: Sequence[str], split: str | None
) -> list[Cell]:
    """The figures of a condition over the chosen splits, in the order of `COLUMNS`."""
    own = [result["by_condition"][condition][name] for name in chosen]
    n = sum(part["n"] for part in own)
    reliance = result["evidence_reliance"].get(condition, {"share": None, "by_split": {}})
    relies = reliance if split is None else reliance["by_split"].get(split, {"share": None})
    figures = [
        *(_mean([part[key] for part in own]) for key in ("accuracy", "yes_ratio")),
        _mean(_seen(result, condition, chosen)),
        relies["share"],
    ]
    for policy in BASELINES:
        found_by = result["baselines"][policy][condition]
        figures.append(_mean([found_by[name]["accuracy"] for name in chosen]))
    inner = ("mean_of_splits", condition) if split is None else ("by_condition", condition, split)
    relied = ("evidence_reliance", condition, *(() if split is None else ("by_split", split)), "share")
    paths = [*((*inner, name) for name in ("accuracy", "yes_ratio", "seen")), relied]
    ends = [interval_of(result, *path) for path in paths] + [None] * len(BASELINES)
    return [Cell(figure, n, own) for figure, own in zip(figures, ends, strict=True)]


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None where a value is missing, for a mean over some splits would be another figure."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known and len(known) == len(values) else None


def _seen(result: Mapping[str, Any], condition: str, splits: Sequence[str]) -> list[float | None]:
    """The paper's yes rate: of the rows whose original is labelled yes, as a swapped object's is not."""
    if condition == ORIGINAL:
        own = result["by_condition"][condition]
        return [own[name]["by_label"]["yes"]["yes_ratio"] for name in splits]
    paired = result["paired"][condition]
    return [paired[name]["by_label"]["yes"]["perturbed"]["yes_ratio"] for name in splits]


def _count_notes(result: Mapping[str, Any], split: str | None) -> list[str]:
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
    if number := counts["contradicting"]:
        notes.append(f"{number:,} answers say the opposite of their margin; accuracy takes the answer")
    rows = (row for row in result["per_sample"] if split in (None, row["split"]))
    if masses := [row["mass"] for row in rows if row["mass"] is not None]:
        share = fsum(masses) / len(masses)
        notes.append(
            f"yes and no together have {percent(share)} % of the first token's probability on average, "
            f"and {percent(min(masses))} % at the least"
        )
    return notes


def _unknown(result: Mapping[str, Any], split: str | None) -> str:
    shares = []
    for condition, splits in result["by_condition"].items():
        own = [part["unknown_rate"] for name, part in splits.items() if split in (None, name)]
        if own and (share := _mean(own)):
            shares.append(f"{condition} {percent(share)} %")
    return ", ".join(shares) or "none in this split"


def _paired(result: Mapping[str, Any], condition: str, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """The paired figures of the chosen splits; none where one is lacking."""
    splits = result["paired"][condition]
    return [splits[name] for name in chosen] if all(name in splits for name in chosen) else []


def _margin_notes(result: Mapping[str, Any], chosen: Sequence[str]) -> list[str]:
    notes = []
    for condition in result["paired"]:
        parts = _paired(result, condition, chosen)
        before, after = (_mean([part[side]["margin_mean"] for part in parts]) for side in _SIDES)
        if before is None or after is None:
            continue
        stays = percent(_mean([part["margin_stays_positive"] for part in parts]))
        notes.append(
            f"margin, {condition}: {before:.3f} to {after:.3f} nats ({after - before:+.3f}); "
            f"stays positive {stays} %"
        )
    return notes


def _rank_notes(result: Mapping[str, Any], chosen: Sequence[str]) -> list[str]:
    notes = []
    for condition in result["paired"]:
        parts = _paired(result, condition, chosen)
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


def _every_figure(result: Mapping[str, Any], answered: Collection[str] | None) -> Table:
    """Every figure of every condition and split, for files."""
    columns: dict[str, str] = {}
    lines = []
    for condition, splits in result["by_condition"].items():
        if answered is not None and condition not in answered:
            continue
        reliance = result["evidence_reliance"].get(condition, {"by_split": {}})["by_split"]
        for split, figures in splits.items():
            n = figures["n"]
            cells = {"rows": Cell(n, n), "unparsed_rate": Cell(figures["unparsed_rate"], n)}
            cells |= _cells(figures, _SINGLE, result, "by_condition", condition, split)
            pair = result["paired"].get(condition, {}).get(split)
            cells |= {
                name: Cell(pair and pair[key], n) for name, key in (("pairs", "n"), ("unpaired", "unpaired"))
            }
            cells |= _cells(pair, _PAIRED, result, "paired", condition, split)
            relies = reliance.get(split, {})
            cells["evidence_reliance"] = Cell(relies.get("share"), relies.get("n"))
            for policy in BASELINES:
                found = _cells(
                    result["baselines"][policy][condition][split],
                    {"accuracy": ("scored",), "f1": ("scored",)},
                )
                cells |= {f"{policy}_{name}": cell for name, cell in found.items()}
            columns = dict.fromkeys(cells, "")
            lines.append(Line("condition_split", f"{condition}/{split}", list(cells.values())))
    return Table("Every condition and split", columns, lines, unit="plain", in_files_only=True)


def _cells(
    figures: Mapping[str, Any] | None,
    over: Mapping[str, Sequence[str]],
    result: Mapping[str, Any] | None = None,
    *path: str,
) -> dict[str, Cell]:
    """Figures with the number of rows that each is over; blank ones where there are none."""
    if figures is None:
        return dict.fromkeys(over, Cell(None))
    return {
        name: Cell(
            figures[name],
            sum(figures["counts"][key] for key in keys),
            None if result is None else interval_of(result, *path, name),
        )
        for name, keys in over.items()
    }
