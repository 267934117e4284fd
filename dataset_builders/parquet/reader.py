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
from lookcheck.dataset_builders.core.records import JsonRecord
from lookcheck.dataset_builders.parquet.check import check_digests, read_configs
from lookcheck.dataset_builders.parquet.listing import MANIFEST

# Rows decoded at a time: with pictures, of which each takes up to 3 MB, and without.
BATCH = 8
BATCH_WITHOUT_PICTURES = 4096

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


def open_folder(path: Path, name: str | None = None) -> BuiltFolder:
    """Read the manifest and the card of a folder.

    Parameters
    ----------
    path : Path
    name : str, optional
        The data set that it must be built for.

    Raises
    ------
    InputError
        If it is no folder written by `lookcheck build`, or one of another data set.
    """
    wanted = "" if name is None else f"; expected a folder of lookcheck build {name.replace('_', '-')}"
    if not path.is_dir():
        raise InputError(f"{path}: no such folder{wanted}")
    if not (path / MANIFEST).is_file():
        raise InputError(f"{path}: not a folder written by lookcheck build, it lacks {MANIFEST}{wanted}")
    manifest = read_json(path / MANIFEST)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("name"), str):
        raise InputError(f"{path / MANIFEST}: expected an object with the name of the data set")
    if name not in (None, manifest["name"]):
        raise InputError(f"{path}: built for {manifest['name']}{wanted}")
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


def refuse_altered(folder: BuiltFolder, configs: Sequence[str]) -> None:
    """Refuse files that are not those of the build, by the digest that the card gives a configuration.

    Raises
    ------
    InputError
        Also if there is no such configuration.
    """
    faults: list[Fault] = []
    check_digests(folder.path, {name: folder.splits(name) for name in configs}, faults)
    if faults:
        raise InputError(f"{folder.path}/{faults[0]}; see lookcheck check")


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
    """The rows of `read_placed_rows` without their places."""
    for _, row in read_placed_rows(paths, columns, optional=optional, keep=keep):
        yield row


def read_placed_rows(
    paths: Sequence[Path],
    columns: Sequence[str],
    *,
    optional: Sequence[str] = (),
    keep: tuple[str, Collection[str]] | None = None,
) -> Iterator[tuple[str, Row]]:
    """Yield rows one by one; a ClassLabel is its name, a picture ``{"bytes": …, "path": …}``.

    Parameters
    ----------
    paths : sequence of Path
    columns : sequence of str
        Columns that every file must have; no other is read.
    optional : sequence of str
        Columns that are None where a file has none.
    keep : (str, collection of str), optional
        A column and its wanted values. Row groups without any are not read further than that column.

    Yields
    ------
    (str, dict)
        The row's place, ``"FILE row N"`` with N from 0, and its columns.

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
            present = {name: features[name] for name in (*columns, *optional) if name in features}
            labels = {name: kind for name, kind in present.items() if isinstance(kind, datasets.ClassLabel)}
            absent = dict.fromkeys(name for name in optional if name not in features)
            for number, row in _rows_of(path, file, present, keep):
                where = f"{path} row {number}"
                for name, kind in labels.items():
                    row[name] = _label(f"{where}: {name}", kind, row[name])
                yield where, {**row, **absent}


def read_records(
    folder: BuiltFolder,
    columns: Sequence[str],
    *,
    id_column: str = "id",
    optional: Sequence[str] = (),
    configs: Sequence[str] | None = None,
) -> dict[str, JsonRecord]:
    """Rows of a built folder by id, as if they stood in a file.

    Parameters
    ----------
    folder : BuiltFolder
    columns, optional : sequence of str
        As in `read_placed_rows`, without the id.
    id_column : str
    configs : sequence of str, optional
        The configurations to read; the card's first if not given. A file of several is read once.

    Raises
    ------
    InputError
        If there is no such configuration, a row has no id, or an id stands twice.
    """
    records: dict[str, JsonRecord] = {}
    chosen = configs or [next(iter(folder.configs))]
    files = dict.fromkeys(
        path for config in chosen for paths in folder.splits(config).values() for path in paths
    )
    for where, row in read_placed_rows(list(files), [id_column, *columns], optional=optional):
        id = row[id_column]
        if not isinstance(id, str) or not id or id in records:
            reason = "stands twice" if id else "is missing"
            raise InputError(f"{where}: the {id_column} {id!r} {reason}; see lookcheck check")
        records[id] = JsonRecord(where, id, row)
    if not records:
        raise InputError(f"{folder.path}: no rows")
    # Last: what a broken file lacks says more than that it is another.
    refuse_altered(folder, chosen)
    return records


def read_questions(
    folder: BuiltFolder, choice: Choice, columns: Mapping[str, str]
) -> Iterator[tuple[str, Row]]:
    """Yield the place and the texts of each chosen row; no picture is read.

    Parameters
    ----------
    folder : BuiltFolder
    choice : Choice
        Must leave one split.
    columns : mapping of str to str
        From ``id``, ``question`` and ``answer`` to the columns that hold them.

    Raises
    ------
    InputError
        If several splits are left, or the rows can't be read.
    """
    splits = chosen_splits(folder, choice)
    if len(splits) != 1:
        raise InputError(f"{folder.path}: has the splits {', '.join(splits)}; choose one with --split")
    for where, row in read_placed_rows(next(iter(splits.values())), list(columns.values())):
        yield where, {name: row[column] for name, column in columns.items()}
    refuse_altered(folder, [choice.config or next(iter(folder.configs))])


def _rows_of(
    path: Path,
    file: pq.ParquetFile,
    columns: Mapping[str, Any],
    keep: tuple[str, Collection[str]] | None,
) -> Iterator[tuple[int, Row]]:
    pictures = any(isinstance(kind, datasets.Image) for kind in columns.values())
    size = BATCH if pictures else BATCH_WITHOUT_PICTURES
    number = 0
    try:
        for group in range(file.num_row_groups):
            wanted: list[bool] | None = None
            if keep is not None:
                values = file.read_row_group(group, columns=[keep[0]]).column(0).to_pylist()
                wanted = [value in keep[1] for value in values]
                if not any(wanted):
                    number += len(values)
                    continue
            start = 0
            for batch in file.iter_batches(size, row_groups=[group], columns=list(columns)):
                kept = [True] * batch.num_rows if wanted is None else wanted[start : start + batch.num_rows]
                places = [number + index for index, is_kept in enumerate(kept) if is_kept]
                yield from zip(places, batch.filter(pa.array(kept)).to_pylist(), strict=True)
                start += batch.num_rows
                number += batch.num_rows
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read as Parquet ({' '.join(str(error).split())})") from None


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


def _label(where: str, kind: datasets.ClassLabel, value: int | None) -> str | None:
    if value is None:
        return None
    if not 0 <= value < kind.num_classes:
        raise InputError(f"{where}: the label {value} is past the {kind.num_classes} names of its column")
    return str(kind.int2str(value))
