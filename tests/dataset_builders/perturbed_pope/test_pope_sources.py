"""What is refused before a picture is made; edited pictures; the Hub's copy; the sample; the command."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from pycocotools import mask as coco

from lookcheck.dataset_builders.errors import InputError, IntegrityError
from lookcheck.dataset_builders.folder.check import check_folder
from lookcheck.dataset_builders.folder.writer import write_folder
from lookcheck.dataset_builders.perturbed_pope.checking import PerturbedPopeChecker
from lookcheck.dataset_builders.perturbed_pope.hub import unpack
from lookcheck.dataset_builders.perturbed_pope.plan import plan_source
from lookcheck.dataset_builders.perturbed_pope.sources import Source, pope_source
from lookcheck.scripts import console
from lookcheck.scripts.build import __main__ as build

CHECKERS = {"perturbed_pope": PerturbedPopeChecker}


@pytest.fixture
def files(tiny_coco: ModuleType, tmp_path: Path) -> Path:
    folder: Path = tiny_coco.write(tmp_path / "source", splits=("random",))
    return folder


def _source(folder: Path, **options: Any) -> Source:
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


def _spoil(folder: Path, kind: str) -> None:
    image = folder / "images" / "b.jpg"
    if kind == "missing":
        image.unlink()
    elif kind == "truncated":
        image.write_bytes(image.read_bytes()[:900])
    elif kind == "no image":
        image.write_text("hello")
    elif kind == "size":
        Image.fromarray(np.zeros((10, 20, 3), np.uint8)).save(image)
    elif kind == "lying":
        picture = Image.open(image)
        picture.load()
        exif = Image.Exif()
        exif[0x0112] = 6
        picture.save(image, exif=exif)
    elif kind == "unknown":
        _change(folder / "random.json", 5, image="z.jpg")
    elif kind == "category":
        _change(folder / "random.json", 5, text="Is there a unicorn in the image?")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("missing", "random.json:5: the image 'b.jpg' is missing in"),
        ("truncated", "random.json:5: the image 'b.jpg' can't be decoded"),
        ("no image", "random.json:5: the image 'b.jpg' can't be decoded"),
        (
            "size",
            "random.json:5: the image 'b.jpg' is 20 × 10, but its instances are of 161 × 120 (question 5)",
        ),
        ("lying", "random.json:5: the image 'b.jpg' is 120 × 161, but its instances are of 161 × 120"),
        ("unknown", "random.json:5: the image 'z.jpg' is not in the instances file (question 5)"),
        ("category", "random.json:5: unknown category 'unicorn' (question 5)"),
    ],
)
def test_bad_sources(files: Path, kind: str, said: str) -> None:
    _spoil(files, kind)
    with pytest.raises(IntegrityError) as caught:
        _source(files)
    assert said in str(caught.value)


def test_all_faults_come_together_whatever_the_processes(files: Path) -> None:
    for kind in ("missing", "category", "unknown"):
        _spoil(files, kind)
    _change(files / "random.json", 9, image="c.jpg", text="Is there a griffin in the image?")
    found = []
    for processes in (1, 2):
        with pytest.raises(IntegrityError) as caught:
            _source(files, num_proc=processes)
        found.append([(fault.id, fault.rule) for fault in caught.value.faults])
    assert found[0] == found[1]
    assert ("random.json:5", "category") in found[0]
    assert ("random.json:5", "image") in found[0]
    assert ("random.json:9", "category") in found[0]


def test_other_refusals(files: Path) -> None:
    with pytest.raises(InputError, match="masks must be one of"):
        _source(files, mask_rule="some")
    questions = [("random", files / "random.json")] * 2
    with pytest.raises(InputError, match="a second file of questions for the split random"):
        pope_source(questions, files / "images", files / "instances.json", described={})
    with pytest.raises(InputError, match="no such folder"):
        pope_source([], files / "none", files / "instances.json", described={})
    repope = [files / "random.json"]
    with pytest.raises(InputError, match="RePOPE corrects POPE's questions"):
        pope_source([], files / "images", files / "instances.json", described={}, repope=repope)
    with pytest.raises(InputError, match="unknown condition 'blur_99'"):
        plan_source(_source(files), ["blur_99"])


def test_a_condition_without_rows_is_refused(tiny_coco: ModuleType, files: Path) -> None:
    for line in range(1, 19):
        _change(files / "random.json", line, label="no")
    with pytest.raises(
        InputError, match="black_mask: no question answered yes asks for an object that has a mask"
    ):
        plan_source(_source(files))
    shutil.rmtree(files)
    tiny_coco.write(files, splits=("random",))
    rows = [row for row in tiny_coco.questions() if row["image"] == "d.jpg"]
    (files / "random.json").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(
        InputError, match="entity_swap: no object of an unrelated category is large and whole"
    ):
        plan_source(_source(files))


@pytest.mark.parametrize("rule", ["largest_instance", "detections"])
def test_the_other_mask_rules_from_end_to_end(
    tiny_coco: ModuleType, files: Path, tmp_path: Path, rule: str
) -> None:
    options: dict[str, Any] = {"mask_rule": rule}
    if rule == "detections":
        detections = [{"image_id": 2, "category": "cup", "score": 0.8, "bbox": [10, 55, 30, 20]}]
        (files / "found.json").write_text(json.dumps(detections))
        options = {"detections": files / "found.json"}
    write_folder(plan_source(_source(files, **options)), tmp_path / "out")
    report = check_folder(tmp_path / "out", CHECKERS)
    assert report.faults == []
    rows = {name: _rows(tmp_path / "out", name) for name in ("original", "black_mask", "entity_swap")}
    (cup,) = [row for row in rows["black_mask"] if row["entity"] == "cup"]
    wanted = (8, 50, 50, 56) if rule == "largest_instance" else (10, 55, 30, 20)
    assert np.array_equal(coco.decode(cup["mask_rle"]).astype(bool), tiny_coco.mask(wanted))
    # A swap takes every cup away, or its answer would not be no.
    (swapped,) = [row for row in rows["entity_swap"] if row["entity"] == "cup"]
    gone = coco.decode(swapped["mask_rle"]).astype(bool)
    assert all(gone[tiny_coco.mask(box)].all() for box in tiny_coco.SHOWN["b.jpg"]["cup"])
    if rule == "detections":
        assert len(rows["black_mask"]) == 1
        assert sum(row["no_instance"] for row in rows["original"]) == 7
        assert "which is the paper's rule" in (tmp_path / "out" / "README.md").read_text()


def _rows(folder: Path, condition: str) -> list[dict[str, Any]]:
    (path,) = (folder / "data").glob(f"{condition}-random-*")
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
    Image.fromarray(tiny_coco.pixels("b.jpg")).save(folder / "b-cup.png")
    (files / "manifest.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    return folder, files / "manifest.jsonl"


def test_edited_pictures(files: Path, edited: tuple[Path, Path], tmp_path: Path) -> None:
    plan = plan_source(_source(files, edited=edited), ["entity_swap"])
    manifest = write_folder(plan, tmp_path / "out")
    assert manifest["options"]["left_out"] == {"no_instance": 1, "no_donor": 0, "not_edited": 5}
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
    assert check_folder(tmp_path / "out", CHECKERS).faults == []
    card = (tmp_path / "out" / "README.md").read_text()
    assert "pictures of an external editor" in card
    assert "No edited picture: not in `entity_swap`: 5 × picture and object" in card


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


def test_popev2_from_end_to_end(files: Path, tmp_path: Path) -> None:
    """An edited picture and its original have one name, in two folders."""
    rows = []
    for folder, label in (("images", "No"), ("coco/train2017", "Yes")):
        (files / "second" / folder).mkdir(parents=True)
        shutil.copy(files / "images" / "a.jpg", files / "second" / folder / "a.jpg")
        query = "Is there a dog in the image?"
        rows.append(
            {
                "image_id": 1,
                "image_name": f"/{folder}/a.jpg",
                "target_object": "dog",
                "query": query,
                "label": label,
            }
        )
    # An editor may give another size; nothing is masked there.
    Image.new("RGB", (64, 64), "green").save(files / "second" / "images" / "a.jpg")
    (files / "annotations.json").write_text(json.dumps(rows, indent=4))
    asked = [(None, files / "annotations.json")]
    source = pope_source(asked, files / "second", files / "instances.json", described={"kind": "pope"})
    write_folder(plan_source(source, ["black_mask", "noise_50"]), tmp_path / "out")
    assert check_folder(tmp_path / "out", CHECKERS).faults == []
    (path,) = (tmp_path / "out" / "data").glob("original-popev2-*")
    found = [
        (row["id"], row["answer"], row["no_instance"])
        for row in pq.read_table(path, partitioning=None).to_pylist()
    ]
    assert found == [("popev2-coco_train2017_a-dog", 1, False), ("popev2-images_a-dog", 0, False)]
    (path,) = (tmp_path / "out" / "data").glob("black_mask-popev2-*")
    (row,) = pq.read_table(path, partitioning=None).to_pylist()
    assert row["id"] == "popev2-coco_train2017_a-dog-black_mask"


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
    shown = [(q.id, q.image, q.text, q.label) for q in source.questions if q.split == "random"]
    assert shown == [(q.id, q.image, q.text, q.label) for q in wanted.questions]


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


def _command(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["build", "perturbed-pope", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        console.run(build.app)
    return int(caught.value.code or 0)


def test_the_sample(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = time.process_time()
    arguments = ("--source", "sample", "--condition", "entity_swap", "--output", tmp_path / "out")
    assert _command(monkeypatch, *arguments) == 0
    # The whole sample has to be there in 20 s; this is the slowest condition.
    assert time.process_time() - start < 10
    said = capsys.readouterr().out
    assert "original / random:" in said
    assert "random: generated" in said
    assert check_folder(tmp_path / "out", CHECKERS).faults == []
    rows = _rows(tmp_path / "out", "original")
    assert len({row["image_name"] for row in rows}) >= 24
    assert {row["license"] for row in rows} == {"CC0-1.0", "public domain"}
    assert all(row["credit"] for row in rows)
    assert len(_rows(tmp_path / "out", "entity_swap")) >= 40
    assert "This is the sample of `lookcheck`, not POPE" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--source", "pope"], "--source pope needs --images DIR and --instances FILE and --questions FILE"),
        (["--source", "coco-like", "--images", "x"], "--source coco-like needs --instances FILE"),
        (["--source", "sample", "--images", "x"], "--source sample takes no files, but --images is given"),
        (["--source", "coco-like", "--hub-images"], "--hub-images goes with --source pope"),
        (["--source", "pope", "--hub-images", "--images", "x"], "give one of them"),
        (["--source", "sample", "--manifest", "x"], "go together"),
        (
            ["--source", "coco-like", "--images", "none", "--instances", "none"],
            "none: no such folder (images)",
        ),
    ],
)
def test_wrong_options(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _command(monkeypatch, *arguments, "--output", "out") == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_fault_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _spoil(files, "truncated")
    arguments = ["--source", "pope", "--questions", f"popular={files / 'random.json'}"]
    arguments += ["--images", files / "images", "--instances", files / "instances.json"]
    assert _command(monkeypatch, *arguments, "--output", tmp_path / "out") == 2
    assert "random.json:5: the image 'b.jpg' can't be decoded" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
