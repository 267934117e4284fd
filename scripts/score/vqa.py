"""`lookcheck score vqa`: soft accuracy of short answers against several annotators' answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.dataset_builders.scores.report import Report
from lookcheck.metrics.soft_vqa_acc import compute
from lookcheck.scripts import console
from lookcheck.scripts.score.report import emit

ID_KEYS = ("id", "question_id")
COLUMNS = ("soft accuracy", "exact match")


def vqa(
    references: Annotated[
        Path,
        typer.Option(help="JSON Lines: id or question_id, answers, question_type and answer_type if known."),
    ],
    predictions: Annotated[
        Path, typer.Option(help="JSON Lines: id or question_id, and prediction or answer.")
    ],
    mode: Annotated[
        str, typer.Option(help="official (what leaderboards mean), ungated or simple.")
    ] = "official",
    exact_match: Annotated[
        str, typer.Option(help="Exact match with any reference answer or the most_frequent one.")
    ] = "any",
    output: Annotated[list[Path] | None, typer.Option(help="Write *.json or *.csv; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Score short answers with VQA soft accuracy, and two blind baselines beside them."""
    outputs = output or []
    console.check_outputs(outputs, [references, predictions])
    labels, _ = read_records(references, ID_KEYS)
    given, _ = read_records(predictions, ID_KEYS)
    refuse_unknown(given, labels, str(references))
    emit(report(labels, given, mode=mode, exact_match=exact_match), as_json=as_json, outputs=outputs)


def report(
    labels: dict[str, JsonRecord],
    given: dict[str, JsonRecord],
    *,
    mode: str = "official",
    exact_match: str = "any",
) -> Report:
    """The score of `given` with the baseline rows beside it.

    Parameters
    ----------
    labels, given : dict of str to JsonRecord
        References and predictions by id; a question without a prediction is a missing answer.
    mode, exact_match : str
        As in :func:`lookcheck.metrics.soft_vqa_acc.compute`.

    Returns
    -------
    Report
        Its result is the metric's, with ``baselines`` added: name to the two figures.

    Raises
    ------
    InputError
        Naming file, line, id and value.
    """
    answers = [reference_answers(record) for record in labels.values()]
    options: dict[str, Any] = {
        "mode": mode,
        "exact_match": exact_match,
        "ids": list(labels),
        "question_types": types(labels, "question_type"),
        "answer_types": types(labels, "answer_type"),
    }
    texts = [prediction(given[name]) if name in given else "" for name in labels]
    result = _scored(texts, answers, options)
    rows: list[tuple[str, Sequence[float | None]]] = [("predictions", _figures(result))]
    result["baselines"] = {}
    for name, constant in (("always yes", "yes"), _most_frequent(answers)):
        figures = _figures(_scored([constant] * len(answers), answers, options))
        rows.append((name, figures))
        result["baselines"][name] = {"soft_vqa_acc": figures[0], "exact_match": figures[1]}
    for kind in ("question_type", "answer_type"):
        for name, part in result[f"by_{kind}"].items():
            shown = f"{kind.replace('_', ' ')} {name or '(empty)'} (n = {part['n']:,})"
            rows.append((shown, (part["score"], None)))
    notes = [f"{len(labels):,} questions; exact match with {exact_match.replace('_', ' ')} reference answer"]
    if absent := len(labels) - len(given):
        notes.append(f"{absent:,} of {len(labels):,} questions have no prediction: scored as empty answers")
    if blank := result["counts"]["missing"] - absent:
        notes.append(f"{blank:,} of {len(given):,} predictions are empty")
    return Report("VQA soft accuracy, percent", COLUMNS, rows, result, notes)


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


def types(labels: dict[str, JsonRecord], key: str) -> list[str] | None:
    """One type a question, or None where the file has none; some with and some without is an error."""
    having = [record for record in labels.values() if record.fields.get(key) is not None]
    if not having:
        return None
    return [record.text(key) for record in labels.values()]


def _scored(texts: list[str], answers: list[list[str]], options: dict[str, Any]) -> dict[str, Any]:
    try:
        return compute(texts, answers, **options)
    except ValueError as error:
        raise InputError(str(error)) from None


def _figures(result: dict[str, Any]) -> Sequence[float]:
    return (result["soft_vqa_acc"], result["exact_match"])


def _most_frequent(answers: list[list[str]]) -> tuple[str, str]:
    counted = Counter(answer for question in answers for answer in question)
    # Equal counts go by the alphabet, so that the order of the file can't change the baseline.
    text = min(counted, key=lambda answer: (-counted[answer], answer))
    return f"always {text!r}, the most frequent reference answer", text
