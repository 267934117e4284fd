"""`lookcheck score perturbed-pope`: answers about perturbed pictures beside the original's answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.metrics.perturbed_pope import ORIGINAL, PARSERS, UNPARSED, compute
from lookcheck.scripts import console
from lookcheck.scripts.score.perturbed_pope_table import report
from lookcheck.scripts.score.report import emit

NAN = float("nan")
ABSENT: dict[str, Any] = {"logp_yes": NAN, "logp_no": NAN, "entity_rank": 0, "entity_prob": NAN}


def perturbed_pope(
    references: Annotated[
        Path,
        typer.Option(
            help="A built folder, or JSON Lines: id, label or answer, condition, split, and parent_id on a "
            "perturbed row; group if known."
        ),
    ],
    predictions: Annotated[
        Path,
        typer.Option(
            help="JSON Lines: id, text, and if taken logp_yes, logp_no, entity_rank (1 the most probable), "
            "entity_prob."
        ),
    ],
    parser: Annotated[str, typer.Option(help="How answers are read: strict or official.")] = "strict",
    unparsed: Annotated[
        str, typer.Option(help="Answers that can't be read: wrong, or drop to leave them out.")
    ] = "wrong",
    condition: Annotated[
        list[str] | None,
        typer.Option(help="Score this condition only, beside original; repeatable. Default: all."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Show this split. Default: the mean over the splits.")
    ] = None,
    output: Annotated[list[Path] | None, typer.Option(help="Write *.json or *.csv; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Score answers to perturbed POPE, and three policies that never look beside them."""
    outputs = output or []
    console.check_outputs(outputs, [references, predictions])
    for name, value, allowed in (("parser", parser, PARSERS), ("unparsed", unparsed, UNPARSED)):
        if value not in allowed:
            raise InputError(f"--{name} is {value!r}; expected one of {', '.join(allowed)}")
    labels = _built_labels(references) if references.is_dir() else read_records(references)[0]
    given, _ = read_records(predictions)
    refuse_unknown(given, labels, str(references))
    notes = []
    if condition:
        chosen = _chosen(labels, condition, references)
        if other := sum(row not in chosen for row in given):
            notes.append(f"{other:,} predictions of other conditions are not scored")
        labels = chosen
    notes += _missing(labels, given, parser, unparsed, predictions)
    try:
        result = compute(
            [_prediction(given.get(row)) for row in labels],
            [_reference(record) for record in labels.values()],
            ids=list(labels),
            groups=_groups(labels),
            parser=parser,
            unparsed=unparsed,
        )
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(str(error)) from None
    emit(report(result, notes, split), as_json=as_json, outputs=outputs)


def _chosen(
    labels: dict[str, JsonRecord], conditions: Sequence[str], references: Path
) -> dict[str, JsonRecord]:
    known = dict.fromkeys(record.text("condition") for record in labels.values())
    for name in conditions:
        if name not in known:
            raise InputError(f"--condition is {name!r}; {references} has {', '.join(known)}")
    kept = {ORIGINAL, *conditions}
    return {row: record for row, record in labels.items() if record.fields["condition"] in kept}


def _missing(
    labels: dict[str, JsonRecord], given: dict[str, JsonRecord], parser: str, unparsed: str, predictions: Path
) -> list[str]:
    """A note on rows without an answer, or an error where a rule would make something else of them."""
    absent = [row for row in labels if row not in given or given[row].fields.get("text") is None]
    if not absent:
        return []
    shown = ", ".join(map(repr, absent[:5])) + (", …" if len(absent) > 5 else "")
    rule = "--parser official reads them as yes" if parser == "official" else ""
    if not rule and unparsed == "drop":
        rule = "--unparsed drop leaves them out"
    if rule:
        raise InputError(
            f"{predictions}: {len(absent):,} of {len(labels):,} rows have no text (id {shown}) and {rule}; "
            'answer them, write "" where the model said nothing, or name the conditions with --condition'
        )
    return [f"{len(absent):,} of {len(labels):,} rows have no text, counted as wrong (id {shown})"]


def _prediction(record: JsonRecord | None) -> dict[str, Any]:
    if record is None:
        return {"text": "", **ABSENT}
    if not any(name in record.fields for name in ("text", *ABSENT)):
        raise InputError(
            f"{record.where}: id {record.id!r} has none of the fields {', '.join(('text', *ABSENT))}"
        )
    values = {name: record.fields.get(name) for name in ABSENT}
    return {
        "text": record.text("text", missing=""),
        **{name: ABSENT[name] if value is None else value for name, value in values.items()},
    }


def _reference(record: JsonRecord) -> dict[str, str]:
    names = [name for name in ("label", "answer") if name in record.fields]
    if len(names) != 1:
        raise InputError(
            f"{record.where}: id {record.id!r} needs one field 'label' or 'answer', "
            f"found {names or sorted(record.fields)}"
        )
    return {
        "label": record.text(names[0]),
        "condition": record.text("condition"),
        "parent_id": record.text("parent_id", missing=""),
        "split": record.text("split"),
    }


def _groups(labels: dict[str, JsonRecord]) -> list[Any] | None:
    groups = [record.fields.get("group") for record in labels.values()]
    return None if all(group is None for group in groups) else groups


def _built_labels(path: Path) -> dict[str, JsonRecord]:
    """The labels of every configuration of a built folder; pictures are not read."""
    from lookcheck.dataset_builders.parquet import reader

    folder = reader.open_folder(path, "perturbed_pope")
    columns = ["parent_id", "answer", "condition", "image_id"]
    records = reader.read_records(
        folder, columns, optional=["split", "category"], configs=list(folder.configs)
    )
    for record in records.values():
        category = record.fields.pop("category")
        record.fields["split"] = record.fields["split"] if category is None else category
        record.fields["group"] = record.fields.pop("image_id")
    return records


if __name__ == "__main__":
    app = console.new_app("Score perturbed POPE.")
    app.command()(perturbed_pope)
    console.run(app)
