"""Questions, photographs and instances in; twelve configurations out, which `load_dataset` reads."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import datasets
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.perturbed_pope import perturbations as ops
from lookcheck.dataset_builders.perturbed_pope import rows as rows_module
from lookcheck.dataset_builders.perturbed_pope.builder import PerturbedPOPE
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS, Condition, Given, Perturbed
from lookcheck.dataset_builders.perturbed_pope.constants import SPLITS
from lookcheck.dataset_builders.perturbed_pope.jobs import Planner
from lookcheck.dataset_builders.perturbed_pope.plan import features, plan_source
from lookcheck.dataset_builders.perturbed_pope.rows import make_picture, make_rows
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource, pope_source
from lookcheck.dataset_builders.perturbed_pope.swap_rules import REASONS
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.metrics.perturbed_pope import conditions as metric

# d.jpg's dog has no instance, and nothing is left to paste for its car.
PAIRS = {("a.jpg", "dog"), ("a.jpg", "car"), ("b.jpg", "cup"), ("b.jpg", "person")}
PAIRS |= {("c.jpg", "banana"), ("c.jpg", "clock"), ("d.jpg", "car")}


def _rows(folder: Path, condition: str, category: str = "random") -> list[dict[str, Any]]:
    (path,) = (folder / "data").glob(f"{condition}-test-*.parquet")
    rows: list[dict[str, Any]] = pq.read_table(path, partitioning=None).to_pylist()
    return [row for row in rows if row["category"] == category]


def _pixels(picture: dict[str, Any]) -> np.ndarray:
    with Image.open(io.BytesIO(picture["bytes"])) as image:
        return np.asarray(image.convert("RGB"))


def _source(folder: Path, **options: Any) -> PopeSource:
    files = [(None, folder / f"{split}.json") for split in SPLITS if (folder / f"{split}.json").exists()]
    return pope_source(
        files, folder / "images", folder / "instances.json", described={"kind": "pope"}, **options
    )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_each_config_loads_normally_and_streaming(tiny_built: Path, tmp_path: Path, condition: str) -> None:
    loaded = datasets.load_dataset(str(tiny_built), condition, cache_dir=str(tmp_path))
    streamed = datasets.load_dataset(str(tiny_built), condition, streaming=True)
    assert list(loaded) == list(streamed) == ["test"]
    data = loaded["test"]
    assert data.features == streamed["test"].features == features()
    rows = (7 if CONDITIONS[condition].needs_masks else 18) - (condition == "entity_swap")
    assert Counter(data["category"]) == dict.fromkeys(SPLITS, rows)
    assert [row["id"] for row in streamed["test"].select_columns(["id"])] == data["id"][:]
    first = next(iter(streamed["test"]))
    assert first == {**data[0], "image": first["image"]}
    assert (first["image"] is None) == (condition == "no_image")
    if first["image"] is not None:
        assert np.array_equal(np.asarray(first["image"]), np.asarray(data[0]["image"]))


def test_every_picture_is_its_operators(tiny_built: Path, tiny_source: Path) -> None:
    """The stored pixels against the pure functions, on the photograph that the file holds."""
    for condition in CONDITIONS.values():
        for row in _rows(tiny_built, condition.name):
            image = np.asarray(Image.open(tiny_source / "images" / row["image_name"]).convert("RGB"))
            if condition.name == "original":
                data = (tiny_source / "images" / row["image_name"]).read_bytes()
                assert row["image"] == {"bytes": data, "path": row["image_name"]}
                continue
            if row["image"] is None:
                assert condition.name == "no_image"
                continue
            made = _pixels(row["image"])
            if condition.name.startswith("noise"):
                assert condition.strength is not None
                assert row["seed"] == ops.seed_of(row["image_name"][0], condition.name)
                wanted = ops.noise(image, condition.strength, row["seed"])
                assert np.array_equal(made, wanted)
            elif condition.name in ("black_50", "black_75", "blur_50", "blur_75"):
                operator = ops.black if condition.name.startswith("black") else ops.gaussian_blur
                assert np.array_equal(made, operator(image, float(f"0.{condition.name[-2:]}")))
            elif condition.name == "black_image":
                assert made.shape == image.shape
                assert not made.any()
            else:
                mask = coco.decode(row["mask_rle"]).astype(bool)
                assert np.array_equal(made[~mask], image[~mask]), row["id"]
                assert row["masked_fraction"] == pytest.approx(mask.mean())
                if condition.name != "entity_swap":
                    assert not made[mask].any()


def test_masks_are_all_instances_crowds_included(tiny_built: Path, tiny_coco: ModuleType) -> None:
    for row in _rows(tiny_built, "black_mask"):
        boxes = tiny_coco.SHOWN[row["image_name"]][row["entity"]]
        wanted = ops.union([tiny_coco.mask(box) for box in boxes], (tiny_coco.HEIGHT, tiny_coco.WIDTH))
        assert np.array_equal(coco.decode(row["mask_rle"]).astype(bool), wanted), row["id"]
    shown = {(row["image_name"], row["entity"]) for row in _rows(tiny_built, "black_mask")}
    assert shown == PAIRS


def test_ids_parents_answers_and_flags(tiny_built: Path, tiny_coco: ModuleType) -> None:
    originals: dict[str, Any] = {}
    for split in SPLITS:
        originals |= {row["id"]: row for row in _rows(tiny_built, "original", split)}
    assert len(originals) == 54
    seen = set(originals)
    for condition in CONDITIONS.values():
        for split in SPLITS:
            for row in _rows(tiny_built, condition.name, split):
                parent = originals[row["parent_id"]]
                assert row["id"] == (
                    parent["id"] if condition.name == "original" else f"{parent['id']}-{condition.name}"
                )
                assert condition.name == "original" or row["id"] not in seen
                seen.add(row["id"])
                assert row["category"] == split
                assert (row["question"], row["entity"]) == (parent["question"], parent["entity"])
                assert row["answer"] == (0 if condition.name == "entity_swap" else parent["answer"])
                assert (row["strength"], row["condition"]) == (condition.strength, condition.name)
                assert (row["license"], row["license_url"]) == (
                    "Attribution License",
                    "http://example.org/by",
                )
                assert row["source_url"] == f"http://example.org/{row['image_name']}"
                assert row["question_unknown_option"].startswith(row["question"] + " ")
                assert row["question_open_ended"] == "What objects are in the image?"
    asked = {question["question_id"]: question for question in tiny_coco.questions()}
    for row in originals.values():
        question = asked[int(row["id"].split("-")[1])]
        assert (row["image_name"], row["question"]) == (question["image"], question["text"])
        assert row["answer"] == (question["label"] == "yes")
        assert row["no_instance"] == (
            (row["image_name"], row["entity"]) == ("d.jpg", "dog") and row["answer"] == 1
        )
        assert row["tiny_entity"] == ((row["image_name"], row["entity"]) == ("d.jpg", "car"))


def test_a_file_holds_each_picture_once(tiny_built: Path) -> None:
    """The rows of all three categories, some three hundred bytes each, and no picture a second time."""
    stored = json.loads((tiny_built / "lookcheck.json").read_text())["stored"]
    for condition in CONDITIONS.values():
        (path,) = (tiny_built / "data").glob(f"{condition.name}-test-*")
        pictures: dict[Any, set[bytes]] = defaultdict(set)
        rows = pq.read_table(path, partitioning=None).to_pylist()
        assert [row["image_name"] for row in rows] == sorted(row["image_name"] for row in rows)
        for row in rows:
            key = (row["image_name"], row["entity"] if condition.needs_masks else None)
            pictures[key].add(row["image"] and row["image"]["bytes"])
        assert {len(found) for found in pictures.values()} == {1}
        distinct = sum(map(len, {data for found in pictures.values() for data in found} - {None}))
        found = stored[condition.name]["test"]
        assert found == {"bytes": path.stat().st_size, "picture_bytes": distinct}
        if condition.name.startswith("noise"):
            assert found["bytes"] < found["picture_bytes"] + 300 * len(rows)


def test_the_layout_of_splits_has_the_same_rows(tiny_source: Path, tiny_built: Path, tmp_path: Path) -> None:
    conditions = ("noise_50", "entity_swap")
    plan = plan_source(_source(tiny_source), conditions, layout="splits")
    manifest = write_folder(plan, tmp_path / "out")
    assert check_folder(tmp_path / "out", DATASETS).faults == []
    assert manifest["options"]["layout"] == "splits"
    for condition in ("original", *conditions):
        loaded = datasets.load_dataset(str(tmp_path / "out"), condition, cache_dir=str(tmp_path / "cache"))
        assert list(loaded) == list(SPLITS)
        for split in SPLITS:
            (path,) = (tmp_path / "out" / "data").glob(f"{condition}-{split}-*")
            assert pq.read_table(path, partitioning=None).to_pylist() == _rows(tiny_built, condition, split)
    card = (tmp_path / "out" / "README.md").read_text()
    assert "A Parquet file belongs to one split" in card
    assert "A Parquet file belongs to one split" not in (tiny_built / "README.md").read_text()
    with pytest.raises(InputError, match="the layout must be one of category, splits, not 'three'"):
        plan_source(_source(tiny_source), layout="three")


def test_a_condition_that_is_added_later_is_the_only_one_made(
    tiny_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = _source(tiny_source)
    write_folder(plan_source(source, ["blur_50", "black_mask"]), tmp_path / "first")
    write_folder(plan_source(source, ["blur_50", "black_mask", "black_50"]), tmp_path / "whole")
    made: Counter[str] = Counter()

    def counted(job: Any) -> Any:
        made[job.condition] += 1
        return make_picture(job)

    monkeypatch.setattr(rows_module, "make_picture", counted)
    write_folder(plan_source(source, ["black_50"], reuse=tmp_path / "first"), tmp_path / "added")
    assert made == {"original": 4, "black_50": 4}
    assert _digests(tmp_path / "added") == _digests(tmp_path / "whole")
    assert check_folder(tmp_path / "added", DATASETS).faults == []
    # Without a condition all that is missing is made.
    plan = plan_source(source, reuse=tmp_path / "first")
    assert {name for group in plan.groups for name in group.columns if group.finished} == {
        "blur_50-test",
        "black_mask-test",
    }
    assert len(plan.configs) == len(CONDITIONS)


def test_conditions_of_other_files_are_not_taken_over(tiny_source: Path, files: Path, tmp_path: Path) -> None:
    write_folder(plan_source(_source(files), ["blur_50"]), tmp_path / "first")
    with pytest.raises(InputError, match=r"built with questions .* can't be taken over"):
        plan_source(_source(tiny_source), ["black_50"], reuse=tmp_path / "first")
    with pytest.raises(InputError, match="built with layout 'category', not 'splits'"):
        plan_source(_source(files), ["black_50"], layout="splits", reuse=tmp_path / "first")
    with pytest.raises(InputError, match="built with masks 'all_instances', not 'largest_instance'"):
        plan_source(_source(files, mask_rule="largest_instance"), ["black_50"], reuse=tmp_path / "first")
    # Another photograph of the same name and size.
    with Image.open(files / "images" / "a.jpg") as image:
        image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(files / "images" / "a.jpg")
    with pytest.raises(InputError, match="original-test: these are not the rows of the earlier build"):
        write_folder(plan_source(_source(files), ["black_50"], reuse=tmp_path / "first"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    content = json.loads((files / "instances.json").read_text())
    content["annotations"][0]["segmentation"] = [[10, 20, 70, 20, 70, 89, 10, 89]]
    (files / "instances.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="built with instances '"):
        plan_source(_source(files), ["black_50"], reuse=tmp_path / "first")


def test_each_picture_is_one_job(tiny_source: Path) -> None:
    planner = Planner(_source(tiny_source))
    for condition in CONDITIONS.values():
        jobs = planner.jobs(condition)
        pictures = [
            (job.picture.path, job.asked[0].question.entity if condition.needs_masks else "") for job in jobs
        ]
        assert len(set(pictures)) == len(pictures)
        assert all({asked.question.split for asked in job.asked} == set(SPLITS) for job in jobs)
    assert planner.left_out.no_donor == {("d.jpg", "car")}
    assert planner.left_out.no_instance == {("d.jpg", "dog")}


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_bytes_whatever_the_order_and_the_processes(
    tiny_built: Path, tiny_source: Path, tmp_path: Path, tiny_coco: ModuleType
) -> None:
    shuffled = tiny_coco.write(tmp_path / "shuffled", splits=())
    draw = random.Random(3)
    content = tiny_coco.instances()
    for part in content.values():
        draw.shuffle(part)
    (shuffled / "instances.json").write_text(json.dumps(content))
    for split in SPLITS:
        rows = tiny_coco.questions()
        draw.shuffle(rows)
        (shuffled / f"{split}.json").write_text("\n".join(map(json.dumps, rows)))
    source = _source(shuffled, num_proc=2)
    write_folder(plan_source(source, num_proc=2), tmp_path / "again", num_proc=2)
    assert _digests(tmp_path / "again") == _digests(tiny_built)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "shuffled"]


def test_a_row_is_the_same_alone(tiny_source: Path, tiny_built: Path) -> None:
    """A subset of conditions, and one job without any other, give the rows of the whole build."""
    source = _source(tiny_source)
    for name in ("noise_50", "entity_swap"):
        wanted = {row["id"]: row for row in _rows(tiny_built, name)}
        for job in reversed(Planner(source).jobs(CONDITIONS[name])):
            for row in make_rows(job)[f"{name}-test"]:
                if row["category"] == "random":
                    assert row["image"] == wanted[row["id"]]["image"]
    plan = plan_source(source, ["black_box"])
    assert [config.name for config in plan.configs] == ["original", "black_box"]


def test_the_folder_keeps_all_rules(tiny_built: Path) -> None:
    report = check_folder(tiny_built, DATASETS)
    assert (report.files, report.rows, report.faults, report.notes) == (12, 3 * (9 * 18 + 7 + 7 + 6), [], [])


class Grey(Condition):
    """Without colour."""

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        return Perturbed(np.repeat(image.mean(2, keepdims=True).astype(np.uint8), 3, 2))


def test_a_condition_is_added_in_one_place(
    tiny_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One entry of the table: it is built, described, loaded, checked and shown last."""
    monkeypatch.setitem(CONDITIONS, "grey", Grey("grey", "without colour"))
    write_folder(plan_source(_source(tiny_source), ["grey"]), tmp_path / "out")
    assert "| grey | without colour | 18 | 18 | 18 | 24 |" in (tmp_path / "out" / "README.md").read_text()
    loaded = datasets.load_dataset(str(tmp_path / "out"), "grey", cache_dir=str(tmp_path / "cache"))
    image = np.asarray(loaded["test"][0]["image"])
    assert (image[..., 0] == image[..., 2]).all()
    assert check_folder(tmp_path / "out", DATASETS).faults == []
    # The rows say grey, and the pictures are another's.
    monkeypatch.setattr(Grey, "apply", lambda _self, image, _given: Perturbed(image))
    faults = check_folder(tmp_path / "out", DATASETS).faults
    assert {(fault.id.split("-")[-1], fault.rule) for fault in faults} == {("grey", "pixels")}
    assert len(faults) == 4


