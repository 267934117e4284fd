"""Errors at the terminal: one sentence, the right exit code, no traceback, whole files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.scripts import console


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("a.jsonl:3: no [bold]"), 2, "error: a.jsonl:3: no [bold]\n"),
        (FileNotFoundError(2, "No such file or directory", "x"), 2, "error: x: No such file or directory\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (ZeroDivisionError("division by zero"), 1, "internal error: ZeroDivisionError: division by zero"),
    ],
)
def test_exit_codes(
    error: BaseException,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LOOKCHECK_DEBUG", raising=False)
    with pytest.raises(SystemExit) as caught:
        console.run(lambda: _raise(error))
    assert caught.value.code == code
    shown = capsys.readouterr().err
    assert shown.startswith(said)
    assert shown.count("\n") == 1


def test_debug_lets_the_traceback_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKCHECK_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        console.run(lambda: _raise(ZeroDivisionError()))


def test_integrity_error_lists_every_fault() -> None:
    error = IntegrityError("vistaqa", [Fault("7", "answer", "no answer"), Fault("9", "box", "box outside")])
    assert str(error).splitlines() == [
        "vistaqa: 2 faults, nothing was written",
        "7: no answer [answer]",
        "9: box outside [box]",
    ]


def test_write_text_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    console.write_text(path, "one")
    with pytest.raises(UnicodeEncodeError):
        console.write_text(path, "two \ud800")
    assert path.read_text() == "one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(InputError, match="does not exist"):
        console.write_text(tmp_path / "missing" / "a.json", "x")


def test_to_json_turns_nan_into_null() -> None:
    assert console.to_json({"a": float("nan"), "b": [1, (2.5,)]}) == '{"a": null, "b": [1, [2.5]]}'


@pytest.mark.parametrize("module", ["cli", "score", "demo"])
def test_each_command_runs_as_a_module(module: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", f"lookcheck.scripts.{module}", "--help"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert "Usage" in result.stdout
