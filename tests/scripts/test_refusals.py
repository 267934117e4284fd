"""What every command refuses or survives, whatever the data set."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import parse_json
from lookcheck.dataset_builders.core.printable import printable
from lookcheck.dataset_builders.parquet.reader import open_folder
from lookcheck.dataset_builders.parquet.writer import refuse_output
from lookcheck.scripts import console

REFERENCES = '{"id": 1, "answers": ["red", "blue"]}\n'
PREDICTIONS = '{"id": 1, "prediction": "red"}\n'


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lookcheck.scripts.cli", *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=900
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "r.jsonl").write_text(REFERENCES)
    (tmp_path / "p.json").write_text(PREDICTIONS)
    return tmp_path


SCORE = ("score", "vqa", "--references", "r.jsonl", "--predictions", "p.json")


@pytest.mark.parametrize("name", ["p.json", "./p.json", "link.json"])
def test_an_output_never_overwrites_an_input(place: Path, name: str) -> None:
    (place / "link.json").symlink_to(place / "p.json")
    done = run(place, *SCORE, "--output", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "would overwrite the input p.json" in done.stderr
    assert (place / "p.json").read_text() == PREDICTIONS


def test_half_a_surrogate_pair_is_named_by_line(place: Path) -> None:
    (place / "p.json").write_text('{"id": 1, "prediction": "\\ud800"}\n')
    done = run(place, *SCORE)
    assert (done.returncode, done.stdout) == (2, "")
    assert "p.json:1: half of a surrogate pair" in done.stderr
    assert parse_json('"\\ud83d\\ude00"', "x") == "\U0001f600"


def test_a_terminal_of_ascii_still_gets_figures(place: Path) -> None:
    done = run(place, *SCORE, PYTHONIOENCODING="ascii", COLUMNS="40")
    assert done.returncode == 0, done.stderr
    assert "30.00" in done.stdout or "0.00" in done.stdout
    assert done.stdout.isascii()


def test_a_narrow_terminal_cuts_no_figure(place: Path) -> None:
    wide, narrow = (run(place, *SCORE, COLUMNS=columns).stdout for columns in ("80", "40"))
    assert narrow == wide


def test_control_characters_are_shown_as_escapes() -> None:
    assert printable("a\x1b[31mb\n\u202e\u00e9") == "a\\x1b[31mb\\n\\u202e\u00e9"


def test_a_build_inside_a_built_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "built" / "data").mkdir(parents=True)
    (tmp_path / "built" / "lookcheck.json").write_text("{}")
    with pytest.raises(InputError, match="lies inside the built folder"):
        refuse_output(tmp_path / "built" / "data" / "more")
    refuse_output(tmp_path / "other")


def test_the_folder_of_another_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"lacks lookcheck\.json; expected a folder of lookcheck build perturbed-pope"
    ):
        open_folder(tmp_path, "perturbed_pope")
    (tmp_path / "lookcheck.json").write_text('{"name": "salart_vqa"}')
    with pytest.raises(
        InputError, match="built for salart_vqa; expected a folder of lookcheck build vistaqa"
    ):
        open_folder(tmp_path, "vistaqa")


def test_a_killed_build_cleans_up(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-m", "lookcheck.scripts.cli", "build", "salart-vqa", "--source", "sample"]
    process = subprocess.Popen(
        [*command, "--output", str(tmp_path / "out")],
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 900
    while not list((tmp_path / "tmp").iterdir()) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in errors
    assert list((tmp_path / "tmp").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["tmp"]


def test_a_command_leaves_no_handler_behind() -> None:
    before = signal.getsignal(signal.SIGTERM)
    seen = []
    console.run(lambda: seen.append(signal.getsignal(signal.SIGTERM)))
    assert seen != [before]
    assert signal.getsignal(signal.SIGTERM) == before
    with pytest.raises(SystemExit):
        console.run(lambda: (_ for _ in ()).throw(InputError("bad")))
    assert signal.getsignal(signal.SIGTERM) == before
