"""VistaQA from a Hub repository: the upstream layout, or Parquet with the same fields."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import parse_json, read_json
from lookcheck.dataset_builders.parquet.download import download
from lookcheck.dataset_builders.parquet.listing import describe_files
from lookcheck.dataset_builders.parquet.upstream import columns_of, iterate
from lookcheck.dataset_builders.vistaqa.sources import VistaQASource, jobs_of

_FIELDS = ("question", "answer", "task_type", "task_domain", "num_instances", "hallucination")
_PICTURES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}
# Records tried when looking for the folder of their images.
_TRIED = 20


def hub_source(repository: str, revision: str, workspace: Path) -> VistaQASource:
    """Download a data set repository and find the samples in it.

    Parameters
    ----------
    repository : str
        ``"org/name"``.
    revision : str
        Branch, tag or commit; the commit it stands for is recorded.
    workspace : Path
        Folder to unpack Parquet into; must outlive the build.

    Raises
    ------
    InputError
        If the repository can't be reached or holds no samples that are understood.
    """
    folder, commit = download(repository, revision)
    annotations, images = locate(folder, workspace, f"{repository} at {commit}")
    described = {"kind": "hub", "repository": repository, "revision": commit}
    return VistaQASource(jobs_of(annotations, images), described)


def locate(folder: Path, workspace: Path, name: str) -> tuple[Path, Path]:
    """Find annotations and images below `folder`, unpacking Parquet into `workspace` if need be.

    Returns
    -------
    (Path, Path)
        The folders of annotations and of images.

    Raises
    ------
    InputError
        Listing what was found and what was expected.
    """
    records: Counter[Path] = Counter()
    for path in folder.rglob("*.json"):
        if path.stem.isascii() and path.stem.isdigit():
            records[path.parent] += 1
    for place, _ in sorted(records.items(), key=lambda item: (-item[1], item[0])):
        images = _images_of(place, folder)
        if images is not None:
            return place, images
    tables = [path for path in sorted(folder.rglob("*.parquet")) if set(_FIELDS) <= set(columns_of(path))]
    if tables:
        return _unpack(tables, workspace)
    found = describe_files(folder, (path for path in folder.rglob("*") if path.is_file()))
    raise InputError(
        f"{name}: no samples found; expected a folder of <integer>.json with the images they name, or "
        f"Parquet with the columns id, image, {', '.join(_FIELDS)}, annotations; found {found}"
    )


def _images_of(annotations: Path, folder: Path) -> Path | None:
    """The folder under which the images of the first records lie."""
    names = []
    for path in sorted(annotations.glob("*.json"))[:_TRIED]:
        try:
            names.append(read_json(path)["image"]["file_name"])
        except (InputError, TypeError, KeyError):
            continue
    names = [name for name in names if isinstance(name, str)]
    # More than one may fit a few names; the one that fits most is meant.
    fits = [
        (sum((place / name).is_file() for name in names), place)
        for place in sorted({folder, *(path for path in folder.rglob("*") if path.is_dir())})
    ]
    best = max(fits, key=lambda item: item[0])
    return best[1] if best[0] else None


def _unpack(paths: list[Path], workspace: Path) -> tuple[Path, Path]:
    annotations, images = workspace / "annotations", workspace / "images"
    annotations.mkdir()
    images.mkdir()
    for path in paths:
        for number, row in enumerate(iterate(path)):
            _unpack_row(row, f"{path.name} row {number}", annotations, images)
    return annotations, images


def _unpack_row(row: dict[str, Any], where: str, annotations: Path, images: Path) -> None:
    id = next((row[key] for key in ("id", "image_id") if row.get(key) is not None), None)
    if not isinstance(id, int | str) or isinstance(id, bool) or not re.fullmatch("[0-9]{1,18}", str(id)):
        raise InputError(f"{where}: needs an integer in the column id or image_id, not {id!r}")
    if (annotations / f"{id}.json").exists():
        raise InputError(f"{where}: the id {id} stands twice")
    image = row.get("image")
    if not isinstance(image, dict) or not isinstance(image.get("bytes"), bytes) or not image["bytes"]:
        raise InputError(f"{where}: the column image holds no picture (id {id})")
    (images / str(id)).write_bytes(image["bytes"])
    record = {key: row[key] for key in _FIELDS if key in row}
    record["image"] = {"file_name": str(id), "width": row.get("width"), "height": row.get("height")}
    stated = row.get("annotations")
    record["annotations"] = parse_json(stated, f"{where}: annotations") if isinstance(stated, str) else stated
    try:
        text = json.dumps(record, default=_as_text)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {error} (id {id})") from None
    (annotations / f"{id}.json").write_text(text, encoding="utf-8")


def _as_text(value: Any) -> str:
    """Compressed counts may be a column of bytes."""
    if isinstance(value, bytes) and value.isascii():
        return value.decode("ascii")
    raise ValueError(f"expected text and numbers, found {type(value).__name__} {str(value)[:40]}")
