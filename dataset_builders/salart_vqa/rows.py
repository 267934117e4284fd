"""From a job to a row: what the processes of a build run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.errors import InputError
from lookcheck.dataset_builders.folder.upright import encode, upright
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
    image : Path
    overlay : Path or None
        Upstream's picture with four boxes; None if it is to be drawn from ``q3_boxes``.
    """

    where: str
    fields: Mapping[str, Any]
    image: Path
    overlay: Path | None


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


def overlay_of(record: Record, image: bytes, overlay: bytes | None) -> tuple[bytes, str, tuple[int, int]]:
    """The picture of q3: upstream's own if there is one, else drawn here.

    Returns
    -------
    bytes
    str
        Ending of the file's name.
    (int, int)
        Width and height in pixels.
    """
    if overlay is not None:
        return upright(overlay)
    if record.boxes is None:
        raise InputError(f"{record.id}: no overlay and no boxes to draw one from")
    with Image.open(io.BytesIO(image)) as plain:
        drawn = draw_boxes(plain, record.boxes)
    return encode(drawn, "PNG"), ".png", drawn.size


def image_row(job: ChainJob) -> dict[str, Any]:
    """Row of the configuration `images`: one image and its whole chain."""
    record = read(job)
    image, suffix, _ = upright(job.image.read_bytes(), whole=False)
    overlay, overlay_suffix, _ = overlay_of(record, image, job.overlay.read_bytes() if job.overlay else None)
    return {
        "row_id": record.id,
        "image_role": record.role,
        "image": {"bytes": image, "path": f"{record.id}{suffix}"},
        "q3_overlay_image": {"bytes": overlay, "path": f"{record.id}_q3{overlay_suffix}"},
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
    image, suffix, _ = upright(job.chain.image.read_bytes(), whole=False)
    name = record.id
    if question == "q3":
        overlay = job.chain.overlay.read_bytes() if job.chain.overlay else None
        image, suffix, _ = overlay_of(record, image, overlay)
        name = f"{record.id}_q3"
    options = record.options.get(question)
    prompt, answer = record.prompts[question], record.answers[question]
    assert prompt is not None
    return {
        "id": f"{record.id}_{question}",
        "row_id": record.id,
        "question_type": question,
        "image_role": record.role,
        "image": {"bytes": image, "path": f"{name}{suffix}"},
        "system_prompt": record.system_prompt,
        "prompt": as_sent(prompt, options),
        "options": dict(options) if options is not None else None,
        "answer": answer,
        **{trait: getattr(record, trait) for trait in TRAITS},
    }
