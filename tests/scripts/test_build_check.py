"""`lookcheck build` and `lookcheck check` as a person types them."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def upstream(repository: Path) -> ModuleType:
    path = repository / "tests" / "dataset_builders" / "vistaqa" / "upstream.py"
    spec = importlib.util.spec_from_file_location("upstream_for_cli", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lookcheck.scripts.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def source(upstream: ModuleType, tmp_path: Path) -> list[str]:
    for number in range(4):
        upstream.write(tmp_path, number, upstream.record(number, "OCR"))
    folders = ["--annotations", str(tmp_path / "annotations"), "--images", str(tmp_path / "images")]
    return ["build", "vistaqa", "--source", "folder", *folders, "--output", str(tmp_path / "out")]


def test_build_then_check(lookcheck: Command, source: list[str], tmp_path: Path) -> None:
    built = lookcheck(*source, "--allow-partial", "--num-proc", "2")
    assert built.returncode == 0, built.stderr
    assert built.stdout.splitlines()[1:] == ["  default / test: 4 rows", "  ocr / test: 4 rows"]
    checked = lookcheck("check", "--dataset", str(tmp_path / "out"))
    assert checked.stdout == f"{tmp_path / 'out'}: 1 files, 4 rows, all rules kept\n"
    assert checked.returncode == 0
    (tmp_path / "out" / "eval.yaml").write_text("tasks: 3\n")
    broken = lookcheck("check", "--dataset", str(tmp_path / "out"), "--json")
    assert broken.returncode == 2
    report = json.loads(broken.stdout)
    assert [(fault["id"], fault["rule"]) for fault in report["faults"]] == [("eval.yaml", "eval")]
    again = lookcheck(*source, "--allow-partial")
    assert again.returncode == 2
    assert "not empty" in again.stderr


def test_json_of_a_build(lookcheck: Command, source: list[str], tmp_path: Path) -> None:
    built = lookcheck(*source, "--allow-partial", "--no-overlays", "--json")
    manifest = json.loads(built.stdout)
    assert manifest == json.loads((tmp_path / "out" / "lookcheck.json").read_text())
    assert manifest["options"] == {"overlays": False, "pictures_written_anew": 0}


def test_faults_are_listed_and_nothing_is_written(
    lookcheck: Command, source: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "annotations" / "0002.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"answer": "", "hallucination": 5}))
    before = sorted(tmp_path.iterdir())
    result = lookcheck(*source)
    assert result.returncode == 2
    assert result.stderr.splitlines() == [
        "error: vistaqa: 3 faults, nothing was written",
        "0002: answer is empty [answer]",
        "0002: hallucination must be 0 or 1, not 5 [hallucination]",
        "vistaqa: 4 samples, but 1157 are declared (--allow-partial builds what is there) [count]",
    ]
    assert sorted(tmp_path.iterdir()) == before


def test_missing_options_and_folders_are_one_sentence(lookcheck: Command, tmp_path: Path) -> None:
    for arguments in (
        ["build", "vistaqa", "--source", "folder", "--output", str(tmp_path / "out")],
        [
            "build",
            "vistaqa",
            "--source",
            "folder",
            "--annotations",
            str(tmp_path / "no"),
            "--images",
            "x",
            "--output",
            str(tmp_path / "out"),
        ],
        ["check", "--dataset", str(tmp_path / "none")],
    ):
        result = lookcheck(*arguments)
        assert result.returncode == 2
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1


def test_an_unreachable_hub_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Port 9 of this machine: nothing answers there.
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    result = _run("build", "vistaqa", "--source", "hub", "--output", str(tmp_path / "out"))
    assert result.returncode == 2
    assert result.stderr.startswith("error: mozhina/VistaQA at main: can't be downloaded")
    assert "internal error" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_checking_what_was_not_built_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Mine")
    result = _run("check", "--dataset", str(tmp_path))
    message = f"error: {tmp_path}: not a folder written by lookcheck build, it lacks lookcheck.json\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, "", message)


@pytest.mark.parametrize("module", ["build", "check"])
def test_module_runs(module: str) -> None:
    command = [sys.executable, "-m", f"lookcheck.scripts.{module}", "--help"]
    assert "Usage" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("num_proc", ["1", "2"])
def test_interrupting_a_build_leaves_nothing(upstream: ModuleType, tmp_path: Path, num_proc: str) -> None:
    for number in range(800):
        upstream.write(tmp_path / "in", number, upstream.record(number))
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-m", "lookcheck.scripts.cli", "build", "vistaqa", "--source", "folder"]
    command += [
        "--annotations",
        str(tmp_path / "in" / "annotations"),
        "--images",
        str(tmp_path / "in" / "images"),
    ]
    command += ["--output", str(tmp_path / "out" / "data"), "--allow-partial", "--num-proc", num_proc]
    # A suite started in the background ignores Ctrl-C, and its children would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 900
    while not list((tmp_path / "out").iterdir()) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    assert [path.name.split("-")[0] for path in (tmp_path / "out").iterdir()] == [".data.building"]
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=900)
    assert (process.returncode, output) == (130, ""), errors
    assert "Traceback" not in errors
    assert list((tmp_path / "out").iterdir()) == []
