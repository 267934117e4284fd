"""The rules of VistaQA on the rows of a built folder."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.core.errors import Fault
from lookcheck.dataset_builders.core.masks import decode
from lookcheck.dataset_builders.vistaqa.integrity import Inspection, across, check_sizes, content_digest
from lookcheck.dataset_builders.vistaqa.records import canonical, parse_record

REQUIRED = (
    "id",
    "image",
    "question",
    "answer",
    "task",
    "domain",
    "task_raw",
    "domain_raw",
    "has_evidence",
    "num_instances",
    "masks",
    "masks_rle",
    "boxes",
)


class VistaQAChecker:
    """Looks at each row, then at all together; see `folder.check.Checker`."""

    def __init__(self) -> None:
        self._seen: list[Inspection] = []

    def row(self, row: dict[str, Any]) -> list[Fault]:
        """Faults of one row, whose labels are names and whose pictures are bytes."""
        missing = [name for name in REQUIRED if row.get(name) is None]
        if missing:
            return [Fault(str(row.get("id")), "null", f"without a value: {', '.join(missing)}")]
        with Image.open(io.BytesIO(row["image"]["bytes"])) as image:
            size = image.size
        faults = check_row(row, size)
        content = content_digest(row["image"]["bytes"], row["question"])
        self._seen.append(Inspection(row["id"], (), row["task"], row["domain"], row["has_evidence"], content))
        return faults

    def finish(self) -> list[Fault]:
        """Faults across rows: an id or an example that stands twice."""
        return across(self._seen, allow_partial=True)


def check_row(row: dict[str, Any], size: tuple[int, int]) -> list[Fault]:
    """Faults of one built row; `size` is the image's (width, height)."""
    lengths = {name: len(row[name]) for name in ("masks", "masks_rle", "boxes")}
    if len(set(lengths.values())) > 1:
        return [Fault(row["id"], "instance-count", f"the lists differ in length: {lengths}")]
    raw = {
        "image": {"file_name": "image", "width": size[0], "height": size[1]},
        "question": row["question"],
        "answer": row["answer"],
        "task_type": row["task"],
        "task_domain": row["domain"],
        "num_instances": row["num_instances"],
        "hallucination": int(not row["has_evidence"]),
        "annotations": [
            {"segmentation": rle, "bbox": box}
            for rle, box in zip(row["masks_rle"], row["boxes"], strict=True)
        ],
    }
    record, faults = parse_record(row["id"], raw)
    for kind in ("task", "domain"):
        stated = canonical(row[f"{kind}_raw"], kind)
        if stated not in (None, row[kind]):
            message = f"{kind} is {row[kind]!r}, but the raw string says {row[f'{kind}_raw']!r}"
            faults.append(Fault(row["id"], kind, message))
    if record is None:
        return faults
    faults += check_sizes(record, *size)
    for number, (item, picture) in enumerate(zip(record.instances, row["masks"], strict=True)):
        with Image.open(io.BytesIO(picture["bytes"])) as image:
            mode, shown = image.mode, np.asarray(image.convert("L"))
        mask = decode(item.rle) * np.uint8(255)
        if mode != "L" or not np.array_equal(shown, mask):
            message = f"picture {number} of the masks (mode {mode}) is not its RLE as 0 and 255"
            faults.append(Fault(row["id"], "mask-picture", message))
    overlay = row.get("evidence_overlay")
    if "evidence_overlay" in row and (overlay is None) == bool(record.instances):
        message = "an overlay without evidence" if overlay else "evidence without an overlay"
        faults.append(Fault(row["id"], "overlay", message))
    return faults