def test_the_metric_knows_the_conditions_in_their_order() -> None:
    assert tuple(CONDITIONS) == metric.CONDITIONS
    gone = {name for name, condition in CONDITIONS.items() if condition.needs_masks}
    assert set(metric.REMOVED) == gone | {"no_image", "black_image"}


def test_card_and_manifest(tiny_built: Path) -> None:
    card = (tiny_built / "README.md").read_text()
    assert "| black_mask | the pixels of the asked object black | 7 | 7 | 7 | 21 |" in card
    assert "| entity_swap | another thing in place of the asked object | 6 | 6 | 6 | 0 |" in card
    assert "in no configuration that takes an object away: 1 × picture and object" in card
    assert "- d.jpg: dog" in card
    assert "random (JSON Lines, LF), popular (JSON Lines, LF)" in card
    assert 'RePOPE (arXiv 2504.15707) found 9.3 % of "yes" and 1.7 % of "no" wrong' in card
    assert "`datasets` 4 or newer is needed" in card
    assert '"no" as far as the annotations know every instance' in card
    assert "written anew" not in card
    assert "| [Attribution License](http://example.org/by) | 4 |" in card
    manifest = json.loads((tiny_built / "lookcheck.json").read_text())
    assert manifest["options"]["left_out"] == {
        "no_instance": 1,
        **dict.fromkeys(REASONS, 0),
        "no_donor": 1,
        "not_edited": 0,
        "unchanged": 0,
    }
    assert manifest["source"]["questions"]["popular"] == {
        "layout": "JSON Lines, LF",
        "rows": 18,
        "repaired": 0,
        "asked_twice": 0,
    }
    assert not re.search(r"/(tmp|root|home|work)/", card + json.dumps(manifest))
    assert not re.search(r"\n\n\n|\|\n\n\|", card)


