"""How chains of answers to SalArt-VQA's four questions are scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.dataset_builders.salart_vqa.constants import NAME, QUESTIONS
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
    thinking_notes,
)
from lookcheck.dataset_builders.scores.scorer import Confidence, Thinking, computed, placed

ID_KEYS = ("row_id", "id")
_CHAINS = {"q1": "Q1", "all_1_4": "Q1 to Q4 all right", "all_2_4": "Q2 to Q4 all right"}
_POLICIES = {"constant": "no, E, E, E", "random": "random"}
_BREAKS = {
    "missed": "artifact: missed (Q1 wrong)",
    "evidence": "artifact: then Q4 wrong",
    "localisation": "artifact: then Q2 or Q3 wrong",
    "all_right": "artifact: nothing wrong",
}
_CROSS = {
    "q4_right_q3_wrong": "artifact: Q4 right, Q3 wrong",
    "q3_right_q4_wrong": "artifact: Q3 right, Q4 wrong",
}
_OF_A_TYPE = {
    "artifact_q1": "Q1",
    "artifact_all_1_4": "Q1 to Q4",
    "artifact_all_2_4": "Q2 to Q4",
    "q4_right_q3_wrong": "Q4, not Q3",
    "q3_right_q4_wrong": "Q3, not Q4",
}


@dataclass(frozen=True)
class ScoreOptions:
    """The fields are options of the command."""

    parser: Annotated[str, typer.Option(help="How answers are read: strict or json.")] = "strict"
    no_image: Annotated[
        list[Path] | None,
        typer.Option(help="JSON Lines: row_id or id, q4 answered without the image (A to F)."),
    ] = None
    thinking: Thinking = None
    confidence: Confidence = None


class SalArtVQAScorer:
    """See `lookcheck.dataset_builders.scores.scorer.Scorer`."""

    command = "salart-vqa"
    summary = "Score SalArt-VQA: artifacts seen, and located and explained, beside the constant baseline."
    references_help = "row_id or id, image_role or role, q1_answer … q4_answer or q1 … q4."
    predictions_help = "row_id or id, q1 … q4."
    options: type[Any] = ScoreOptions
    beside: tuple[str, ...] = ("no_image",)

    def read_references(self, path: Path) -> dict[str, JsonRecord]:
        """The keys of a file, or of the configuration `images` of a built folder."""
        if not path.is_dir():
            return read_records(path, ID_KEYS)[0]
        from lookcheck.dataset_builders.parquet import reader

        columns = ["image_role", *(f"{question}_answer" for question in QUESTIONS)]
        return reader.read_records(
            reader.open_folder(path, NAME),
            columns,
            id_column="row_id",
            optional=["artifact_type", "pair_id"],
            configs=["images"],
        )

    def score(
        self,
        references: dict[str, JsonRecord],
        source: str,
        predictions: Path,
        system: str,
        options: ScoreOptions,
    ) -> Report:
        """The paper's figures with both baselines, by artifact type and with what was missing."""
        from lookcheck.metrics.salart_chain import compute
        from lookcheck.metrics.salart_chain.parsing import PARSERS

        if options.parser not in PARSERS:
            raise InputError(f"--parser is {options.parser!r}; expected one of {', '.join(PARSERS)}")
        answers, notes = _read_answers(predictions, references, source)
        if absent := sum(row not in answers for row in references):
            notes.append(
                f"images without a record, counted as wrong: {share(absent, len(references))} "
                f"(in {predictions})"
            )
        blind = None
        if options.no_image:
            blind, replaced = _read_answers(options.no_image[0], references, source)
            notes += replaced
        keys = {row: _reference(record) for row, record in references.items()}
        groups, types = _traits(references, keys, notes)
        result: Mapping[str, Any] = computed(
            lambda: compute(
                [_answers(answers.get(row)) for row in references],
                list(keys.values()),
                ids=list(references),
                groups=groups,
                artifact_types=types,
                no_image=None
                if blind is None
                else [blind[row].text("q4", missing="") if row in blind else "" for row in references],
                parser=options.parser,
                thinking=options.thinking,
                confidence=options.confidence,
            ),
            lambda row: compute([_answers(None)], [keys[row]], ids=[row]),
            placed(references),
            placed(answers),
            placed(blind or {}),
        )
        return report_of("SalArt-VQA, percent", system, result, [*notes, *count_notes(result)])


SCORER = SalArtVQAScorer()


def metric_name(name: str) -> str:
    """A metric's key as words, ``"artifact_all_2_4"`` as ``"artifact: Q2 to Q4 all right"``."""
    group, _, chain = name.partition("_")
    return f"{group}: {_CHAINS[chain]}"


