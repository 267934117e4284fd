"""The photographs of POPE out of a copy on the Hub."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from lookcheck.dataset_builders.errors import InputError
from lookcheck.dataset_builders.folder.download import download


def hub_photographs(repository: str, revision: str, workspace: Path) -> Path:
    """Download a copy of POPE and unpack its photographs; gives their folder.

    Raises
    ------
    InputError
    """
    folder, commit = download(repository, revision)
    return unpack_photographs(folder, workspace, f"{repository} at {commit}")


def unpack_photographs(folder: Path, workspace: Path, name: str) -> Path:
    """Write each picture of the columns ``image_source`` and ``image`` once, as ``<image_source>.jpg``.

    Raises
    ------
    InputError
        If there are no such columns, or one name has two pictures.
    """
    target = workspace / "photographs"
    target.mkdir()
    tables = [
        path
        for path in sorted(folder.rglob("*.parquet"))
        if {"image_source", "image"} <= set(pq.read_schema(path).names)
    ]
    for table in tables:
        with pq.ParquetFile(table) as file:
            for batch in file.iter_batches(batch_size=64, columns=["image_source", "image"]):
                for row in batch.to_pylist():
                    source, picture = row["image_source"], row["image"]
                    if not isinstance(source, str) or Path(source).name != source or not picture:
                        raise InputError(f"{name}: {table.name}: no picture for image_source {source!r}")
                    path = target / f"{source.removesuffix('.jpg')}.jpg"
                    if not path.exists():
                        path.write_bytes(picture["bytes"])
                    elif path.read_bytes() != picture["bytes"]:
                        raise InputError(f"{name}: {table.name}: two pictures for image_source {source!r}")
    if not any(target.iterdir()):
        raise InputError(f"{name}: no Parquet with the columns image_source and image")
    return target
