"""`lookcheck score vistaqa`: judged answers and masks against VistaQA's evidence, with Grove."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.dataset_builders.core.verdict_file import identity, is_verdict_file, read_verdicts
from lookcheck.dataset_builders.scores.report import Report
from lookcheck.metrics.grove import compute
from lookcheck.scripts import console
from lookcheck.scripts.score.report import emit

# T and M as in the paper's table; the last two are Grove of the samples with and without evidence.
COLUMNS = ("Grove", "T", "M", "evidence", "none")
POLICIES = {
    "all_wrong": "all wrong, wrong masks",
    "no_mask_never_right": "no mask, never right",
    "no_mask_right_without_evidence": "no mask, right without evidence",
    "no_mask_always_right": "no mask, always right",
}


def vistaqa(
    references: Annotated[
        Path,
        typer.Option(
            help="A built folder, or JSON Lines: id, masks (COCO run-length encodings); task, domain, group "
            "if known."
        ),
    ],
    predictions: Annotated[
        Path,
        typer.Option(help="JSON Lines: id, masks, and verdict (yes, no, none) unless --verdicts is given."),
    ],
    verdicts: Annotated[
        Path | None, typer.Option(help="A file of lookcheck judge run, or JSON Lines: id, verdict.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="The floor of both parts, 0 to 1.")] = 0.1,
    unjudged: Annotated[
        str, typer.Option(help="Missing answers and verdicts none: error, or wrong to count them as wrong.")
    ] = "error",
    empty_masks: Annotated[
        str, typer.Option(help="All-zero predicted masks: keep (they count as predictions) or drop.")
    ] = "keep",
    judge: Annotated[
        str | None, typer.Option(help="Who gave the verdicts, for the signature; a file of judge run says.")
    ] = None,
    output: Annotated[list[Path] | None, typer.Option(help="Write *.json or *.csv; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Score judged answers and evidence masks, and four policies that never look beside them."""
    outputs = output or []
    console.check_outputs(outputs, [references, predictions, verdicts])
    labels = _built(references) if references.is_dir() else read_records(references)[0]
    given, _ = read_records(predictions)
    refuse_unknown(given, labels, str(references))
    judged = None
    if verdicts is not None:
        judged, named = read_judged(verdicts)
        judge = judge or named
        refuse_unknown(judged, labels, str(references))
    options = {"epsilon": epsilon, "unjudged": unjudged, "empty_masks": empty_masks, "judge": judge}
    shown = report(labels, given, judged, options)
    emit(shown, as_json=as_json, outputs=outputs)


def _built(path: Path) -> dict[str, JsonRecord]:
    """The references of a built folder; its pictures are not read."""
    from lookcheck.dataset_builders.parquet import reader

    records = reader.read_records(reader.open_folder(path, "vistaqa"), ["masks_rle", "task", "domain"])
    for record in records.values():
        record.fields["masks"] = record.fields.pop("masks_rle")
    return records


def read_judged(path: Path) -> tuple[dict[str, JsonRecord], str | None]:
    """Verdicts by id, and who gave them where the file says so."""
    if not is_verdict_file(path):
        return read_records(path)[0], None
    header, rows = read_verdicts(path)
    records = {
        id: JsonRecord(f"{path}:{number}", id, dict(row))
        for number, (id, row) in enumerate(rows.items(), start=2)
    }
    return records, identity(header)


