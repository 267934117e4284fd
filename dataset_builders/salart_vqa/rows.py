"""From a job to a row: what the processes of a build run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import encode, upright
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.overlay import draw_boxes
from lookcheck.dataset_builders.salart_vqa.records import TRAITS, Record, as_sent, parse_record


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
class QuestionJob:
    """One question of a chain."""

    chain: ChainJob
    question: str


def read(job: ChainJob) -> Record:
    """The record of a job that has passed `integrity`."""
    record, faults = parse_record(job.where, job.fields)
    if record is None:
        raise InputError(f"{job.where}: {faults[0]}")
    return record


def picture_of(job: ChainJob, record: Record) -> dict[str, Any]:
    """The image: upright, under the name of its id."""
    if job.image is None:
        raise InputError(f"{job.where}: {'; '.join(job.problems)}")
    data, suffix, _ = upright(job.image.read_bytes(), whole=False)
    return {"bytes": data, "path": f"{record.id}{suffix}"}


def overlay_of(job: ChainJob, record: Record) -> dict[str, Any]:
    """The picture of q3: upstream's own if there is one, else drawn here."""
    if job.overlay is not None:
        data, suffix, _ = upright(job.overlay.read_bytes(), whole=False)
        return {"bytes": data, "path": f"{record.id}_q3{suffix}"}
    if record.boxes is None:
        raise InputError(f"{record.id}: no overlay and no boxes to draw one from")
    image = picture_of(job, record)
    with Image.open(io.BytesIO(image["bytes"])) as plain:
        # A photograph as PNG would weigh several times as much.
        kind = "JPEG" if plain.format == "JPEG" else "PNG"
        data = encode(draw_boxes(plain, record.boxes), kind, quality=95)
    return {"bytes": data, "path": f"{record.id}_q3{'.jpg' if kind == 'JPEG' else '.png'}"}


def image_row(job: ChainJob) -> dict[str, Any]:
    """Row of the configuration `images`: one image and its whole chain."""
    record = read(job)
    return {
        "row_id": record.id,
        "image_role": record.role,
        "image": picture_of(job, record),
        "q3_overlay_image": overlay_of(job, record),
        "q3_boxes": None if record.boxes is None else {name: list(box) for name, box in record.boxes.items()},
        **{f"{question}_prompt": record.prompts[question] for question in constants.QUESTIONS},
        "q2_options": dict(record.options["q2"]),
        "q4_options": dict(record.options["q4"]),
        **{f"{question}_answer": record.answers[question] for question in constants.QUESTIONS},
        "system_prompt": record.system_prompt,
        **{trait: getattr(record, trait) for trait in TRAITS},
    }


def question_row(job: QuestionJob) -> dict[str, Any]:
    """Row of the configuration `questions`: one request, with the picture that goes with it."""
    record, question = read(job.chain), job.question
    options = record.options.get(question)
    prompt, answer = record.prompts[question], record.answers[question]
    assert prompt is not None
    return {
        "id": f"{record.id}_{question}",
        "row_id": record.id,
        "question_type": question,
        "image_role": record.role,
        # With the boxes for q3 alone: elsewhere they would give the region away.
        "image": overlay_of(job.chain, record)
        if question == constants.BOXED
        else picture_of(job.chain, record),
        "system_prompt": record.system_prompt,
        "prompt": as_sent(prompt, options),
        "options": dict(options) if options is not None else None,
        "answer": answer,
        **{trait: getattr(record, trait) for trait in TRAITS},
    }
