"""A folder is written whole or not at all; its Parquet fits the viewer."""

from __future__ import annotations

import doctest
import io
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lookcheck.dataset_builders.core import processes
from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.processes import ordered_map
from lookcheck.dataset_builders.parquet import encoding, shards
from lookcheck.dataset_builders.parquet.card import count_columns
from lookcheck.dataset_builders.parquet.check_parquet import iterate_rows
from lookcheck.dataset_builders.parquet.plan import CardPlan, ConfigFiles, FolderPlan, ShardGroup
from lookcheck.dataset_builders.parquet.shards import ShardWriter
from lookcheck.dataset_builders.parquet.writer import write_folder

FEATURES = datasets.Features(
    {
        "id": datasets.Value("string"),
        "image": datasets.Image(),
        "kind": datasets.ClassLabel(names=["even", "odd"]),
        "has_evidence": datasets.Value("bool"),
        "task": datasets.ClassLabel(names=["a"]),
        "domain": datasets.ClassLabel(names=["a"]),
    }
)

# Its bytes outgrow the window in which snappy finds repeats.
LARGE = 160


def _noise(seed: int, side: int = 64) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def _row(number: int, *, distinct: int = 10**9, fail_at: int = -1) -> dict[str, Any]:
    if number == fail_at:
        raise InputError(f"row {number} is broken")
    return {
        "id": str(number),
        "image": {
            "bytes": _noise(number // 10, LARGE) if distinct < 10**9 else _noise(number),
            "path": f"{number}.png",
        },
        "kind": "odd" if number % 2 else "even",
        "has_evidence": True,
        "task": "a",
        "domain": "a",
    }


def _single(number: int, **options: Any) -> dict[str, list[dict[str, Any]]]:
    return {"all": [_row(number, **options)]}


def _plan(rows: int = 30, **options: Any) -> FolderPlan:
    card = CardPlan(
        "vistaqa.md.jinja",
        {"license": "unknown"},
        {
            "description": "Test.",
            "homepage": "",
            "repository": "",
            "citation": "",
            "partial": False,
            "columns": [],
        },
    )
    group = ShardGroup({"all": FEATURES}, range(rows), partial(_single, **options))
    configs = (ConfigFiles("default", {"test": ("all",)}, default=True),)
    return FolderPlan("test", "1.0.0", (group,), configs, card, "Test.", source={"kind": "folder"})


def _listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_failing_row_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 20 is broken"):
        write_folder(_plan(fail_at=20), tmp_path / "out")
    assert _listing(tmp_path) == []


def test_an_output_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("precious")
    (tmp_path / "file").write_text("precious")
    for name, said in (("full", "not empty"), ("file", "not a folder"), ("no/where", "does not exist")):
        with pytest.raises(InputError, match=said):
            write_folder(_plan(2), tmp_path / name)
    assert (tmp_path / "full" / "a").read_text() == (tmp_path / "file").read_text() == "precious"
    (tmp_path / "empty").mkdir()
    write_folder(_plan(2), tmp_path / "empty")
    assert _listing(tmp_path) == ["empty", "file", "full"]
    assert _listing(tmp_path / "empty") == ["README.md", "data", "lookcheck.json"]


def test_the_folder_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    write_folder(_plan(1), tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("num_proc", [1, 2])
def test_a_killed_build_leaves_nothing_that_loads(tmp_path: Path, num_proc: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            f"""
            import importlib.util, sys, time
            from pathlib import Path
            spec = importlib.util.spec_from_file_location("helper", {str(Path(__file__))!r})
            helper = importlib.util.module_from_spec(spec)
            sys.modules["helper"] = helper
            spec.loader.exec_module(helper)
            from lookcheck.dataset_builders.parquet import shards
            from lookcheck.dataset_builders.parquet.writer import write_folder
            # Many small finished shards, so that the kill falls among real files.
            shards.ShardWriter.__init__.__kwdefaults__.update(group_bytes=20_000, shard_bytes=20_000)
            if __name__ == "__main__":
                output = Path({str(tmp_path / "work" / "out")!r})
                write_folder(helper._plan(100_000), output, num_proc={num_proc})
            """
        )
    )
    (tmp_path / "work").mkdir()
    process = subprocess.Popen(
        [sys.executable, str(program)], env={**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    try:
        deadline = time.monotonic() + 900
        while len(list((tmp_path / "work").rglob("*.part"))) < 5 and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    left = list((tmp_path / "work").rglob("*"))
    assert len([path for path in left if path.suffix == ".part"]) >= 5
    assert not (tmp_path / "work" / "out").exists()
    assert not [path for path in left if path.suffix == ".parquet"]
    folders = [path for path in left if path.is_dir()]
    assert folders
    for folder in [tmp_path / "work", *folders]:
        with pytest.raises((FileNotFoundError, ValueError, datasets.exceptions.DatasetNotFoundError)):
            datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    # The next build of the same folder takes away what was left, but nothing of others.
    others = [
        tmp_path / "work" / name for name in (".out2.building-a", ".other.building-b", "out.building-c")
    ]
    for other in others:
        other.mkdir()
    write_folder(_plan(2), tmp_path / "work" / "out")
    assert sorted((tmp_path / "work").iterdir()) == sorted([*others, tmp_path / "work" / "out"])
    assert _listing(tmp_path / "work" / "out") == ["README.md", "data", "lookcheck.json"]


def test_a_build_that_still_runs_is_left_alone(tmp_path: Path) -> None:
    """The folder of a build is there, and another build of the same name begins."""
    running = []

    def look(description: str, _total: int) -> Callable[[], None]:
        if description.startswith("writing") and not running:
            running.append(description)
            write_folder(_plan(2), tmp_path / "out")
        return lambda: None

    with pytest.raises(OSError, match="not empty"):
        write_folder(_plan(2), tmp_path / "out", track=look)
    assert _listing(tmp_path / "out") == ["README.md", "data", "lookcheck.json"]
    assert _listing(tmp_path) == ["out"]


def test_shards_row_groups_and_page_index(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, "all", FEATURES, group_bytes=50_000, shard_bytes=150_000)
    for number in range(40):
        writer.write(_row(number))
    names = writer.finish()
    assert [path.suffix for path in names] == [".part"] * len(names)
    for unfinished, final in names.items():
        unfinished.rename(final)
    files = sorted(tmp_path.iterdir())
    total = len(files)
    assert total >= 3
    assert [path.name for path in files] == [f"all-{i:05d}-of-{total:05d}.parquet" for i in range(total)]
    ids = []
    for path in files:
        metadata = pq.read_metadata(path)
        for group in range(metadata.num_row_groups):
            row_group = metadata.row_group(group)
            assert row_group.total_byte_size < 50_000 + 20_000
            assert all(row_group.column(i).has_offset_index for i in range(row_group.num_columns))
        assert datasets.Features.from_arrow_schema(pq.read_schema(path)) == FEATURES
        ids += pq.read_table(path, columns=["id"]).column("id").to_pylist()
    assert ids == [str(number) for number in range(40)]
    counts = count_columns(files, FEATURES)
    assert counts["rows"] == 40
    assert counts["kind"] == {"even": 20, "odd": 20}
    assert counts["has_evidence"] == {"false": 0, "true": 40}


def test_a_repeated_picture_is_stored_once(tmp_path: Path) -> None:
    sizes = {}
    for repeated in ((), ("image",)):
        folder = tmp_path / str(len(repeated))
        folder.mkdir()
        writer = ShardWriter(folder, "all", FEATURES, repeated)
        for number in range(200):
            writer.write(_row(number, distinct=20))
        (path,) = writer.finish()
        sizes[repeated] = path.stat().st_size
        table = pq.read_table(path)
        assert table.column("image")[155].as_py()["bytes"] == _noise(15, LARGE)
    distinct = sum(len(_noise(number, LARGE)) for number in range(20))
    assert sizes[()] > 9 * distinct
    assert sizes["image",] < 1.05 * distinct + 8_000


def test_a_row_group_ends_where_a_new_picture_begins(tmp_path: Path) -> None:
    one = len(_noise(0, LARGE))
    writer = ShardWriter(tmp_path, "all", FEATURES, ("image",), group_bytes=int(1.5 * one))
    for number in range(60):
        writer.write(_row(number, distinct=6))
    (path,) = writer.finish()
    with pq.ParquetFile(path) as file:
        groups = [file.read_row_group(number, ["id"]) for number in range(file.num_row_groups)]
    assert [len(group) for group in groups] == [20, 20, 20]
    assert writer.picture_bytes == sum(len(_noise(number, LARGE)) for number in range(6))


def _spread(number: int) -> dict[str, list[dict[str, Any]]]:
    """One picture for three rows of two stems; every third job has nothing for the second."""
    if number == 99:
        raise InputError("job 99 is broken")
    image = {"bytes": _noise(number, LARGE), "path": f"{number}.png"}
    rows = [_row(number) | {"id": f"{number}{letter}", "image": image} for letter in "abc"]
    return {"left": rows[:2]} if number % 3 == 2 else {"left": rows[:2], "right": rows[2:]}


def _group_plan(jobs: list[int]) -> FolderPlan:
    plan = _plan(1)
    stems = ("left", "right")
    group = ShardGroup(dict.fromkeys(stems, FEATURES), jobs, _spread, dict.fromkeys(stems, ("image",)))
    configs = (
        ConfigFiles("default", {"test": ("left",)}, default=True),
        ConfigFiles("right", {"test": ("right",)}),
    )
    return FolderPlan("test", "1.0.0", (group,), configs, plan.card, "Test.", source={"kind": "folder"})


def test_rows_made_together(tmp_path: Path) -> None:
    manifest = write_folder(_group_plan(list(range(9))), tmp_path / "out")
    assert [manifest["built"][config]["test"]["rows"] for config in ("default", "right")] == [18, 6]
    distinct = [len(_noise(number, LARGE)) for number in range(9)]
    wanted = {
        "default": ("left", 18, sum(distinct)),
        "right": ("right", 6, sum(distinct) - sum(distinct[2::3])),
    }
    for config, (stem, rows, pictures) in wanted.items():
        loaded = datasets.load_dataset(
            str(tmp_path / "out"), config, split="test", cache_dir=str(tmp_path / "cache")
        )
        assert loaded.num_rows == rows
        stored = manifest["stored"][config]["test"]
        assert stored["picture_bytes"] == pictures
        (path,) = (tmp_path / "out" / "data").glob(f"{stem}-*")
        assert path.stat().st_size == stored["bytes"] < 1.05 * pictures
    with pytest.raises(InputError, match="job 99"):
        write_folder(_group_plan([1, 99]), tmp_path / "broken")
    assert _listing(tmp_path) == ["cache", "out"]


def test_memory_bound_counts_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "GROUP_BYTES_IN_MEMORY", 130_000)
    writer = ShardWriter(tmp_path, "all", FEATURES, ("image",))
    for number in range(50):
        writer.write(_row(number, distinct=5))
    (path,) = writer.finish()
    assert pq.read_metadata(path).num_row_groups >= 4


def test_bytes_stay_although_the_name_is_an_existing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "3.png").write_bytes(b"another picture")
    encoded = encoding.encode_row(FEATURES, _row(3))
    assert encoded["image"] == {"bytes": _noise(3), "path": "3.png"}
    assert encoded["kind"] == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"extra": 1}, "missing or unknown columns"),
        ({"image": {"bytes": None, "path": "a.png"}}, "without bytes"),
        ({"image": {"bytes": b"", "path": None}}, "without bytes"),
        ({"kind": "neither"}, "neither"),
    ],
)
def test_a_wrong_row_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        encoding.encode_row(FEATURES, _row(1) | change)


