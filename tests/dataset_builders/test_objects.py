"""Objects from JSON Lines, JSON arrays, VQA v2's own files, gzip and standard input."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.objects import iterate_objects

FOUND = [{"id": 1, "text": "é\u2028"}, {"id": 2, "text": '[{\\\\"}]'}]
LINES = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in FOUND)
VQA = {"info": {"annotations": [7]}, "license": {"name": "x]"}, "annotations": FOUND, "data_type": "mscoco"}


def items(path: Path) -> list[Any]:
    return [item for _, item in iterate_objects(path)]


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        "\n" + LINES.replace("\n", "\r\n\n"),
        LINES.rstrip(),
        json.dumps(FOUND),
        json.dumps(FOUND, indent=1, ensure_ascii=False),
        f" \n{json.dumps(FOUND, separators=(',', ':'))}\n",
        json.dumps(VQA),
        json.dumps(VQA, indent=2),
        json.dumps({"annotations": FOUND}),
        json.dumps({"data_subtype": "val2014", "annotations": FOUND}),
    ],
)
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_the_same_objects_from_every_form(tmp_path: Path, text: str, bom: str) -> None:
    data = (bom + text).encode()
    (tmp_path / "a.json").write_bytes(data)
    assert items(tmp_path / "a.json") == FOUND
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(data))
    assert items(tmp_path / "a.json.gz") == FOUND


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(LINES.encode())))
    assert list(iterate_objects(Path("-"))) == [
        ("standard input:1", FOUND[0]),
        ("standard input:2", FOUND[1]),
    ]


def test_places(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[\n {"id": 1},\n\n {"id": 2}, {"id": 3}]')
    assert [where for where, _ in iterate_objects(path)] == [
        f"{path}:2, item 1",
        f"{path}:4, item 2",
        f"{path}:4, item 3",
    ]
    path.write_text('\n{"id": 1}\n\n{"id": 2}\n')
    assert [where for where, _ in iterate_objects(path)] == [f"{path}:2", f"{path}:4"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": 1}\n{"id": 2, "te\n', r"a:2: not valid JSON"),
        ('{"id": 1}\n[2]\n', r"a:2: expected a JSON object, found '\[2\]'"),
        ('{"id": 1, "id": 2}\n', "a:1: not valid JSON .*the key 'id' stands twice"),
        ('[{"id": 1},\n 7]', "a:2, item 2: expected a JSON object, found '7'"),
        ('[{"id": 1}', "a:1, item 1: not valid JSON .no comma"),
        ('[{"id": 1},', "a:1, item 2: not valid JSON"),
        ('[{"id": 1},]', "a:1, item 1: not valid JSON"),
        ('[{"id": 1}, {"id": NaN}]', "a:1, item 2: not valid JSON .NaN is not JSON"),
        ('[{"id": 1}, {"id": "\\ud800"}]', "a:1, item 2: half of a surrogate pair"),
        ('[{"id": 1}] {"id": 2}', "a: more follows the end of the list: "),
        ('{"info": {}, "annotations": {}}', "a: a JSON object without the list 'annotations'"),
        ('{"info": {}, "images": []}', "a: a JSON object without the list 'annotations'"),
        ('{\n "info": {}', "a: a JSON object without the list 'annotations'"),
    ],
)
def test_what_is_broken_is_named_by_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a").write_text(text)
    with pytest.raises(InputError, match=said) as error:
        items(tmp_path / "a")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("form", ["lines", "array"])
def test_a_byte_that_is_no_utf8_is_named_by_line(tmp_path: Path, form: str) -> None:
    data = b'{"id": 1}\n{"id": "\xff"}\n' if form == "lines" else b'[{"id": 1},\n{"id": "\xff"}]'
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(InputError, match=r"a:2: not UTF-8 text \(byte 0xff\)"):
        items(tmp_path / "a")


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no such file"):
        items(tmp_path / "none")
    with pytest.raises(InputError, match=r"can't be read \(Is a directory"):
        items(tmp_path)
    whole = gzip.compress(LINES.encode())
    for data in (b"no gzip", whole[:-9], whole[:20] + b"\x00" + whole[21:]):
        (tmp_path / "a.gz").write_bytes(data)
        with pytest.raises(InputError, match=r"a\.gz: can't be read"):
            items(tmp_path / "a.gz")
