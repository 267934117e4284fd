"""Pictures of an external editor for `entity_swap`: a folder and a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.core.images import load, reason
from lookcheck.dataset_builders.core.jsonl import read_jsonl
from lookcheck.dataset_builders.core.masks import Rle, decode
from lookcheck.dataset_builders.perturbed_pope.perturbations import union

# An edit must change this share of the object's pixels, by more than these levels of 255.
SMALLEST_CHANGE = 0.1
FAINTEST = 16

Pair = tuple[str, str]
"""File name of a photograph, and the asked object."""


@dataclass(frozen=True)
class Edited:
    """One edited picture: its file, what was put there if that is known, and its line."""

    path: Path
    donor: str | None
    where: str


def read_edited(folder: Path, manifest: Path, categories: Mapping[str, str]) -> dict[Pair, Edited]:
    """Read the manifest of edited pictures.

    Parameters
    ----------
    folder : Path
    manifest : Path
        JSON Lines: ``image`` (file name of the photograph), ``entity`` (the object that was taken away),
        ``file`` (below `folder`), and ``donor`` (what stands in its place) if that is known.
    categories : mapping
        From each known category to its supercategory.

    Returns
    -------
    dict of (str, str) to Edited

    Raises
    ------
    IntegrityError
        With every bad record, by line.
    InputError
        If a file can't be read, or there is no record.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder (edited images)")
    found: dict[Pair, Edited] = {}
    faults: list[Fault] = []
    for number, record in read_jsonl(manifest):
        where = f"{manifest.name}:{number}"
        fields = [record.get(name) for name in ("image", "entity", "file")]
        donor = record.get("donor")
        if not all(isinstance(value, str) and value and value.isprintable() for value in fields):
            faults.append(Fault(where, "edited", f"needs image, entity and file as strings: {record!r}"))
            continue
        image, entity, name = map(str, fields)
        path = (folder / name).resolve()
        if entity not in categories:
            faults.append(Fault(where, "edited", f"unknown category {entity!r}"))
        elif donor is not None and (not isinstance(donor, str) or donor == entity):
            faults.append(
                Fault(where, "edited", f"donor must be another thing than {entity!r}, not {donor!r}")
            )
        elif not path.is_relative_to(folder.resolve()) or not path.is_file():
            faults.append(Fault(where, "edited", f"no file {name!r} in {folder}"))
        elif (image, entity) in found:
            message = f"{entity!r} in {image} stands twice, first at {found[image, entity].where}"
            faults.append(Fault(where, "duplicate-edited", message))
        else:
            found[image, entity] = Edited(path, donor, where)
    if faults:
        raise IntegrityError(str(manifest), faults)
    if not found:
        raise InputError(f"{manifest}: no edited picture")
    return found


@dataclass(frozen=True)
class EditJob:
    """An edited picture to be looked at, beside its photograph and the masks of the object."""

    edited: Path
    photo: Path
    masks: tuple[Rle, ...]


def inspect_edit(job: EditJob) -> bool | str:
    """Whether the object was changed, or what is wrong with the picture.

    It was not if under `SMALLEST_CHANGE` of its pixels are off by more than `FAINTEST` in any channel: so is
    a photograph that an editor gave back, saved anew or not. Without a mask one such pixel is enough.
    """
    try:
        made = load(job.edited)
    except Exception as error:  # Pillow raises many kinds for a broken file
        return f"can't be decoded ({reason(error)})"
    photo = load(job.photo)
    if made.shape != photo.shape:
        (height, width), (high, wide) = made.shape[:2], photo.shape[:2]
        return f"is {width} × {height}, but {job.photo.name} {wide} × {high}"
    changed = (np.abs(made.astype(np.int16) - photo) > FAINTEST).any(2)
    if not job.masks:
        return bool(changed.any())
    return float(changed[union(map(decode, job.masks), changed.shape)].mean()) >= SMALLEST_CHANGE