def test_an_unknown_stem_or_split_is_refused() -> None:
    plan = _plan(1)
    for splits, said in (({"test": ("none",)}, "unknown stems"), ({"te-st": ("all",)}, "must match")):
        with pytest.raises(ValueError, match=said):
            FolderPlan("t", "1", plan.groups, (ConfigFiles("default", splits),), plan.card, "Test.")
    with pytest.raises(ValueError, match="same stem"):
        FolderPlan("t", "1", plan.groups * 2, plan.configs, plan.card, "Test.")
    group = ShardGroup(dict.fromkeys(("all", "none"), FEATURES), [], _spread)
    with pytest.raises(ValueError, match="same stem"):
        FolderPlan("t", "1", (*plan.groups, group), plan.configs, plan.card, "Test.")


@pytest.mark.parametrize("num_proc", [1, 2])
def test_ordered_map_keeps_order_and_takes_jobs_as_needed(num_proc: int) -> None:
    taken = []

    def jobs() -> Any:
        for number in range(200):
            taken.append(number)
            yield -number

    results = ordered_map(abs, jobs(), num_proc)
    assert next(results) == 0
    assert len(taken) <= 4 * num_proc + 1
    assert list(results) == list(range(1, 200))


def test_an_error_in_a_process_comes_back() -> None:
    # A function of a test module can't be imported by a process; int() of a word fails as well.
    with pytest.raises(ValueError, match="'five'"):
        list(ordered_map(int, ["1", "five", "3"], 2))


