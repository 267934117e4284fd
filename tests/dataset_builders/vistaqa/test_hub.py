"""A downloaded repository: the layouts that are understood, and what is said of others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookcheck.dataset_builders.errors import InputError
from lookcheck.dataset_builders.folder.writer import write_folder
from lookcheck.dataset_builders.vistaqa.hub import locate
from lookcheck.dataset_builders.vistaqa.plan import plan_source
from lookcheck.dataset_builders.vistaqa.sources import Source, jobs_of


@pytest.fixture
def repository(upstream: ModuleType, tmp_path: Path) -> Path:
    """Five records below other folders, beside files that are not meant."""
    folder = tmp_path / "repository"
    for number in range(5):
        upstream.write(folder / "VistaQA" / "deep", number, upstream.record(number))
    (folder / "thumbnails").mkdir()
    shutil.copy(folder / "VistaQA" / "deep" / "images" / "1.png", folder / "thumbnails")
    (folder / "runs").mkdir()
    (folder / "runs" / "1.json").write_text("{}")
    (folder / "README.md").write_text("# VistaQA\n")
    return folder


def test_json_and_images_are_found(repository: Path, tmp_path: Path) -> None:
    deep = repository / "VistaQA" / "deep"
    assert locate(repository, tmp_path, "r") == (deep / "annotations", deep / "images")


@pytest.mark.parametrize("as_text", [False, True])
def test_parquet_gives_the_same_folder(
    upstream: ModuleType, repository: Path, tmp_path: Path, as_text: bool
) -> None:
    deep = repository / "VistaQA" / "deep"
    direct = Source(jobs_of(deep / "annotations", deep / "images"), {"kind": "hub"})
    write_folder(plan_source(direct, allow_partial=True), tmp_path / "direct")
    rows = []
    for path in sorted((deep / "annotations").iterdir()):
        record = json.loads(path.read_text())
        picture = (deep / "images" / record["image"]["file_name"]).read_bytes()
        record["image"] = {"bytes": picture, "path": record["image"]["file_name"]}
        record["id"] = path.stem
        if as_text:
            record["annotations"] = json.dumps(record["annotations"])
        rows.append(record)
    (tmp_path / "parquet" / "data").mkdir(parents=True)
    (tmp_path / "workspace").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "parquet" / "data" / "train-0.parquet")
    found = Source(jobs_of(*locate(tmp_path / "parquet", tmp_path / "workspace", "r")), {"kind": "hub"})
    write_folder(plan_source(found, allow_partial=True), tmp_path / "unpacked")
    for path in (tmp_path / "direct" / "data").iterdir():
        assert (tmp_path / "unpacked" / "data" / path.name).read_bytes() == path.read_bytes()


def test_what_was_found_and_expected_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "other"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "images.zip").write_bytes(b"")
    (folder / "data" / "1.json").write_text('{"image": {"file_name": "1.png"}}')
    pq.write_table(pa.table({"question": ["a"]}), folder / "a.parquet")
    with pytest.raises(InputError) as caught:
        locate(folder, tmp_path, "ORG/X at abc")
    assert str(caught.value).startswith("ORG/X at abc: no samples found; expected a folder of <integer>.json")
    assert str(caught.value).endswith("found 1 × ./*.parquet, 1 × data/*.json, 1 × data/*.zip")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": None}, "needs an integer"),
        ({"id": "../7"}, "needs an integer"),
        ({"image": {"bytes": None, "path": "7.png"}}, "holds no picture"),
    ],
)
def test_bad_parquet_rows_are_named(
    upstream: ModuleType, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    row = upstream.record(7) | {"id": "7", "image": {"bytes": b"x", "path": "7.png"}} | change
    (tmp_path / "in").mkdir()
    (tmp_path / "workspace").mkdir()
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "in" / "train-0.parquet")
    with pytest.raises(InputError, match=f"train-0.parquet row 0.*{said}"):
        locate(tmp_path / "in", tmp_path / "workspace", "r")
