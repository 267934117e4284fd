"""Files of rows that a killed run goes on with: append-only, and seen to the disk row by row.

A file can be continued by a run with the same header, by one process at a time. What a killed process
left of its last line is cut off; every other line has to be whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Generic, TypedDict, TypeVar

from filelock import FileLock, Timeout

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts import console

Row = TypeVar("Row", bound=Mapping[str, object])


class Header(TypedDict):
    """What the rows of a file were made with.

    Attributes
    ----------
    deciding : mapping
        What affects a row; compared before a file is continued.
    known : mapping
        What is only good to know.
    """

    deciding: Mapping[str, Json]
    known: Mapping[str, Json]


@dataclass(frozen=True)
class RowFormat(Generic[Row]):
    """One kind of file.

    Attributes
    ----------
    name : str
        What people call such a file, ``"a verdict file"``.
    made : str
        What was done to its rows, ``"judged"``.
    parse : callable
        From the bytes of a file that ends in a line break to its header and its rows by id; raises
        InputError naming file and line. The header of a file without a header line is None.
    header_key : str or None
        The key of the first line that holds the header; None for a file of rows only, whose header lies
        elsewhere and is compared by whoever opens the file.
    version : int
        The ``format`` that the header is written with.
    key : str
        The field of a row that is its id.
    remedy : str
        What people can do about a file that can't be continued.
    """

    name: str
    made: str
    parse: Callable[[bytes, Path], tuple[Header | None, dict[str, Row]]]
    header_key: str | None = None
    version: int = 1
    key: str = "id"
    remedy: str = "choose another --output"

    def id_of(self, row: Row) -> str:
        """The row's id."""
        return str(row[self.key])

    def first_line(self, header: Header) -> bytes:
        """The header as it stands in the file; empty for a file of rows only."""
        if self.header_key is None:
            return b""
        return line_of({self.header_key: {"format": self.version, **header}})


class RowFile(Generic[Row]):
    """A file of rows open for appending; a context manager that holds the file's lock.

    Parameters
    ----------
    path : Path
        In an existing folder. A lock file lies beside it, under the same name with ``.lock``.
    form : RowFormat
    header : Header
        ``deciding`` is compared before the file is continued, ``known`` only written.

    Attributes
    ----------
    rows : dict of str to row
        What the file already holds, by id.
    repaired : int
        Bytes of an unfinished last line that were cut off.

    Raises
    ------
    InputError
        If another process has the file, its header differs (naming the keys), a line can't be read
        or an id stands twice.
    """

    def __init__(self, path: Path, form: RowFormat[Row], header: Header) -> None:
        self._path, self._form, self._header = path, form, header
        self._lock = FileLock(f"{path}.lock")
        self._file: FileIO | None = None
        self.rows: dict[str, Row] = {}
        self.repaired = 0

    def __enter__(self) -> RowFile[Row]:
        if not self._path.parent.is_dir():
            raise InputError(f"{self._path}: the folder {self._path.parent} does not exist")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(f"{self._path}: another process is writing to this file") from None
        try:
            self._open()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows and see them to the disk.

        Raises
        ------
        OSError
            If the disk is full; what got there is repaired by the next run.
        """
        lines = []
        for row in rows:
            id = self._form.id_of(row)
            if id in self.rows:
                raise ValueError(f"the id {id!r} is in {self._path} already")
            self.rows[id] = row
            lines.append(line_of(row))
        if self._file is None:
            raise ValueError(f"{self._path} is not open")
        if lines:
            _write(self._file, b"".join(lines))

    def drop(self, ids: Collection[str]) -> None:
        """Take rows out of the file, which is written anew, whole or not at all."""
        self._rewrite([id for id in self.rows if id not in ids])

    def finish(self, order: Sequence[str]) -> bool:
        """Put the rows of a complete file into `order`, whole or not at all.

        Parameters
        ----------
        order : sequence of str
            Ids of the rows that the file is to have.

        Returns
        -------
        bool
            Whether it has them all; if not, it is left as it is.

        Raises
        ------
        ValueError
            If it holds a row that is not in `order`.
        """
        if further := self.rows.keys() - set(order):
            raise ValueError(f"the id {min(further)!r} in {self._path} is not among those asked for")
        if len(self.rows) < len(order):
            return False
        if list(self.rows) != list(order):
            self._rewrite(order)
        return True

    def _rewrite(self, ids: Sequence[str]) -> None:
        """Write the file anew with the rows of `ids`, in that order, each line as it is."""
        if self._file is None:
            raise ValueError(f"{self._path} is not open")
        lines = self._path.read_bytes().splitlines(keepends=True)
        head = [] if self._form.header_key is None else [lines.pop(0)]
        places = dict(zip(self.rows, lines, strict=True))
        console.write_text(self._path, b"".join([*head, *(places[id] for id in ids)]).decode())
        self._file.close()
        self._file = FileIO(self._path, "ab")
        self.rows = {id: self.rows[id] for id in ids}

    def _open(self) -> None:
        first = self._form.first_line(self._header)
        text = self._path.read_bytes() if self._path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if first and not whole and not first.startswith(text):
            raise InputError(f"{self._path}:1: not {self._form.name}; {self._form.remedy}")
        if whole:
            header, self.rows = self._form.parse(whole, self._path)
            if header is not None:
                compare_headers(header, self._header, self._path, self._form.made, self._form.remedy)
        self.repaired = len(text) - len(whole)
        # Unbuffered: a line is on its way to the disk before the next row is made.
        self._file = FileIO(self._path, "ab")
        if self.repaired:
            self._file.truncate(len(whole))
        if first and not whole:
            _write(self._file, first)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._lock.release()


def line_of(row: Mapping[str, object]) -> bytes:
    """One row as a line of JSON, in ASCII, so that nothing in a text can break a line."""
    return json.dumps(row, allow_nan=False).encode() + b"\n"


def compare_headers(
    found: Header, wanted: Header, path: Path, made: str, remedy: str = "choose another --output"
) -> None:
    """Refuse to mix rows that were made differently in one file; the message names the keys that differ.

    Parameters
    ----------
    found, wanted : Header
        Of the file, and of the run that wants to go on with it.
    path : Path
    made : str
        What was done to the rows, ``"judged"``.
    remedy : str
        What people can do about it.

    Raises
    ------
    InputError
    """
    old, new = _flat(found["deciding"]), _flat(json.loads(json.dumps(wanted["deciding"])))
    differing = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    if differing:
        listed = "; ".join(
            f"{key} was {old.get(key, 'not there')!r}, is {new.get(key, 'not there')!r}" for key in differing
        )
        raise InputError(f"{path}: was {made} differently, {remedy}: {listed}")


def _write(file: FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
    os.fsync(file.fileno())


def _flat(value: Json, path: str = "") -> dict[str, Json]:
    if not isinstance(value, Mapping):
        return {path: value}
    return {
        key: item
        for name, part in value.items()
        for key, item in _flat(part, f"{path}.{name}" if path else name).items()
    }
