"""The folder of a run: what it was made with, replies as they come, and predictions for a scorer.

``run.json`` holds all that affects an answer. ``replies.jsonl`` has one line for each distinct request,
written as replies come; ``predictions.jsonl`` one for each row; ``timings.jsonl`` the seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import parse_json, read_json
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.requests.request import Answer, FirstToken
from lookcheck.scripts import console
from lookcheck.scripts.models.store import Header, RowFormat, compare_headers

RUN = "run.json"
REPLIES = "replies.jsonl"
PREDICTIONS = "predictions.jsonl"
VERDICTS = "verdicts.jsonl"
SCORES = "scores.json"
TIMINGS = "timings.jsonl"
FORMAT = 1
_KEY = "lookcheck_run"
_LOCK = "run.lock"

Line = dict[str, Any]
"""A line of replies or predictions; ``id`` names it, ``failure`` says why it is none."""


class RunFolder:
    """A run's folder, open for work; a context manager that holds its lock.

    Parameters
    ----------
    path : Path
        Made if it is not there; what lies in it has to be of a run.
    header : Header
        ``deciding`` is compared with an earlier start's, ``known`` only written.

    Raises
    ------
    InputError
        If another process has the run, the folder holds something else, or the header differs (naming
        the keys).
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path, self._header = path, header
        self._lock = FileLock(path / _LOCK)

    def __enter__(self) -> RunFolder:
        if not self.path.exists() and not self.path.parent.is_dir():
            raise InputError(f"{self.path}: the folder {self.path.parent} does not exist")
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path}: is no folder")
        self.path.mkdir(exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(f"{self.path}: another process is working on this run") from None
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def _begin(self) -> None:
        file = self.path / RUN
        if file.exists():
            compare_headers(read_header(self.path), self._header, file, "made")
            return
        others = [path.name for path in self.path.iterdir() if path.name != _LOCK]
        if others:
            raise InputError(f"{self.path}: is no run, it lacks {RUN} and holds {min(others)}")
        told = {_KEY: {"format": FORMAT, **self._header}}
        console.write_text(file, json.dumps(told, indent=1, allow_nan=False) + "\n")


@dataclass(frozen=True)
class Run:
    """A run that is read.

    Attributes
    ----------
    path : Path
    header : Header
    """

    path: Path
    header: Header

    @property
    def predictions(self) -> Path:
        """The file."""
        return self.path / PREDICTIONS

    def told(self, *keys: str) -> Any:
        """A value of what decides, by its path of keys; None where it is not there."""
        found: Any = self.header["deciding"]
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def known(self, key: str) -> Any:
        """A value of what is only good to know."""
        return self.header["known"].get(key)

    def lines(self) -> dict[str, Line]:
        """Predictions by id, without an unfinished last line.

        Raises
        ------
        InputError
            Naming file and line.
        """
        return read_lines(self.predictions)


def read_run(path: Path) -> Run:
    """Read a run's folder.

    Raises
    ------
    InputError
        If it is none.
    """
    return Run(path, read_header(path))


def is_run(path: Path) -> bool:
    """Whether the folder is that of a run."""
    return (path / RUN).is_file()


def read_header(path: Path) -> Header:
    """What a run was made with.

    Raises
    ------
    InputError
        If ``run.json`` is missing or no header of a run.
    """
    file = path / RUN
    if not file.is_file():
        raise InputError(f"{path}: is no run of lookcheck predict, it lacks {RUN}")
    found = read_json(file)
    header = found.get(_KEY) if isinstance(found, dict) else None
    if not isinstance(header, dict) or not isinstance(header.get("deciding"), dict):
        raise InputError(f"{file}: no header of lookcheck predict")
    if header.get("format") != FORMAT:
        raise InputError(f"{file}: has the format {header.get('format')!r}; this version reads {FORMAT}")
    known = header.get("known")
    return Header(deciding=header["deciding"], known=known if isinstance(known, dict) else {})


def read_lines(path: Path) -> dict[str, Line]:
    """Lines of a file by id, without an unfinished last one; none where there is no file."""
    data = path.read_bytes() if path.exists() else b""
    return parse_lines(data[: data.rfind(b"\n") + 1], path)[1]


def parse_lines(data: bytes, path: Path) -> tuple[None, dict[str, Line]]:
    """Lines by id, from the bytes of a file that ends in a line break.

    Raises
    ------
    InputError
        Naming file and line.
    """
    rows: dict[str, Line] = {}
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        broken = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{broken}: not UTF-8 text") from None
    for number, line in enumerate(lines[:-1], start=1):
        where = f"{path}:{number}"
        row = parse_json(line, where)
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise InputError(f"{where}: expected an object with an id")
        if row["id"] in rows:
            raise InputError(f"{where}: the id {row['id']!r} stands twice")
        rows[row["id"]] = row
    return None, rows


REPLY_FILE: RowFormat[Line] = RowFormat(name="a file of replies", made="made", parse=parse_lines)
PREDICTION_FILE: RowFormat[Line] = RowFormat(name="a file of predictions", made="made", parse=parse_lines)


def line_of_answer(name: str, answer: Answer) -> Line:
    """An answer as a line of replies; its seconds are kept elsewhere."""
    told = asdict(answer)
    del told["seconds"]
    return {"id": name, **{key: _clean(value) for key, value in told.items()}}


def answer_of_line(line: Line) -> Answer:
    """The answer that a line of replies holds."""
    told = {key: value for key, value in line.items() if key != "id"}
    if told.get("first") is not None:
        told["first"] = FirstToken(**told["first"])
    if told.get("picture_size") is not None:
        told["picture_size"] = tuple(told["picture_size"])
    return Answer(**told)


def _clean(value: Any) -> Json:
    """Text that every reader takes: half of a surrogate pair, which a server may send, as its escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    found: Json = value
    return found
