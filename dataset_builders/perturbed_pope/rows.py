"""From a job to a row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.folder.upright import upright
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.constants import BY_NAME
from lookcheck.dataset_builders.perturbed_pope.instances import Photo
from lookcheck.dataset_builders.perturbed_pope.questions import Question


@dataclass(frozen=True)
class RowJob:
    """One row; its picture is made already."""

    question: Question
    condition: str
    picture: Path | None
    seed: int | None
    mask: dict[str, Any] | None
    fraction: float | None
    no_instance: bool
    tiny_entity: bool
    donor: str | None
    donor_box: tuple[int, int, int, int] | None
    photo: Photo


def row_id(question: Question, condition: str) -> str:
    """Id of a row: its parent's in `original`, with the condition behind it elsewhere."""
    return question.id if condition == "original" else f"{question.id}-{condition}"


def make_row(job: RowJob) -> dict[str, Any]:
    """Row of a job."""
    question, condition = job.question, BY_NAME[job.condition]
    image = None
    if job.picture is not None:
        data, suffix, _ = upright(job.picture.read_bytes(), whole=False)
        stem = Path(question.image).stem
        name = f"{stem}-{question.entity.replace(' ', '_')}" if condition.of_entity else stem
        image = {"bytes": data, "path": f"{name}{suffix}"}
    swapped = condition.operator == "entity_swap"
    return {
        "id": row_id(question, job.condition),
        "parent_id": question.id,
        "split": question.split,
        "image": image,
        "question": question.text,
        "question_unknown_option": constants.UNKNOWN_OPTION.format(question=question.text),
        "question_open_ended": constants.OPEN_ENDED,
        # What was asked for has been taken away and something else put there.
        "answer": "no" if swapped else question.label,
        "entity": question.entity,
        "condition": job.condition,
        "strength": condition.strength,
        "seed": job.seed,
        "mask_rle": job.mask,
        "masked_fraction": job.fraction,
        "no_instance": job.no_instance,
        "tiny_entity": job.tiny_entity,
        "donor": job.donor,
        "donor_box": None if job.donor_box is None else list(map(float, job.donor_box)),
        "image_id": job.photo.id,
        "license": job.photo.license,
        "license_url": job.photo.license_url,
        "source_url": job.photo.source_url,
    }
