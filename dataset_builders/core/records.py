"""Joining answers to labels by id."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.objects import iterate_objects


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """One line of a file, with the place it came from.

    Attributes
    ----------
    where : str
        ``"file:line"``.
    id : str
    fields : dict
    """

    where: str
    id: str
    fields: dict[str, Any]

    def text(self, key: str, *, missing: str | None = None) -> str:
        """The string under `key`; null or absent gives `missing`, or an error where that is None."""
        value = self.fields.get(key)
        if value is None:
            if missing is None:
                raise InputError(f"{self.where}: id {self.id!r} has no {key!r}")
            return missing
        if not isinstance(value, str):
            raise InputError(f"{self.where}: id {self.id!r} has {key} {value!r}; expected a string")
        return value


def iterate_records(path: Path, id_keys: Sequence[str] = ("id",)) -> Iterator[JsonRecord]:
    """Yield the records of a file, which `iterate_objects` reads, in its order.

    Parameters
    ----------
    path : Path
    id_keys : sequence of str
        Names the id may go by; a record must hold exactly one of them, a string or an integer.

    Raises
    ------
    InputError
        Naming file, line and id.
    """
    empty = True
    for where, fields in iterate_objects(path):
        found = [key for key in id_keys if key in fields]
        if len(found) != 1:
            wanted = " or ".join(map(repr, id_keys))
            raise InputError(f"{where}: expected one field {wanted}, found {found or sorted(fields)}")
        value = fields[found[0]]
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise InputError(f"{where}: {found[0]} is {value!r}; expected a non-empty string or an integer")
        empty = False
        yield JsonRecord(where, str(value), fields)
    if empty:
        raise InputError(f"{path}: no records")


def read_records(
    path: Path, id_keys: Sequence[str] = ("id",), *, last_wins: bool = False
) -> tuple[dict[str, JsonRecord], int]:
    """The records of `iterate_records` by id.

    Parameters
    ----------
    path : Path
    id_keys : sequence of str
    last_wins : bool
        Keep the last record of an id that stands twice (and count it) where the default is an error.

    Returns
    -------
    records : dict of str to JsonRecord
    repeated : int
        How many records were replaced by a later one; always 0 without `last_wins`.

    Raises
    ------
    InputError
        Naming file, line and id.
    """
    records: dict[str, JsonRecord] = {}
    repeated = 0
    for record in iterate_records(path, id_keys):
        if record.id in records:
            if not last_wins:
                raise stands_twice(record, records[record.id].where)
            repeated += 1
        records[record.id] = record
    return records, repeated


def stands_twice(record: JsonRecord, first: str) -> InputError:
    """The complaint about an id that an earlier record has, too."""
    return InputError(f"{record.where}: the id {record.id!r} stands twice (first at {first})")


def refuse_unknown(answers: Mapping[str, JsonRecord], labels: Collection[str], labels_name: str) -> None:
    """An answer to a question nobody asked is an error: it usually means the wrong file."""
    for record in answers.values():
        if record.id not in labels:
            raise InputError(f"{record.where}: the id {record.id!r} is not in {labels_name}")