def report(
    labels: dict[str, JsonRecord],
    given: dict[str, JsonRecord],
    judged: dict[str, JsonRecord] | None,
    options: dict[str, Any],
) -> Report:
    """Grove of `given`, with its parts and the policies that never look.

    Parameters
    ----------
    labels, given : dict of str to JsonRecord
        References and predictions by id; a sample without a prediction has no masks and verdict "none".
    judged : dict of str to JsonRecord or None
        Verdicts by id, where they don't stand in the predictions.
    options : dict
        Keywords of :func:`lookcheck.metrics.grove.compute`.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        Naming id and value.
    """
    rows = [
        {"verdict": _verdict(row, given, judged), "masks": _masks(given[row]) if row in given else []}
        for row in labels
    ]
    try:
        result = compute(
            rows,
            [{"masks": _masks(record)} for record in labels.values()],
            ids=list(labels),
            tasks=_column(labels, "task"),
            domains=_column(labels, "domain"),
            groups=_column(labels, "group"),
            **options,
        )
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(str(error)) from None
    lines: list[tuple[str, Sequence[float | None]]] = [("predictions", _figures(result, result))]
    for name, title in POLICIES.items():
        lines.append((title, [result["trivial_policies"][name], *[None] * 4]))
    for kind in ("task", "domain", "num_instances"):
        for name, part in result[f"by_{kind}"].items():
            title = f"{name} instances" if kind == "num_instances" else f"{kind} {name}"
            lines.append((f"{title} (n = {part['n']:,})", _figures(part, None)))
    return Report("VistaQA, Grove, percent", COLUMNS, lines, result, _notes(labels, given, judged, result))


def _figures(part: dict[str, Any], whole: dict[str, Any] | None) -> Sequence[float | None]:
    evidence = ("with_evidence", "without_evidence")
    return [
        part["grove"],
        part["answer_accuracy"],
        part["mask_score"],
        *(None if whole is None else whole[name]["grove"] for name in evidence),
    ]


def _notes(
    labels: dict[str, JsonRecord],
    given: dict[str, JsonRecord],
    judged: dict[str, JsonRecord] | None,
    result: dict[str, Any],
) -> list[str]:
    counts = result["counts"]
    seen, unseen = result["with_evidence"]["n"], result["without_evidence"]["n"]
    notes = [
        f"{counts['n']:,} samples: {seen:,} with evidence, {unseen:,} without (none)",
        "T: answers right; M: mask score; evidence, none: Grove of the samples with and without evidence",
    ]
    if absent := sum(row not in given for row in labels):
        notes.append(f"{absent:,} samples have no prediction: no masks")
    if judged is not None and (silent := sum(row not in judged for row in labels)):
        notes.append(f"{silent:,} samples have no verdict")
    if counts["unjudged"]:
        notes.append(f"{counts['unjudged']:,} answers are missing or not judged and count as wrong")
    if counts["empty_predicted"]:
        notes.append(f"{counts['empty_predicted']:,} predicted masks are all zero")
    table = result["cross_table"]
    blind = table["right"]["zero"]["count"] + table["right"]["low"]["count"]
    right = blind + table["right"]["high"]["count"]
    if right:
        notes.append(f"{blind:,} of {right:,} right answers stand on masks below 0.5")
    return notes


def _verdict(row: str, given: dict[str, JsonRecord], judged: dict[str, JsonRecord] | None) -> Any:
    source = given if judged is None else judged
    if row not in source:
        return "none"
    record = source[row]
    if "verdict" not in record.fields:
        raise InputError(f"{record.where}: id {row!r} has no 'verdict'; give it here or with --verdicts")
    if judged is not None and row in given and "verdict" in given[row].fields:
        raise InputError(f"{given[row].where}: id {row!r} has a verdict here and in --verdicts; keep one")
    return record.fields["verdict"]


def _masks(record: JsonRecord) -> Any:
    if "masks" not in record.fields:
        raise InputError(
            f"{record.where}: id {record.id!r} has no 'masks'; expected a list, [] if there is none"
        )
    return record.fields["masks"]


def _column(labels: dict[str, JsonRecord], key: str) -> list[str] | None:
    """One label a sample, or None where the file has none; some with and some without is an error."""
    if all(record.fields.get(key) is None for record in labels.values()):
        return None
    return [record.text(key) for record in labels.values()]


if __name__ == "__main__":
    app = console.new_app("Score VistaQA.")
    app.command()(vistaqa)
    console.run(app)
