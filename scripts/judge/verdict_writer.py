"""Writing a verdict file: append-only, and seen to the disk row by row.

A file can be continued by a run with the same header, by one process at a time. What a killed process
left of its last line is cut off; every other line has to be whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from io import FileIO
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import (
    FORMAT,
    HEADER_KEY,
    Json,
    JudgeHeader,
    VerdictRow,
    parse_verdicts,
)
from lookcheck.scripts import console


class VerdictFile:
    """A verdict file open for appending; a context manager that holds the file's lock.

    Parameters
    ----------
    path : Path
        In an existing folder. A lock file lies beside it, under the same name with ``.lock``.
    header : JudgeHeader
        ``deciding`` is compared before the file is continued, ``known`` only written.

    Attributes
    ----------
    rows : dict of str to VerdictRow
        What the file already holds, by id.
    repaired : int
        Bytes of an unfinished last line that were cut off.

    Raises
    ------
    InputError
        If another process has the file, its header differs (naming the keys), a line can't be read
        or an id stands twice.
    """

    def __init__(self, path: Path, header: JudgeHeader) -> None:
        self._path, self._header = path, header
        self._lock = FileLock(f"{path}.lock")
        self._file: FileIO | None = None
        self.rows: dict[str, VerdictRow] = {}
        self.repaired = 0

    def __enter__(self) -> VerdictFile:
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

    def append(self, rows: Iterable[VerdictRow]) -> None:
        """Add rows and see them to the disk.

        Raises
        ------
        OSError
            If the disk is full; what got there is repaired by the next run.
        """
        lines = []
        for row in rows:
            if row["id"] in self.rows:
                raise ValueError(f"the id {row['id']!r} is in {self._path} already")
            self.rows[row["id"]] = row
            lines.append(line_of(row))
        if self._file is None:
            raise ValueError(f"{self._path} is not open")
        if lines:
            _write(self._file, b"".join(lines))

    def drop(self, ids: Collection[str]) -> None:
        """Take rows out of the file, which is written anew, whole or not at all."""
        if self._file is None:
            raise ValueError(f"{self._path} is not open")
        header, *lines = self._path.read_bytes().splitlines(keepends=True)
        kept = [line for line, id in zip(lines, self.rows, strict=True) if id not in ids]
        console.write_text(self._path, b"".join([header, *kept]).decode())
        self._file.close()
        self._file = FileIO(self._path, "ab")
        self.rows = {id: row for id, row in self.rows.items() if id not in ids}

    def _open(self) -> None:
        first = line_of({HEADER_KEY: {"format": FORMAT, **self._header}})
        text = self._path.read_bytes() if self._path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if not whole and not first.startswith(text):
            raise InputError(f"{self._path}:1: not a verdict file; choose another --output")
        if whole:
            header, self.rows = parse_verdicts(whole, self._path)
            compare_headers(header, self._header, self._path)
        self.repaired = len(text) - len(whole)
        # Unbuffered: a line is on its way to the disk before the next is judged.
        self._file = FileIO(self._path, "ab")
        if self.repaired:
            self._file.truncate(len(whole))
        if not whole:
            _write(self._file, first)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._lock.release()


def line_of(row: Mapping[str, object]) -> bytes:
    """One row as a line of JSON, in ASCII, so that nothing in a text can break a line."""
    return json.dumps(row, allow_nan=False).encode() + b"\n"


def compare_headers(found: JudgeHeader, wanted: JudgeHeader, path: Path) -> None:
    """Refuse to mix verdicts of two judges in one file; the message names the keys that differ."""
    old, new = _flat(found["deciding"]), _flat(json.loads(json.dumps(wanted["deciding"])))
    differing = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    if differing:
        listed = "; ".join(
            f"{key} was {old.get(key, 'not there')!r}, is {new.get(key, 'not there')!r}" for key in differing
        )
        raise InputError(f"{path}: was judged differently, choose another --output: {listed}")


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
