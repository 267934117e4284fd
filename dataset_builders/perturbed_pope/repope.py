"""RePOPE's corrected labels (arXiv 2504.15707)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.perturbed_pope.questions import Question, QuestionFile


def apply_repope(
    files: Sequence[QuestionFile], corrected: Sequence[QuestionFile]
) -> tuple[tuple[QuestionFile, ...], dict[str, dict[str, int]]]:
    """Take RePOPE's labels, and leave out the questions that RePOPE leaves out as ambiguous.

    Questions are joined by split, image and object, never by line or number.

    Parameters
    ----------
    files : sequence of QuestionFile
    corrected : sequence of QuestionFile
        RePOPE's file of each split of `files`.

    Returns
    -------
    tuple of QuestionFile
    dict
        From split to ``{"changed": int, "left_out": int, "unasked": int}``; the last are corrections of
        questions that the old random file does not have.

    Raises
    ------
    InputError
        If a split has no file of corrections, or two.
    IntegrityError
        If a correction belongs to no question.
    """
    by_split: dict[str, QuestionFile] = {}
    for file in corrected:
        if file.split in by_split:
            raise InputError(f"two RePOPE files for the split {file.split}")
        by_split[file.split] = file
    splits = [file.split for file in files]
    if odd := sorted(set(splits) ^ by_split.keys()):
        raise InputError(
            f"RePOPE's files must be of the same splits as the questions; {', '.join(odd)} stands on one side"
        )
    made, counts = [], {}
    for file in files:
        kept, count = _apply(file, by_split[file.split])
        made.append(kept)
        counts[file.split] = count
    return tuple(made), counts


def _apply(file: QuestionFile, corrected: QuestionFile) -> tuple[QuestionFile, dict[str, int]]:
    labels: dict[tuple[str, str], Question] = {}
    faults = []
    for question in corrected.questions:
        first = labels.setdefault((question.image, question.entity), question)
        if first.label != question.label:
            faults.append(Fault(question.where, "repope", f"another label than {first.where} has"))
    if faults:
        raise IntegrityError("RePOPE", faults)
    asked = {(question.image, question.entity) for question in file.questions}
    stray = [question for pair, question in labels.items() if pair not in asked]
    if stray and not file.is_old_random:
        raise IntegrityError(
            "RePOPE",
            [
                Fault(
                    question.where, "repope", f"no question asks for {question.entity!r} in {question.image}"
                )
                for question in stray
            ],
        )
    kept, changed = [], 0
    for question in file.questions:
        found = labels.get((question.image, question.entity))
        if found is not None:
            changed += found.label != question.label
            own = question.label if question.label != found.label else None
            kept.append(replace(question, label=found.label, corrected_from=own))
    count = {"changed": changed, "left_out": len(file.questions) - len(kept), "unasked": len(stray)}
    return replace(file, questions=tuple(kept)), count
