"""From a job to a row: what the processes of a build run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import exif_transpose
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.core.masks import decode
from lookcheck.dataset_builders.parquet.plan import Row
from lookcheck.dataset_builders.vistaqa import pixels
from lookcheck.dataset_builders.vistaqa.records import parse_record


@dataclass(frozen=True)
class RecordJob:
    """One sample of the upstream layout, by its files: small, whatever the masks weigh."""

    annotation: Path
    images: Path

    @property
    def id(self) -> str:
        """The sample's id: the stem of the annotation's name."""
        return self.annotation.stem


def make_rows(job: RecordJob, *, overlays: bool = True) -> dict[str, list[Row]]:
    """Row of a sample that has passed `integrity`, under the stem of its shards, which is the task.

    Returns
    -------
    dict
        One row with the columns of `plan.features`; pictures as ``{"bytes": …, "path": name}``.
    """
    record, faults = parse_record(job.id, read_json(job.annotation))
    if record is None:
        raise InputError(f"{job.annotation}: changed while the data set was built ({faults[0]})")
    data = (job.images / record.file_name).read_bytes()
    image, suffix, _ = exif_transpose(data, whole=False)
    masks = [decode(item.rle) for item in record.instances]
    row: Row = {
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
        "masks_rle": [item.rle for item in record.instances],
        "boxes": [list(item.box) for item in record.instances],
    }
    if overlays:
        row["evidence_overlay"] = (
            {"bytes": pixels.overlay_jpeg(image, masks), "path": f"{record.id}_overlay.jpg"}
            if masks
            else None
        )
    return {record.task: [row]}
