"""Pictures of an external editor, and the Hub's copy of POPE."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.perturbed_pope.export import export_swaps
from lookcheck.dataset_builders.perturbed_pope.hub import unpack
from lookcheck.dataset_builders.perturbed_pope.plan import plan_source
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource, pope_source
from lookcheck.dataset_builders.perturbed_pope.swap_rules import REASONS
from lookcheck.dataset_builders.registry import DATASETS


def _source(folder: Path, **options: Any) -> PopeSource:
    return pope_source(
        [(None, folder / "random.json")],
        folder / "images",
        folder / "instances.json",
        described={"kind": "pope"},
        **options,
    )


def _change(path: Path, line: int, **fields: Any) -> None:
    lines = path.read_text().splitlines()
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | fields)
    path.write_text("\n".join(lines))


def _rows(folder: Path, condition: str) -> list[dict[str, Any]]:
    (path,) = (folder / "data").glob(f"{condition}-test-*")
    rows: list[dict[str, Any]] = pq.read_table(path, partitioning=None).to_pylist()
    return rows


@pytest.fixture
def edited(files: Path, tiny_coco: ModuleType) -> tuple[Path, Path]:
    folder = files / "edited"
    folder.mkdir()
    made = tiny_coco.pixels("a.jpg")
    made[20:90, 10:70] = (1, 2, 3)
    Image.fromarray(made).save(folder / "a-dog.png")
    records = [{"image": "a.jpg", "entity": "dog", "file": "a-dog.png", "donor": "vase"}]
    records.append({"image": "b.jpg", "entity": "cup", "file": "b-cup.png"})
    made = tiny_coco.pixels("b.jpg")
    made[50:106, 8:58] += np.uint8(60)
    Image.fromarray(made).save(folder / "b-cup.png")
    (files / "manifest.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    return folder, files / "manifest.jsonl"


def test_edited_pictures(files: Path, edited: tuple[Path, Path], tmp_path: Path) -> None:
    plan = plan_source(_source(files, edited=edited), ["entity_swap"])
    manifest = write_folder(plan, tmp_path / "out")
    assert manifest["options"]["left_out"] == {
        "no_instance": 1,
        **dict.fromkeys(REASONS, 0),
        "no_donor": 0,
        "not_edited": 5,
        "unchanged": 0,
    }
    rows = _rows(tmp_path / "out", "entity_swap")
    assert [(row["image_name"], row["entity"], row["donor"], row["answer"]) for row in rows] == [
        ("a.jpg", "dog", "vase", 0),
        ("b.jpg", "cup", None, 0),
    ]
    assert rows[0]["image"]["bytes"] == (edited[0] / "a-dog.png").read_bytes()
    assert rows[0]["seed"] is None
    # Which pixels an editor changed is seen by comparing.
    photo = np.asarray(Image.open(files / "images" / "a.jpg").convert("RGB"))
    changed = (np.asarray(Image.open(edited[0] / "a-dog.png")) != photo).any(2)
    assert np.array_equal(coco.decode(rows[0]["mask_rle"]).astype(bool), changed)
    assert check_folder(tmp_path / "out", DATASETS).faults == []
    card = (tmp_path / "out" / "README.md").read_text()
    assert "pictures of an external editor" in card
    assert "No edited picture: not in `entity_swap`: 5 × picture and object" in card


@pytest.mark.parametrize("kind", ["same file", "saved anew", "elsewhere", "faint", "too little", "enough"])
def test_an_edit_that_leaves_the_object_is_no_row(
    files: Path, edited: tuple[Path, Path], tmp_path: Path, kind: str
) -> None:
    """The answer of a row would be no, and the object stands there as before."""
    folder, manifest = edited
    photo = np.array(Image.open(files / "images" / "a.jpg").convert("RGB"))
    dog = photo[20:90, 10:70]
    if kind == "elsewhere":
        photo[:10] = 0
    elif kind == "faint":
        dog += np.uint8(16)
    elif kind == "too little":
        dog[:6] = 0
    elif kind == "enough":
        dog[:7] = 0
    name = "a-dog.jpg" if kind in ("same file", "saved anew") else "a-dog.png"
    if kind == "same file":
        shutil.copy(files / "images" / "a.jpg", folder / name)
    else:
        Image.fromarray(photo).save(folder / name)
    _change(manifest, 1, file=name)
    built = write_folder(plan_source(_source(files, edited=edited), ["entity_swap"]), tmp_path / "out")
    unchanged = kind != "enough"
    assert built["options"]["left_out"]["unchanged"] == unchanged
    rows = [(row["image_name"], row["entity"]) for row in _rows(tmp_path / "out", "entity_swap")]
    assert rows == ([] if unchanged else [("a.jpg", "dog")]) + [("b.jpg", "cup")]
    said = "An edited picture that still shows the object as it was: not in `entity_swap`: 1 × picture and object"
    assert (said in (tmp_path / "out" / "README.md").read_text()) == unchanged
    assert check_folder(tmp_path / "out", DATASETS).faults == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"file": "none.png"}, "manifest.jsonl:1: no file 'none.png' in"),
        ({"file": "../random.json"}, "manifest.jsonl:1: no file '../random.json' in"),
        ({"entity": "unicorn"}, "manifest.jsonl:1: unknown category 'unicorn'"),
        ({"entity": 3}, "manifest.jsonl:1: needs image, entity and file as strings"),
        ({"donor": "dog"}, "donor must be another thing than 'dog'"),
        (
            {"image": "b.jpg", "entity": "cup"},
            "manifest.jsonl:2: 'cup' in b.jpg stands twice, first at manifest.jsonl:1",
        ),
        ({"image": "x.jpg"}, "manifest.jsonl:1: no question is about 'x.jpg' ('dog')"),
    ],
)
def test_bad_manifests(files: Path, edited: tuple[Path, Path], change: dict[str, Any], said: str) -> None:
    _change(edited[1], 1, **change)
    with pytest.raises(IntegrityError) as caught:
        _source(files, edited=edited)
    assert said in str(caught.value)


def test_bad_edited_pictures(files: Path, edited: tuple[Path, Path]) -> None:
    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(edited[0] / "a-dog.png")
    (edited[0] / "b-cup.png").write_bytes(b"no picture")
    with pytest.raises(IntegrityError) as caught:
        _source(files, edited=edited)
    assert [str(fault).split(" (")[0] for fault in caught.value.faults] == [
        "manifest.jsonl:1: a-dog.png is 9 × 9, but a.jpg 161 × 120 [edited]",
        "manifest.jsonl:2: b-cup.png can't be decoded",
    ]
    edited[1].write_text("")
    with pytest.raises(InputError, match="no edited picture"):
        _source(files, edited=edited)


def _hub(folder: Path, files: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    records = [
        {
            "id": str(number),
            "question_id": str(row["question_id"]),
            "question": row["text"],
            "answer": row["label"],
            "image_source": row["image"].removesuffix(".jpg"),
            "image": {"bytes": (files / "images" / row["image"]).read_bytes(), "path": None},
            "category": row.get("category", "random"),
        }
        for number, row in enumerate(rows)
    ]
    pq.write_table(pa.Table.from_pylist(records), folder / "test-00000-of-00001.parquet")


def test_the_hubs_copy_gives_photographs_and_questions(
    files: Path, tiny_coco: ModuleType, tmp_path: Path
) -> None:
    rows = tiny_coco.questions()
    # The same rows stand in two configurations.
    _hub(tmp_path / "hub", files, rows)
    _hub(tmp_path / "hub" / "Full", files, [*rows, *(dict(row, category="popular") for row in rows)])
    (tmp_path / "work").mkdir()
    images, questions = unpack(tmp_path / "hub", tmp_path / "work", "copy")
    assert sorted(path.name for path in images.iterdir()) == ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]
    assert [split for split, _ in questions] == ["random", "popular"]
    source = pope_source(questions, images, files / "instances.json", described={"kind": "pope"})
    wanted = _source(files)
    shown = [(q.id, q.image, q.text, q.label) for q in source.jobs if q.split == "random"]
    assert shown == [(q.id, q.image, q.text, q.label) for q in wanted.jobs]


def test_a_contradicting_copy_is_refused(files: Path, tiny_coco: ModuleType, tmp_path: Path) -> None:
    rows = tiny_coco.questions()
    for number, extra, said in (
        (1, dict(rows[0], label="no"), "two rows of random question 1 differ"),
        (2, dict(rows[0], question_id=99, image="../a.jpg"), "no picture for image_source '../a'"),
    ):
        folder = tmp_path / f"hub{number}"
        if number == 2:
            shutil.copy(files / "images" / "a.jpg", files / "a.jpg")
        _hub(folder, files, [*rows, extra])
        (tmp_path / f"work{number}").mkdir()
        with pytest.raises(InputError, match=said):
            unpack(folder, tmp_path / f"work{number}", "copy")
    (tmp_path / "none").mkdir()
    (tmp_path / "work3").mkdir()
    with pytest.raises(InputError, match="no Parquet with the columns question_id"):
        unpack(tmp_path / "none", tmp_path / "work3", "copy")


def test_exported_swaps_come_back_edited(files: Path, tiny_coco: ModuleType, tmp_path: Path) -> None:
    """What is exported is edited elsewhere, and read back by the same manifest."""
    folder = tmp_path / "swaps"
    source = _source(files)
    assert export_swaps(source, folder) == 6
    lines = [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]
    assert [(line["image"], line["entity"]) for line in lines] == [
        ("a.jpg", "car"),
        ("a.jpg", "dog"),
        ("b.jpg", "cup"),
        ("b.jpg", "person"),
        ("c.jpg", "banana"),
        ("c.jpg", "clock"),
    ]
    asked = {image: {name for part in parts for name in part} for image, parts in tiny_coco.ASKED.items()}
    for line in lines:
        picture = np.asarray(Image.open(folder / line["picture"]))
        mask = np.asarray(Image.open(folder / line["mask"]))
        original = np.asarray(Image.open(files / "images" / line["image"]))
        assert np.array_equal(picture, original)
        for category, boxes in tiny_coco.SHOWN[line["image"]].items():
            for box in boxes:
                shown = mask[tiny_coco.mask(box)]
                assert shown.all() if category == line["entity"] else not shown.any()
        assert line["donor"] not in asked[line["image"]] | set(tiny_coco.SHOWN[line["image"]])
        Image.fromarray(np.where(mask[..., None], np.uint8(7), picture)).save(
            folder / "edited" / line["file"]
        )
    edited = (folder / "edited", folder / "manifest.jsonl")
    write_folder(plan_source(_source(files, edited=edited), ["entity_swap"]), tmp_path / "out")
    rows = _rows(tmp_path / "out", "entity_swap")
    assert [(row["image_name"], row["entity"], row["donor"]) for row in rows] == [
        (line["image"], line["entity"], line["donor"]) for line in lines
    ]
    assert check_folder(tmp_path / "out", DATASETS).faults == []
    with pytest.raises(InputError, match="exists already"):
        export_swaps(source, folder)


def test_nothing_is_left_of_an_export_that_fails(files: Path, tmp_path: Path) -> None:
    lines = (files / "random.json").read_text().replace('"yes"', '"no"')
    (files / "random.json").write_text(lines)
    with pytest.raises(InputError, match="nothing to export"):
        export_swaps(_source(files), tmp_path / "swaps")
    assert not list(tmp_path.glob("*swaps*"))
