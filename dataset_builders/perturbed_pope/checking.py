"""The rules of perturbed POPE on the rows of a built folder."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.core.errors import Fault
from lookcheck.dataset_builders.core.masks import decode
from lookcheck.dataset_builders.perturbed_pope.constants import BY_NAME, Condition
from lookcheck.dataset_builders.perturbed_pope.perturbations import black

REQUIRED = (
    "id",
    "parent_id",
    "split",
    "question",
    "question_unknown_option",
    "question_open_ended",
    "answer",
    "entity",
    "condition",
    "no_instance",
    "tiny_entity",
    "image_id",
    "image_name",
)


class PerturbedPopeChecker:
    """Looks at each row, then at all together; see `folder.check.Checker`."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Any]] = {}
        # Of each original, by its file: width, height and digest of the pixels outside no mask.
        self._sizes: dict[str, tuple[int, int]] = {}
        self._pictures: dict[tuple[str, ...], tuple[bytes, str]] = {}

    def row(self, row: dict[str, Any]) -> list[Fault]:
        """Faults of one row, whose labels are names and whose pictures are bytes."""
        id = str(row.get("id"))
        missing = [name for name in REQUIRED if row.get(name) is None]
        if missing:
            return [Fault(id, "null", f"without a value: {', '.join(missing)}")]
        if id in self._rows:
            return [Fault(id, "duplicate-id", "this id stands twice")]
        kept = (
            "parent_id",
            "split",
            "answer",
            "entity",
            "condition",
            "question",
            "no_instance",
            "image_name",
        )
        self._rows[id] = {name: row[name] for name in kept}
        condition = BY_NAME.get(row["condition"])
        if condition is None:
            return [Fault(id, "condition", f"unknown condition {row['condition']!r}")]
        faults = []
        wanted = row["parent_id"] if condition.name == "original" else f"{row['parent_id']}-{condition.name}"
        if id != wanted or not id.startswith(f"{row['split']}-"):
            faults.append(Fault(id, "id", f"must be {wanted} and begin with the split {row['split']!r}"))
        if row["strength"] != condition.strength:
            faults.append(Fault(id, "strength", f"{row['strength']} is not {condition.strength}"))
        if condition.operator == "noise" and row["seed"] is None:
            faults.append(Fault(id, "seed", "noise without a seed"))
        if (row["image"] is None) != (condition.operator == "text_only"):
            faults.append(Fault(id, "image", "no_image has no picture, and all others have one"))
        elif row["image"] is not None:
            faults += self._picture(id, row, condition)
        return faults

    def _picture(self, id: str, row: dict[str, Any], condition: Condition) -> list[Fault]:
        data = row["image"]["bytes"]
        key: tuple[str, ...] = (row["condition"], row["image_name"])
        if condition.of_entity:
            key += (row["entity"],)
        digest = hashlib.sha256(data).digest()
        if key in self._pictures:
            # The same picture has been looked at, unless it is another one.
            first, other = self._pictures[key]
            same = first == digest
            return [] if same else [Fault(id, "picture-differs", f"not the picture of {other}")]
        self._pictures[key] = (digest, id)
        with Image.open(io.BytesIO(data)) as image:
            size, pixels = image.size, np.asarray(image.convert("RGB"))
        if condition.name == "original":
            self._sizes[row["image_name"]] = size
        elif self._sizes.get(row["image_name"], size) != size:
            stated = self._sizes[row["image_name"]]
            return [
                Fault(id, "image-size", f"{size[0]} × {size[1]}, but its original {stated[0]} × {stated[1]}")
            ]
        if condition.of_entity:
            return _check_masked(id, row, condition.operator, pixels)
        gone = condition.operator == "black_image"
        if condition.operator == "black":
            kept = black(np.ones_like(pixels), condition.strength or 0.0).astype(bool)
            gone = bool(pixels[~kept].any())
            return [Fault(id, "pixels", "a pixel that must be black is not")] if gone else []
        if gone and pixels.any():
            return [Fault(id, "pixels", "the picture is not black")]
        return []

    def finish(self) -> list[Fault]:
        """Faults across rows: a row without its parent, or at odds with it."""
        faults = []
        for id, row in self._rows.items():
            condition = BY_NAME.get(row["condition"])
            if condition is None or condition.name == "original":
                continue
            parent = self._rows.get(row["parent_id"])
            if parent is None or parent["condition"] != "original":
                faults.append(Fault(id, "parent", f"no row {row['parent_id']} in original"))
                continue
            if condition.of_entity and (parent["answer"] != "yes" or parent["no_instance"]):
                faults.append(
                    Fault(id, "parent", f"{condition.name} needs a parent answered yes with a mask")
                )
            wanted = dict(parent, answer="no" if condition.operator == "entity_swap" else parent["answer"])
            for name in ("answer", "entity", "split", "question", "no_instance", "image_name"):
                if row[name] != wanted[name]:
                    message = f"{name} is {row[name]!r}, but {wanted[name]!r} follows from {row['parent_id']}"
                    faults.append(Fault(id, "parent-differs", message))
        return faults


def _check_masked(id: str, row: dict[str, Any], operator: str, pixels: np.ndarray) -> list[Fault]:
    rle = row["mask_rle"]
    if rle is None or rle["size"] is None or rle["counts"] is None:
        return [Fault(id, "mask", f"{operator} without mask_rle")]
    if rle["size"] != list(pixels.shape[:2]):
        return [Fault(id, "mask", f"a mask of {rle['size']} on a picture of {list(pixels.shape[:2])}")]
    try:
        mask = decode(rle)
    except ValueError as error:
        return [Fault(id, "mask", str(error))]
    faults = []
    if not mask.any():
        faults.append(Fault(id, "mask", "the mask has no pixel"))
    if operator != "entity_swap" and pixels[mask].any():
        faults.append(Fault(id, "pixels", "a pixel of the mask is not black"))
    if row["masked_fraction"] is None or abs(float(mask.mean()) - row["masked_fraction"]) > 1e-9:
        faults.append(Fault(id, "masked-fraction", f"{row['masked_fraction']} is not {mask.mean()}"))
    if operator == "entity_swap" and row["donor"] == row["entity"]:
        faults.append(Fault(id, "donor", f"{row['donor']!r} stands in its own place"))
    return faults
