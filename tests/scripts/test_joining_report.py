"""Joining by id, and what `score` shows and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import read_records, refuse_unknown
from lookcheck.dataset_builders.scores.report import Cell, Line, Report, Table, percent
from lookcheck.scripts import console
from lookcheck.scripts.score.emit import emit


def _write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_ids_may_be_integers_or_strings_and_go_by_several_names(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.jsonl", {"id": 7, "x": "a"}, {"row_id": "b", "x": None})
    records, repeated = read_records(path, ("id", "row_id"))
    assert list(records) == ["7", "b"]
    assert repeated == 0
    assert records["7"].text("x") == "a"
    assert records["b"].text("x", missing="") == ""
    with pytest.raises(InputError, match="id 'b' has no 'x'"):
        records["b"].text("x")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"x": 1}, "expected one field 'id'"),
        ({"id": None}, "id is None"),
        ({"id": ""}, "id is ''"),
        ({"id": True}, "id is True"),
        ({"id": 1.5}, "id is 1.5"),
        ({"id": [1]}, r"id is \[1\]"),
    ],
)
def test_bad_ids_name_the_line(tmp_path: Path, record: object, said: str) -> None:
    path = _write(tmp_path / "a.jsonl", {"id": "ok"}, record)
    with pytest.raises(InputError, match=rf"a\.jsonl:2: .*{said}"):
        read_records(path)


def test_an_id_that_stands_twice(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.jsonl", {"id": 1, "x": "old"}, {"id": "1", "x": "new"})
    with pytest.raises(InputError, match=r"a\.jsonl:2: the id '1' stands twice \(first at .*:1\)"):
        read_records(path)
    records, repeated = read_records(path, last_wins=True)
    assert (records["1"].text("x"), repeated) == ("new", 1)


def test_an_empty_file_and_an_unknown_id(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no records"):
        read_records(_write(tmp_path / "a.jsonl"))
    answers, _ = read_records(_write(tmp_path / "b.jsonl", {"id": "q9"}))
    with pytest.raises(InputError, match=r"b\.jsonl:1: the id 'q9' is not in labels"):
        refuse_unknown(answers, {"q1": 0}, "labels")


def test_report_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = {"score": 0.5, "per_sample": [{"id": "a"}], "signature": "metric:x|version:1"}
    lines = [
        Line("score", "", [Cell(0.5, 3), Cell(None)], "[model]"),
        Line("baseline", "base", [Cell(1 / 3, 3), Cell(0.0, 2)]),
    ]
    table = Table("Title", {"score": "Score", "other": "Other"}, lines)
    report = Report("[model]", [table], result, ["a note"])
    outputs = [tmp_path / "r.json", tmp_path / "r.csv"]
    emit([report], as_json=False, outputs=outputs, per_sample=None)
    shown = capsys.readouterr().out
    assert "[model]" in shown
    assert "50.00" in shown
    assert "33.33" in shown
    assert "metric:x|version:1" in shown
    assert json.loads((tmp_path / "r.json").read_text()) == result
    assert (tmp_path / "r.csv").read_text() == (
        f"kind,name,n,value\nscore,score,3,0.5\nbaseline,base/score,3,{1 / 3!r}\nbaseline,base/other,2,0.0\n"
    )
    emit([report], as_json=True, outputs=[], per_sample=None)
    assert json.loads(capsys.readouterr().out) == {
        "score": 0.5,
        "signature": "metric:x|version:1",
        "notes": ["a note"],
    }


def test_output_of_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match=r"ending in \.json or \.csv"):
        console.check_outputs([Path("a.txt")])


def test_percent() -> None:
    assert [percent(value) for value in (0.53263, None, float("nan"), 1.0)] == ["53.26", "–", "–", "100.00"]
