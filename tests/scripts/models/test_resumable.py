"""Rows of any work, killed at any moment, by one process or several: the finished file is one and the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

PROGRAM = '''
import json, os, random, sys, time
from pathlib import Path
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.resumable import Resumable
from lookcheck.scripts.models.store import RowFormat
from lookcheck.scripts.models.watch import Watch

def parse(data, path):
    rows = [json.loads(line) for line in data.decode().splitlines()]
    return None, {row["id"]: row for row in rows}

class Squares:
    """Sixty rows: each tenth needs no model, and the others come in an order of their own in every process."""

    order = [f"r{number}" for number in range(60)]

    def row(self, id):
        return {"id": id, "square": int(id[1:]) ** 2}

    def ready(self, done):
        return [self.row(id) for id in self.order[::10] if id not in done]

    def failed(self, row):
        return "failure" in row

    def left(self, done):
        return sum(id not in done for id in self.order)

    def make(self, done, share, say):
        left = [id for id in self.order if id not in done][share.rank :: share.world]
        random.Random(share.rank).shuffle(left)
        for id in left:
            with Path(sys.argv[1] + ".asked").open("a") as asked:
                asked.write(id + "\\n")
            time.sleep(float(sys.argv[2]))
            yield [self.row(id)]

processes = Processes(cpu=True)
header = {"deciding": {}, "known": {}}
file = Resumable(Path(sys.argv[1]), RowFormat("a file", "made", parse), header, retry=True, in_order=True)
with Watch(quiet=True) as watch:
    file.run(Squares(), processes, watch)
processes.close()
'''
EXPECTED = b"".join(json.dumps({"id": f"r{n}", "square": n * n}).encode() + b"\n" for n in range(60))
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
ALONE = [sys.executable]
TWO = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
# With other programs on the machine, imports alone take a minute.
PATIENCE = 1200


def command(folder: Path, launcher: list[str], seconds: float) -> list[str]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    return [*launcher, str(program), str(folder / "rows.jsonl"), str(seconds)]


def finish(folder: Path, launcher: list[str]) -> None:
    run = subprocess.run(
        command(folder, launcher, 0), env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert run.returncode == 0, run.stderr
    assert (folder / "rows.jsonl").read_bytes() == EXPECTED
    assert not list(folder.glob("*.part*"))


def written(folder: Path) -> int:
    lines = 0
    for path in folder.glob("rows.jsonl*"):
        if path.suffix not in (".asked", ".lock"):
            # A part may be merged and gone since it was listed.
            with suppress(FileNotFoundError):
                lines += path.read_bytes().count(b"\n")
    return lines


def kill(folder: Path, launcher: list[str], lines: int) -> None:
    """Kill a run, and all its processes, once so many lines are on the disk."""
    started = subprocess.Popen(command(folder, launcher, 0.03), env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE
    while written(folder) < lines or not (folder / "rows.jsonl.lock").exists():
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)
    # The launcher's processes are in sessions of their own, and would go on without it.
    workers = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    for process in (started.pid, *map(int, workers)):
        os.kill(process, signal.SIGKILL)
    started.wait()


def test_killed_at_five_moments_by_one_process(tmp_path: Path) -> None:
    for lines in (0, 7, 20, 41, 59):
        kill(tmp_path, ALONE, lines)
    asked = (tmp_path / "rows.jsonl.asked").read_text().split()
    finish(tmp_path, ALONE)
    # A kill costs at most the one row that was being made.
    assert len(asked) <= 54 + 5
    assert set(asked) <= {f"r{number}" for number in range(60) if number % 10}


@pytest.mark.timeout(2 * PATIENCE)
def test_killed_by_two_and_finished_by_one_or_two(tmp_path: Path) -> None:
    kill(tmp_path, TWO, 21)
    assert len(list(tmp_path.glob("rows.jsonl.part?of2"))) == 2
    kill(tmp_path, TWO, 40)
    kill(tmp_path, ALONE, 46)
    finish(tmp_path, TWO)


def test_what_failed_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(
        b'{"id": "r3", "failure": "no reply"}\n' + b"".join(EXPECTED.splitlines(keepends=True)[4:])
    )
    finish(tmp_path, ALONE)
    assert sorted((tmp_path / "rows.jsonl.asked").read_text().split()) == ["r1", "r2", "r3"]
