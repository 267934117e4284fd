"""The verdict file: a header line with all that affects a verdict, then one row a sample, append-only.

A file can be continued by a run with the same header, by one process at a time. What a killed process
left of its last line is cut off; every other line has to be whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import parse_json
from lookcheck.metrics.grove.validation import VERDICTS

HEADER_KEY = "lookcheck_judge"
FORMAT = 1

Row = dict[str, Any]


class VerdictFile:
    """A verdict file open for appending; a context manager that holds the file's lock.

    Parameters
    ----------
    path : Path
        In an existing folder. A lock file lies beside it, under the same name with ``.lock``.
    header : dict
        ``deciding`` (compared on resume) and ``known`` (written only).

    Attributes
    ----------
    rows : dict of str to dict
        What the file already holds, by id.
    repaired : int
        Bytes of an unfinished last line that were cut off.

    Raises
    ------
    InputError
        If another process has the file, its header differs (naming the keys), a line can't be read
        or an id stands twice.
    """

    def __init__(self, path: Path, header: Row) -> None:
        self._path, self._header = path, header
        self._lock = FileLock(f"{path}.lock")
        self._file: Any = None
        self.rows: dict[str, Row] = {}
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

    def append(self, rows: Iterable[Row]) -> None:
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
        if lines:
            self._write(b"".join(lines))

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
        self._file = self._path.open("ab", buffering=0)
        if self.repaired:
            self._file.truncate(len(whole))
        if not whole:
            self._write(first)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]
        os.fsync(self._file.fileno())

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        self._lock.release()


def line_of(row: Row) -> bytes:
    """One row as a line of JSON, in ASCII, so that nothing in a text can break a line."""
    return json.dumps(row, allow_nan=False).encode() + b"\n"


def parse_verdicts(data: bytes, path: Path) -> tuple[Row, dict[str, Row]]:
    """Read the bytes of a verdict file that ends in a line break.

    Returns
    -------
    header : dict
    rows : dict of str to dict
        By id, in the file's order.

    Raises
    ------
    InputError
        Naming file and line.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        broken = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{broken}: not UTF-8 text") from None
    head = parse_json(lines[0], f"{path}:1")
    header = head.get(HEADER_KEY) if isinstance(head, dict) else None
    if not isinstance(header, dict) or "deciding" not in header:
        raise InputError(f"{path}:1: not a verdict file: the first line is no header of lookcheck judge")
    if header.get("format") != FORMAT:
        raise InputError(f"{path}:1: has the format {header.get('format')!r}; this version reads {FORMAT}")
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line and number == len(lines):
            break
        where = f"{path}:{number}"
        row = parse_json(line, where)
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise InputError(f"{where}: expected an object with an id")
        if row.get("verdict") not in VERDICTS:
            raise InputError(f"{where}: id {row['id']!r} has the verdict {row.get('verdict')!r}")
        if row["id"] in rows:
            raise InputError(f"{where}: the id {row['id']!r} stands twice")
        rows[row["id"]] = row
    return header, rows


def read_verdicts(path: Path) -> tuple[Row, dict[str, Row]]:
    """Read a finished verdict file: its header and its rows by id.

    Raises
    ------
    InputError
        Naming file and line; an unfinished last line is named, too.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    if not data.endswith(b"\n"):
        raise InputError(f"{path}: the last line is unfinished; run lookcheck judge run again to repair it")
    return parse_verdicts(data, path)


def is_verdict_file(path: Path) -> bool:
    """Whether the file begins as a verdict file does."""
    start = f'{{"{HEADER_KEY}"'.encode()
    try:
        with path.open("rb") as file:
            return file.read(len(start)) == start
    except OSError:
        return False


def compare_headers(found: Row, wanted: Row, path: Path) -> None:
    """Refuse to mix verdicts of two judges in one file; the message names the keys that differ."""
    old, new = _flat(found["deciding"]), _flat(json.loads(json.dumps(wanted["deciding"])))
    differing = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    if differing:
        listed = "; ".join(
            f"{key} was {old.get(key, 'not there')!r}, is {new.get(key, 'not there')!r}" for key in differing
        )
        raise InputError(f"{path}: was judged differently, choose another --output: {listed}")


def identity(header: Row) -> str:
    """The judge in a few words without ``|``, for a score's signature."""
    judge = header["deciding"]["judge"]
    version = judge.get("revision") or judge.get("weights")
    name = judge["model"] + (f"@{version[:12]}" if version else "")
    parts = [
        name,
        judge["method"],
        f"prompt{judge['prompt_version']}",
        judge.get("dtype") or judge["backend"],
    ]
    return ",".join(parts).replace("|", "/")


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {path: value}
    return {
        key: item
        for name, part in value.items()
        for key, item in _flat(part, f"{path}.{name}" if path else str(name)).items()
    }