def report_of(title: str, system: str, result: Mapping[str, Any], notes: list[str]) -> Report:
    """The figures of a result beside its two baselines (attribution has none), and by artifact type."""
    from lookcheck.metrics.salart_chain import METRICS, SINGLE

    counts = result["counts"]
    images = counts["roles"]["artifact"]
    own = [Cell(result[name], counts[name]["total"], interval_of(result, name)) for name in METRICS]
    broken = "failure_attribution"
    own += [Cell(result[broken][name], images, interval_of(result, broken, name)) for name in _BREAKS]
    own += [Cell(result[name], images, interval_of(result, name)) for name in _CROSS]
    lines = [Line(MODEL, "", own, system)]
    for policy, shown in _POLICIES.items():
        found = result["baselines"][policy]
        cells = [Cell(found[name], counts[name]["total"]) for name in METRICS]
        lines.append(Line(BASELINE, policy, [*cells, *[Cell(None)] * (len(_BREAKS) + len(_CROSS))], shown))
    columns = {name: metric_name(name) for name in METRICS} | _BREAKS | _CROSS
    alone = [
        Line(
            kind,
            name,
            [
                Cell(
                    found[figure],
                    counts[figure]["total"],
                    interval_of(found, figure) if kind == MODEL else None,
                )
                for figure in SINGLE
            ],
            shown,
        )
        for kind, name, found, shown in (
            (MODEL, "", result, system),
            *((BASELINE, name, result["baselines"][name], shown) for name, shown in _POLICIES.items()),
        )
    ]
    single = {name: name.replace("_q", ": Q") for name in SINGLE}
    tables = [
        Table(title, columns, lines, figures_down=True),
        Table("Each question alone, percent", single, alone, figures_down=True),
    ]
    if by_type := result["by_artifact_type"]:
        parts = [
            Line(
                "artifact_type",
                name,
                [
                    Cell(
                        part[figure],
                        part["counts"]["artifact_q1"]["total"],
                        interval_of(result, "by_artifact_type", name, figure),
                    )
                    for figure in _OF_A_TYPE
                ],
            )
            for name, part in by_type.items()
        ]
        tables.append(Table("Artifact images by type, percent", _OF_A_TYPE, parts, counted=True))
    return Report(system, tables, result, notes)


def count_notes(result: Mapping[str, Any]) -> list[str]:
    """Sentences about what was scored, what was missing and what could not be read."""
    counts = result["counts"]
    roles = counts["roles"]
    notes = [
        f"{counts['n']} images: {roles['artifact']} artifact, {roles['clean_reference']} real, "
        f"{roles['paired_generated_counterpart']} generated; {counts['questions']} questions"
    ]
    constant = [result["baselines"]["constant"][name] for name in ("overall_all_1_4", "overall_all_2_4")]
    if None not in constant:
        notes.append(
            'Do not rank by the overall rows: "no, E, E, E" without looking reaches '
            f"{100 * constant[0]:.2f} and {100 * constant[1]:.2f} there"
        )
    for kind in ("missing", "unparsed"):
        if sum(counts[kind].values()):
            each = ", ".join(f"{question.upper()} {n}" for question, n in counts[kind].items())
            notes.append(f"{kind} answers, counted as wrong: {sum(counts[kind].values())} ({each})")
    if counts["ignored_q1"]:
        notes.append(
            f"answers to Q1 of generated counterparts, never asked and ignored: {counts['ignored_q1']}"
        )
    notes += thinking_notes(result) + interval_notes(result)
    control = result["no_image"]
    if control is not None:
        shares = {
            name: "none" if control[name] is None else f"{100 * control[name]:.2f} %"
            for name in ("picks_f", "accuracy", "agreement")
        }
        notes.append(
            f"Q4 without the image: {shares['picks_f']} pick F; of the other {control['counts']['rest']}, "
            f"{shares['accuracy']} right and {shares['agreement']} as with the image"
        )
    return notes


def _read_answers(
    path: Path, references: Mapping[str, JsonRecord], source: str
) -> tuple[dict[str, JsonRecord], list[str]]:
    """Answers by id, and a note where a later record of an id replaced one."""
    answers, repeated = read_records(path, ID_KEYS, last_wins=True)
    refuse_unknown(answers, references, source)
    note = f"records replaced by a later one of the same id: {repeated} (in {path})"
    return answers, [note] if repeated else []


def _traits(
    references: Mapping[str, JsonRecord], keys: Mapping[str, Mapping[str, str]], notes: list[str]
) -> tuple[list[str] | None, list[str | None] | None]:
    """Pairs and artifact types, each only where all rows have it; what is left out is noted."""
    pairs = [record.text("pair_id", missing="") for record in references.values()]
    types = {
        row: record.text("artifact_type", missing="")
        for row, record in references.items()
        if keys[row]["role"] == "artifact"
    }
    unpaired = [row for row, pair in zip(references, pairs, strict=True) if not pair]
    lacking = [row for row, kind in types.items() if not kind]
    for name, rows, of, what in (
        ("pair_id", unpaired, len(pairs), "no groups in the rows"),
        ("artifact_type", lacking, len(types), "no figures by type"),
    ):
        if 0 < len(rows) < of:
            notes.append(f"no {name}, so {what}: {share(len(rows), of)} (id {rows[0]!r})")
    typed = bool(types) and not lacking
    return pairs if all(pairs) else None, [types.get(row) for row in references] if typed else None


def _reference(record: JsonRecord) -> dict[str, str]:
    role = "image_role" if "image_role" in record.fields else "role"
    answer = "_answer" if "q2_answer" in record.fields else ""
    reference = {"role": record.text(role)}
    for question in QUESTIONS:
        # Q1 is null where it is not asked; the metric refuses a gap anywhere else.
        reference[question] = record.text(question + answer, missing="")
    return reference


def _answers(record: JsonRecord | None) -> dict[str, str]:
    if record is None:
        return dict.fromkeys(QUESTIONS, "")
    if not any(question in record.fields for question in QUESTIONS):
        raise InputError(f"{record.where}: id {record.id!r} has none of the fields q1, q2, q3, q4")
    return {question: record.text(question, missing="") for question in QUESTIONS}
