"""What is refused before a picture is made; the rules for masks; POPEv2."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS
from lookcheck.dataset_builders.perturbed_pope.jobs import Planner
from lookcheck.dataset_builders.perturbed_pope.plan import plan_source
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource, pope_source
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


def _spoil(folder: Path, kind: str) -> None:
    image = folder / "images" / "b.jpg"
    if kind == "missing":
        image.unlink()
    elif kind == "pipe":
        image.unlink()
        os.mkfifo(image)
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


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("missing", "random.json:5: the image 'b.jpg' is missing in"),
        ("truncated", "random.json:5: the image 'b.jpg' can't be decoded"),
        ("pipe", "random.json:5: the image 'b.jpg' can't be decoded ([Errno 22] no regular file)"),
        ("no image", "random.json:5: the image 'b.jpg' can't be decoded"),
        (
            "size",
            "random.json:5: the image 'b.jpg' is 20 × 10, but its instances are of 161 × 120 (question 5)",
        ),
        ("lying", "random.json:5: the image 'b.jpg' is 120 × 161, but its instances are of 161 × 120"),
        ("unknown", "random.json:5: the image 'z.jpg' is not in the instances file (question 5)"),
    ],
)
def test_bad_sources(files: Path, kind: str, said: str) -> None:
    _spoil(files, kind)
    with pytest.raises(IntegrityError) as caught:
        _source(files)
    assert said in str(caught.value)


def test_all_faults_come_together_whatever_the_processes(files: Path) -> None:
    for kind in ("missing", "unknown"):
        _spoil(files, kind)
    _change(files / "random.json", 10, image="y.jpg")
    found = []
    for processes in (1, 2):
        with pytest.raises(IntegrityError) as caught:
            _source(files, num_proc=processes)
        found.append([(fault.id, fault.rule) for fault in caught.value.faults])
    assert found[0] == found[1]
    assert found[0] == [("random.json:5", "image"), ("random.json:6", "image"), ("random.json:10", "image")]


def test_unknown_objects_and_questions_asked_twice(files: Path, tmp_path: Path) -> None:
    """As in POPE's files of A-OKVQA and GQA: no mask is known, and each id is a row of its own."""
    _change(files / "random.json", 5, text="Is there a unicorn in the image?")
    _change(files / "random.json", 6, image="b.jpg", text="Is there a griffin in the image?", label="no")
    _change(files / "random.json", 3, image="a.jpg", text="Is there a dog in the image?", label="yes")
    source = _source(files)
    assert source.described["unknown_objects"] == {"griffin": 1, "unicorn": 1}
    assert source.described["questions"]["random"]["asked_twice"] == 1
    built = write_folder(plan_source(source, ["blur_50", "black_mask"]), tmp_path / "out")
    rows = {name: _rows(tmp_path / "out", name) for name in ("original", "blur_50", "black_mask")}
    for name in ("original", "blur_50"):
        flags = {row["entity"]: row["no_instance"] for row in rows[name]}
        assert (flags["unicorn"], flags["griffin"]) == (True, False)
        assert sum(row["entity"] == "dog" and row["image_name"] == "a.jpg" for row in rows[name]) == 2
    masked = [row["parent_id"] for row in rows["black_mask"] if row["entity"] == "dog"]
    assert masked == ["random-1", "random-3"]
    assert "unicorn" not in {row["entity"] for row in rows["black_mask"]}
    assert built["options"]["left_out"]["no_instance"] == 2
    card = (tmp_path / "out" / "README.md").read_text()
    assert "so that no mask of them is known: griffin (1), unicorn (1)." in card
    assert "- b.jpg: unicorn" in card
    assert "1 questions ask for the same object of the same picture" in card
    assert check_folder(tmp_path / "out", DATASETS).faults == []


