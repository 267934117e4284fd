"""The keys of a built folder, for scoring: no picture is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.salart_vqa import constants

COLUMNS = (
    "row_id",
    "image_role",
    *(f"{question}_answer" for question in constants.QUESTIONS),
    "artifact_type",
    "pair_id",
)


def read_labels(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Rows of the configuration `images` without pictures and texts.

    Parameters
    ----------
    folder : Path
        Written by ``lookcheck build salart-vqa``.

    Returns
    -------
    list of (str, dict)
        The row's place for messages, and `COLUMNS` with the role's name.

    Raises
    ------
    InputError
        If the folder is of another data set, or files are missing or broken.
    """
    manifest = read_json(folder / "lookcheck.json") if (folder / "lookcheck.json").is_file() else {}
    name = manifest.get("name") if isinstance(manifest, dict) else None
    if name != constants.NAME:
        found = f"holds {name!r}" if name else "has no lookcheck.json"
        raise InputError(f"{folder}: expected a folder of lookcheck build salart-vqa, but it {found}")
    paths = sorted((folder / "data").glob("images-*.parquet"))
    if not paths:
        raise InputError(f"{folder}: no file data/images-*.parquet")
    rows: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    for path in paths:
        for number, row in enumerate(_rows(path)):
            where = f"{path} row {number}"
            if not isinstance(row["row_id"], str) or row["row_id"] in seen:
                reason = "stands twice" if row["row_id"] else "is missing"
                raise InputError(f"{where}: the row_id {row['row_id']!r} {reason}; see lookcheck check")
            seen.add(row["row_id"])
            rows.append((where, row))
    if not rows:
        raise InputError(f"{folder}: no rows")
    return rows


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        with pq.ParquetFile(path) as file:
            missing = sorted(set(COLUMNS) - set(file.schema_arrow.names))
            if missing:
                raise InputError(f"{path}: lacks the columns {', '.join(missing)}")
            names = _role_names(file.schema_arrow, path)
            rows: list[dict[str, Any]] = file.read(columns=list(COLUMNS)).to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read ({' '.join(str(error).split())})") from None
    for row in rows:
        role = row["image_role"]
        # What is past the end is shown as it is; the metric refuses it with the row's id.
        row["image_role"] = names[role] if isinstance(role, int) and 0 <= role < len(names) else str(role)
    return rows


def _role_names(schema: pa.Schema, path: Path) -> list[str]:
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        names = features["image_role"]["names"]
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: the schema does not say the names of image_role") from None
    return [str(name) for name in names]
