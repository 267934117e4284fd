"""A broken folder is told by name: each rule of `lookcheck check` has a folder that breaks it."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet import check_parquet
from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.vistaqa.plan import plan_source
from lookcheck.dataset_builders.vistaqa.sources import folder_source

FILE = "data/ocr-00000-of-00001.parquet"


@pytest.fixture(scope="module")
def small(upstream: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six rows of two tasks; 0004 has two masks."""
    folder = tmp_path_factory.mktemp("small")
    for number in range(6):
        upstream.write(folder, number, upstream.record(number, "ocr" if number > 2 else "count"))
    source = folder_source(folder / "annotations", folder / "images")
    write_folder(plan_source(source, allow_partial=True), folder / "built")
    return folder / "built"


def _edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return change


def _rows(change: Callable[[list[dict[str, Any]]], Any], **options: Any) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        table = pq.read_table(folder / FILE, partitioning=None)
        rows = table.to_pylist()
        change(rows)
        again = pa.Table.from_pylist(rows, schema=table.schema)
        pq.write_table(again, folder / FILE, **{"write_page_index": True, **options})

    return apply


def _corners(rows: list[dict[str, Any]]) -> None:
    """[x, y, x, y] in place of [x, y, w, h]; still inside the picture."""
    x, y, w, h = rows[1]["boxes"][0]
    rows[1]["boxes"][0] = [x, y, x + w, y + h]


def _mirror(rows: list[dict[str, Any]]) -> None:
    stream = io.BytesIO()
    with Image.open(io.BytesIO(rows[1]["image"]["bytes"])) as image:
        image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(stream, "PNG")
    rows[1]["image"]["bytes"] = stream.getvalue()


def _set(column: str, value: Any) -> Callable[[Path], None]:
    return _rows(lambda rows: rows[1].update({column: value}))


def _swap_masks(rows: list[dict[str, Any]]) -> None:
    rows[1]["masks"].reverse()


def _strip_metadata(folder: Path) -> None:
    table = pq.read_table(folder / FILE, partitioning=None).replace_schema_metadata(None)
    pq.write_table(table, folder / FILE, write_page_index=True)


