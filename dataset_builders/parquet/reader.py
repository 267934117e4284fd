"""Reads a built folder: its manifest, configurations and rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from lookcheck.dataset_builders.core.errors import Fault, InputError
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.core.processes import Track
from lookcheck.dataset_builders.parquet.check import read_configs
from lookcheck.dataset_builders.parquet.writer import MANIFEST

# Rows decoded at a time; a picture takes up to 3 MB.
BATCH = 8

Row = dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """Which rows are wanted; all if nothing is named."""

    config: str | None = None
    split: str | None = None
    limit: int | None = None


@dataclass(frozen=True)
class BuiltFolder:
    """A folder written by `lookcheck build`.

    Attributes
    ----------
    path : Path
    name, version : str
    source : mapping
        Where the rows came from.
    configs : mapping
        Configuration → split → Parquet files, in the order of the card.
    """

    path: Path
    name: str
    version: str
    source: Mapping[str, Any]
    configs: Mapping[str, Mapping[str, Sequence[Path]]]

    def splits(self, config: str, split: str | None = None) -> dict[str, Sequence[Path]]:
        """Files of a configuration by split; all splits if none is named.

        Raises
        ------
        InputError
            If there is no such configuration or split.
        """
        if config not in self.configs:
            known = ", ".join(self.configs)
            raise InputError(f"{self.path}: no configuration {config!r}; there are {known}")
        found = dict(self.configs[config])
        if split is None:
            return found
        if split not in found:
            raise InputError(f"{self.path}: {config} has no split {split!r}; there are {', '.join(found)}")
        return {split: found[split]}


def open_folder(path: Path) -> BuiltFolder:
    """Read the manifest and the card of a folder.

    Raises
    ------
    InputError
        If it is no folder written by `lookcheck build`.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder")
    if not (path / MANIFEST).is_file():
        raise InputError(f"{path}: not a folder written by lookcheck build, it lacks {MANIFEST}")
    manifest = read_json(path / MANIFEST)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("name"), str):
        raise InputError(f"{path / MANIFEST}: expected an object with the name of the data set")
    faults: list[Fault] = []
    configs = read_configs(path, faults)
    if faults:
        raise InputError(f"{path}/{faults[0]}")
    source = manifest.get("source")
    return BuiltFolder(
        path,
        manifest["name"],
        str(manifest.get("version", "")),
        source if isinstance(source, dict) else {},
        configs,
    )


def count_rows(paths: Sequence[Path]) -> int:
    """Rows of Parquet files, from their footers.

    Raises
    ------
    InputError
        If a file is broken.
    """
    total = 0
    for path in paths:
        with _open(path) as file:
            total += file.metadata.num_rows
    return total


def chosen_splits(folder: BuiltFolder, choice: Choice) -> dict[str, Sequence[Path]]:
    """Files of the chosen configuration, or of the card's first, by split."""
    return folder.splits(choice.config or next(iter(folder.configs)), choice.split)


def count_items(folder: BuiltFolder, choice: Choice) -> int:
    """Rows of the chosen configuration and splits."""
    return count_rows([path for paths in chosen_splits(folder, choice).values() for path in paths])


def track_rows(folder: BuiltFolder, choice: Choice, track: Track) -> Callable[[], None]:
    """A bar for the chosen rows."""
    total = count_items(folder, choice)
    return track("reading rows", total if choice.limit is None else min(choice.limit, total))


def read_rows(
    paths: Sequence[Path],
    columns: Sequence[str],
    *,
    optional: Sequence[str] = (),
    keep: tuple[str, Collection[str]] | None = None,
) -> Iterator[Row]:
    """Yield rows one by one; a ClassLabel is its name, a picture ``{"bytes": …, "path": …}``.

    Parameters
    ----------
    paths : sequence of Path
    columns : sequence of str
        Columns that every file must have.
    optional : sequence of str
        Columns that are None where a file has none.
    keep : (str, collection of str), optional
        A column and its wanted values. Row groups without any are not read further than that column.

    Raises
    ------
    InputError
        If a file is broken, lacks a column or holds a label that its schema does not name.
    """
    for path in paths:
        with _open(path) as file:
            features = _features(path, file)
            if missing := [name for name in columns if name not in features]:
                raise InputError(f"{path}: lacks the columns {', '.join(missing)}")
            present = [*columns, *(name for name in optional if name in features)]
            absent = dict.fromkeys(name for name in optional if name not in features)
            for row in _rows_of(path, file, present, keep):
                yield {**{name: _label(path, features[name], row[name]) for name in present}, **absent}


def _rows_of(
    path: Path, file: pq.ParquetFile, columns: list[str], keep: tuple[str, Collection[str]] | None
) -> Iterator[Row]:
    try:
        for group in range(file.num_row_groups):
            wanted: list[bool] | None = None
            if keep is not None:
                values = file.read_row_group(group, columns=[keep[0]]).column(0).to_pylist()
                wanted = [value in keep[1] for value in values]
                if not any(wanted):
                    continue
            start = 0
            for batch in file.iter_batches(BATCH, row_groups=[group], columns=columns):
                end = start + batch.num_rows
                if wanted is not None:
                    batch = batch.filter(pa.array(wanted[start:end]))
                start = end
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: can't be read as Parquet ({error})") from None


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: can't be read as Parquet ({error})") from None


def _features(path: Path, file: pq.ParquetFile) -> datasets.Features:
    schema = file.schema_arrow
    if b"huggingface" not in (schema.metadata or {}):
        raise InputError(f"{path}: the schema does not say its features (ClassLabel, Image)")
    return datasets.Features.from_arrow_schema(schema)


def _label(path: Path, kind: Any, value: Any) -> Any:
    if value is None or not isinstance(kind, datasets.ClassLabel):
        return value
    if not 0 <= value < kind.num_classes:
        raise InputError(f"{path}: the label {value} is past the {kind.num_classes} names of its column")
    return kind.int2str(value)
