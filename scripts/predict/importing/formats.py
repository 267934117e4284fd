"""The formats of answers by name, and what is told of a file beside what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.predict.importing.given import Given
from lookcheck.scripts.predict.importing.json_files import (
    read_llava,
    read_lmms_eval,
    read_lookcheck,
    read_pope,
)
from lookcheck.scripts.predict.importing.tables import read_vlmevalkit

FormatName = Literal["lookcheck", "lmms-eval", "vlmevalkit", "llava", "pope"]

READERS: Mapping[FormatName, Callable[[Path], Iterator[Given]]] = {
    "lookcheck": read_lookcheck,
    "lmms-eval": read_lmms_eval,
    "vlmevalkit": read_vlmevalkit,
    "llava": read_llava,
    "pope": read_pope,
}


def read_answers(
    path: Path, format: FormatName, *, split: str | None = None, questions: Mapping[str, Given] | None = None
) -> Iterator[Given]:
    """Answers of a file with their keys.

    Parameters
    ----------
    path : Path
    format : str
    split : str, optional
        The split that all answers of the file are of, where they don't say.
    questions : mapping of str to Given, optional
        The questions that were asked, by the ``question_id`` of the answers, which then names nothing else.

    Raises
    ------
    InputError
        Naming file and line; also where an answer names another split, or a question that was not asked.
    """
    for item in READERS[format](path):
        if questions is not None:
            item = _asked(item, questions)
        if split is not None:
            if item.splits and item.splits != (split,):
                raise InputError(f"{item.where}: is of {', '.join(item.splits)}, but --split is {split}")
            item = replace(item, splits=(split,))
        yield item


def _asked(item: Given, questions: Mapping[str, Given]) -> Given:
    if item.number is None or item.number not in questions:
        raise InputError(f"{item.where}: the question_id {item.number!r} is not in the file of --questions")
    asked = questions[item.number]
    return replace(
        item,
        ids=asked.ids,
        number=None,
        question=item.question or asked.question,
        pictures=(*item.pictures, *asked.pictures),
        splits=item.splits or asked.splits,
    )
