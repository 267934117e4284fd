"""1,157 records in, a folder out that `load_dataset` reads."""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path

import datasets
import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco

from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.dataset_builders.vistaqa.builder import VistaQA
from lookcheck.dataset_builders.vistaqa.plan import features, plan_source
from lookcheck.dataset_builders.vistaqa.sources import folder_source

COUNTS = {"default": 1157, **constants.EXPECTED_TASKS}


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(("config", "rows"), COUNTS.items())
def test_each_config_loads_normally_and_streaming(
    built: Path, tmp_path: Path, config: str, rows: int
) -> None:
    loaded = datasets.load_dataset(str(built), config, split="test", cache_dir=str(tmp_path))
    assert loaded.num_rows == rows
    assert loaded.features == features()
    streamed = datasets.load_dataset(str(built), config, split="test", streaming=True)
    assert streamed.features == features()
    ids = [row["id"] for row in streamed.select_columns(["id"])]
    assert ids == loaded["id"][:]
    if config != "default":
        assert set(loaded["task"]) == {constants.TASKS.index(config)}


def test_values_come_back(built: Path, whole_source: Path, tmp_path: Path) -> None:
    loaded = datasets.load_dataset(str(built), split="test", cache_dir=str(tmp_path))
    assert sum(not row for row in loaded["has_evidence"]) == 314
    assert len(set(loaded["id"])) == 1157
    for index in (0, 1, 2, 3, 400, 900, 1156):
        row = loaded[index]
        upstream = json.loads((whole_source / "annotations" / f"{row['id']}.json").read_text())
        assert (row["question"], row["answer"]) == (upstream["question"], upstream["answer"])
        assert (row["task_raw"], row["domain_raw"]) == (upstream["task_type"], upstream["task_domain"])
        wanted = upstream["annotations"] if row["has_evidence"] else []
        assert row["masks_rle"] == [item["segmentation"] for item in wanted]
        assert row["boxes"] == [item["bbox"] for item in wanted]
        assert row["num_instances"] == len(row["masks"]) == len(wanted)
        for mask, item in zip(row["masks"], wanted, strict=True):
            assert mask.mode == "L"
            assert np.array_equal(np.asarray(mask), coco.decode(item["segmentation"]) * 255)
        assert (row["evidence_overlay"] is None) == (not wanted)
        picture = Image.open(whole_source / "images" / upstream["image"]["file_name"])
        assert np.array_equal(np.asarray(row["image"]), np.asarray(picture))


def test_pictures_keep_their_bytes_and_stand_once(built: Path, whole_source: Path) -> None:
    parquet = sum(path.stat().st_size for path in (built / "data").glob("*.parquet"))
    first = datasets.load_dataset(str(built), "ocr", split="test", streaming=True)
    row = next(iter(first.cast_column("image", datasets.Image(decode=False))))
    original = (whole_source / "images" / f"{int(row['id'])}.png").read_bytes()
    assert row["image"] == {"bytes": original, "path": f"{row['id']}.png"}
    assert len(list((built / "data").glob("*.parquet"))) == 6
    assert parquet < 4_000_000


def test_two_builds_and_two_processes_give_the_same_bytes(
    built: Path, whole_source: Path, tmp_path: Path
) -> None:
    source = folder_source(whole_source / "annotations", whole_source / "images")
    write_folder(plan_source(source, num_proc=2), tmp_path / "again", num_proc=2)
    assert _digests(tmp_path / "again") == _digests(built)
    assert [path.name for path in tmp_path.iterdir()] == ["again"]


def test_the_folder_keeps_all_rules(built: Path) -> None:
    report = check_folder(built, DATASETS)
    assert (report.files, report.rows, report.faults, report.notes) == (6, 1157, [], [])


def test_card_counts_and_manifest(built: Path) -> None:
    card = (built / "README.md").read_text()
    assert "| default | 1157 | 843 | 314 |" in card
    assert "| ocr | 173 |" in card
    assert "partial build" not in card
    manifest = json.loads((built / "lookcheck.json").read_text())
    assert manifest["source"] == {"kind": "folder"}
    assert manifest["built"]["default"]["test"]["task"] == constants.EXPECTED_TASKS
    assert not re.search(r"/(tmp|root|home|work)/", card + json.dumps(manifest))


def test_the_snippet_of_the_card_runs(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", (built / "README.md").read_text(), re.DOTALL)
    snippet = snippet.replace('"ORG/VistaQA"', repr(str(built)))
    shown = io.StringIO()
    monkeypatch.setattr("sys.stdout", shown)
    exec(compile(snippet, "card", "exec"), {})
    assert shown.getvalue() == "What is on picture 0? a box 0 0\n"


def test_without_overlays(upstream: object, whole_source: Path, tmp_path: Path) -> None:
    source = folder_source(whole_source / "annotations", whole_source / "images")
    few = type(source)(source.jobs[-5:], source.described)
    plan = plan_source(few, overlays=False, allow_partial=True)
    write_folder(plan, tmp_path / "few")
    loaded = datasets.load_dataset(str(tmp_path / "few"), split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded.features == features(overlays=False)
    assert "**This is a partial build**: 5 of 1157 samples" in (tmp_path / "few" / "README.md").read_text()
    assert check_folder(tmp_path / "few", DATASETS).faults == []


def test_the_builder_gives_the_rows_of_the_folder(built: Path, whole_source: Path, tmp_path: Path) -> None:
    builder = VistaQA(
        config_name="spatial",
        annotations=str(whole_source / "annotations"),
        images=str(whole_source / "images"),
        cache_dir=str(tmp_path / "builder"),
    )
    builder.download_and_prepare(num_proc=2)
    made = builder.as_dataset("test")
    loaded = datasets.load_dataset(str(built), "spatial", split="test", cache_dir=str(tmp_path / "loaded"))
    assert made.features == loaded.features
    plain = [name for name in made.column_names if name not in ("image", "masks", "evidence_overlay")]
    assert made.select_columns(plain).to_list() == loaded.select_columns(plain).to_list()
    assert made[7]["image"].tobytes() == loaded[7]["image"].tobytes()