def _truncate(folder: Path) -> None:
    data = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(data[: len(data) // 2])


def _corrupt_body(folder: Path) -> None:
    data = bytearray((folder / FILE).read_bytes())
    data[4:400] = bytes(396)
    (folder / FILE).write_bytes(bytes(data))


def _link(folder: Path) -> None:
    (folder / "eval.yaml").rename(folder.parent / "elsewhere")
    (folder / "eval.yaml").symlink_to(folder.parent / "elsewhere")


KINDS: list[tuple[str, Callable[[Path], Any], str, str]] = [
    ("no manifest", lambda f: (f / "lookcheck.json").unlink(), "lookcheck.json", "manifest"),
    ("manifest without name", _edit("lookcheck.json", '"name"', '"nom"'), "lookcheck.json", "manifest"),
    ("wrong count", _edit("lookcheck.json", '"rows": 3', '"rows": 4'), "ocr", "count"),
    ("no card", lambda f: (f / "README.md").unlink(), "README.md", "card"),
    ("card without YAML", lambda f: (f / "README.md").write_text("# VistaQA\n"), "README.md", "card"),
    ("YAML is broken", _edit("README.md", "configs:", "configs: ]"), "README.md", "card"),
    ("no configs", _edit("README.md", "configs:", "konfigs:"), "README.md", "card"),
    ("config without files", _edit("README.md", "  data_files:", "  files:"), "README.md", "config"),
    (
        "two configs of one name",
        _edit("README.md", "config_name: ocr", "config_name: counting"),
        "README.md",
        "config",
    ),
    ("split with a hyphen", _edit("README.md", "split: test", "split: te-st"), "README.md", "split"),
    ("card hides that rows lack", _edit("README.md", "partial build", "build"), "README.md", "partial"),
    ("eval of an unknown config", _edit("eval.yaml", "config: ocr", "config: text"), "eval.yaml", "eval"),
    ("eval without tasks", lambda f: (f / "eval.yaml").write_text("name: x\n"), "eval.yaml", "eval"),
    (
        "eval with a framework the Hub does not know",
        _edit("eval.yaml", "tasks:", "evaluation_framework: lookcheck\ntasks:"),
        "eval.yaml",
        "eval",
    ),
    ("no eval.yaml", lambda f: (f / "eval.yaml").unlink(), "eval.yaml", "file-missing"),
    ("a link in place of a file", _link, "eval.yaml", "link"),
    ("file is missing", lambda f: (f / FILE).unlink(), "README.md", "config"),
    ("file is cut off", _truncate, FILE, "parquet"),
    ("file is broken inside", _corrupt_body, FILE, "parquet"),
    (
        "file no config reads",
        lambda f: shutil.copy(f / FILE, f / "data" / "x-00000-of-00001.parquet"),
        "data/x-00000-of-00001.parquet",
        "orphan",
    ),
    (
        "shard is missing",
        lambda f: (f / FILE).rename(f / "data" / "ocr-00000-of-00002.parquet"),
        "data/ocr",
        "shard-missing",
    ),
    (
        "odd name",
        lambda f: (f / FILE).rename(f / "data" / "ocr-0.parquet"),
        "data/ocr-0.parquet",
        "shard-name",
    ),
    (
        "unfinished file",
        lambda f: (f / "data" / "a.parquet.part").write_text(""),
        "data/a.parquet.part",
        "unfinished",
    ),
    ("no page index", _rows(lambda _: None, write_page_index=False), FILE, "page-index"),
    ("no features", _strip_metadata, FILE, "features"),
    ("picture by path", _set("image", {"bytes": None, "path": "4.png"}), "0004", "picture"),
    ("path with folders", _rows(lambda rows: rows[1]["image"].update(path="/x/4.png")), "0004", "picture"),
    ("picture is broken", _rows(lambda rows: rows[1]["image"].update(bytes=b"hello")), "0004", "picture"),
    ("label past the end", _set("task", 9), "0004", "label"),
    ("task against its raw string", _set("task_raw", "count"), "0004", "task"),
    ("no answer", _set("answer", ""), "0004", "answer"),
    ("null question", _set("question", None), "0004", "null"),
    ("null list", _set("boxes", None), "0004", "null"),
    ("evidence not told", _set("has_evidence", False), "0004", "evidence"),
    ("wrong instance number", _set("num_instances", 9), "0004", "instance-count"),
    (
        "masks and boxes differ in number",
        _rows(lambda rows: rows[1]["boxes"].pop()),
        "0004",
        "instance-count",
    ),
    (
        "box outside",
        _rows(lambda rows: rows[1]["boxes"].__setitem__(0, [20, 1, 9, 1])),
        "0004",
        "box-outside",
    ),
    ("a box in another form", _rows(_corners), "0004", "box-mask"),
    ("an answer that was edited", _set("answer", "another"), "README.md", "digest"),
    ("a picture that was mirrored", _rows(_mirror), "README.md", "digest"),
    ("masks of another order", _rows(_swap_masks), "0004", "mask-picture"),
    ("mask size", _rows(lambda rows: rows[1]["masks_rle"][0].update(size=[24, 16])), "0004", "mask-size"),
    ("mask sum", _rows(lambda rows: rows[1]["masks_rle"][0].update(counts="02")), "0004", "rle-sum"),
    ("no overlay", _set("evidence_overlay", None), "0004", "overlay"),
    ("an id twice", _set("id", "5"), "0005", "duplicate-id"),
    ("an example twice", _rows(lambda rows: rows.append(rows[1] | {"id": "9"})), "9", "duplicate-example"),
]


@pytest.mark.parametrize(("change", "id", "rule"), [kind[1:] for kind in KINDS], ids=[k[0] for k in KINDS])
def test_broken_folder(
    small: Path, tmp_path: Path, change: Callable[[Path], Any], id: str, rule: str
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(small, folder)
    assert check_folder(folder, DATASETS).faults == []
    change(folder)
    faults = check_folder(folder, DATASETS).faults
    assert (id, rule) in {(fault.id, fault.rule) for fault in faults}, faults


def test_a_registered_framework_and_other_files_are_no_fault(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(small, folder)
    assert "evaluation_framework" not in (folder / "eval.yaml").read_text()
    _edit("eval.yaml", "tasks:", "evaluation_framework: inspect-ai\ntasks:")(folder)
    (folder / "notes.txt").touch()
    (folder / ".hidden").touch()
    report = check_folder(folder, DATASETS)
    assert report.faults == []
    assert report.notes == ["not of the build, and not published: notes.txt"]


def test_viewer_limits(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_parquet, "MAX_GROUP_BYTES", 5_000)
    monkeypatch.setattr(check_parquet, "MAX_ROW_BYTES", 1_000)
    rules = [fault.rule for fault in check_folder(small).faults]
    assert (rules.count("row-group"), rules.count("row-size")) == (2, 6)


def test_other_data_sets_are_checked_as_files(small: Path) -> None:
    report = check_folder(small)
    assert (report.faults, report.rows) == ([], 6)
    assert report.notes == ["no rules are known for the rows of this data set; the files were checked"]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        check_folder(tmp_path / "none")


def test_manifest_is_json(small: Path) -> None:
    assert json.loads((small / "lookcheck.json").read_text())["name"] == "vistaqa"
