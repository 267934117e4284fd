"""Upstream's two layouts: Parquet with the pictures in it, and the older JSON Lines beside pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import read_jsonl
from lookcheck.dataset_builders.parquet.upstream import columns_of, iterate
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.records import TRAITS
from lookcheck.dataset_builders.salart_vqa.rows import ChainJob

PICTURES = ("image", "q3_overlay_image")
# What every Parquet of upstream has; q3_boxes may stand for the overlay in data of one's own.
COLUMNS = (
    "row_id",
    "image_role",
    *PICTURES,
    *(f"{question}_prompt" for question in constants.QUESTIONS),
    "q2_options",
    "q4_options",
    *(f"{question}_answer" for question in constants.QUESTIONS),
)
_OPTIONAL = ("system_prompt", "q3_boxes", *TRAITS)
_PATHS = tuple(f"{column}_path" for column in PICTURES)


@dataclass(frozen=True)
class Found:
    """Jobs, and the names of columns that nothing is known of."""

    jobs: tuple[ChainJob, ...]
    left_out: tuple[str, ...]


def read_parquet(paths: list[Path], workspace: Path) -> Found:
    """Read Parquet files, unpacking their pictures into `workspace`.

    A picture that is missing becomes a problem of its job; `integrity` reports it with all others.

    Raises
    ------
    InputError
        Naming the files that lack columns, or can't be read.
    """
    odd: set[str] = set()
    lacking = []
    for path in paths:
        columns = columns_of(path)
        needed = [name for name in COLUMNS if name != "q3_overlay_image" or "q3_boxes" not in columns]
        if missing := [name for name in needed if name not in columns]:
            lacking.append(f"{path}: lacks the columns {', '.join(missing)}")
        odd |= set(columns) - set(COLUMNS) - set(_OPTIONAL)
    if lacking:
        raise InputError("; ".join(lacking))
    jobs = []
    for table, path in enumerate(paths):
        wanted = [name for name in columns_of(path) if name not in odd]
        for number, row in enumerate(iterate(path, wanted)):
            jobs.append(_unpack(row, f"{path.name} row {number}", workspace / f"{table:03d}-{number:06d}"))
    return Found(tuple(jobs), tuple(sorted(odd)))


def _unpack(row: dict[str, Any], where: str, stem: Path) -> ChainJob:
    paths: dict[str, Path] = {}
    problems = []
    for column in PICTURES:
        picture = row.pop(column, None)
        if picture is None and column == "q3_overlay_image":
            continue
        data = picture.get("bytes") if isinstance(picture, dict) else None
        if not isinstance(data, bytes) or not data:
            problems.append(f"the column {column} holds no picture")
            continue
        paths[column] = stem.with_name(f"{stem.name}-{column}")
        paths[column].write_bytes(data)
    return ChainJob(where, row, paths.get("image"), paths.get("q3_overlay_image"), tuple(problems))


def read_jsonl_layout(path: Path, folder: Path) -> Found:
    """Read a ``.jsonl`` whose paths start at `folder` or at its own folder.

    Raises
    ------
    InputError
        If a line is no JSON object.
    """
    known = {*COLUMNS, *_OPTIONAL, *_PATHS, "role"} - set(PICTURES)
    jobs = []
    odd: set[str] = set()
    for number, fields in read_jsonl(path):
        odd |= fields.keys() - known
        found: dict[str, Path] = {}
        problems = []
        for column, key in zip(PICTURES, _PATHS, strict=True):
            name = fields.get(key)
            if name is None and column == "q3_overlay_image":
                continue
            place, problem = _place(name, key, (folder, path.parent))
            if place is None:
                problems.append(problem)
            else:
                found[column] = place
        kept = {name: value for name, value in fields.items() if name in known and name not in _PATHS}
        where = f"{path.name}:{number}"
        jobs.append(ChainJob(where, kept, found.get("image"), found.get("q3_overlay_image"), tuple(problems)))
    if not jobs:
        raise InputError(f"{path}: no records")
    return Found(tuple(jobs), tuple(sorted(odd)))


def _place(name: Any, key: str, roots: tuple[Path, ...]) -> tuple[Path | None, str]:
    if not isinstance(name, str) or not name or "\0" in name or "\\" in name or not name.isprintable():
        return None, f"{key} must name a picture, not {name!r}"
    # By the name alone: the files of a Hub snapshot are links to another folder.
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        return None, f"{key} {name!r} leads out of the folder"
    for root in roots:
        if (root / name).is_file():
            return root / name, ""
    return None, f"{key} {name!r}: no such picture"
