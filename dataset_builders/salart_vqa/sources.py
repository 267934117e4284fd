"""Where the images come from: Parquet in upstream's columns, or the older JSON Lines beside pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookcheck.dataset_builders.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.jsonl import read_jsonl
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.records import TRAITS
from lookcheck.dataset_builders.salart_vqa.rows import ChainJob

PICTURES = ("image", "q3_overlay_image")
COLUMNS = (
    "row_id",
    "image_role",
    *PICTURES,
    *(f"{question}_prompt" for question in constants.QUESTIONS),
    "q2_options",
    "q4_options",
    *(f"{question}_answer" for question in constants.QUESTIONS),
)


@dataclass(frozen=True)
class Source:
    """Images to build from.

    Attributes
    ----------
    jobs : tuple of ChainJob
        In the order of the source.
    described : mapping
        Goes into ``lookcheck.json`` and the card: kind, repository, revision, layout.
    """

    jobs: tuple[ChainJob, ...]
    described: Mapping[str, Any]


def hub_source(repository: str, revision: str, workspace: Path) -> Source:
    """Download a data set repository and find the images in it; the commit is recorded.

    Raises
    ------
    InputError
    """
    from lookcheck.dataset_builders.folder.download import download

    folder, commit = download(repository, revision)
    found = folder_source(folder, workspace)
    described = {"kind": "hub", "repository": repository, "revision": commit}
    return Source(found.jobs, {**described, "layout": found.described["layout"]})


def folder_source(folder: Path, workspace: Path) -> Source:
    """Find the images below a folder, in either layout.

    Parameters
    ----------
    folder : Path
        Holds Parquet with upstream's columns, or one ``.jsonl`` whose ``image_path`` and
        ``q3_overlay_image_path`` lead to pictures.
    workspace : Path
        Pictures of Parquet files are unpacked here; must outlive the build.

    Raises
    ------
    InputError
        Listing what was found and what was expected.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    tables = [path for path in sorted(folder.rglob("*.parquet")) if "row_id" in _columns(path)]
    if tables:
        return Source(_from_parquet(tables, workspace), {"kind": "folder", "layout": "parquet"})
    lines = sorted(folder.rglob("*.jsonl"))
    if len(lines) == 1:
        return Source(_from_jsonl(lines[0], folder), {"kind": "folder", "layout": "jsonl"})
    kinds = Counter(
        (path.parent.relative_to(folder).as_posix(), path.suffix)
        for path in folder.rglob("*")
        if path.is_file()
    )
    found = ", ".join(f"{count} × {place}/*{suffix}" for (place, suffix), count in sorted(kinds.items()))
    raise InputError(
        f"{folder}: no images found; expected Parquet with the columns {', '.join(COLUMNS)}, or one .jsonl "
        f"with image_path and q3_overlay_image_path; found {found or 'no file'}"
    )


def _columns(path: Path) -> list[str]:
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: can't be read as Parquet ({error})") from None


def _from_parquet(paths: list[Path], workspace: Path) -> tuple[ChainJob, ...]:
    jobs = []
    for table, path in enumerate(paths):
        columns = _columns(path)
        # Sources without an overlay may give the boxes instead.
        needed = [name for name in COLUMNS if name != "q3_overlay_image" or "q3_boxes" not in columns]
        if missing := [name for name in needed if name not in columns]:
            raise InputError(f"{path}: lacks the columns {', '.join(missing)}")
        number = 0
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=8):
                for row in batch.to_pylist():
                    stem = workspace / f"{table:03d}-{number:06d}"
                    jobs.append(_unpack(row, f"{path.name} row {number}", stem))
                    number += 1
    return tuple(jobs)


def _unpack(row: dict[str, Any], where: str, stem: Path) -> ChainJob:
    paths: dict[str, Path | None] = {}
    for column in PICTURES:
        picture = row.pop(column, None)
        if picture is None and column == "q3_overlay_image":
            paths[column] = None
            continue
        if not isinstance(picture, dict) or not picture.get("bytes"):
            raise InputError(f"{where}: the column {column} holds no picture (row_id {row.get('row_id')!r})")
        target = stem.with_name(f"{stem.name}-{column}")
        target.write_bytes(picture["bytes"])
        paths[column] = target
    image = paths["image"]
    assert image is not None
    return ChainJob(where, row, image, paths["q3_overlay_image"])


def _from_jsonl(path: Path, folder: Path) -> tuple[ChainJob, ...]:
    jobs = []
    for number, fields in read_jsonl(path):
        where = f"{path}:{number}"
        found: dict[str, Path | None] = {}
        for column in PICTURES:
            name = fields.pop(f"{column}_path", None)
            if name is None and column == "q3_overlay_image":
                found[column] = None
                continue
            found[column] = _picture(name, f"{column}_path", where, path, folder)
        image = found["image"]
        assert image is not None
        jobs.append(ChainJob(where, fields, image, found["q3_overlay_image"]))
    return tuple(jobs)


def _picture(name: Any, key: str, where: str, path: Path, folder: Path) -> Path:
    if not isinstance(name, str) or not name:
        raise InputError(f"{where}: {key} must name a picture, not {name!r}")
    # Upstream's paths start at the repository or at the folder of the .jsonl.
    for root in (folder, path.parent):
        candidate = (root / name).resolve()
        if not candidate.is_relative_to(root.resolve()):
            raise InputError(f"{where}: {key} {name!r} leads out of the folder")
        if candidate.is_file():
            return candidate
    raise InputError(f"{where}: {key} {name!r}: no such picture in {folder}")


def apply_mapping(source: Source, path: Path) -> Source:
    """Add artifact type, subset and pair id from a file of the user.

    Parameters
    ----------
    source : Source
    path : Path
        JSON Lines: ``row_id`` and one or more of ``artifact_type``, ``subset``, ``pair_id``.

    Raises
    ------
    IntegrityError
        With every unknown or repeated id, unknown field, and value that differs from the source's.
    """
    faults = []
    known = {job.fields.get("row_id"): dict(job.fields) for job in source.jobs}
    seen: set[str] = set()
    for number, record in read_jsonl(path):
        id = record.pop("row_id", None)
        where = f"{path.name}:{number}"
        if not isinstance(id, str) or id not in known:
            faults.append(Fault(where, "mapping", f"the row_id {id!r} is not in the source"))
            continue
        if id in seen:
            faults.append(Fault(where, "mapping", f"the row_id {id!r} stands twice"))
        seen.add(id)
        if not record or (odd := sorted(set(record) - set(TRAITS))):
            what = f"unknown fields {odd}" if record else "no field"
            faults.append(Fault(where, "mapping", f"{what} for {id}; expected {', '.join(TRAITS)}"))
            continue
        for trait, value in record.items():
            stated = known[id].get(trait)
            if stated is not None and value is not None and stated != value:
                message = f"{trait} of {id} is {value!r}, but the source says {stated!r}"
                faults.append(Fault(where, "mapping", message))
            elif value is not None:
                known[id][trait] = value
    if faults:
        raise IntegrityError(f"{constants.NAME}, {path}", faults)
    jobs = tuple(replace(job, fields=known[job.fields.get("row_id")]) for job in source.jobs)
    return Source(jobs, {**source.described, "mapping": path.name})
