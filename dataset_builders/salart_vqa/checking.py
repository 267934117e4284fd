"""The rules of SalArt-VQA on the rows of a built folder."""

from __future__ import annotations

import hashlib
from typing import Any

from lookcheck.dataset_builders.core.errors import Fault
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.integrity import Inspection, across, check_pictures, inspection
from lookcheck.dataset_builders.salart_vqa.records import TRAITS, SalArtRecord, as_sent, parse_record

_IMAGES = ("row_id", "image_role", "image", "q3_overlay_image", "q2_options", "q4_options")
_QUESTIONS = ("id", "row_id", "question_type", "image_role", "image", "prompt", "answer")


class SalArtVQAChecker:
    """Looks at each row, then at all together; see `folder.check.Checker`."""

    def __init__(self) -> None:
        self._seen: list[Inspection] = []
        # From row_id to record and the digests of its image and its overlay.
        self._images: dict[str, tuple[SalArtRecord, str, str]] = {}
        self._questions: dict[str, dict[str, Any]] = {}

    def row(self, row: dict[str, Any]) -> list[Fault]:
        """Faults of one row of either configuration, whose labels are names and whose pictures are bytes."""
        questions = "question_type" in row
        id = str(row.get("id" if questions else "row_id"))
        needed = _QUESTIONS if questions else _IMAGES
        if missing := [name for name in needed if row.get(name) is None]:
            return [Fault(id, "null", f"without a value: {', '.join(missing)}")]
        return self._question(id, row) if questions else self._image(id, row)

    def _image(self, id: str, row: dict[str, Any]) -> list[Fault]:
        # A struct that is null comes back from some readers as a struct of nulls.
        boxes = row.get("q3_boxes")
        if isinstance(boxes, dict) and not any(boxes.values()):
            boxes = None
        record, faults = parse_record(id, {**row, "q3_boxes": boxes})
        if record is None:
            return faults
        image, overlay = row["image"]["bytes"], row["q3_overlay_image"]["bytes"]
        faults += check_pictures(record, image, overlay)
        if record.id in self._images:
            faults.append(Fault(record.id, "duplicate-id", "this row_id stands twice"))
            return faults
        self._seen.append(inspection(record, image))
        self._images[record.id] = (record, _digest(image), _digest(overlay))
        return faults

    def _question(self, id: str, row: dict[str, Any]) -> list[Fault]:
        if id in self._questions:
            return [Fault(id, "duplicate-id", "this id stands twice")]
        # The digest in place of the picture: thousands of rows must fit in memory.
        self._questions[id] = {**row, "image": _digest(row["image"]["bytes"])}
        wanted = f"{row['row_id']}_{row['question_type']}"
        return [] if id == wanted else [Fault(id, "id", f"must be {wanted}")]

    def finish(self) -> list[Fault]:
        """Faults across rows, and between the two configurations."""
        faults = across(self._seen, allow_partial=True)
        asked = {
            f"{id}_{question}": (id, question)
            for id, (record, *_) in self._images.items()
            for question in record.asked
        }
        for id in asked:
            if id not in self._questions:
                faults.append(Fault(id, "question-missing", "images asks it, but questions lacks it"))
        for id, row in self._questions.items():
            if asked.get(id) != (row["row_id"], row["question_type"]):
                faults.append(Fault(id, "question-unasked", "questions has it, but images does not ask it"))
            else:
                faults += _compare(id, row, *self._images[row["row_id"]])
        return faults


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _compare(id: str, row: dict[str, Any], record: SalArtRecord, image: str, overlay: str) -> list[Fault]:
    question = row["question_type"]
    options = record.options.get(question)
    prompt = record.prompts[question]
    stated = row.get("options")
    if isinstance(stated, dict) and not any(stated.values()):
        stated = None
    pairs = [
        ("image_role", row["image_role"], record.role),
        ("answer", row["answer"], record.answers[question]),
        ("options", stated, None if options is None else dict(options)),
        ("prompt", row["prompt"], None if prompt is None else as_sent(prompt, options)),
        ("system_prompt", row.get("system_prompt"), record.system_prompt),
        *((trait, row.get(trait), getattr(record, trait)) for trait in TRAITS),
    ]
    faults = [
        Fault(id, "question-differs", f"{name} is {found!r}, but images gives {wanted!r}")
        for name, found, wanted in pairs
        if found != wanted
    ]
    if row["image"] != (overlay if question == constants.BOXED else image):
        column = "q3_overlay_image" if question == constants.BOXED else "image"
        faults.append(Fault(id, "question-picture", f"the picture is not {column} of images"))
    return faults
