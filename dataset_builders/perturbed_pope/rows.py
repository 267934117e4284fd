"""From a picture to the rows that show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS, ORIGINAL
from lookcheck.dataset_builders.perturbed_pope.instances import Photo
from lookcheck.dataset_builders.perturbed_pope.perturbations import image_key
from lookcheck.dataset_builders.perturbed_pope.pictures import Made, PictureJob, make_picture
from lookcheck.dataset_builders.perturbed_pope.questions import Question


@dataclass(frozen=True)
class Asked:
    """A question with what its masks say.

    Attributes
    ----------
    question : Question
    no_instance : bool
        Answered yes, but the object has no mask.
    tiny : bool
        Answered yes, and the masks have under 32 × 32 pixels together.
    """

    question: Question
    no_instance: bool
    tiny: bool


@dataclass(frozen=True)
class RowsJob:
    """A picture, its photograph and all questions, of any split, that are asked about it."""

    picture: PictureJob
    photo: Photo
    asked: tuple[Asked, ...]

    def of_split(self, split: str) -> RowsJob:
        """The same picture with the questions of one split."""
        return replace(self, asked=tuple(asked for asked in self.asked if asked.question.split == split))


def stem_of(condition: str, split: str) -> str:
    """Start of the names of the files for a condition and split."""
    return f"{condition}-{split}"


def row_id(question: Question, condition: str) -> str:
    """Id of a row: its parent's in `original`, with the condition behind it elsewhere."""
    return question.id if condition == ORIGINAL else f"{question.id}-{condition}"


def make_rows(job: RowsJob) -> dict[str, list[dict[str, Any]]]:
    """Make the picture of a job once, and the rows that show it: from stem to rows."""
    made = make_picture(job.picture)
    rows: dict[str, list[dict[str, Any]]] = {}
    for asked in job.asked:
        stem = stem_of(job.picture.condition, asked.question.split)
        rows.setdefault(stem, []).append(_row(job, asked, made))
    return rows


def _row(job: RowsJob, asked: Asked, made: Made) -> dict[str, Any]:
    question, condition, photo = asked.question, CONDITIONS[job.picture.condition], job.photo
    piece, edited = job.picture.cut_out, job.picture.edited
    name = image_key(question.image)
    if condition.needs_masks:
        name += "-" + question.entity.replace(" ", "_")
    if condition.name != ORIGINAL:
        name += "-" + condition.name
    return {
        "id": row_id(question, condition.name),
        "parent_id": question.id,
        "split": question.split,
        "image": None if made.data is None else {"bytes": made.data, "path": name + made.suffix},
        "question": question.text,
        "question_unknown_option": constants.UNKNOWN_OPTION.format(question=question.text),
        "question_open_ended": constants.OPEN_ENDED,
        # What was asked for has been taken away and something else put there.
        "answer": "no" if condition.removes else question.label,
        "entity": question.entity,
        "condition": condition.name,
        "strength": condition.strength,
        "seed": job.picture.seed,
        "mask_rle": made.mask,
        "masked_fraction": made.fraction,
        "no_instance": asked.no_instance,
        "tiny_entity": asked.tiny,
        "donor": piece.category if piece else edited.donor if edited else None,
        "donor_box": None if made.box is None else list(map(float, made.box)),
        "donor_image": piece.image if piece else None,
        "donor_instance": piece.instance if piece else None,
        "image_id": photo.id,
        "image_name": question.image,
        "license": photo.license,
        "license_url": photo.license_url,
        "credit": photo.credit,
        "source_url": photo.source_url,
    }
