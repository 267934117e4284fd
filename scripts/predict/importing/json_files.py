"""Readers of answers in JSON: our own lines, lmms-eval's sample logs, LLaVA's and POPE's answer files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import parse_json, read_text, shorten
from lookcheck.dataset_builders.core.objects import iterate_objects
from lookcheck.scripts.predict.importing.given import Given

# What lines of predictions of a run hold beside the scorer's fields.
_OURS = ("failure", "problem", "raw", "reasoning", "prompt_tokens", "new_tokens")
_PICTURES = ("image", "image_id", "image_name", "image_source", "image_path", "image_file", "file_name")


def read_lookcheck(path: Path) -> Iterator[Given]:
    """Our own JSON Lines: ``id`` and the fields that ``lookcheck score`` reads.

    Raises
    ------
    InputError
        Naming file and line.
    """
    for where, record in iterate_objects(path):
        id = name_of(record, "id", where)
        if id is None:
            raise InputError(f"{where}: has no id")
        if taken := [key for key in _OURS if key in record]:
            raise InputError(f"{where}: id {id!r} has the field {taken[0]!r}, which is ours")
        fields = {key: value for key, value in record.items() if key != "id"}
        if not fields:
            raise InputError(f"{where}: id {id!r} has no answer")
        yield Given(where, fields=fields, ids=(id,))


def read_lmms_eval(path: Path) -> Iterator[Given]:
    """lmms-eval's sample logs: JSON Lines, or the older single object with ``logs``.

    The words are those of ``resps``, before any filter; ``filtered_resps`` where there is no ``resps``.
    ``doc_id`` is the place of a row in lmms-eval's own data and joins nothing.

    Raises
    ------
    InputError
        Naming file and line; also where there are several responses, or likelihoods in place of words.
    """
    for where, record in _logs(path):
        key = next((key for key in ("resps", "filtered_resps") if record.get(key) is not None), None)
        if key is None:
            raise InputError(f"{where}: has neither resps nor filtered_resps")
        doc = record.get("doc")
        if not isinstance(doc, Mapping):
            raise InputError(f"{where}: doc is {shorten(str(doc))}; expected an object")
        prompt = record.get("input")
        yield Given(
            where,
            words=_only_text(record[key], key, where),
            ids=_names(doc, ("id", "row_id"), where),
            number=name_of(doc, "question_id", where),
            splits=splits_of(text_of(doc, "category", where) or text_of(doc, "split", where)),
            question=text_of(doc, "question", where) or (prompt if isinstance(prompt, str) else None),
            pictures=_names(doc, _PICTURES, where),
        )


def read_llava(path: Path) -> Iterator[Given]:
    """LLaVA's answer files: ``question_id``, ``text``, and ``prompt`` and ``image`` where they are kept."""
    for where, record in iterate_objects(path):
        words = text_of(record, "text", where)
        number = name_of(record, "question_id", where)
        if words is None or number is None:
            raise InputError(f"{where}: lacks {'text' if words is None else 'question_id'}")
        yield _asked_by(record, where, words, text_of(record, "prompt", where))


def read_pope(path: Path) -> Iterator[Given]:
    """POPE's answer files: ``question``, ``answer``, and ``image`` or ``question_id`` where they are kept."""
    for where, record in iterate_objects(path):
        words, question = text_of(record, "answer", where), text_of(record, "question", where)
        if words is None or question is None:
            raise InputError(f"{where}: lacks {'answer' if words is None else 'question'}")
        yield _asked_by(record, where, words, question)


def read_questions(path: Path) -> dict[str, Given]:
    """A file of questions by ``question_id``: LLaVA's (``text``, ``image``, ``category``), POPE's the same.

    Raises
    ------
    InputError
        Naming file and line; also where an id stands twice, as POPE's do across splits.
    """
    found: dict[str, Given] = {}
    for where, record in iterate_objects(path):
        number = name_of(record, "question_id", where)
        question = text_of(record, "text", where) or text_of(record, "question", where)
        if number is None or question is None:
            raise InputError(f"{where}: lacks {'question_id' if number is None else 'text'}")
        if number in found:
            raise InputError(
                f"{where}: the question_id {number!r} stands twice, first in {found[number].where}"
            )
        found[number] = _asked_by(record, where, None, question)
    return found


def name_of(record: Mapping[str, Any], key: str, where: str) -> str | None:
    """A name, which may be written as a number; None where it is missing, null or empty."""
    value = record.get(key)
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"{where}: {key} is {shorten(str(value))}; expected a text or an integer")
    return str(value)


def text_of(record: Mapping[str, Any], key: str, where: str) -> str | None:
    """A text; None where it is missing or null."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{where}: {key} is {shorten(str(value))}; expected a text")
    return value


def splits_of(text: str | None) -> tuple[str, ...]:
    """Splits by name: VLMEvalKit asks what several splits share once and names them with commas."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _asked_by(record: Mapping[str, Any], where: str, words: str | None, question: str | None) -> Given:
    return Given(
        where,
        words=words,
        ids=_names(record, ("id",), where),
        number=name_of(record, "question_id", where),
        splits=splits_of(text_of(record, "category", where) or text_of(record, "split", where)),
        question=question,
        pictures=_names(record, _PICTURES, where),
    )


def _names(record: Mapping[str, Any], keys: tuple[str, ...], where: str) -> tuple[str, ...]:
    # A picture that a log tells by its size or its bytes names nothing.
    values = {key: record.get(key) for key in keys}
    told = {key: value for key, value in values.items() if not isinstance(value, Mapping | list)}
    found = (name_of(told, key, where) for key in told)
    return tuple(name for name in found if name is not None)


def _logs(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if path.suffix == ".json":
        text = read_text(path)
        if text.lstrip().startswith("{") and '"logs"' in text:
            whole = parse_json(text, str(path))
            logs = whole.get("logs")
            if not isinstance(logs, list):
                raise InputError(f"{path}: logs is no list")
            for number, log in enumerate(logs):
                where = f"{path} logs[{number}]"
                if not isinstance(log, Mapping):
                    raise InputError(f"{where}: expected an object")
                yield where, log
            return
    yield from iterate_objects(path)


def _only_text(value: object, key: str, where: str) -> str:
    """The one text in lists of lists."""
    inner = value
    while isinstance(inner, list):
        if len(inner) != 1:
            raise InputError(f"{where}: {key} holds {len(inner)} responses; expected one")
        inner = inner[0]
    if not isinstance(inner, str):
        raise InputError(f"{where}: {key} holds {shorten(str(inner))}; expected a text")
    return inner
