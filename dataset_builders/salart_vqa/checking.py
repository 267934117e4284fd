"""The rules of SalArt-VQA on the rows of a built folder."""

from __future__ import annotations

import hashlib
from typing import Any

from lookcheck.dataset_builders.errors import Fault
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.integrity import Inspection, across, check_pictures
from lookcheck.dataset_builders.salart_vqa.records import Record, as_sent, parse_record


class SalArtVQAChecker:
    """Looks at each row, then at all together; see `folder.check.Checker`."""

    def __init__(self) -> None:
        self._seen: list[Inspection] = []
        self._records: dict[str, Record] = {}
        self._questions: dict[str, dict[str, Any]] = {}

    def row(self, row: dict[str, Any]) -> list[Fault]:
        """Faults of one row of either configuration, whose labels are names and whose pictures are bytes."""
        return self._question(row) if "question_type" in row else self._image(row)

    def _image(self, row: dict[str, Any]) -> list[Fault]:
        id = str(row.get("row_id"))
        missing = [name for name in ("image", "q3_overlay_image") if row.get(name) is None]
        if missing:
            return [Fault(id, "null", f"without a value: {', '.join(missing)}")]
        record, faults = parse_record(id, row)
        if record is None:
            return faults
        image = row["image"]["bytes"]
        faults += check_pictures(record, image, row["q3_overlay_image"]["bytes"])
        content = hashlib.sha256(image).hexdigest()
        self._seen.append(Inspection(record.id, (), record.role, record.asked, record.pair_id, content))
        self._records[record.id] = record
        return faults

    def _question(self, row: dict[str, Any]) -> list[Fault]:
        id = str(row.get("id"))
        needed = ("id", "row_id", "question_type", "image_role", "image", "prompt", "answer")
        if missing := [name for name in needed if row.get(name) is None]:
            return [Fault(id, "null", f"without a value: {', '.join(missing)}")]
        if id in self._questions:
            return [Fault(id, "duplicate-id", "this id stands twice")]
        # Without its picture: 3,681 rows must fit in memory.
        self._questions[id] = {name: value for name, value in row.items() if name != "image"}
        wanted = f"{row['row_id']}_{row['question_type']}"
        return [] if id == wanted else [Fault(id, "id", f"must be {wanted}")]

    def finish(self) -> list[Fault]:
        """Faults across rows, and between the two configurations."""
        faults = across(self._seen, allow_partial=True)
        asked = {f"{id}_{question}" for id, record in self._records.items() for question in record.asked}
        for id in sorted(asked - self._questions.keys()):
            faults.append(Fault(id, "question-missing", "images asks it, but questions lacks it"))
        for id, row in self._questions.items():
            if id not in asked:
                faults.append(Fault(id, "question-unasked", "questions has it, but images does not ask it"))
                continue
            faults += _compare(id, row, self._records[row["row_id"]])
        return faults


def _compare(id: str, row: dict[str, Any], record: Record) -> list[Fault]:
    question = row["question_type"]
    if question not in constants.QUESTIONS:
        return []
    options = record.options.get(question)
    prompt = record.prompts[question]
    stated = row["options"]
    if stated is not None and not any(stated.values()):
        stated = None
    pairs = (
        ("image_role", row["image_role"], record.role),
        ("answer", row["answer"], record.answers[question]),
        ("options", stated, None if options is None else dict(options)),
        ("prompt", row["prompt"], None if prompt is None else as_sent(prompt, options)),
    )
    return [
        Fault(id, "question-differs", f"{name} is {found!r}, but images gives {wanted!r}")
        for name, found, wanted in pairs
        if found != wanted
    ]
