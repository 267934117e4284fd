"""Strict reading of JSON and JSON Lines: every complaint names file and line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError


def _no_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise ValueError(f"the key {key!r} stands twice in one record")
        record[key] = value
    return record


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; write null or leave the field out")


_DECODER = json.JSONDecoder(object_pairs_hook=_no_duplicate_keys, parse_constant=_refuse_constant)


def parse_json(text: str, where: str) -> Any:
    """Parse JSON, refusing NaN, Infinity and keys that stand twice.

    Parameters
    ----------
    text : str
    where : str
        The place for the error message, for example ``"answers.jsonl:12"``.

    Raises
    ------
    InputError
        If `text` is not JSON.

    Examples
    --------
    >>> parse_json('{"id": 1}', "a.jsonl:1")
    {'id': 1}
    """
    return _checked(_DECODER.decode, text, where)


def parse_json_at(text: str, start: int, where: str) -> tuple[Any, int]:
    """Parse the JSON value that begins at `start`, as `parse_json` does, and say where it ends."""
    value: Any
    value, end = _checked(lambda whole: _DECODER.raw_decode(whole, start), text, where, start)
    return value, end


def _checked(decode: Callable[[str], Any], text: str, where: str, start: int = 0) -> Any:
    try:
        value = decode(text)
        # No file and no terminal can hold half of a surrogate pair; only an escape can spell one.
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end]
        reason = f"half of a surrogate pair ({half!r}) is no text"
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else "nested too deeply"
        reason = f"not valid JSON ({why})"
    raise InputError(f"{where}: {reason}: {shorten(text[start : start + 1000])}")


def read_text(path: Path) -> str:
    """Read a UTF-8 file (a leading byte order mark is dropped), or say in one sentence why not."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror or error})") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: not UTF-8 text (byte {data[error.start]:#04x})") from None


def read_json(path: Path) -> Any:
    """Read one JSON document."""
    return parse_json(read_text(path), str(path))


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield ``(line number, record)`` for each line of a JSON Lines file; blank lines are passed over.

    Parameters
    ----------
    path : Path
        UTF-8; lines end in LF or CRLF.

    Raises
    ------
    InputError
        Naming file and line, if a line is not a JSON object.
    """
    # Not str.splitlines(): U+2028 and friends are legal inside a JSON string.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        record = parse_json(line, f"{path}:{number}")
        if not isinstance(record, dict):
            raise InputError(f"{path}:{number}: expected a JSON object, found {shorten(line)}")
        yield number, record


def shorten(text: str, limit: int = 80) -> str:
    """The beginning of a text, for a message."""
    text = text.strip()
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
