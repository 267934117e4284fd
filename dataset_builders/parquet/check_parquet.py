"""One Parquet file against the limits of the Hub's viewer, and its rows."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from lookcheck.dataset_builders.core.errors import Fault
from lookcheck.dataset_builders.core.images import reason
from lookcheck.dataset_builders.parquet.encoding import MAX_ROW_BYTES, size_of

MAX_GROUP_BYTES = 100_000_000


def check_file(path: Path, folder: Path) -> tuple[list[Fault], datasets.Features | None]:
    """Look at a file's footer.

    Returns
    -------
    list of Fault
    datasets.Features or None
        None if the rows can't be read.
    """
    name = path.relative_to(folder).as_posix()
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        return [Fault(name, "parquet", f"can't be read as Parquet ({error})")], None
    with file:
        metadata, schema = file.metadata, file.schema_arrow
        faults = []
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            if group.total_byte_size >= MAX_GROUP_BYTES:
                message = f"row group {number} has {group.total_byte_size:,} bytes, not under 100 MB"
                faults.append(Fault(name, "row-group", message))
            columns = [group.column(column) for column in range(group.num_columns)]
            if not all(column.has_offset_index for column in columns):
                faults.append(Fault(name, "page-index", f"row group {number} has no page index"))
        if b"huggingface" not in (schema.metadata or {}):
            faults.append(Fault(name, "features", "the schema does not say its features (ClassLabel, Image)"))
            return faults, None
        return faults, datasets.Features.from_arrow_schema(schema)


def iterate_rows(
    path: Path, folder: Path, features: datasets.Features, id_column: str = "id"
) -> Iterator[tuple[list[Fault], dict[str, Any] | None]]:
    """Yield each row with its faults, by `id_column`; the row is None if its pictures can't be looked at."""
    name = path.relative_to(folder).as_posix()
    number = 0
    with pq.ParquetFile(path) as file:
        try:
            for batch in file.iter_batches(batch_size=8):
                for row in batch.to_pylist():
                    id = str(row.get(id_column) or f"{name} row {number}")
                    number += 1
                    yield _check_row(row, id, features)
        except (pa.ArrowException, OSError) as error:
            yield [Fault(name, "parquet", f"broken after row {number} ({error})")], None


def _check_row(
    row: dict[str, Any], id: str, features: datasets.Features
) -> tuple[list[Fault], dict[str, Any] | None]:
    faults = []
    size = size_of(row)
    if size >= MAX_ROW_BYTES:
        faults.append(Fault(id, "row-size", f"{size:,} bytes; the viewer shows rows under 3 MB"))
    readable = True
    for column, kind in features.items():
        value = row[column]
        if isinstance(kind, datasets.ClassLabel) and value is not None:
            row[column] = kind.int2str(value) if 0 <= value < kind.num_classes else str(value)
            if not 0 <= value < kind.num_classes:
                faults.append(Fault(id, "label", f"{column} is {value}, past its {kind.num_classes} names"))
        pictures = _pictures(kind, value)
        for picture in pictures:
            if message := _check_picture(picture):
                faults.append(Fault(id, "picture", f"{column}: {message}"))
                readable = False
    return faults, row if readable else None


def _pictures(kind: Any, value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(kind, datasets.Image):
        return [value]
    if isinstance(kind, datasets.List) and isinstance(kind.feature, datasets.Image):
        return list(value)
    return []


def _check_picture(picture: Any) -> str:
    if not picture or not picture["bytes"]:
        return "the bytes are not in the file"
    if picture["path"] is not None and PurePath(picture["path"]).name != picture["path"]:
        return f"the path {picture['path']!r} is more than a name"
    return _check_bytes(picture["bytes"])


# Neighbouring rows often show one picture.
@lru_cache(maxsize=4)
def _check_bytes(data: bytes) -> str:
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.getexif().get(0x0112, 1) not in (0, 1):
                return "an EXIF orientation is not baked in"
            image.load()
    except Exception as error:  # Pillow raises many kinds for a broken file
        return f"can't be decoded ({reason(error)})"
    return ""
