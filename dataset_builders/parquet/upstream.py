"""Parquet files of others: read row by row, each complaint a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookcheck.dataset_builders.core.errors import InputError

# A picture takes megabytes.
BATCH = 8


def columns_of(path: Path) -> list[str]:
    """Names of the columns of a file.

    Raises
    ------
    InputError
        If it is no Parquet, or cut short.
    """
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: can't be read as Parquet ({_line(error)})") from None


def iterate(path: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, with these columns or with all.

    Raises
    ------
    InputError
        If a part of it can't be read.
    """
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH, columns=None if columns is None else list(columns)):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read as Parquet ({_line(error)})") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
