"""`lookcheck score vqa`: soft accuracy of short answers against several annotators' answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, iterate_records, stands_twice
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
from lookcheck.dataset_builders.scores.scorer import Confidence, Thinking, computed

ID_KEYS = ("id", "question_id")
FIGURES = {"soft_vqa_acc": "soft accuracy", "exact_match": "exact match"}
TYPES = ("question_type", "answer_type")
# Distinct texts that are kept once; a file may hold millions that stand nowhere else.
_SHARED = 1 << 16


@dataclass(frozen=True)
class ScoreOptions:
    """The fields are options of the command."""

    mode: Annotated[str, typer.Option(help="official (what leaderboards mean), ungated or simple.")] = (
        "official"
    )
    exact_match: Annotated[
        str, typer.Option(help="Exact match with any reference answer or the most_frequent one.")
    ] = "any"
    missing: Annotated[
        str,
        typer.Option(help="Missing answers: wrong, or compared like any string, as the official code does."),
    ] = "wrong"
    thinking: Thinking = None
    confidence: Confidence = None


@dataclass
class Questions:
    """The references in columns: a million of them as records would take ten times the file's room.

    Attributes
    ----------
    index : dict of str to int
        From id to place.
    places : list of str
        File and line.
    answers : list of list of str
    types : dict of str to list
        By name of the field, None where a question has none.
    """

    index: dict[str, int] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)
    answers: list[list[str]] = field(default_factory=list)
    types: dict[str, list[str | None]] = field(default_factory=lambda: {key: [] for key in TYPES})


class SoftVQAScorer:
    """See `lookcheck.dataset_builders.scores.scorer.Scorer`."""

    command = "vqa"
    summary = "Score short answers with VQA soft accuracy, and two blind baselines beside them."
    references_help = (
        "id or question_id, answers, question_type and answer_type if known; also VQA v2's annotations."
    )
    predictions_help = "id or question_id, and prediction or answer; also VQA v2's results."
    options: type[Any] = ScoreOptions
    beside: tuple[str, ...] = ()

    def read_references(self, path: Path) -> Questions:
        """The annotators' answers and the types."""
        found, shared = Questions(), _Shared()
        for record in iterate_records(path, ID_KEYS):
            if record.id in found.index:
                raise stands_twice(record, found.places[found.index[record.id]])
            found.index[record.id] = len(found.index)
            found.places.append(record.where)
            found.answers.append([shared[text] for text in reference_answers(record)])
            for key, values in found.types.items():
                values.append(None if record.fields.get(key) is None else shared[record.text(key)])
        return found

    def score(
        self, references: Questions, source: str, predictions: Path, system: str, options: ScoreOptions
    ) -> Report:
        """The score with the baselines beside it."""
        from lookcheck.metrics.soft_vqa_acc import compute

        answers = references.answers
        texts: list[str | None] = [None] * len(answers)
        places: dict[str, str] = {}
        shared = _Shared()
        for record in iterate_records(predictions, ID_KEYS):
            if record.id not in references.index:
                raise InputError(f"{record.where}: the id {record.id!r} is not in {source}")
            if record.id in places:
                raise stands_twice(record, places[record.id])
            places[record.id] = record.where
            texts[references.index[record.id]] = shared[prediction(record)]
        ids = list(references.index)
        chosen: dict[str, Any] = {
            "mode": options.mode,
            "exact_match": options.exact_match,
            "missing": options.missing,
            "thinking": options.thinking,
            "confidence": options.confidence,
        }
        result: Mapping[str, Any] = computed(
            lambda: compute(
                [text or "" for text in texts],
                answers,
                ids=ids,
                question_types=_types(references, "question_type"),
                answer_types=_types(references, "answer_type"),
                **chosen,
            ),
            lambda id: compute(["a"], [answers[references.index[id]]], ids=[id], **chosen),
            lambda id: references.places[references.index[id]] if id in references.index else None,
            places.get,
        )
        n = len(answers)
        lines = [
            Line(
                MODEL,
                "",
                [Cell(result[figure], n, interval_of(result, figure)) for figure in FIGURES],
                system,
            )
        ]
        for name, found in result["baselines"].items():
            title = "always yes"
            if name == "most_frequent":
                title = f"always {found['answer']!r}, the most frequent reference answer"
            lines.append(Line(BASELINE, name, [Cell(found[figure], n) for figure in FIGURES], title))
        tables = [Table("VQA soft accuracy, percent", FIGURES, lines)]
        for kind in TYPES:
            if parts := result[f"by_{kind}"]:
                typed = [
                    Line(
                        kind,
                        name,
                        [Cell(part["score"], part["n"], interval_of(result, f"by_{kind}", name, "score"))],
                    )
                    for name, part in parts.items()
                ]
                title = f"By {kind.replace('_', ' ')}, percent"
                tables.append(Table(title, {"soft_vqa_acc": "soft accuracy"}, typed, counted=True))
        return Report(system, tables, result, _notes(result, options, n, len(places)))


SCORER = SoftVQAScorer()


class _Shared(dict[str, str]):
    """Equal texts as one, the first so many of them."""

    def __missing__(self, text: str) -> str:
        if len(self) < _SHARED:
            self[text] = text
        return text


def reference_answers(record: JsonRecord) -> list[str]:
    """The annotators' answers: strings, or objects with ``answer`` as in the VQA files."""
    answers = record.fields.get("answers")
    if not isinstance(answers, list) or not answers:
        raise InputError(
            f"{record.where}: id {record.id!r} has answers {answers!r}; expected a list of at least one"
        )
    texts: list[str] = []
    for answer in answers:
        text = answer.get("answer") if isinstance(answer, dict) else answer
        if not isinstance(text, str):
            raise InputError(
                f"{record.where}: id {record.id!r} has the reference answer {answer!r}; expected a string"
            )
        texts.append(text)
    return texts


def prediction(record: JsonRecord) -> str:
    """The predicted answer; null is refused, "" is a missing answer."""
    found = [key for key in ("prediction", "answer") if key in record.fields]
    if len(found) != 1:
        raise InputError(
            f"{record.where}: id {record.id!r} needs one field 'prediction' or 'answer', "
            f"found {found or sorted(record.fields)}"
        )
    return record.text(found[0])


def _types(questions: Questions, key: str) -> list[str] | None:
    """One type a question, or None where the file has none; some with and some without is an error."""
    types = questions.types[key]
    known = [type for type in types if type is not None]
    if len(known) == len(types):
        return known
    if known:
        lacking = types.index(None)
        id = list(questions.index)[lacking]
        raise InputError(f"{questions.places[lacking]}: id {id!r} has no {key!r}")
    return None


def _notes(result: Mapping[str, Any], options: ScoreOptions, n: int, given: int) -> list[str]:
    notes = [f"{n:,} questions; exact match with {options.exact_match.replace('_', ' ')} reference answer"]
    became = "scored 0" if options.missing == "wrong" else 'compared as ""'
    if absent := n - given:
        notes.append(f"{share(absent, n)} questions have no prediction: {became}")
    if blank := result["counts"]["missing"] - absent:
        notes.append(f"{share(blank, given)} predictions are empty: {became}")
    return notes + thinking_notes(result) + interval_notes(result)
