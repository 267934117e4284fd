"""From a job to a row: what the processes of a build run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import encode, exif_transpose
from lookcheck.dataset_builders.parquet.plan import Row
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.overlay import draw_boxes
from lookcheck.dataset_builders.salart_vqa.records import TRAITS, SalArtRecord, as_sent


class Picture(TypedDict):
    """An image file and the name it goes by."""

    bytes: bytes
    path: str


@dataclass(frozen=True)
class ChainJob:
    """One image and its chain.

    Attributes
    ----------
    where : str
        File and line or row, for messages.
    fields : mapping
        The columns of upstream, without the pictures.
    image : Path or None
        None only with a problem.
    overlay : Path or None
        Upstream's picture with four boxes; None if it is to be drawn from ``q3_boxes``.
    problems : tuple of str
        What is wrong with the pictures' places.
    """

    where: str
    fields: Mapping[str, Any]
    image: Path | None
    overlay: Path | None
    problems: tuple[str, ...] = ()

    @property
    def role(self) -> str:
        """The role as the source states it, or ""."""
        value = self.fields.get("role" if "role" in self.fields else "image_role")
        return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class RowsJob:
    """One image that has passed `integrity`: its record, its pictures, and how many are written anew."""

    record: SalArtRecord
    image: Path
    overlay: Path | None
    anew: int = 0

    def make(self) -> tuple[Picture, Picture]:
        """The image and the picture of q3, each made once."""
        image = _stored(self.image, self.record.id)
        if self.overlay is not None:
            return image, _stored(self.overlay, f"{self.record.id}_q3")
        return image, _drawn(image["bytes"], self.record)


def _stored(path: Path, name: str) -> Picture:
    data, suffix, _ = exif_transpose(path.read_bytes(), whole=False)
    return {"bytes": data, "path": f"{name}{suffix}"}


def _drawn(data: bytes, record: SalArtRecord) -> Picture:
    if record.boxes is None:
        raise InputError(f"{record.id}: no overlay and no boxes to draw one from")
    with Image.open(io.BytesIO(data)) as plain:
        # A photograph as PNG would weigh several times as much.
        kind = "JPEG" if plain.format == "JPEG" else "PNG"
        drawn = encode(draw_boxes(plain, record.boxes), kind, quality=95)
    return {"bytes": drawn, "path": f"{record.id}_q3{'.jpg' if kind == 'JPEG' else '.png'}"}


def make_rows(job: RowsJob) -> dict[str, list[Row]]:
    """Rows of one image: one of `images`, and one of `questions` for each question asked."""
    record = job.record
    image, overlay = job.make()
    # With the boxes for q3 alone: elsewhere they would give the region away.
    shown = {question: overlay if question == constants.BOXED else image for question in record.asked}
    return {
        "images": [_image_row(record, image, overlay)],
        "questions": [_question_row(record, question, shown[question]) for question in record.asked],
    }


def _image_row(record: SalArtRecord, image: Picture, overlay: Picture) -> Row:
    return {
        "row_id": record.id,
        "image_role": record.role,
        "image": image,
        "q3_overlay_image": overlay,
        "q3_boxes": None if record.boxes is None else {name: list(box) for name, box in record.boxes.items()},
        **{f"{question}_prompt": record.prompts[question] for question in constants.QUESTIONS},
        "q2_options": dict(record.options["q2"]),
        "q4_options": dict(record.options["q4"]),
        **{f"{question}_answer": record.answers[question] for question in constants.QUESTIONS},
        "system_prompt": record.system_prompt,
        **{trait: getattr(record, trait) for trait in TRAITS},
    }


def _question_row(record: SalArtRecord, question: str, picture: Picture) -> Row:
    """One request, with the picture that goes with it."""
    options = record.options.get(question)
    return {
        "id": f"{record.id}_{question}",
        "row_id": record.id,
        "question_type": question,
        "image_role": record.role,
        "image": picture,
        "system_prompt": record.system_prompt,
        "prompt": as_sent(record.prompts[question] or "", options),
        "options": dict(options) if options is not None else None,
        "answer": record.answers[question],
        **{trait: getattr(record, trait) for trait in TRAITS},
    }
