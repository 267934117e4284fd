"""Pictures of an external editor for `entity_swap`: a folder and a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.core.images import exif_transpose, reason
from lookcheck.dataset_builders.core.jsonl import read_jsonl

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
        if not all(isinstance(value, str) and value for value in fields):
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


def check_edited(edited: Mapping[Pair, Edited], sizes: Mapping[str, tuple[int, int]]) -> list[Fault]:
    """Faults of edited pictures against their photographs.

    Parameters
    ----------
    edited : mapping
    sizes : mapping
        Width and height of each photograph that a question is about.
    """
    faults = []
    for (image, entity), item in edited.items():
        if image not in sizes:
            faults.append(Fault(item.where, "edited", f"no question is about {image!r} ({entity!r})"))
            continue
        try:
            _, _, size = exif_transpose(item.path.read_bytes())
        except Exception as error:  # Pillow raises many kinds for a broken file
            faults.append(Fault(item.where, "edited", f"{item.path.name} can't be decoded ({reason(error)})"))
            continue
        if size != sizes[image]:
            found, stated = (f"{width} × {height}" for width, height in (size, sizes[image]))
            faults.append(Fault(item.where, "edited", f"{item.path.name} is {found}, but {image} {stated}"))
    return faults
