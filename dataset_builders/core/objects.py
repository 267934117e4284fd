"""Objects of a file, one after another: JSON Lines, a JSON array, VQA's own files; gzip; standard input."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import IO, Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import parse_json, parse_json_at, shorten

STDIN = Path("-")
_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"\s*")
# VQA's files of annotations are an object with a list of this name, on one line or on many.
LIST = "annotations"
_DOCUMENT = re.compile(
    rb'\s*(?:\[|\{\s*$|\{\s*"(?:info|license|data_type|data_subtype|task_type|annotations)"\s*:)'
)


def iterate_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each object of a file with its place.

    Parameters
    ----------
    path : Path
        UTF-8: a JSON object a line; one JSON array of objects; or an object with the list ``annotations``
        (VQA v2). ``*.gz`` is unpacked; ``-`` is standard input.

    Yields
    ------
    (str, dict)
        ``"FILE:LINE"``, with the item's number where several may stand on a line.

    Raises
    ------
    InputError
        Naming file and line.
    """
    name = "standard input" if path == STDIN else str(path)
    try:
        with _open(path) as file:
            yield from _objects(file, name)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: can't be read ({reason})") from None


def _open(path: Path) -> AbstractContextManager[IO[bytes] | gzip.GzipFile]:
    if path == STDIN:
        return nullcontext(sys.stdin.buffer)
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _objects(file: IO[bytes] | gzip.GzipFile, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    lines = enumerate(file, start=1)
    for number, line in lines:
        line = line.removeprefix(_BOM) if number == 1 else line
        if not line.strip():
            continue
        if _DOCUMENT.match(line):
            yield from _items(_decoded(line + file.read(), name, number), name, number)
            return
        yield from _lines(chain([(number, line)], lines), name)


def _lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    # Bytes end a line at LF alone: U+2028 and friends are legal inside a JSON string.
    for number, line in lines:
        if line.strip():
            where = f"{name}:{number}"
            text = _decoded(line, name, number)
            yield where, _object(parse_json(text, where), where, text)


def _items(text: str, name: str, first: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a document; one is decoded at a time, for all at once take ten times the room."""
    place = _skip(text, 0)
    inside = text[place] == "{"
    if inside:
        place = _find_list(text, place, name)
    number, line, counted = 0, first, 0
    place = _skip(text, place + 1)
    while text[place : place + 1] != "]":
        number += 1
        line, counted = line + text.count("\n", counted, place), place
        where = f"{name}:{line}, item {number}"
        value, end = parse_json_at(text, place, where)
        yield where, _object(value, where, text[place:end])
        place = _skip(text, end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
            if text[place : place + 1] != "]":
                continue
        elif text[place : place + 1] == "]":
            break
        raise InputError(
            f"{where}: not valid JSON (no comma and further item, and no end of the list, after it)"
        )
    if not inside and text[place + 1 :].strip():
        raise InputError(f"{name}: more follows the end of the list: {shorten(text[place + 1 :])}")


def _find_list(text: str, place: int, name: str) -> int:
    """Where the list of an object in VQA's form begins."""
    place = _skip(text, place + 1)
    while text[place : place + 1] == '"':
        key, place = parse_json_at(text, place, name)
        place = _skip(text, place)
        if text[place : place + 1] != ":":
            break
        place = _skip(text, place + 1)
        if key == LIST and text[place : place + 1] == "[":
            return place
        _, place = parse_json_at(text, place, name)
        place = _skip(text, place)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
    raise InputError(
        f"{name}: a JSON object without the list {LIST!r}; expected that, an array, or JSON Lines"
    )


def _skip(text: str, place: int) -> int:
    """The next place that is no white space."""
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _decoded(data: bytes, name: str, first: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = first + data.count(b"\n", 0, error.start)
        raise InputError(f"{name}:{line}: not UTF-8 text (byte {data[error.start]:#04x})") from None


def _object(value: Any, where: str, text: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected a JSON object, found {shorten(text)}")
    return value
