"""How answers about perturbed pictures are scored beside the original's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.dataset_builders.perturbed_pope.constants import NAME
from lookcheck.dataset_builders.scores.report import Report, share
from lookcheck.dataset_builders.scores.scorer import Confidence, Thinking, computed, placed

ORIGINAL = "original"
NAN = float("nan")
ABSENT: dict[str, Any] = {"logp_yes": NAN, "logp_no": NAN, "entity_rank": 0, "entity_prob": NAN}


@dataclass(frozen=True)
class ScoreOptions:
    """The fields are options of the command."""

    parser: Annotated[str, typer.Option(help="How answers are read: strict or official.")] = "strict"
    unparsed: Annotated[
        str, typer.Option(help="Answers that can't be read: wrong, or drop to leave them out.")
    ] = "wrong"
    condition: Annotated[
        list[str] | None,
        typer.Option(help="Score this condition only, beside original; repeatable. Default: all."),
    ] = None
    split: Annotated[str | None, typer.Option(help="Show this split. Default: the mean over the splits.")] = (
        None
    )
    thinking: Thinking = None
    confidence: Confidence = None


class PerturbedPOPEScorer:
    """See `lookcheck.dataset_builders.scores.scorer.Scorer`."""

    command = "perturbed-pope"
    summary = "Score answers to perturbed POPE, and three policies that never look beside them."
    references_help = (
        "id, label or answer, condition, split, and parent_id on a perturbed row; group if known."
    )
    predictions_help = (
        "id, text, and if taken logp_yes, logp_no, entity_rank (1 the most probable), entity_prob."
    )
    options: type[Any] = ScoreOptions
    beside: tuple[str, ...] = ()

    def read_references(self, path: Path) -> dict[str, JsonRecord]:
        """The labels of a file, or of every configuration of a built folder."""
        if not path.is_dir():
            return read_records(path)[0]
        from lookcheck.dataset_builders.parquet import reader

        folder = reader.open_folder(path, NAME)
        columns = ["parent_id", "answer", "condition", "image_id"]
        records = reader.read_records(
            folder, columns, optional=["split", "category"], configs=list(folder.configs)
        )
        for record in records.values():
            category = record.fields.pop("category")
            record.fields["split"] = record.fields["split"] if category is None else category
            record.fields["group"] = record.fields.pop("image_id")
        return records

    def score(
        self,
        references: dict[str, JsonRecord],
        source: str,
        predictions: Path,
        system: str,
        options: ScoreOptions,
    ) -> Report:
        """Every condition beside the original, and the policies that never look."""
        from lookcheck.dataset_builders.perturbed_pope.score_tables import report
        from lookcheck.metrics.perturbed_pope import PARSERS, UNPARSED, compute

        for name, value, allowed in (
            ("parser", options.parser, PARSERS),
            ("unparsed", options.unparsed, UNPARSED),
        ):
            if value not in allowed:
                raise InputError(f"--{name} is {value!r}; expected one of {', '.join(allowed)}")
        given, _ = read_records(predictions)
        refuse_unknown(given, references, source)
        notes = []
        labels = references
        if options.condition:
            labels = _chosen(references, options.condition, source)
            if other := sum(row not in labels for row in given):
                notes.append(f"{other:,} predictions of other conditions are not scored")
        absent = [row for row in labels if row not in given or given[row].fields.get("text") is None]
        if absent:
            notes.append(_absent_note(absent, labels, options, predictions))
        wanted = {row: _reference(record) for row, record in labels.items()}
        result: Mapping[str, Any] = computed(
            lambda: compute(
                [_prediction(given.get(row)) for row in labels],
                list(wanted.values()),
                ids=list(labels),
                groups=_groups(labels),
                parser=options.parser,
                unparsed=options.unparsed,
                thinking=options.thinking,
                confidence=options.confidence,
                # Rows without a text are looked after above; "" is what the model said.
                missing="parsed",
            ),
            lambda row: compute([_prediction(None)], [wanted[row]], ids=[row]),
            placed(labels),
            placed(given),
        )
        told = {**result, "signature": f"{result['signature']}|without_text:{len(absent)}"}
        answered = {labels[row].text("condition") for row in labels.keys() - set(absent)}
        return report(system, told, notes, options.split, answered)


SCORER = PerturbedPOPEScorer()


def _chosen(
    labels: Mapping[str, JsonRecord], conditions: Sequence[str], references: str
) -> dict[str, JsonRecord]:
    known = dict.fromkeys(record.text("condition") for record in labels.values())
    for name in conditions:
        if name not in known:
            raise InputError(f"--condition is {name!r}; {references} has {', '.join(known)}")
    kept = {ORIGINAL, *conditions}
    return {row: record for row, record in labels.items() if record.fields["condition"] in kept}


def _absent_note(
    absent: Sequence[str], labels: Mapping[str, JsonRecord], options: ScoreOptions, predictions: Path
) -> str:
    """A note on rows without an answer, or an error where a rule would make something else of them."""
    shown = ", ".join(map(repr, absent[:5])) + (", …" if len(absent) > 5 else "")
    rule = "--parser official reads them as yes" if options.parser == "official" else ""
    if not rule and options.unparsed == "drop":
        rule = "--unparsed drop leaves them out"
    if rule:
        raise InputError(
            f"{predictions}: {len(absent):,} of {len(labels):,} rows have no text (id {shown}) and {rule}; "
            'answer them, write "" where the model said nothing, or name the conditions with --condition'
        )
    return f"{share(len(absent), len(labels))} rows have no text, counted as wrong (id {shown})"


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


def _groups(labels: Mapping[str, JsonRecord]) -> list[Any] | None:
    groups = [record.fields.get("group") for record in labels.values()]
    return None if all(group is None for group in groups) else groups
