"""`lookcheck judge agreement`: how far people agree with a judge, and what that does to its figure."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.printable import printable
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.dataset_builders.core.verdict_file import VerdictRow, identity, read_verdicts
from lookcheck.dataset_builders.scores.report import percent
from lookcheck.scripts import console
from lookcheck.scripts.judge.correction import corrected_mean
from lookcheck.scripts.judge.measures import FEWEST, HUMAN, JUDGED, MEASURES, agreement

# VistaQA's own study (arXiv 2605.20676): accuracy, kappa, F1. The share of "yes" there is .480.
PUBLISHED = {
    "exact match": (0.520, 0.0, 0.0),
    "Qwen2.5-14B": (0.920, 0.840, 0.921),
    "GPT-5.4": (0.932, 0.864, 0.931),
}


def judge_agreement(
    verdicts: Annotated[Path, typer.Option(help="A file of lookcheck judge run.")],
    human: Annotated[Path, typer.Option(help="JSON Lines: id, verdict (yes, no); kind if there are kinds.")],
    confidence: Annotated[float, typer.Option(min=0.5, max=0.9999, help="Of all intervals.")] = 0.95,
    resamples: Annotated[int, typer.Option(min=100, help="Of the bootstrap.")] = 9_999,
    output: Annotated[Path | None, typer.Option(help="Write everything to a file *.json.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare a judge with human verdicts on some or all of its samples.

    Shows accuracy, Cohen's kappa and F1 with bootstrap intervals, beside exact match on the same
    samples, and corrects the judge's mean answer accuracy by what people said. The correction holds if
    the labelled samples were drawn at random.

    Example:

    \b
      lookcheck judge agreement --verdicts verdicts.jsonl --human human.jsonl
    """
    if output is not None:
        console.check_outputs([output], [verdicts, human])
        if output.suffix != ".json":
            raise InputError(f"{output}: --output takes a name ending in .json")
    header, rows = read_verdicts(verdicts)
    labels, _ = read_records(human)
    refuse_unknown(labels, rows, str(verdicts))
    result = compare(rows, labels, confidence=confidence, resamples=resamples)
    result["judge"] = identity(header, rows)
    if output is not None:
        console.write_text(output, console.to_json(result) + "\n")
    if as_json:
        print(console.to_json(result))
        return
    _show(result, confidence)
    if output is not None:
        console.stdout.print(Text(f"wrote {output}"))


def compare(
    rows: dict[str, VerdictRow],
    labels: dict[str, JsonRecord],
    *,
    confidence: float = 0.95,
    resamples: int = 9_999,
) -> dict[str, Any]:
    """Agreement of judge and exact match with the labels, by kind, and the corrected mean.

    Parameters
    ----------
    rows : dict of str to VerdictRow
        A verdict file's rows.
    labels : dict of str to JsonRecord
        Human verdicts of some of them.
    confidence, resamples
        As in :func:`lookcheck.scripts.judge.measures.agreement`.

    Returns
    -------
    dict
        ``agreement`` and ``exact_match`` (see :func:`~lookcheck.scripts.judge.measures.agreement`),
        ``by_kind`` {kind: {n, agreed}}, ``answer_accuracy``
        (see :func:`~lookcheck.scripts.judge.correction.corrected_mean`), ``published``.

    Raises
    ------
    InputError
        Naming file, line, id and value.
    """
    ids = list(labels)
    said = [_human(labels[id]) for id in ids]
    judged = [rows[id]["verdict"] for id in ids]
    exact = ["yes" if _exact(rows[id]) else "no" for id in ids]
    options: dict[str, Any] = {"confidence": confidence, "resamples": resamples}
    kinds: dict[str, Counter[str]] = {}
    for id, one, other in zip(ids, said, judged, strict=True):
        if labels[id].fields.get("kind") is not None:
            kinds.setdefault(labels[id].text("kind"), Counter()).update(n=1, agreed=int(one == other))
    others = [float(row["verdict"] == "yes") for id, row in rows.items() if id not in labels]
    corrected = None
    if len(ids) >= 2:
        truth, seen = ([float(verdict == "yes") for verdict in column] for column in (said, judged))
        corrected = corrected_mean(truth, seen, others, confidence=confidence)
    return {
        "samples": len(rows),
        "agreement": agreement(said, judged, ids, **options),
        "exact_match": agreement(said, exact, ids, **options),
        "by_kind": {kind: dict(count) for kind, count in sorted(kinds.items())},
        "answer_accuracy": corrected,
        "published": {name: dict(zip(MEASURES, figures, strict=True)) for name, figures in PUBLISHED.items()},
    }


