"""`lookcheck build perturbed-pope` as a person types it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.scripts import console
from lookcheck.scripts.build import __main__ as build


def _rows(folder: Path, condition: str) -> list[dict[str, Any]]:
    (path,) = (folder / "data").glob(f"{condition}-test-*")
    rows: list[dict[str, Any]] = pq.read_table(path, partitioning=None).to_pylist()
    return rows


def _command(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["build", "perturbed-pope", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        console.run(build.app)
    return int(caught.value.code or 0)


def test_the_sample(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--source", "sample", "--condition", "entity_swap", "--output", tmp_path / "out")
    assert _command(monkeypatch, *arguments) == 0
    said = capsys.readouterr().out
    assert "original / test:" in said
    assert "random: generated" in said
    assert check_folder(tmp_path / "out", DATASETS).faults == []
    rows = _rows(tmp_path / "out", "original")
    assert len({row["image_name"] for row in rows}) >= 24
    assert {row["license"] for row in rows} == {"CC0-1.0", "public domain"}
    assert all(row["credit"] for row in rows)
    swaps = [(row["image_name"], row["entity"]) for row in _rows(tmp_path / "out", "entity_swap")]
    # Each object is asked for once in each of the three categories.
    assert (len(swaps), len(set(swaps))) == (57, 19)
    assert {"dining table", "couch", "bench"}.isdisjoint(entity for _, entity in swaps)
    for reason in (
        '8 pictures and objects that others stand, lie or sit on: these would stay, and "no" would be arguable',
        "5 pictures and objects over 30% of the picture",
        "9 pictures and objects whose shape would be kept by the labelled objects that touch them",
        "17 pictures and objects whose place no other piece of the picture fills well",
        "1 pictures and objects whose shadow lies on another labelled object, and would stay",
    ):
        assert f"left out: {reason}" in said
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
    image = files / "images" / "b.jpg"
    image.write_bytes(image.read_bytes()[:900])
    arguments = ["--source", "pope", "--questions", f"popular={files / 'random.json'}"]
    arguments += ["--images", files / "images", "--instances", files / "instances.json"]
    assert _command(monkeypatch, *arguments, "--output", tmp_path / "out") == 2
    assert "random.json:5: the image 'b.jpg' can't be decoded" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
