"""The rules of perturbed POPE on the rows of a built folder."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.errors import Fault
from lookcheck.dataset_builders.perturbed_pope.constants import BY_NAME, SPLITS
from lookcheck.dataset_builders.perturbed_pope.instances import decode
from lookcheck.metrics.grove.masks import to_rle

REQUIRED = (
    "id",
    "parent_id",
    "split",
    "question",
    "answer",
    "entity",
    "condition",
    "no_instance",
    "tiny_entity",
)


class PerturbedPopeChecker:
    """Looks at each row, then at all together; see `folder.check.Checker`."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._answers: dict[str, tuple[str, str]] = {}
        self._children: list[tuple[str, str, str, str, str]] = []

    def row(self, row: dict[str, Any]) -> list[Fault]:
        """Faults of one row, whose labels are names and whose pictures are bytes."""
        id = str(row.get("id"))
        missing = [name for name in REQUIRED if row.get(name) is None]
        if missing:
            return [Fault(id, "null", f"without a value: {', '.join(missing)}")]
        faults = []
        if id in self._ids:
            faults.append(Fault(id, "duplicate-id", "this id stands twice"))
        self._ids.add(id)
        condition = BY_NAME.get(row["condition"])
        if condition is None or row["split"] not in SPLITS:
            place = f"{row['condition']!r}, {row['split']!r}"
            return [*faults, Fault(id, "condition", f"unknown condition or split: {place}")]
        wanted = row["parent_id"] if condition.name == "original" else f"{row['parent_id']}-{condition.name}"
        if id != wanted:
            faults.append(Fault(id, "id", f"must be {wanted}"))
        if row["strength"] != condition.strength:
            faults.append(Fault(id, "strength", f"{row['strength']} is not {condition.strength}"))
        if (row["seed"] is None) == (condition.operator == "noise"):
            faults.append(Fault(id, "seed", f"noise and nothing else has a seed, found {row['seed']!r}"))
        if (row["image"] is None) != (condition.operator == "text_only"):
            faults.append(Fault(id, "image", "only no_image has no picture"))
        elif row["image"] is not None:
            faults += _check_picture(id, row, condition.operator)
        if condition.name == "original":
            self._answers[id] = (row["answer"], row["entity"])
        else:
            self._children.append((id, row["parent_id"], condition.name, row["answer"], row["entity"]))
        return faults

    def finish(self) -> list[Fault]:
        """Faults across rows: a row without its parent, or with another answer or object."""
        faults = []
        for id, parent, condition, answer, entity in self._children:
            if parent not in self._answers:
                faults.append(Fault(id, "parent", f"no row {parent} in original"))
                continue
            stated, asked = self._answers[parent]
            if BY_NAME[condition].of_entity and stated != "yes":
                faults.append(Fault(id, "answer", f"{condition} needs a parent answered yes"))
            wanted = "no" if condition == "entity_swap" else stated
            if answer != wanted or entity != asked:
                message = f"{answer!r} for {entity!r}, but {wanted!r} for {asked!r} follows from {parent}"
                faults.append(Fault(id, "answer", message))
        return faults


def _check_picture(id: str, row: dict[str, Any], operator: str) -> list[Fault]:
    if operator not in ("black_mask", "black_box", "black_image"):
        return []
    with Image.open(io.BytesIO(row["image"]["bytes"])) as image:
        pixels = np.asarray(image.convert("RGB"))
    if operator == "black_image":
        return [Fault(id, "pixels", "the picture is not black")] if pixels.any() else []
    rle = row["mask_rle"]
    if rle is None or rle["size"] is None or rle["counts"] is None:
        return [Fault(id, "mask", f"{operator} without mask_rle")]
    try:
        to_rle(rle)
    except ValueError as error:
        return [Fault(id, "mask", str(error))]
    mask = decode(rle)
    if mask.shape != pixels.shape[:2]:
        return [Fault(id, "mask", f"a mask of {mask.shape} on a picture of {pixels.shape[:2]}")]
    faults = []
    if pixels[mask].any():
        faults.append(Fault(id, "pixels", "a pixel of the mask is not black"))
    if abs(float(mask.mean()) - row["masked_fraction"]) > 1e-9:
        faults.append(Fault(id, "masked-fraction", f"{row['masked_fraction']} is not {mask.mean()}"))
    return faults
