"""From files of answers to the folder of a run: read, join, and write, all or nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.requests.replies import told_apart
from lookcheck.dataset_builders.requests.request import Answer
from lookcheck.scripts import console
from lookcheck.scripts.models.store import Header
from lookcheck.scripts.predict.importing.formats import FormatName, read_answers
from lookcheck.scripts.predict.importing.given import Given
from lookcheck.scripts.predict.importing.joining import Place, join
from lookcheck.scripts.predict.importing.json_files import read_questions
from lookcheck.scripts.predict.plan import EVIDENCE, Plan, make_plan, narrowed, open_data_set
from lookcheck.scripts.predict.run_folder import PREDICTIONS, Line, RunFolder, line_of_answer
from lookcheck.scripts.predict.session import described, whereabouts
from lookcheck.scripts.predict.settings import Asking
from lookcheck.scripts.predict.work import Assembly

IMPORT = "import"
"""The back end that ``run.json`` names: none of ours."""


def make_run(
    files: Sequence[Path],
    format: FormatName,
    *,
    dataset: str,
    revision: str | None,
    model: str,
    output: Path,
    conditions: Sequence[str],
    splits: Sequence[str] | None,
    questions: Path | None,
    protocol: str | None,
) -> tuple[list[Line], int]:
    """Make a run of answers that were made elsewhere.

    Parameters
    ----------
    files : sequence of Path
    format : str
    dataset : str
        Folder, or name on the Hub.
    revision : str or None
    model : str
    output : Path
    conditions : sequence of str
    splits : sequence of str or None
        One for each file; the run is then of the rows in these alone.
    questions : Path or None
        The questions by the ``question_id`` of the answers.
    protocol : str or None
        By which words are read.

    Returns
    -------
    lines : list of Line
        As they were written, in the data set's order.
    rows : int
        Rows of the run, answered or not.

    Raises
    ------
    InputError
        Naming file and line; nothing was written.
    """
    digests = [_digest(path) for path in files]
    asking = Asking(
        dataset=dataset,
        dataset_revision=revision,
        protocol=protocol or _without_evidence(dataset, revision),
        condition=list(conditions),
    )
    plan = make_plan(asking, by_row=True)
    if splits is not None:
        known = {row.names.split for row in plan.rows}
        if unknown := [split for split in splits if split not in known]:
            there = ", ".join(sorted(filter(None, known))) or "none"
            raise InputError(f"--split {unknown[0]}: the rows of {dataset} have {there}")
        plan = narrowed(plan, {row.id for row in plan.rows if row.names.split in splits})
    asked = None if questions is None else read_questions(questions)
    given = [
        item
        for number, path in enumerate(files)
        for item in read_answers(path, format, split=splits[number] if splits else None, questions=asked)
    ]
    lines = _lines(plan, join(plan.rows, given, ", ".join(map(str, files))))
    header = _header(plan, asking, format, model, files, digests, questions)
    with RunFolder(output, header):
        text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
        console.write_text(output / PREDICTIONS, text)
    return lines, len(plan.rows)


def _without_evidence(dataset: str, revision: str | None) -> str:
    """The first protocol that reads words alone: no segmenter has seen these pictures."""
    found = open_data_set(dataset, revision).data_set.protocols()
    plain = [name for name, item in found.items() if EVIDENCE not in (item.options or {})]
    return (plain or list(found))[0]


def _lines(plan: Plan, found: Mapping[Place, Given]) -> list[Line]:
    """Lines of the rows of which every part is answered."""
    words = next((item for item in found.values() if item.words is not None), None)
    if words is not None and EVIDENCE in (plan.protocol.options or {}):
        raise InputError(
            f"{words.where}: by --protocol {plan.protocol.name} words lead to evidence, which is not looked "
            "for here; give masks in our own lines, or choose a protocol without evidence"
        )
    replies = [
        line_of_answer(f"{plan.rows[place.row].id}/{part}", answer)
        for place, item in found.items()
        for part, answer in _answers(plan, place, item).items()
    ]
    order = {row.id: number for number, row in enumerate(plan.rows)}
    made = Assembly(plan).add(replies)
    return [line for _, line in sorted(made, key=lambda pair: order[pair[0].id])]


def _answers(plan: Plan, place: Place, item: Given) -> dict[str, Answer]:
    if item.fields is not None:
        # A line of fields is the whole row's.
        parts = plan.rows[place.row].requests
        return {part: Answer(fields=item.fields if part == place.part else {}) for part in parts}
    if item.failure is not None:
        return {place.part: Answer(failure=item.failure)}
    raw = item.words or ""
    text, reasoning = told_apart(raw)
    return {place.part: Answer(raw=raw, text=text, reasoning=reasoning)}


def _header(
    plan: Plan,
    asking: Asking,
    format: FormatName,
    model: str,
    files: Sequence[Path],
    digests: Sequence[str],
    questions: Path | None,
) -> Header:
    told: dict[str, Json] = {
        "backend": IMPORT,
        "model": model,
        "imported": True,
        "format": format,
        "sha256": list(digests),
        "questions": None if questions is None else _digest(questions),
    }
    # How it was asked only the other program knows.
    unknown: dict[str, Json] = dict.fromkeys(("thinking", "picture_first", "decoding", "max_new_tokens"))
    deciding: dict[str, Json] = {
        "model": told,
        "packages": {"lookcheck": version("lookcheck")},
        "asked": {"conditions": list(plan.wish.conditions), "no_image": False, **unknown},
        **described(plan),
    }
    return Header(
        deciding=deciding, known={**whereabouts(plan, asking), "files": [path.name for path in files]}
    )


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror or error})") from None
