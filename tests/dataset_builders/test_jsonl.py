"""Strict JSON Lines: every complaint names file and line."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from lookcheck.dataset_builders.core import jsonl
from lookcheck.dataset_builders.core.errors import InputError


def _file(folder: Path, data: bytes) -> Path:
    path = folder / "a.jsonl"
    path.write_bytes(data)
    return path


def test_reads_lf_crlf_bom_blank_lines_and_unicode_separators(tmp_path: Path) -> None:
    text = '\ufeff{"id": 1}\r\n\r\n{"id": "a\u2028b"}\n{"id": 3}'
    records = list(jsonl.read_jsonl(_file(tmp_path, text.encode())))
    assert records == [(1, {"id": 1}), (3, {"id": "a\u2028b"}), (4, {"id": 3})]


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b'{"a": 1}\n{"a": 1', 2, "not valid JSON"),
        (b"[1]\n", 1, "expected a JSON object"),
        (b'{"a": NaN}\n', 1, "NaN is not JSON"),
        (b'{"a": -Infinity}\n', 1, "-Infinity is not JSON"),
        (b'{"a": 1, "a": 2}\n', 1, "'a' stands twice"),
        (b'{"a": 1}\n\n{"a": "\xff"}\n', 3, "not UTF-8 text (byte 0xff)"),
        (b'{"a": ' + b"[" * 100_000 + b"\n", 1, "nested too deeply"),
    ],
)
def test_refuses_with_file_and_line(tmp_path: Path, data: bytes, line: int, said: str) -> None:
    path = _file(tmp_path, data)
    with pytest.raises(InputError) as caught:
        list(jsonl.read_jsonl(path))
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert said in message
    assert len(message) < 300 + len(str(path))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        jsonl.read_text(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="can't be read"):
        jsonl.read_text(tmp_path)


def test_doctests() -> None:
    result = doctest.testmod(jsonl)
    assert result.attempted > 0
    assert result.failed == 0