def test_a_build_of_whole_pictures_lists_what_is_flagged(files: Path, tmp_path: Path) -> None:
    built = write_folder(plan_source(_source(files), ["blur_50"]), tmp_path / "out")
    assert sum(row["no_instance"] for row in _rows(tmp_path / "out", "blur_50")) == 1
    assert built["options"]["left_out"]["no_instance"] == 1
    card = (tmp_path / "out" / "README.md").read_text()
    assert "- d.jpg: dog" in card
    assert "Nothing: each question" not in card


def test_pictures_that_are_written_anew_are_counted(files: Path, tmp_path: Path) -> None:
    with Image.open(files / "images" / "a.jpg") as image:
        image.convert("CMYK").save(files / "images" / "a.jpg")
    built = write_folder(plan_source(_source(files), ["black_50"]), tmp_path / "out")
    assert built["options"]["pictures_written_anew"] == 1
    assert "1 pictures were written anew" in (tmp_path / "out" / "README.md").read_text()
    assert check_folder(tmp_path / "out", DATASETS).faults == []


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
        InputError, match=r"entity_swap: no object can be replaced \(1 without anything unrelated to paste\)"
    ):
        plan_source(_source(files), ["entity_swap"])
    # All conditions are built but for this one, and the card says why.
    plan = plan_source(_source(files))
    assert [config.name for config in plan.configs] == [name for name in CONDITIONS if name != "entity_swap"]
    assert plan.options["left_out"]["no_donor"] == 1


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
    report = check_folder(tmp_path / "out", DATASETS)
    assert report.faults == []
    rows = {name: _rows(tmp_path / "out", name) for name in ("original", "black_mask", "entity_swap")}
    (cup,) = [row for row in rows["black_mask"] if row["entity"] == "cup"]
    wanted = (8, 60, 48, 50) if rule == "largest_instance" else (10, 55, 30, 20)
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
    (path,) = (folder / "data").glob(f"{condition}-test-*")
    rows: list[dict[str, Any]] = pq.read_table(path, partitioning=None).to_pylist()
    return rows


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
    assert check_folder(tmp_path / "out", DATASETS).faults == []
    (path,) = (tmp_path / "out" / "data").glob("original-test-*")
    found = [
        (row["id"], row["answer"], row["no_instance"])
        for row in pq.read_table(path, partitioning=None).to_pylist()
    ]
    assert found == [("popev2-coco_train2017_a-dog", 1, False), ("popev2-images_a-dog", 0, False)]
    (path,) = (tmp_path / "out" / "data").glob("black_mask-test-*")
    (row,) = pq.read_table(path, partitioning=None).to_pylist()
    assert row["id"] == "popev2-coco_train2017_a-dog-black_mask"


@pytest.mark.parametrize(("area", "tiny"), [(1023, True), (1024, False)])
def test_tiny_is_less_than_32_by_32_pixels(area: int, tiny: bool, tmp_path: Path) -> None:
    mask = np.zeros((120, 161), np.uint8)
    mask.ravel()[:area] = 1
    Image.new("RGB", (161, 120)).save(tmp_path / "a.png")
    rle = coco.encode(np.asfortranarray(mask))
    instance = {"id": 1, "image_id": 1, "category_id": 1, "iscrowd": 0}
    instance["segmentation"] = {"size": [120, 161], "counts": rle["counts"].decode()}
    content = {
        "images": [{"id": 1, "file_name": "a.png", "width": 161, "height": 120}],
        "annotations": [instance],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }
    (tmp_path / "instances.json").write_text(json.dumps(content))
    questions = [
        {"question_id": 1, "image": "a.png", "text": "Is there a cat in the image?", "label": "yes"},
        {"question_id": 2, "image": "a.png", "text": "Is there a dog in the image?", "label": "no"},
    ]
    (tmp_path / "q.json").write_text("".join(json.dumps(question) + "\n" for question in questions))
    source = pope_source(
        [("random", tmp_path / "q.json")], tmp_path, tmp_path / "instances.json", described={"kind": "pope"}
    )
    (job,) = Planner(source).jobs(CONDITIONS["original"])
    # No instance at all, as of the dog, is another flag.
    assert [asked.tiny for asked in job.asked] == [tiny, False]
