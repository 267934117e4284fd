"""`lookcheck score salart-vqa`: chains of answers to SalArt-VQA's four questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.dataset_builders.scores.report import Report
from lookcheck.metrics.salart_chain import METRICS, compute
from lookcheck.metrics.salart_chain.parsing import PARSERS, QUESTIONS
from lookcheck.scripts import console
from lookcheck.scripts.score.report import emit

ID_KEYS = ("row_id", "id")
_CHAINS = {"q1": "Q1", "all_1_4": "Q1 to Q4 all right", "all_2_4": "Q2 to Q4 all right"}
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


def metric_name(name: str) -> str:
    """A metric's key as words, ``"artifact_all_2_4"`` as ``"artifact: Q2 to Q4 all right"``."""
    group, _, chain = name.partition("_")
    return f"{group}: {_CHAINS[chain]}"


def report_of(title: str, system: str, result: dict[str, Any], notes: list[str]) -> Report:
    """The figures of a result beside its two baselines; attribution has no baseline."""
    own = [result[name] for name in METRICS]
    own += [result["failure_attribution"][name] for name in _BREAKS]
    own += [result[name] for name in _CROSS]
    blank = [None] * (len(_BREAKS) + len(_CROSS))
    constant, random = result["baselines"]["constant"], result["baselines"]["random"]
    return Report(
        title=title,
        columns=[*map(metric_name, METRICS), *_BREAKS.values(), *_CROSS.values()],
        rows=[
            (system, own),
            ("no, E, E, E", [*(constant[name] for name in METRICS), *blank]),
            ("random", [*(random[name] for name in METRICS), *blank]),
        ],
        notes=notes,
        result=result,
        figures_down=True,
    )


def salart_vqa(
    labels: Annotated[
        Path,
        typer.Option(
            help="A built folder, or JSON Lines: row_id or id, image_role or role, q1_answer … q4_answer or "
            "q1 … q4."
        ),
    ],
    predictions: Annotated[Path, typer.Option(help="JSON Lines: row_id or id, q1 … q4.")],
    parser: Annotated[str, typer.Option(help="How answers are read: strict or json.")] = "strict",
    no_image: Annotated[
        Path | None, typer.Option(help="JSON Lines: row_id or id, q4 answered without the image (A to F).")
    ] = None,
    output: Annotated[list[Path] | None, typer.Option(help="Also write here; .json or .csv.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON instead.")] = False,
) -> None:
    """Score SalArt-VQA: artifacts seen, and located and explained, beside the constant baseline."""
    outputs = output or []
    console.check_outputs(outputs, [labels, predictions, no_image])
    if parser not in PARSERS:
        raise InputError(f"--parser is {parser!r}; expected one of {', '.join(PARSERS)}")
    keys = _built_labels(labels) if labels.is_dir() else read_records(labels, ID_KEYS)[0]
    answers, repeated = read_records(predictions, ID_KEYS, last_wins=True)
    refuse_unknown(answers, keys, str(labels))
    notes = []
    if repeated:
        notes.append(f"records replaced by a later one of the same id: {repeated} (in {predictions})")
    absent = sum(row not in answers for row in keys)
    if absent:
        notes.append(f"images without a record, counted as wrong: {absent} of {len(keys)} (in {predictions})")
    blind = None
    if no_image is not None:
        blind, replaced = read_records(no_image, ID_KEYS, last_wins=True)
        refuse_unknown(blind, keys, str(labels))
        if replaced:
            notes.append(f"records replaced by a later one of the same id: {replaced} (in {no_image})")
    references = [_reference(record) for record in keys.values()]
    types = [record.text("artifact_type", missing="") for record in keys.values()]
    groups = [record.text("pair_id", missing="") for record in keys.values()]
    typed = all(kind for kind, key in zip(types, references, strict=True) if key["role"] == "artifact")
    try:
        result = compute(
            [_answers(answers[row]) if row in answers else dict.fromkeys(QUESTIONS, "") for row in keys],
            references,
            ids=list(keys),
            groups=groups if all(groups) else None,
            artifact_types=types if typed and any(types) else None,
            no_image=None
            if blind is None
            else [blind[row].text("q4", missing="") if row in blind else "" for row in keys],
            parser=parser,
        )
    except ValueError as error:
        raise InputError(f"{labels}: {error}") from None
    emit(
        report_of("SalArt-VQA, percent", predictions.stem, result, [*notes, *count_notes(result)]),
        as_json=as_json,
        outputs=outputs,
    )


def count_notes(result: dict[str, Any]) -> list[str]:
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


def _built_labels(path: Path) -> dict[str, JsonRecord]:
    """The keys of a built folder, from its configuration `images`; pictures are not read."""
    from lookcheck.dataset_builders.parquet import reader

    columns = ["image_role", *(f"{question}_answer" for question in QUESTIONS)]
    return reader.read_records(
        reader.open_folder(path, "salart_vqa"),
        columns,
        id_column="row_id",
        optional=["artifact_type", "pair_id"],
        configs=["images"],
    )


def _reference(record: JsonRecord) -> dict[str, str]:
    role = "image_role" if "image_role" in record.fields else "role"
    answer = "_answer" if "q2_answer" in record.fields else ""
    reference = {"role": record.text(role)}
    for question in QUESTIONS:
        # Q1 is null where it is not asked; the metric refuses a gap anywhere else.
        reference[question] = record.text(question + answer, missing="")
    return reference


def _answers(record: JsonRecord) -> dict[str, str]:
    if not any(question in record.fields for question in QUESTIONS):
        raise InputError(f"{record.where}: id {record.id!r} has none of the fields q1, q2, q3, q4")
    return {question: record.text(question, missing="") for question in QUESTIONS}


if __name__ == "__main__":
    app = console.new_app("Score SalArt-VQA.")
    app.command()(salart_vqa)
    console.run(app)
