"""A run that is killed, and two on one folder: the finished files are those of an undisturbed run."""

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

Lookcheck = Callable[..., Any]
FILES = ("run.json", "replies.jsonl", "predictions.jsonl")
SOURCE = """
    import time

    def answer(row):
        time.sleep(0.02)
        if row["part"] == "q3":
            return "<think>" + row["id"] + "</think>" + "E"
        return "no" if row["part"] == "q1" else "E\\u2028"
"""


def start(dataset: Path, model: str, output: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(output.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "lookcheck.scripts.predict", "run", "--dataset", str(dataset), "--model", model, "--output", str(output), "--quiet"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def wait_for(process: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not reached() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def count(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def held(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture
def undisturbed(
    lookcheck: Lookcheck, built: dict[str, Path], model: Callable[[str], str], tmp_path: Path
) -> tuple[list[Any], str, dict[str, bytes]]:
    name = model(SOURCE)
    command = ["predict", "run", "--dataset", built["salart_vqa"], "--model", name, "--quiet", "--output"]
    assert lookcheck(*command, tmp_path / "whole").returncode == 0
    return command, name, held(tmp_path / "whole")


def test_killed_at_five_moments_and_gone_on_with(
    lookcheck: Lookcheck, built: dict[str, Path], undisturbed: Any, tmp_path: Path
) -> None:
    command, name, wanted = undisturbed
    run = tmp_path / "run"
    # Before the first reply, in the midst of a row, and after some rows.
    for replies in (0, 1, 8, 18, 30):
        process = start(built["salart_vqa"], name, run)
        if replies == 0:
            wait_for(process, lambda: (run / "run.json").exists())
        else:
            wait_for(process, lambda least=replies: count(run / "replies.jsonl") >= least)
        kill(process)
        assert count(run / "replies.jsonl") < 47
    assert lookcheck(*command, run).returncode == 0
    assert held(run) == wanted


@pytest.mark.parametrize(
    "harm",
    [
        lambda run: cut(run / "replies.jsonl", 7),
        lambda run: cut(run / "predictions.jsonl", 7),
        lambda run: (run / "predictions.jsonl").write_bytes(b""),
        lambda run: (run / "predictions.jsonl").unlink(),
        lambda run: ((run / "replies.jsonl").write_bytes(b""), (run / "predictions.jsonl").write_bytes(b"")),
        lambda run: shuffle(run / "predictions.jsonl"),
        lambda run: shuffle(run / "replies.jsonl"),
    ],
    ids=["cut reply", "cut prediction", "no predictions", "no file", "nothing", "order", "order of replies"],
)
def test_what_a_kill_may_leave_is_mended(
    lookcheck: Lookcheck, undisturbed: Any, tmp_path: Path, harm: Callable[[Path], Any]
) -> None:
    command, _, wanted = undisturbed
    harm(tmp_path / "whole")
    assert lookcheck(*command, tmp_path / "whole").returncode == 0
    assert held(tmp_path / "whole") == wanted


def test_a_broken_line_in_the_midst_is_refused(
    lookcheck: Lookcheck, undisturbed: Any, tmp_path: Path
) -> None:
    command, _, _ = undisturbed
    file = tmp_path / "whole" / "replies.jsonl"
    first, *others = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([first[:20] + b"\n", *others]))
    done = lookcheck(*command, tmp_path / "whole")
    assert done.returncode == 2
    assert f"{file}:1: not valid JSON" in done.stderr


def test_two_processes_on_one_run(built: dict[str, Path], undisturbed: Any, tmp_path: Path) -> None:
    _, name, wanted = undisturbed
    run = tmp_path / "run"
    first = start(built["salart_vqa"], name, run)
    wait_for(first, lambda: count(run / "replies.jsonl") >= 1)
    second = start(built["salart_vqa"], name, run)
    _, said = second.communicate(timeout=120)
    _, failed = first.communicate(timeout=120)
    assert first.returncode == 0, failed
    assert held(run) == wanted
    # The second came while the first was at work, or found the work done.
    if second.returncode:
        assert second.returncode == 2
        assert "another process is working on this run" in said


def cut(path: Path, number: int) -> None:
    path.write_bytes(path.read_bytes()[:-number])


def shuffle(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[::-1]))
