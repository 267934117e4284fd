"""kill -9 in the middle, and several processes: the final file is the one of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lookcheck.dataset_builders.core.verdict_file import read_verdicts
from lookcheck.scripts.judge.decision import MARGIN_TOLERANCE

Run = Callable[..., Any]

# One thread: the same sums in every process, and no waiting for each other.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

PYTHON = [sys.executable, "-m"]
TWO = [
    "--cpu",
    "--num_processes",
    "2",
    "--num_machines",
    "1",
    "--mixed_precision",
    "no",
    "--dynamo_backend",
    "no",
]
LAUNCHER = [*PYTHON, "accelerate.commands.launch", *TWO, "-m", "lookcheck.scripts.cli"]


@pytest.fixture
def files(write: Run, tmp_path: Path, cases: list[dict[str, Any]]) -> list[str]:
    """835 triples, two thirds of them distinct."""
    many = [
        {**case, "id": f"{case['id']}/{turn}", "answer": case["answer"] + "!" * (turn // 2)}
        for turn in range(5)
        for case in cases
    ]
    path = write(tmp_path / "all.jsonl", many)
    return ["--dataset", str(path), "--answers", str(path)]


def command(files: list[str], model: Path, output: Path, *options: str) -> list[str]:
    fixed = ["--output", str(output), "--model", str(model), "--device", "cpu", "--batch-size", "3"]
    return ["judge", "run", *files, *fixed, *options]


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_kill_and_go_on(lookcheck: Run, files: list[str], tiny_folder: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    assert lookcheck(*command(files, tiny_folder, whole)).code == 0
    broken = tmp_path / "broken.jsonl"
    arguments = command(files, tiny_folder, broken)
    started = subprocess.Popen([*PYTHON, "lookcheck.scripts.cli", *arguments], env=ENVIRONMENT)
    try:
        deadline = time.monotonic() + 120
        while lines(broken) < 60:
            assert started.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.002)
    finally:
        os.kill(started.pid, signal.SIGKILL)
        started.wait()
    written = lines(broken)
    assert 60 <= written < lines(whole)
    again = lookcheck(*arguments)
    assert again.code == 0, again.err
    assert f"going on after {len(read_verdicts(whole)[1]):,}" not in again.err
    assert len(read_verdicts(broken)[1]) == 835
    assert broken.read_bytes() == whole.read_bytes()


def test_two_processes_share_the_work_and_merge_by_id(
    lookcheck: Run, files: list[str], tiny_folder: Path, tmp_path: Path
) -> None:
    """`accelerate launch` with two processes on the CPU, after a launch that was killed."""
    alone = tmp_path / "alone.jsonl"
    assert lookcheck(*command(files, tiny_folder, alone)).code == 0
    header, expected = read_verdicts(alone)
    shared = tmp_path / "shared.jsonl"
    # What a killed launch of three processes leaves: one finished part, one with an unfinished line.
    rows = alone.read_bytes().splitlines(keepends=True)
    (tmp_path / "shared.jsonl.part1of3").write_bytes(b"".join(rows[:100]))
    (tmp_path / "shared.jsonl.part2of3").write_bytes(rows[0] + rows[300] + rows[301][:40])
    arguments = command(files, tiny_folder, shared)
    run = subprocess.run(
        [*LAUNCHER, *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    found_header, found = read_verdicts(shared)
    assert found_header == header
    assert found.keys() == expected.keys()
    for id, row in found.items():
        assert row["verdict"] == expected[id]["verdict"]
        assert row["margin"] == pytest.approx(expected[id]["margin"], abs=MARGIN_TOLERANCE)
        assert row["same_as"] == expected[id]["same_as"]
    # The parts' rows were taken over, not judged again.
    ids = list(expected)
    assert set(list(found)[:100]) == {*ids[:99], ids[299]}
    assert not list(tmp_path.glob("*.part*"))
    assert run.stdout.count("835 verdicts") == 1


def test_processes_stop_together_where_the_file_is_refused(
    lookcheck: Run, files: list[str], tiny_folder: Path, tmp_path: Path
) -> None:
    output = tmp_path / "v.jsonl"
    output.write_text("something else\n")
    arguments = command(files, tiny_folder, output)
    run = subprocess.run(
        [*LAUNCHER, *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode != 0
    assert run.stderr.count("error: ") == 1
    assert "not a verdict file" in run.stderr or "not valid JSON" in run.stderr
    assert output.read_text() == "something else\n"
    assert not list(tmp_path.glob("*.part*"))
