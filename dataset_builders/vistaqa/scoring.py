"""How judged answers and evidence masks are scored against VistaQA's, with Grove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.dataset_builders.core.verdict_file import (
    FAILED,
    MISSING,
    UNDECIDED,
    identity,
    is_verdict_file,
    read_verdicts,
)
from lookcheck.dataset_builders.scores.report import (
    BASELINE,
    MODEL,
    Cell,
    Line,
    Report,
    Table,
    interval_notes,
    interval_of,
    share,
)
from lookcheck.dataset_builders.scores.scorer import Confidence, computed, labels_of, placed
from lookcheck.dataset_builders.vistaqa.constants import NAME

# T and M as in the paper's table; the last two are Grove of the samples with and without evidence.
FIGURES = {"grove": "Grove", "answer_accuracy": "T", "mask_score": "M"}
PARTS = {"with_evidence": "evidence", "without_evidence": "none"}
BASELINES = {
    "all_wrong": "all wrong, wrong masks",
    "no_mask_never_right": "no mask, never right",
    "no_mask_right_without_evidence": "no mask, right without evidence",
    "no_mask_always_right": "no mask, always right",
}
BY = {"task": "By task", "domain": "By domain", "num_instances": "By number of instances"}
BANDS = {"zero": "0", "low": "below 50", "high": "50 and more"}

SILENT = {
    MISSING: "are missing",
    UNDECIDED: "are not decided by the judge",
    FAILED: "could not be judged (the request failed)",
}
"""Why a sample has no verdict, and what a note says of it."""


@dataclass(frozen=True)
class ScoreOptions:
    """The fields are options of the command."""

    verdicts: Annotated[
        list[Path] | None, typer.Option(help="A file of lookcheck judge run, or JSON Lines: id, verdict.")
    ] = None
    epsilon: Annotated[float, typer.Option(help="The floor of both parts, 0 to 1.")] = 0.1
    unjudged: Annotated[
        str,
        typer.Option(
            help="Answers without a verdict: error; wrong counts them as wrong; missing, undecided, failed "
            "(or several: missing,undecided) only those that are missing, that the judge did not decide, "
            "whose request failed."
        ),
    ] = "error"
    empty_masks: Annotated[
        str, typer.Option(help="All-zero predicted masks: keep (they count as predictions) or drop.")
    ] = "keep"
    judge: Annotated[
        str | None, typer.Option(help="Who gave the verdicts, for the signature; a file of judge run says.")
    ] = None
    confidence: Confidence = None


class VistaQAScorer:
    """See `lookcheck.dataset_builders.scores.scorer.Scorer`."""

    command = "vistaqa"
    summary = "Score judged answers and evidence masks, and four policies that never look beside them."
    references_help = "id, masks (COCO run-length encodings); task, domain, group if known."
    predictions_help = "id, masks, and verdict (yes, no, none) unless --verdicts is given."
    options: type[Any] = ScoreOptions
    beside: tuple[str, ...] = ("verdicts",)

    def read_references(self, path: Path) -> dict[str, JsonRecord]:
        """The references of a file or of a built folder, whose pictures are not read."""
        if not path.is_dir():
            return read_records(path)[0]
        from lookcheck.dataset_builders.parquet import reader

        records = reader.read_records(reader.open_folder(path, NAME), ["masks_rle", "task", "domain"])
        for record in records.values():
            record.fields["masks"] = record.fields.pop("masks_rle")
        return records

    def score(
        self,
        references: dict[str, JsonRecord],
        source: str,
        predictions: Path,
        system: str,
        options: ScoreOptions,
    ) -> Report:
        """Grove with its parts, beside the policies that never look."""
        from lookcheck.metrics.grove import compute

        given, _ = read_records(predictions)
        refuse_unknown(given, references, source)
        judge, judged = options.judge, None
        if options.verdicts:
            judged, named = read_judged(options.verdicts[0])
            judge = judge or named
            refuse_unknown(judged, references, source)
        masks = {row: {"masks": _masks(record)} for row, record in references.items()}
        verdicts = {row: _verdict(row, given, judged) for row in references}
        silent = {row: _status(row, given, judged) for row, verdict in verdicts.items() if verdict == "none"}
        result: Mapping[str, Any] = computed(
            lambda: compute(
                [
                    {"verdict": verdict, "masks": _masks(given[row]) if row in given else None}
                    for row, verdict in verdicts.items()
                ],
                list(masks.values()),
                ids=list(references),
                tasks=labels_of(references, "task"),
                domains=labels_of(references, "domain"),
                groups=labels_of(references, "group"),
                epsilon=options.epsilon,
                unjudged=_counted(options.unjudged, silent),
                empty_masks=options.empty_masks,
                judge=judge,
                confidence=options.confidence,
            ),
            lambda row: compute([{"verdict": "no", "masks": []}], [masks[row]], ids=[row]),
            placed(references),
            placed(given),
            placed(judged or {}),
        )
        return Report(system, _tables(result, system), result, _notes(references, given, silent, result))


SCORER = VistaQAScorer()


def read_judged(path: Path) -> tuple[dict[str, JsonRecord], str | None]:
    """Verdicts by id, and who gave them where the file says so."""
    if not is_verdict_file(path):
        return read_records(path)[0], None
    header, rows = read_verdicts(path)
    records = {
        id: JsonRecord(f"{path}:{number}", id, dict(row))
        for number, (id, row) in enumerate(rows.items(), start=2)
    }
    return records, identity(header, rows)


def _tables(result: Mapping[str, Any], system: str) -> list[Table]:
    n = result["counts"]["n"]
    own = [Cell(result[figure], n, interval_of(result, figure)) for figure in FIGURES]
    own += [
        Cell(result[part]["grove"], result[part]["n"], interval_of(result, part, "grove")) for part in PARTS
    ]
    lines = [Line(MODEL, "", own, system)]
    for name, shown in BASELINES.items():
        found = result["baselines"][name]
        cells = [*(Cell(found[figure], n) for figure in FIGURES), *[Cell(None)] * len(PARTS)]
        lines.append(Line(BASELINE, name, cells, shown))
    tables = [Table("VistaQA, Grove, percent", FIGURES | PARTS, lines)]
    for kind, title in BY.items():
        if found := result[f"by_{kind}"]:
            parts = [
                Line(
                    kind,
                    name,
                    [
                        Cell(part[figure], part["n"], interval_of(result, f"by_{kind}", name, figure))
                        for figure in FIGURES
                    ],
                )
                for name, part in found.items()
            ]
            tables.append(Table(f"{title}, percent", FIGURES, parts, counted=True))
    crossed = [
        Line("cross_table", answer, [Cell(bands[band]["fraction"], bands[band]["count"]) for band in BANDS])
        for answer, bands in result["cross_table"].items()
    ]
    tables.append(Table("Answers against mask scores, percent of all samples", BANDS, crossed))
    return tables


def _notes(
    references: Mapping[str, JsonRecord],
    given: Mapping[str, JsonRecord],
    silent: Mapping[str, str],
    result: Mapping[str, Any],
) -> list[str]:
    counts = result["counts"]
    seen, unseen, n = result["with_evidence"]["n"], result["without_evidence"]["n"], len(references)
    notes = [
        f"{counts['n']:,} samples: {seen:,} with evidence, {unseen:,} without (none)",
        "T: answers right; M: mask score; evidence, none: Grove of the samples with and without evidence",
    ]
    if absent := sum(row not in given for row in references):
        notes.append(f"{share(absent, n)} samples have no prediction: wrong in both parts")
    for status, said in SILENT.items():
        if found := sum(other == status for other in silent.values()):
            notes.append(f"{share(found, n)} answers {said} and count as wrong")
    if counts["empty_predicted"]:
        notes.append(f"{counts['empty_predicted']:,} predicted masks are all zero")
    table = result["cross_table"]
    blind = table["right"]["zero"]["count"] + table["right"]["low"]["count"]
    right = blind + table["right"]["high"]["count"]
    if right:
        notes.append(f"{blind:,} of {right:,} right answers stand on masks below 0.5")
    return notes + interval_notes(result)


def _verdict(row: str, given: Mapping[str, JsonRecord], judged: Mapping[str, JsonRecord] | None) -> Any:
    source = given if judged is None else judged
    if row not in source:
        return "none"
    record = source[row]
    if "verdict" not in record.fields:
        raise InputError(f"{record.where}: id {row!r} has no 'verdict'; give it here or with --verdicts")
    if judged is not None and row in given and "verdict" in given[row].fields:
        raise InputError(f"{given[row].where}: id {row!r} has a verdict here and in --verdicts; keep one")
    return record.fields["verdict"]


def _status(row: str, given: Mapping[str, JsonRecord], judged: Mapping[str, JsonRecord] | None) -> str:
    """Why there is no verdict: no answer or none about it, or what the verdict file says."""
    record = (given if judged is None else judged).get(row)
    return MISSING if record is None else str(record.fields.get("status") or UNDECIDED)


def _counted(unjudged: str, silent: Mapping[str, str]) -> str:
    """What the metric is told of the samples without a verdict: wrong only if all of them are named.

    Raises
    ------
    InputError
        Naming the first sample of a kind that is not.
    """
    if unjudged in {"error", "wrong"}:
        return unjudged
    named = unjudged.split(",")
    for name in named:
        if name not in SILENT:
            raise InputError(f"--unjudged {unjudged}: {name!r} is none of error, wrong, {', '.join(SILENT)}")
    others = [row for row, status in silent.items() if status not in named]
    if others:
        raise InputError(
            f"{len(others):,} samples have no verdict for another reason than {unjudged}, the first: "
            f"{others[0]!r} ({silent[others[0]]})"
        )
    return "wrong"


def _masks(record: JsonRecord) -> Any:
    if "masks" not in record.fields:
        raise InputError(
            f"{record.where}: id {record.id!r} has no 'masks'; expected a list, [] if there is none"
        )
    return record.fields["masks"]
