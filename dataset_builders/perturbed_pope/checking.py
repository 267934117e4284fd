"""The rules of perturbed POPE on the rows of a built folder: each picture is made again and compared."""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping
from tempfile import TemporaryFile
from typing import Any

from lookcheck.dataset_builders.core import images
from lookcheck.dataset_builders.core.errors import Fault
from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.core.masks import Mask, Rle, decode, extent
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS, ORIGINAL, Condition, Given
from lookcheck.dataset_builders.perturbed_pope.perturbations import image_key, seed_of

Row = Mapping[str, Any]

REQUIRED = (
    "id",
    "parent_id",
    "category",
    "question",
    "question_unknown_option",
    "question_open_ended",
    "answer",
    "answer_upstream",
    "entity",
    "condition",
    "no_instance",
    "tiny_entity",
    "image_id",
    "image_name",
)
KEPT = (
    "parent_id",
    "category",
    "answer",
    "answer_upstream",
    "entity",
    "condition",
    "question",
    "no_instance",
    "image_name",
    "seed",
)

# What rows of one picture say of it.
FACTS = ("mask_rle", "masked_fraction", "donor", "donor_box", "donor_image", "donor_instance", "image_id")


class PerturbedPopeChecker:
    """Looks at each row, then at all together; see `parquet.check.Checker`.

    Rows of `original` come first: all others are compared with them.
    """

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Any]] = {}
        self._originals = _Originals()
        # Of each distinct picture its digest and the row that showed it first.
        self._pictures: dict[tuple[str, ...], tuple[bytes, str]] = {}
        # From photograph and object to the masks of its conditions.
        self._masks: dict[tuple[str, str], dict[str, tuple[str, Rle]]] = defaultdict(dict)

    def row(self, row: dict[str, Any]) -> list[Fault]:
        """Faults of one row, whose labels are names and whose pictures are bytes."""
        id = str(row.get("id"))
        missing = [name for name in REQUIRED if row.get(name) is None]
        if missing:
            return [Fault(id, "null", f"without a value: {', '.join(missing)}")]
        if id in self._rows:
            return [Fault(id, "duplicate-id", "this id stands twice")]
        self._rows[id] = {name: row[name] for name in KEPT}
        condition = CONDITIONS.get(row["condition"])
        if condition is None:
            return [Fault(id, "condition", f"unknown condition {row['condition']!r}")]
        return [Fault(id, rule, message) for rule, message in self._row(id, row, condition)]

    def _row(self, id: str, row: Row, condition: Condition) -> Iterator[tuple[str, str]]:
        wanted = row["parent_id"] if condition.name == ORIGINAL else f"{row['parent_id']}-{condition.name}"
        if id != wanted or not id.startswith(f"{row['category']}-"):
            yield "id", f"must be {wanted} and begin with the category {row['category']!r}"
        if row["strength"] != condition.strength:
            yield "strength", f"{row['strength']} is not {condition.strength}"
        names = (image_key(row["image_name"]), *([row["entity"]] if condition.needs_masks else []))
        seed = seed_of(*names, condition.name) if condition.seeded else None
        # An edited picture has no seed.
        if row["seed"] != seed and not (condition.pastes and row["seed"] is None):
            yield "seed", f"{row['seed']} is not {seed}, which follows from the names"
        elif (row["image"] is None) == condition.has_picture:
            yield "image", f"{condition.name} has {'a' if condition.has_picture else 'no'} picture"
        elif row["image"] is not None:
            yield from self._picture(id, row, condition)

    def _picture(self, id: str, row: Row, condition: Condition) -> Iterator[tuple[str, str]]:
        data, name = row["image"]["bytes"], row["image_name"]
        key = (condition.name, name, *([row["entity"]] if condition.needs_masks else []))
        found = hashlib.sha256(data + repr([row[fact] for fact in FACTS]).encode()).digest()
        digest, first = self._pictures.setdefault(key, (found, id))
        if first != id:
            # The same picture has been looked at, unless it is another one.
            if digest != found:
                yield "picture-differs", f"not the picture of {first}, or with another of {', '.join(FACTS)}"
            return
        if condition.name == ORIGINAL:
            self._originals.add(name, data)
            if row["masked_fraction"] != 0:
                yield "masked-fraction", f"{row['masked_fraction']} is not 0"
            return
        original, made = self._originals.pixels(name), images.decode(data)
        if original is None:
            yield "original-missing", f"no picture of {name} stands before it in {ORIGINAL}"
        elif made.shape != original.shape:
            (height, width), (high, wide) = made.shape[:2], original.shape[:2]
            yield "image-size", f"{width} × {height}, but its original {wide} × {high}"
        else:
            yield from self._compare(id, row, condition, original, made)

    def _compare(
        self, id: str, row: Row, condition: Condition, original: Pixels, made: Pixels
    ) -> Iterator[tuple[str, str]]:
        masks: list[Mask] = []
        if condition.needs_masks:
            try:
                masks.append(_mask_of(row["mask_rle"], made))
            except ValueError as error:
                yield "mask", str(error)
                return
            self._masks[row["image_name"], row["entity"]][condition.name] = (id, row["mask_rle"])
        given = Given(masks, row["seed"])
        yield from (("pixels", message) for message in condition.differs(original, made, given))
        fraction = condition.again(original, given).fraction
        if row["masked_fraction"] is None or abs(fraction - row["masked_fraction"]) > 1e-9:
            yield "masked-fraction", f"{row['masked_fraction']} is not {fraction}"
        if condition.pastes and row["donor"] == row["entity"]:
            yield "donor", f"{row['donor']!r} stands in its own place"
        if row["donor_box"] is not None:
            (height, width), (x, y, w, h) = made.shape[:2], row["donor_box"]
            if min(x, y) < 0 or min(w, h) <= 0 or x + w > width or y + h > height:
                yield "donor-box", f"{row['donor_box']} leaves the picture of {width} × {height}"

    def finish(self) -> list[Fault]:
        """Faults across rows: a row without its parent, or at odds with it, and masks at odds."""
        faults = [
            Fault(id, rule, message)
            for id, row in self._rows.items()
            if row["condition"] in CONDITIONS and row["condition"] != ORIGINAL
            for rule, message in self._against_parent(row, CONDITIONS[row["condition"]])
        ]
        for found in self._masks.values():
            faults += _masks_at_odds(found, self._rows)
        return faults

    def _against_parent(self, row: Row, condition: Condition) -> Iterator[tuple[str, str]]:
        parent = self._rows.get(row["parent_id"])
        if parent is None or parent["condition"] != ORIGINAL:
            yield "parent", f"no row {row['parent_id']} in original"
            return
        if condition.needs_masks and (parent["answer"] != "yes" or parent["no_instance"]):
            yield "parent", f"{condition.name} needs a parent answered yes with a mask"
        wanted = dict(parent, answer="no" if condition.removes else parent["answer"])
        for name in (
            "answer",
            "answer_upstream",
            "entity",
            "category",
            "question",
            "no_instance",
            "image_name",
        ):
            if row[name] != wanted[name]:
                message = f"{name} is {row[name]!r}, but {wanted[name]!r} follows from {row['parent_id']}"
                yield "parent-differs", message


