"""From a job to a row: what the processes of a build run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import upright
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.core.masks import runs_to_mask, runs_to_rle
from lookcheck.dataset_builders.vistaqa import pixels
from lookcheck.dataset_builders.vistaqa.records import Record, parse_record


@dataclass(frozen=True)
class RecordJob:
    """One sample of the upstream layout, by its files: small, whatever the masks weigh."""

    annotation: Path
    images: Path

    @property
    def id(self) -> str:
        """The sample's id: the stem of the annotation's name."""
        return self.annotation.stem


def make_row(job: RecordJob, *, overlays: bool = True) -> dict[str, Any]:
    """Row of a sample that has passed `integrity`."""
    record, faults = parse_record(job.id, read_json(job.annotation))
    if record is None:
        raise InputError(f"{job.annotation}: changed while the data set was built ({faults[0]})")
    return record_row(record, (job.images / record.file_name).read_bytes(), overlays=overlays)


def record_row(record: Record, data: bytes, *, overlays: bool = True) -> dict[str, Any]:
    """Row of a record and the bytes of its image file.

    Returns
    -------
    dict
        The columns of `builder.features`; pictures as ``{"bytes": …, "path": name}``.
    """
    image, suffix, _ = upright(data, whole=False)
    masks = [runs_to_mask(item.runs, *item.size) for item in record.instances]
    row: dict[str, Any] = {
        "id": record.id,
        "image": {"bytes": image, "path": f"{record.id}{suffix}"},
        "question": record.question,
        "answer": record.answer,
        "task": record.task,
        "domain": record.domain,
        "task_raw": record.task_raw,
        "domain_raw": record.domain_raw,
        "has_evidence": bool(masks),
        "num_instances": len(masks),
        "masks": [
            {"bytes": pixels.mask_png(mask), "path": f"{record.id}_mask{number}.png"}
            for number, mask in enumerate(masks)
        ],
        "masks_rle": [runs_to_rle(item.runs, *item.size) for item in record.instances],
        "boxes": [list(item.box) for item in record.instances],
    }
    if overlays:
        row["evidence_overlay"] = (
            {"bytes": pixels.overlay_jpeg(image, masks), "path": f"{record.id}_overlay.jpg"}
            if masks
            else None
        )
    return row
