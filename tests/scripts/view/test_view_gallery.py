"""The files of a gallery: whole or not at all, the same bytes every time, nothing guessed."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.reader import Choice, open_folder, read_rows
from lookcheck.scripts.view.gallery import write_gallery

# One worker makes the folders once.
pytestmark = pytest.mark.xdist_group("view")


def _hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _data(gallery: Path) -> dict[str, Any]:
    page = (gallery / "index.html").read_text(encoding="utf-8")
    text = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    data: dict[str, Any] = json.loads(text)
    return data


def _changed(folder: Path, target: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    """A copy of a built folder with other rows in its first file."""
    shutil.copytree(folder, target)
    path = sorted((target / "data").glob("*.parquet"))[0]
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    return target


def test_two_runs_give_the_same_bytes(vistaqa_folder: Path, vistaqa_gallery: Path, tmp_path: Path) -> None:
    write_gallery(vistaqa_folder, tmp_path / "again", sheet=tmp_path / "a.png")
    write_gallery(vistaqa_folder, None, sheet=tmp_path / "b.png")
    assert _hashes(tmp_path / "again") == _hashes(vistaqa_gallery)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "again", "b.png"]


def test_every_file_is_named_in_the_page_and_there(vistaqa_gallery: Path, salart_gallery: Path) -> None:
    for gallery in (vistaqa_gallery, salart_gallery):
        page = (gallery / "index.html").read_text(encoding="utf-8")
        files = {
            path.relative_to(gallery).as_posix() for path in (gallery / "media").rglob("*") if path.is_file()
        }
        assert files
        assert all(f'"{name}"' in page for name in files)
        assert gallery.stat().st_mode & 0o055 == 0o055
        for picture in (picture for item in _data(gallery)["items"] for picture in item["pictures"]):
            with Image.open(gallery / picture["stored"]["path"]) as image:
                assert image.size == (picture["stored"]["width"], picture["stored"]["height"])


def test_text_of_rows_can_end_nothing(vistaqa_gallery: Path) -> None:
    page = (vistaqa_gallery / "index.html").read_text(encoding="utf-8")
    data = page.split('<script type="application/json" id="data">')[1]
    text = data.split("</script>")[0]
    assert data.count("</script") == 2
    assert text.isascii()
    assert not set(text) & set("<>&'")
    assert "window.hacked" not in page.replace(text, "")
    assert "http:" not in page.replace(text, "")
    assert "https:" not in page.replace(text, "")
    questions = {item["id"]: item["questions"][0]["text"] for item in _data(vistaqa_gallery)["items"]}
    assert questions["0006"].startswith("line\u2028separator\u2029paragraph\nnew line\ttab")


def test_pictures_and_rows_are_those_of_the_folder(vistaqa_folder: Path, vistaqa_gallery: Path) -> None:
    items = {item["id"]: item for item in _data(vistaqa_gallery)["items"]}
    paths = sorted((vistaqa_folder / "data").glob("*.parquet"))
    rows = list(
        read_rows(paths, ["id", "image", "question", "answer", "task", "masks_rle"], optional=["none"])
    )
    assert len(rows) == len(items) == 48
    for row in rows:
        item = items[row["id"]]
        assert (vistaqa_gallery / item["pictures"][0]["stored"]["path"]).read_bytes() == row["image"]["bytes"]
        assert len(item["pictures"][0].get("overlays", [])) == len(row["masks_rle"])
        assert item["facets"]["task"] == [row["task"]]
        assert item["questions"] == [{"text": row["question"], "answer": row["answer"]}]
        assert row["none"] is None


def test_choice_of_rows(vistaqa_folder: Path, salart_folder: Path, tmp_path: Path) -> None:
    viewed = write_gallery(vistaqa_folder, tmp_path / "a", Choice(config="counting", limit=3))
    assert (viewed.items, viewed.of) == (3, 8)
    data = _data(tmp_path / "a")
    assert [item["facets"]["task"] for item in data["items"]] == [["counting"]] * 3
    assert "the first 3 of 8 rows" in (tmp_path / "a" / "index.html").read_text()
    viewed = write_gallery(salart_folder, tmp_path / "b", Choice(config="questions", split="test"))
    assert viewed.items == viewed.of == len(_data(tmp_path / "b")["items"])
    kinds = {kind for item in _data(tmp_path / "b")["items"] for kind in item["facets"]["question"]}
    assert kinds == {"q1", "q2", "q3", "q4"}


def test_wanted_rows_are_found_over_row_groups(tmp_path: Path, vistaqa_folder: Path) -> None:
    (source, *_) = sorted((vistaqa_folder / "data").glob("*.parquet"))
    pq.write_table(pq.read_table(source), tmp_path / "a.parquet", row_group_size=3)
    every = [row["id"] for row in read_rows([tmp_path / "a.parquet"], ["id"])]
    wanted = {every[0], every[4], every[7], "other"}
    found = list(read_rows([tmp_path / "a.parquet"], ["question"], keep=("id", wanted)))
    both = list(read_rows([tmp_path / "a.parquet"], ["id", "question"]))
    assert [row["question"] for row in found] == [row["question"] for row in both if row["id"] in wanted]


def test_what_is_refused(vistaqa_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def refused(folder: Path, message: str, output: Path | None = out, **options: Any) -> None:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(InputError, match=message):
            write_gallery(folder, output, **options)
        assert sorted(tmp_path.rglob("*")) == before

    full = tmp_path / "full"
    full.mkdir()
    (full / "file").write_text("mine")
    refused(vistaqa_folder, "not empty", full)
    refused(vistaqa_folder, "inside the built folder", vistaqa_folder / "gallery")
    refused(vistaqa_folder, "does not exist", tmp_path / "no" / "out")
    refused(vistaqa_folder, r"\.png", sheet=tmp_path / "sheet.jpg")
    (tmp_path / "there.png").write_bytes(b"")
    refused(vistaqa_folder, "exists already", sheet=tmp_path / "there.png")
    refused(tmp_path / "none", "no such folder")
    refused(full, "lacks lookcheck.json")
    refused(vistaqa_folder, "no configuration 'x'; there are default, identification", choice=Choice("x"))
    refused(vistaqa_folder, "default has no split 'train'; there are test", choice=Choice(split="train"))
    other = tmp_path / "other"
    shutil.copytree(vistaqa_folder, other)
    manifest = json.loads((other / "lookcheck.json").read_text()) | {"name": "other"}
    (other / "lookcheck.json").write_text(json.dumps(manifest))
    refused(other, f"{other}: the data set 'other' is not known, only vistaqa, salart_vqa, perturbed_pope")
    (other / "lookcheck.json").write_text("[")
    refused(other, "lookcheck.json")
    shutil.copyfile(vistaqa_folder / "lookcheck.json", other / "lookcheck.json")
    (path, *_) = sorted((other / "data").glob("*.parquet"))
    path.write_bytes(path.read_bytes()[:200])
    refused(other, r"can't be read as Parquet")


def _no_picture(rows: list[dict[str, Any]]) -> None:
    rows[1]["image"] = None


def _broken_picture(rows: list[dict[str, Any]]) -> None:
    rows[1]["image"]["bytes"] = rows[1]["image"]["bytes"][:60]


def _small_mask(rows: list[dict[str, Any]]) -> None:
    rows[1]["masks_rle"] = [{"size": [2, 2], "counts": "04"}]


def _bad_mask(rows: list[dict[str, Any]]) -> None:
    rows[1]["masks_rle"] = [{"size": [16, 24], "counts": "04"}]


def _twice(rows: list[dict[str, Any]]) -> None:
    rows[1]["id"] = rows[0]["id"]


def _past_label(rows: list[dict[str, Any]]) -> None:
    rows[1]["task"] = 17


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_no_picture, "0007: image: the picture's bytes are not in the file"),
        (_broken_picture, "0007: image: the picture can't be decoded"),
        (_small_mask, "0007: mask 0 is 2 × 2, the picture 24 × 16"),
        (_bad_mask, "0007: mask 0"),
        (_twice, "0001: the id stands twice"),
        (_past_label, "the label 17 is past the 6 names"),
    ],
)
def test_a_broken_row_is_named_and_nothing_is_left(
    vistaqa_folder: Path, tmp_path: Path, change: Callable[[list[dict[str, Any]]], None], message: str
) -> None:
    folder = _changed(vistaqa_folder, tmp_path / "broken", change)
    with pytest.raises(InputError, match=message):
        write_gallery(folder, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["broken"]


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lookcheck.scripts.cli", "view", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_command(vistaqa_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "set"
    shutil.copytree(vistaqa_folder, copy)
    made = _run("--dataset", str(copy))
    assert made.returncode == 0, made.stderr
    assert made.stdout == f"{tmp_path / 'set-gallery' / 'index.html'}: 48 of 48\n"
    again = _run("--dataset", str(copy))
    assert again.returncode == 2
    assert again.stderr == f"error: {tmp_path / 'set-gallery'}: the folder is not empty; name a new one\n"
    sheet = _run("--dataset", str(copy), "--sheet", str(tmp_path / "sheet.png"), "--limit", "5", "--json")
    assert json.loads(sheet.stdout) == {
        "name": "vistaqa",
        "shown": 5,
        "of": 48,
        "page": None,
        "sheet": str(tmp_path / "sheet.png"),
        "sheet_every": 1,
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set", "set-gallery", "sheet.png"]


def test_module_runs() -> None:
    command = [sys.executable, "-m", "lookcheck.scripts.view", "--help"]
    assert "--sheet" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_open_folder_reads_the_card(vistaqa_folder: Path) -> None:
    folder = open_folder(vistaqa_folder)
    assert (folder.name, folder.version, folder.source["kind"]) == ("vistaqa", "1.1.0", "folder")
    assert list(folder.configs)[:2] == ["default", "identification"]


def test_a_sample_is_titled_as_one(vistaqa_gallery: Path, salart_gallery: Path) -> None:
    assert "<title>SalArt-VQA, sample</title>" in (salart_gallery / "index.html").read_text()
    assert "<title>VistaQA</title>" in (vistaqa_gallery / "index.html").read_text()