class _Originals:
    """The files of the originals' pictures, kept on the disk: there may be thousands."""

    def __init__(self) -> None:
        # Closed with the checker: it lives as long.
        self._file = TemporaryFile()  # noqa: SIM115
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, name: str, data: bytes) -> None:
        self._places[name] = (self._file.seek(0, io.SEEK_END), len(data))
        self._file.write(data)

    def pixels(self, name: str) -> Pixels | None:
        """The pixels of a photograph, or None if it is not known."""
        if name not in self._places:
            return None
        start, length = self._places[name]
        self._file.seek(start)
        return images.decode(self._file.read(length))


def _mask_of(rle: Any, made: Pixels) -> Mask:
    if rle is None or rle["size"] is None or rle["counts"] is None:
        raise ValueError("without mask_rle")
    if rle["size"] != list(made.shape[:2]):
        raise ValueError(f"a mask of {rle['size']} on a picture of {list(made.shape[:2])}")
    mask = decode(rle)
    if not mask.any():
        raise ValueError("the mask has no pixel")
    return mask


def _masks_at_odds(found: Mapping[str, tuple[str, Rle]], rows: Mapping[str, Row]) -> Iterator[Fault]:
    """The pixels of the object lie in its boxes, which are no larger, and in what a swap has changed."""
    if "black_mask" not in found:
        return
    mask = decode(found["black_mask"][1])
    for name, (id, rle) in found.items():
        # An edited picture tells only what changed, which need not be all of the object.
        if name == "black_mask" or (CONDITIONS[name].pastes and rows[id]["seed"] is None):
            continue
        other = decode(rle)
        if (mask & ~other).any():
            yield Fault(id, "mask", f"the mask leaves out pixels of {found['black_mask'][0]}")
        elif name == "black_box" and extent(mask) != extent(other):
            yield Fault(id, "mask", f"the boxes reach farther than the mask of {found['black_mask'][0]}")
