"""kill -9 in the middle, and several processes: the final file is the one of an undisturbed run."""

from __future__ import annotations

import json
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
# `accelerate launch --cpu` starts one process on one machine, whatever number it is told.
LAUNCHER = [
    *PYTHON,
    "torch.distributed.run",
    "--standalone",
    "--nproc-per-node",
    "2",
    "-m",
    "lookcheck.scripts.cli",
]

# With eight other programs on two cores, imports alone take a minute.
PATIENCE = 1200


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
    fixed = [
        "--output",
        str(output),
        "--model",
        str(model),
        "--device",
        "cpu",
        "--batch-size",
        "3",
        "--min-mass",
        "0",
    ]
    return ["judge", "run", *files, *fixed, *options]


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(condition: Callable[[], bool], started: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_kill_and_go_on(lookcheck: Run, files: list[str], tiny_folder: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    assert lookcheck(*command(files, tiny_folder, whole)).code == 0
    broken = tmp_path / "broken.jsonl"
    arguments = command(files, tiny_folder, broken)
    started = subprocess.Popen([*PYTHON, "lookcheck.scripts.cli", *arguments], env=ENVIRONMENT)
    try:
        wait_for(lambda: lines(broken) >= 60, started)
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


@pytest.mark.timeout(2 * PATIENCE)
def test_two_processes_share_the_work_and_merge_by_id(
    lookcheck: Run, files: list[str], tiny_folder: Path, tmp_path: Path
) -> None:
    """Two processes on the CPU, after a launch of three that was killed; killed again, and then let be."""
    alone = tmp_path / "alone.jsonl"
    assert lookcheck(*command(files, tiny_folder, alone)).code == 0
    header, expected = read_verdicts(alone)
    shared = tmp_path / "shared.jsonl"
    # What a killed launch of three processes leaves: one finished part, one with an unfinished line.
    rows = alone.read_bytes().splitlines(keepends=True)
    (tmp_path / "shared.jsonl.part1of3").write_bytes(b"".join(rows[:100]))
    (tmp_path / "shared.jsonl.part2of3").write_bytes(rows[0] + rows[300] + rows[301][:40])
    launch = [*LAUNCHER, *command(files, tiny_folder, shared)]
    parts = [tmp_path / f"shared.jsonl.part{number}of2" for number in (1, 2)]
    started = subprocess.Popen(launch, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: all(lines(part) > 10 for part in parts), started)
    finally:
        # The launcher's processes are in sessions of their own, and would go on without it.
        workers = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        for process in (started.pid, *map(int, workers)):
            os.kill(process, signal.SIGKILL)
        started.wait()
    assert len(workers) == 2
    # Both took part, and on different rows: none of those that were there, none of each other's.
    first, second = ([json.loads(line)["id"] for line in complete(part)[1:]] for part in parts)
    ids = list(expected)
    assert len(first) >= 10
    assert len(second) >= 10
    assert not {*first, *second} & {*ids[:99], ids[299]}
    assert not set(first) & set(second)
    run = subprocess.run(launch, env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    found_header, found = read_verdicts(shared)
    assert found_header == header
    assert found.keys() == expected.keys()
    for id, row in found.items():
        assert row["margin"] == pytest.approx(expected[id]["margin"], abs=MARGIN_TOLERANCE)
        if abs(row["margin"]) > MARGIN_TOLERANCE:
            assert row["verdict"] == expected[id]["verdict"]
        assert row["same_as"] == expected[id]["same_as"]
    # The parts' rows were taken over, not judged again: first those of three, then those of two, then others.
    kept = {*ids[:99], ids[299]}
    assert set(list(found)[:100]) == kept
    kept |= {*first, *second}
    begun = [id in kept or row["same_as"] in kept for id, row in found.items()]
    assert begun == sorted(begun, reverse=True)
    assert not list(tmp_path.glob("*.part*"))
    assert run.stdout.count("835 verdicts") == 1


def complete(part: Path) -> list[bytes]:
    """Lines that were written whole."""
    data = part.read_bytes()
    return data[: data.rfind(b"\n") + 1].splitlines()


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
        timeout=PATIENCE,
    )
    assert run.returncode != 0
    assert run.stderr.count("error: ") == 1
    assert "not a verdict file" in run.stderr or "not valid JSON" in run.stderr
    assert output.read_text() == "something else\n"
    assert not list(tmp_path.glob("*.part*"))