@pytest.mark.parametrize("module", [processes, encoding])
def test_doctests(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


def test_another_build_of_the_same_name_does_not_load_from_the_cache(tmp_path: Path) -> None:
    # `datasets` does not look at the files of a local folder when it looks into its cache.
    for rows, place in ((3, "one"), (5, "two"), (4, "one")):
        target = tmp_path / place / "name"
        if target.exists():
            shutil.rmtree(target)
        target.parent.mkdir(exist_ok=True)
        write_folder(_plan(rows), target)
        loaded = datasets.load_dataset(str(target), split="test", cache_dir=str(tmp_path / "cache"))
        assert loaded["id"][:] == [str(number) for number in range(rows)]


@pytest.mark.parametrize(("size", "shown"), [(2_999_999, True), (3_000_000, False)])
def test_a_row_of_the_viewer_s_limit_is_not_shown(tmp_path: Path, size: int, shown: bool) -> None:
    features = datasets.Features({"id": datasets.Value("string"), "text": datasets.Value("string")})
    writer = ShardWriter(tmp_path, "all", features)
    row = {"id": "a", "text": "x" * (size - 1)}
    assert encoding.size_of(row) == size
    writer.write(row)
    for unfinished, final in writer.finish().items():
        unfinished.rename(final)
        ((faults, _),) = iterate_rows(final, tmp_path, features)
        assert [fault.rule for fault in faults] == ([] if shown else ["row-size"])
