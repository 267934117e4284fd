"""The verdict file: append-only, one writer, one judge; broken ends repaired, broken middles refused."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import JudgeHeader, identity, near_ties, read_verdicts
from lookcheck.scripts.judge.work import VERDICT_FILE
from lookcheck.scripts.models.store import RowFile, line_of

JUDGE = {
    "model": "org/name",
    "revision": "0123456789abcdef",
    "method": "logprob",
    "prompt_version": "1",
    "dtype": "float32",
    "backend": "transformers",
}
HEADER: dict[str, Any] = {"deciding": {"judge": JUDGE, "answers": {"rows": 2}}, "known": {"device_name": "x"}}


def row(id: str, verdict: str = "yes") -> dict[str, Any]:
    return {"id": id, "verdict": verdict, "raw": "Yes \u2028\x85\x00"}


def fill(path: Path, *ids: str) -> None:
    with RowFile(path, VERDICT_FILE, HEADER) as file:
        file.append([row(id) for id in ids])


def test_written_rows_come_back_and_go_on(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    fill(path, "a", "b")
    before = path.read_bytes()
    with RowFile(path, VERDICT_FILE, HEADER) as file:
        assert file.rows == {"a": row("a"), "b": row("b")}
        file.append([row("c", "none")])
    assert path.read_bytes() == before + line_of(row("c", "none"))
    header, rows = read_verdicts(path)
    assert header["deciding"] == HEADER["deciding"]
    assert list(rows) == ["a", "b", "c"]
    # Whatever a model says, a line of the file is a line.
    assert len(path.read_text().splitlines()) == 4


@pytest.mark.parametrize("cut", range(1, 40))
def test_an_unfinished_last_line_is_cut_off(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "v.jsonl"
    fill(path, "a", "b")
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    if cut < len(line_of(row("b"))):
        with pytest.raises(InputError, match="the last line is unfinished"):
            read_verdicts(path)
    with RowFile(path, VERDICT_FILE, HEADER) as file:
        assert list(file.rows) == ["a"]
        assert file.repaired == len(line_of(row("b"))) - cut
        file.append([row("b")])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("kept", [0, 1, 30, -1])
def test_an_unfinished_header_starts_afresh(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "v.jsonl"
    fill(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    fill(path)
    assert path.read_bytes() == whole


def test_another_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    for text in (
        "no line break",
        '{"id": 1, "answer": "x"}\n',
        "\n",
        '{"lookcheck_judge": {"format": 1}}\n',
        "\xff\n",
    ):
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError, match=r"answers\.jsonl:1: "), RowFile(path, VERDICT_FILE, HEADER):
            pass
        assert path.read_bytes() == text.encode("latin-1")


def test_a_different_judge_is_refused_with_the_keys_that_differ(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    fill(path, "a")
    before = path.read_bytes()
    other = {
        **HEADER,
        "deciding": {**HEADER["deciding"], "judge": {**JUDGE, "dtype": "bfloat16", "min_mass": 0.5}},
    }
    with pytest.raises(InputError) as caught, RowFile(path, VERDICT_FILE, other):
        pass
    assert str(caught.value) == (
        f"{path}: was judged differently, choose another --output: judge.dtype was 'float32', is 'bfloat16'; "
        "judge.min_mass was 'not there', is 0.5"
    )
    assert path.read_bytes() == before
    # What is only good to know may differ.
    with RowFile(path, VERDICT_FILE, {**HEADER, "known": {"device_name": "y"}}) as file:
        assert list(file.rows) == ["a"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{broken", "v.jsonl:3: not valid JSON"),
        ("", "v.jsonl:3: not valid JSON"),
        ("[1]", "v.jsonl:3: expected an object with an id"),
        ('{"id": 3, "verdict": "yes"}', "v.jsonl:3: expected an object with an id"),
        ('{"id": "z", "verdict": "maybe"}', "v.jsonl:3: id 'z' has the verdict 'maybe'"),
        ('{"id": "z"}', "v.jsonl:3: id 'z' has the verdict None"),
        ('{"id": "a", "verdict": "no"}', "v.jsonl:3: the id 'a' stands twice"),
        ('{"id": "z", "verdict": "no", "probability": NaN}', "v.jsonl:3: not valid JSON"),
    ],
)
def test_a_broken_line_in_the_middle_is_refused(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "v.jsonl"
    fill(path, "a")
    path.write_bytes(path.read_bytes() + line.encode() + b"\n" + line_of(row("end")))
    before = path.read_bytes()
    with pytest.raises(InputError, match=said.replace("[", r"\[")), RowFile(path, VERDICT_FILE, HEADER):
        pass
    assert path.read_bytes() == before


def test_an_id_is_never_written_twice(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    fill(path, "a")
    with RowFile(path, VERDICT_FILE, HEADER) as file, pytest.raises(ValueError, match="the id 'a' is in"):
        file.append([row("a")])
    assert list(read_verdicts(path)[1]) == ["a"]


def test_two_writers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    with RowFile(path, VERDICT_FILE, HEADER) as file:
        file.append([row("a")])
        program = (
            "import sys, pathlib, json\n"
            "from lookcheck.scripts.judge.work import VERDICT_FILE\n"
            "from lookcheck.scripts.models.store import RowFile\n"
            "RowFile(pathlib.Path(sys.argv[1]), VERDICT_FILE, json.loads(sys.argv[2])).__enter__()\n"
        )
        command = [sys.executable, "-c", program, str(path), json.dumps(HEADER)]
        other = subprocess.run(command, capture_output=True, text=True)
        assert "another process is writing to this file" in other.stderr
        file.append([row("b")])
    assert list(read_verdicts(path)[1]) == ["a", "b"]


def test_a_full_disk_leaves_a_file_that_goes_on(tmp_path: Path) -> None:
    """The kernel's limit on a file's size stands for the full disk: the write ends in the middle."""
    path = tmp_path / "v.jsonl"
    fill(path, "a")
    program = (
        "import sys, pathlib, json, resource\n"
        "from lookcheck.scripts.judge.work import VERDICT_FILE\n"
        "from lookcheck.scripts.models.store import RowFile\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "limit = path.stat().st_size + 100\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))\n"
        "with RowFile(path, VERDICT_FILE, json.loads(sys.argv[2])) as file:\n"
        "    file.append([{'id': str(n), 'verdict': 'no'} for n in range(50)])\n"
    )
    command = [sys.executable, "-c", program, str(path), json.dumps(HEADER)]
    full = subprocess.run(command, capture_output=True, text=True)
    assert full.returncode == 1
    assert "OSError: [Errno 27] File too large" in full.stderr
    assert not path.read_bytes().endswith(b"\n")
    with RowFile(path, VERDICT_FILE, HEADER) as file:
        assert file.repaired > 0
        assert list(file.rows) == ["a", "0", "1", "2"]
        file.append([row("3")])
    assert list(read_verdicts(path)[1]) == ["a", "0", "1", "2", "3"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="does not exist"),
        RowFile(tmp_path / "no" / "v.jsonl", VERDICT_FILE, HEADER),
    ):
        pass
    with pytest.raises(InputError, match="no such file"):
        read_verdicts(tmp_path / "v.jsonl")


def test_the_identity_fits_a_signature() -> None:
    assert identity(HEADER, {}) == "org/name@0123456789ab,logprob,prompt1,float32,near-ties:0/0"
    told = {**JUDGE, "revision": None, "weights": None, "model": "a|b", "dtype": None, "method": "generate", "thinking": "strip"}  # fmt: skip
    local = JudgeHeader(deciding={"judge": told}, known={})
    assert identity(local, {}) == "a/b,generate,prompt1,transformers,thinking:strip,near-ties:0/0"


def test_near_ties_are_verdicts_that_noise_could_turn() -> None:
    """The margin decides; where a server leaves it open, the nearer end of its bounds."""
    header = JudgeHeader(deciding={"judge": {**JUDGE, "noise": 0.25}}, known={})
    margins = {"a": 0.25, "b": -0.25, "c": 0.2501, "d": -3.0, "e": 0.0}
    rows: dict[str, Any] = {
        id: {"id": id, "verdict": "yes" if margin > 0 else "no", "margin": margin}
        for id, margin in margins.items()
    }
    rows |= {
        "f": {"id": "f", "verdict": "yes", "margin": None, "bounds": [0.1, None]},
        "g": {"id": "g", "verdict": "yes", "margin": None, "bounds": [0.3, None]},
        "h": {"id": "h", "verdict": "no", "margin": None, "bounds": [None, -0.2]},
        "i": {"id": "i", "verdict": "none", "margin": 0.01},
        "j": {"id": "j", "verdict": "yes", "margin": None, "bounds": None},
    }
    assert near_ties(header, rows) == 5
    assert identity(header, rows).endswith(",near-ties:5/10")
    assert near_ties(HEADER, rows) == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "decided"}, "id 'z' has the verdict 'none' and the status 'decided'"),
        ({"verdict": "no", "status": "failed"}, "id 'z' has the verdict 'no' and the status 'failed'"),
        ({"status": "odd"}, "id 'z' has the verdict 'none' and the status 'odd'"),
        ({"margin": "0.1"}, "id 'z' has the margin '0.1'; expected a number"),
        ({"mass": True}, "id 'z' has the mass True; expected a number"),
        ({"bounds": [0.1]}, "id 'z' has the bounds [0.1]; expected two numbers"),
        ({"bounds": [None, "a"]}, "id 'z' has the bounds 'a'; expected a number"),
    ],
)
def test_figures_and_status_are_what_they_say(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    path = tmp_path / "v.jsonl"
    fill(path)
    path.write_bytes(path.read_bytes() + line_of({"id": "z", "verdict": "none", **fields}))
    with pytest.raises(InputError) as caught:
        read_verdicts(path)
    assert str(caught.value) == f"{path}:2: {said}"