def _human(record: JsonRecord) -> str:
    verdict = record.text("verdict")
    if verdict not in HUMAN:
        raise InputError(f"{record.where}: id {record.id!r} has the verdict {verdict!r}; expected yes or no")
    return verdict


def _exact(row: VerdictRow) -> bool:
    if not isinstance(row.get("exact"), bool):
        raise InputError(
            f"id {row['id']!r}: the verdict file doesn't say whether the answer is an exact match"
        )
    return bool(row["exact"])


def _show(result: dict[str, Any], confidence: float) -> None:
    found = result["agreement"]
    counted = f"{found['n']:,} of {result['samples']:,} samples"
    table = Table(
        title=f"people and judge, {counted}, {100 * confidence:g} % intervals", title_justify="left"
    )
    table.add_column("")
    for name in ("accuracy %", "Cohen's κ", "F1 of yes"):
        table.add_column(name, justify="right")
    for name, part in (("judge", found), ("exact match", result["exact_match"])):
        table.add_row(name, *(_with_interval(measure, part[measure]) for measure in MEASURES))
    for name, figures in result["published"].items():
        shown = (percent(figures["accuracy"]), f"{figures['kappa']:.3f}", f"{figures['f1']:.3f}")
        table.add_row(f"paper: {name}", *shown, style="dim")
    console.stdout.print(table)
    confusion = Table(title="confusion", title_justify="left")
    for name in ("people", *(f"judge: {verdict}" for verdict in JUDGED)):
        confusion.add_column(name, justify="right")
    for verdict in reversed(HUMAN):
        confusion.add_row(verdict, *(f"{found['confusion'][verdict][other]:,}" for other in JUDGED))
    console.stdout.print(confusion)
    if result["by_kind"]:
        kinds = Table(title="by kind", title_justify="left")
        for name in ("kind", "agreed", "n"):
            kinds.add_column(name, justify="left" if name == "kind" else "right")
        for kind, count in result["by_kind"].items():
            kinds.add_row(Text(printable(kind)), f"{count['agreed']:,}", f"{count['n']:,}")
        console.stdout.print(kinds)
    for line in _sentences(result):
        console.stdout.print(Text(line))


def _sentences(result: dict[str, Any]) -> list[str]:
    mean, lines = result["answer_accuracy"], []
    if result["agreement"]["n"] < FEWEST:
        lines = [f"κ and F1 have no interval below {FEWEST} labels"]
    if mean is not None:
        labels = mean["labels"]
        lines += [
            f"answer accuracy, percent: the judge alone says {percent(mean['judge'])}",
            f"  labels alone {percent(labels['mean'])} [{percent(labels['low'])}, {percent(labels['high'])}]",
            f"  corrected {percent(mean['mean'])} "
            + (mean["refused"] or f"[{percent(mean['low'])}, {percent(mean['high'])}]")
            + f", weight of the judge {mean['weight']:.2f}",
            "  the correction holds if the labelled samples were drawn at random",
        ]
    return [*lines, f"judge: {result['judge']}"]


def _with_interval(measure: str, figure: dict[str, float | None]) -> str:
    if figure["value"] is None:
        return "–"
    low, high = figure["low"], figure["high"]
    shown = [
        percent(value) if measure == "accuracy" else _plain(value) for value in (figure["value"], low, high)
    ]
    return shown[0] if low is None else f"{shown[0]}\n{shown[1]} to {shown[2]}"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