def test_the_snippet_of_the_card_runs(tiny_built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", (tiny_built / "README.md").read_text(), re.DOTALL)
    shown = io.StringIO()
    monkeypatch.setattr("sys.stdout", shown)
    exec(compile(snippet.replace('"ORG/PerturbedPOPE"', repr(str(tiny_built))), "card", "exec"), {})
    assert shown.getvalue() == "54 18 Is there a car in the image? random-3\n"


@pytest.mark.parametrize("condition", ["original", "no_image", "black_box", "entity_swap"])
def test_the_builder_gives_the_rows_of_the_folder(
    tiny_built: Path, tiny_source: Path, tmp_path: Path, condition: str
) -> None:
    builder = PerturbedPOPE(
        config_name=condition,
        questions=[str(tiny_source / f"{split}.json") for split in SPLITS],
        images=str(tiny_source / "images"),
        instances=str(tiny_source / "instances.json"),
        cache_dir=str(tmp_path / "builder"),
    )
    builder.download_and_prepare()
    made = builder.as_dataset("test")
    loaded = datasets.load_dataset(
        str(tiny_built), condition, split="test", cache_dir=str(tmp_path / "loaded")
    )
    assert made.features == loaded.features
    assert made.remove_columns("image").to_list() == loaded.remove_columns("image").to_list()
    for one, other in zip(made["image"], loaded["image"], strict=True):
        assert (one is None and other is None) or np.array_equal(np.asarray(one), np.asarray(other))


def test_repope_moves_answers_and_drops_rows(
    tiny_source: Path, tmp_path: Path, tiny_coco: ModuleType
) -> None:
    rows = [row for row in tiny_coco.questions() if row["question_id"] != 2]
    rows[0] = dict(rows[0], label="no")
    (tmp_path / "coco_repope_random.json").write_text("\n".join(map(json.dumps, rows)))
    source = pope_source(
        [(None, tiny_source / "random.json")],
        tiny_source / "images",
        tiny_source / "instances.json",
        described={"kind": "pope"},
        repope=[tmp_path / "coco_repope_random.json"],
    )
    assert source.described["repope"] == {"random": {"changed": 1, "left_out": 1, "unasked": 0}}
    write_folder(plan_source(source, ["black_mask"]), tmp_path / "out")
    assert [row["id"] for row in _rows(tmp_path / "out", "original")][:2] == ["random-1", "random-3"]
    labels = {
        row["id"]: (row["answer"], row["answer_upstream"]) for row in _rows(tmp_path / "out", "original")
    }
    assert (labels["random-1"], labels["random-3"]) == ((0, 1), (1, 1))
    card = (tmp_path / "out" / "README.md").read_text()
    assert "| random | 1 | 1 |" in card
    assert "POPE's labels are not all right" not in card
    assert check_folder(tmp_path / "out", DATASETS).faults == []
    # The dog of a.jpg is answered no now, so that it is masked no more.
    assert {row["parent_id"] for row in _rows(tmp_path / "out", "black_mask")} & {"random-1"} == set()
