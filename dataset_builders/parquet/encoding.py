"""Rows as Parquet stores them: pictures embedded as bytes, labels as numbers."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import datasets

# The Hub's viewer shows rows under this size, in bytes.
MAX_ROW_BYTES = 3_000_000


def encode_row(features: datasets.Features, row: dict[str, Any]) -> dict[str, Any]:
    """Encode one row.

    `datasets` itself drops the bytes of a picture whose ``path`` happens to name an existing file;
    here the bytes always stay and the path is only a name.

    Raises
    ------
    ValueError
        If columns are missing or unknown, a picture has no bytes, or a label is unknown.

    Examples
    --------
    >>> features = datasets.Features({"task": datasets.ClassLabel(names=["ocr", "counting"])})
    >>> encode_row(features, {"task": "counting"})
    {'task': 1}
    """
    if row.keys() != features.keys():
        odd = sorted(row.keys() ^ features.keys())
        raise ValueError(f"row {row.get('id')!r}: missing or unknown columns {odd}")
    return {name: _encode(feature, row[name]) for name, feature in features.items()}


def _encode(feature: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(feature, datasets.Image):
        data = value["bytes"]
        if not isinstance(data, bytes) or not data:
            raise ValueError(f"a picture without bytes: {value.get('path')!r}")
        path = value.get("path")
        return {"bytes": data, "path": None if path is None else PurePath(path).name}
    if isinstance(feature, datasets.ClassLabel):
        return feature.str2int(value) if isinstance(value, str) else value
    if isinstance(feature, datasets.List):
        return [_encode(feature.feature, item) for item in value]
    if isinstance(feature, dict):
        return {name: _encode(inner, value[name]) for name, inner in feature.items()}
    return value


def without_names(value: Any) -> Any:
    """A row (or a part of one) whose pictures have bytes and no name.

    For builders of `datasets`, which drops the bytes of a picture whose name is an existing file.

    Examples
    --------
    >>> without_names({"id": "a", "masks": [{"bytes": b"x", "path": "a.png"}]})
    {'id': 'a', 'masks': [{'bytes': b'x', 'path': None}]}
    """
    if isinstance(value, dict):
        if "bytes" in value:
            return {"bytes": value["bytes"], "path": None}
        return {name: without_names(item) for name, item in value.items()}
    if isinstance(value, list):
        return [without_names(item) for item in value]
    return value


def size_of(value: Any) -> int:
    """Bytes that a value takes, near enough to bound a row group.

    Examples
    --------
    >>> size_of({"image": {"bytes": b"abc", "path": "a"}, "n": 1})
    12
    """
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    if isinstance(value, list):
        return sum(map(size_of, value))
    return 8
