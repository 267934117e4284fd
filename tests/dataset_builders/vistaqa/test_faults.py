"""Every kind of bad record is refused, with its id, and all of them in one report."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.vistaqa.integrity import inspect_all, inspect_job
from lookcheck.dataset_builders.vistaqa.rows import make_rows
from lookcheck.dataset_builders.vistaqa.sources import folder_source

Change = Callable[[dict[str, Any], Path], Any]
ID = "0007"


def _set(*path: str | int, to: Any) -> Change:
    def change(record: dict[str, Any], _folder: Path) -> dict[str, Any]:
        place: Any = record
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to
        return record

    return change


def _drop(key: str) -> Change:
    return lambda record, _folder: {name: value for name, value in record.items() if name != key}


def _image(change: Callable[[Path], Any]) -> Change:
    def apply(record: dict[str, Any], folder: Path) -> dict[str, Any]:
        change(folder / "images" / "7.png")
        return record

    return apply


def _first(name: str, to: Any) -> Change:
    return _set("annotations", 0, name, to=to)


def _rle(name: str, to: Any) -> Change:
    return _set("annotations", 0, "segmentation", name, to=to)


def _empty_mask(record: dict[str, Any], _folder: Path) -> dict[str, Any]:
    record["annotations"][1]["segmentation"] = {"size": [16, 24], "counts": [16 * 24]}
    record["num_instances"] = 1
    return record


def _turn(path: Path) -> None:
    """Mark the picture as lying on its side: upright, it is 16 wide and 24 high."""
    image = Image.open(path)
    image.load()
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(path, exif=exif)


# Name, change, rule, and what the message must show.
KINDS: list[tuple[str, Change, str, str]] = [
    ("not an object", lambda _record, _folder: [1], "record", "list"),
    ("no question", _drop("question"), "question", "None"),
    ("blank question", _set("question", to="  "), "question", "empty"),
    ("question is a number", _set("question", to=3), "question", "3"),
    ("half a surrogate", _set("question", to="a\ud800"), "json", "surrogate"),
    ("file name with half a surrogate", _set("image", "file_name", to="\ud800.png"), "json", "surrogate"),
    ("no answer", _drop("answer"), "answer", "None"),
    ("empty answer", _set("answer", to=""), "answer", "empty"),
    ("answer is a list", _set("answer", to=["a"]), "answer", "['a']"),
    ("no task", _drop("task_type"), "task", "None"),
    ("unknown task", _set("task_type", to="juggling"), "task", "'juggling'"),
    ("unknown domain", _set("task_domain", to="under water"), "domain", "'under water'"),
    ("domain is a number", _set("task_domain", to=2), "domain", "2"),
    ("no instance number", _drop("num_instances"), "num-instances", "None"),
    ("instance number is text", _set("num_instances", to="2"), "num-instances", "'2'"),
    ("instance number is true", _set("num_instances", to=True), "num-instances", "True"),
    ("too few masks", _set("num_instances", to=3), "instance-count", "3"),
    ("no hallucination flag", _drop("hallucination"), "hallucination", "None"),
    ("flag is 2", _set("hallucination", to=2), "hallucination", "2"),
    ("flagged, with masks", _set("hallucination", to=1), "evidence", "2 masks"),
    ("not flagged, without masks", _set("annotations", to=[]), "evidence", "no mask"),
    ("one of two masks empty", _empty_mask, "mask-empty", "1 of 2"),
    ("no image", _drop("image"), "image", "None"),
    ("file name is a number", _set("image", "file_name", to=7), "image-name", "7"),
    ("file name leaves the folder", _set("image", "file_name", to="../7.png"), "image-name", "'../7.png'"),
    ("file name is absolute", _set("image", "file_name", to="//7.png"), "image-name", "'//7.png'"),
    ("image is missing", _image(Path.unlink), "image-file", "'7.png'"),
    ("image is cut off", _image(lambda p: p.write_bytes(p.read_bytes()[:400])), "image-decode", "'7.png'"),
    ("image is text", _image(lambda p: p.write_bytes(b"hello")), "image-decode", "'7.png'"),
    ("declared width is wrong", _set("image", "width", to=25), "image-size", "25"),
    ("declared height is negative", _set("image", "height", to=-1), "image-size", "-1"),
    ("image turned by EXIF", _image(_turn), "mask-size", "16 × 24"),
    ("annotations are an object", _set("annotations", to={}), "annotations", "dict"),
    ("an annotation is null", _set("annotations", 0, to=None), "annotation", "None"),
    ("polygon", _first("segmentation", [[1, 2, 3, 4]]), "segmentation", "list"),
    ("mask without counts", _first("segmentation", {"size": [16, 24]}), "segmentation", "dict"),
    ("mask size of three", _rle("size", [16, 24, 1]), "rle-size", "[16, 24, 1]"),
    ("mask size of text", _rle("size", ["16", 24]), "rle-size", "['16', 24]"),
    (
        "mask of another size",
        _first("segmentation", {"size": [4, 4], "counts": [8, 8]}),
        "mask-size",
        "4 × 4",
    ),
    ("mask turned", _rle("size", [24, 16]), "mask-size", "24 × 16"),
    ("counts too short", _rle("counts", [16 * 24 - 9, 8]), "rle-sum", "383"),
    ("counts too long", _rle("counts", [16 * 24, 1]), "rle-sum", "385"),
    ("a negative run", _rle("counts", [-1, 385]), "rle-counts", "-1"),
    ("a run of half a pixel", _rle("counts", [383.5, 0.5]), "rle-counts", "383.5"),
    ("counts end inside a run", _rle("counts", "P"), "rle-counts", "middle of a number"),
    ("counts with a strange sign", _rle("counts", "é"), "rle-counts", "outside"),
    ("counts are empty", _rle("counts", ""), "rle-counts", "empty"),
    ("counts hold a negative run", _rle("counts", "O"), "rle-counts", "-1"),
    ("counts are a number", _rle("counts", 5), "rle-counts", "int"),
    ("no box", _first("bbox", None), "box", "None"),
    ("box of three", _first("bbox", [1, 2, 3]), "box", "[1, 2, 3]"),
    ("box of text", _first("bbox", [0, 0, "5", 5]), "box", "'5'"),
    ("box beyond all floats", _first("bbox", [10**400, 0, 5, 5]), "box", "1000"),
    ("box without area", _first("bbox", [1, 2, 0, 3]), "box", "[1, 2, 0, 3]"),
    ("box leaves the image", _first("bbox", [20, 2, 9, 3]), "box-outside", "20.0"),
    ("box starts outside", _first("bbox", [-4, 2, 9, 3]), "box-outside", "-4.0"),
]


@pytest.fixture
def source(upstream: ModuleType, tmp_path: Path) -> Path:
    """Three sound records: 6, 7 (two masks) and 8."""
    for number in (6, 7, 8):
        upstream.write(tmp_path, number, upstream.record(number))
    return tmp_path


def _faults(folder: Path, **options: Any) -> set[tuple[str, str, str]]:
    jobs = folder_source(folder / "annotations", folder / "images").jobs
    with pytest.raises(IntegrityError) as caught:
        inspect_all(jobs, **options)
    assert all(str(fault) in str(caught.value) for fault in caught.value.faults)
    return {(fault.id, fault.rule, fault.message) for fault in caught.value.faults}


def test_sound_records_pass(source: Path) -> None:
    jobs = folder_source(source / "annotations", source / "images").jobs
    assert [row.id for row in inspect_all(jobs, allow_partial=True)] == ["0006", "0007", "0008"]


@pytest.mark.parametrize(("change", "rule", "shown"), [kind[1:] for kind in KINDS], ids=[k[0] for k in KINDS])
def test_bad_record(source: Path, change: Change, rule: str, shown: str) -> None:
    path = source / "annotations" / f"{ID}.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()), source)))
    faults = _faults(source, allow_partial=True)
    assert {fault[0] for fault in faults} == {ID}
    assert any(found == rule and shown in message for _, found, message in faults), faults


def test_there_are_many_kinds() -> None:
    assert len({kind[2] for kind in KINDS}) >= 22
    assert len(KINDS) >= 45


@pytest.mark.parametrize("text", ["{", '{"a": NaN}', '{"question": 1, "question": 2}', ""])
def test_not_json(source: Path, text: str) -> None:
    (source / "annotations" / f"{ID}.json").write_text(text)
    assert [(fault[0], fault[1]) for fault in _faults(source, allow_partial=True)] == [(ID, "json")]


def test_rules_across_records(source: Path) -> None:
    seventh = (source / "annotations" / "0007.json").read_text()
    (source / "annotations" / "7.json").write_text(seventh)
    again = json.loads(seventh)
    again["question"] = again["question"].upper() + " "
    (source / "annotations" / "0009.json").write_text(json.dumps(again))
    (source / "annotations" / "nine.json").write_text(seventh.replace("What", "Which"))
    found = {(id, rule) for id, rule, _ in _faults(source, allow_partial=True)}
    assert found == {
        ("7", "duplicate-id"),
        ("7", "duplicate-example"),
        ("0009", "duplicate-example"),
        ("nine", "id"),
    }


def test_all_faults_are_reported_together_whatever_the_processes(source: Path) -> None:
    for number, key in ((6, "answer"), (8, "question")):
        path = source / "annotations" / f"{number:04d}.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {key: ""}))
    faults = _faults(source)
    assert {(id, rule) for id, rule, _ in faults} == {
        ("0006", "answer"),
        ("0008", "question"),
        ("vistaqa", "count"),
    }
    assert _faults(source, num_proc=2) == faults


def test_unknown_labels_are_listed_once_each(source: Path) -> None:
    for number in (6, 7, 8):
        path = source / "annotations" / f"{number:04d}.json"
        task = "juggling" if number < 8 else "cooking"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"task_type": task}))
    messages = sorted(message for _, _, message in _faults(source, allow_partial=True))
    assert messages == [
        "unknown task 'cooking' in 1 sample (0008); known: identification, attribute, ocr, spatial, counting,"
        " comparison",
        "unknown task 'juggling' in 2 samples (0006, 0007); known: identification, attribute, ocr, spatial,"
        " counting, comparison",
    ]


def test_each_declared_count_is_held(upstream: ModuleType, whole_source: Path, tmp_path: Path) -> None:
    jobs = folder_source(whole_source / "annotations", whole_source / "images").jobs
    assert len(inspect_all(jobs)) == 1157
    with pytest.raises(IntegrityError) as caught:
        inspect_all(jobs[:-1])
    assert [str(fault).split(" (")[0] for fault in caught.value.faults] == [
        "vistaqa: 1156 samples, but 1157 are declared",
        "vistaqa: 191 comparison samples, but 192 are declared",
    ]


def test_empty_and_missing_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        folder_source(tmp_path / "none", tmp_path)
    with pytest.raises(InputError, match="no annotation"):
        folder_source(tmp_path, tmp_path)


@pytest.mark.parametrize("place", ["images/7.png", "annotations/0007.json"])
def test_a_pipe_is_not_waited_for(upstream: ModuleType, tmp_path: Path, place: str) -> None:
    upstream.write(tmp_path, 7, upstream.record(7))
    (tmp_path / place).unlink()
    os.mkfifo(tmp_path / place)
    jobs = folder_source(tmp_path / "annotations", tmp_path / "images").jobs
    with pytest.raises(IntegrityError, match=r"7: .*no regular file"):
        inspect_all(jobs, allow_partial=True)


def test_an_image_turned_by_exif_is_written_as_it_is_shown(upstream: ModuleType, tmp_path: Path) -> None:
    upstream.write(tmp_path, 7, upstream.record(7))
    _turn_back = {"exif": Image.Exif()}
    _turn_back["exif"][0x0112] = 6
    # Stored on its side, so that it is 24 wide and 16 high when shown.
    lying = upstream.picture(7).transpose(Image.Transpose.ROTATE_90)
    lying.save(tmp_path / "images" / "7.png", **_turn_back)
    jobs = folder_source(tmp_path / "annotations", tmp_path / "images").jobs
    inspect_all(jobs, allow_partial=True)
    assert inspect_job(jobs[0]).anew
    ((row,),) = make_rows(jobs[0]).values()
    image = Image.open(io.BytesIO(row["image"]["bytes"]))
    assert np.array_equal(np.asarray(image), np.asarray(upstream.picture(7)))
    assert image.getexif().get(0x0112) is None
