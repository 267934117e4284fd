"""Errors at the terminal: one sentence, the right exit code, no traceback, whole files."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.scripts import cli, console


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


def _commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, (*path, name))


COMMANDS = dict(_commands(typer.main.get_command(cli.app)))


def _shown_names(parameter: Any) -> list[str]:
    shown = parameter.param_type_name == "option" and not parameter.hidden
    return list(parameter.opts) if shown else []


@pytest.mark.parametrize("command", ["check", "view", "publish"])
def test_a_built_folder_is_an_option_everywhere(command: str) -> None:
    options = {option: parameter for parameter in COMMANDS[command,].params for option in parameter.opts}
    assert options["--dataset"].required
    assert all(parameter.param_type_name == "option" for parameter in options.values())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_is_whole_at_80_columns(path: tuple[str, ...]) -> None:
    result = _run(*path, "-h")
    assert result.returncode == 0, result.stderr
    assert result.stdout == _run(*path, "--help").stdout
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    # No name, default or summary is cut.
    shown = result.stdout.replace("[ARGS]...", "")
    for parameter in COMMANDS[path].params:
        # Three dots behind an argument say that several may be given.
        if parameter.param_type_name == "argument" and parameter.nargs == -1:
            name = parameter.metavar or parameter.name
            for brackets in ("[{}]", "{{{}}}", "{}"):
                shown = shown.replace(f"{brackets.format(name)}...", "")
    assert "..." not in shown
    words = result.stdout.split()
    for parameter in COMMANDS[path].params:
        for name in _shown_names(parameter):
            assert name in [word.rstrip(",") for word in words], name
    if not hasattr(COMMANDS[path], "commands"):
        example = next(line for line in lines if line.startswith("    lookcheck "))
        # Folders of runs are scored without the command's name.
        named = [name for name in path if name != "run-folders"]
        assert example.split()[1 : 1 + len(named)] == named


def test_every_option_of_an_example_exists() -> None:
    for path, command in COMMANDS.items():
        known = {name for parameter in command.params for name in parameter.opts}
        example = (command.help or "").partition("Example:")[2]
        assert set(re.findall(r"--[a-z-]+", example)) <= known, path


@pytest.mark.parametrize("name", ["check", "view", "publish"])
def test_a_built_folder_has_one_name(name: str) -> None:
    built = [one for one in COMMANDS[name,].params if "--dataset" in one.opts]
    assert len(built) == 1
    assert not [one for one in COMMANDS[name,].params if isinstance(one, click.Argument)]
    # The form without a name is refused, not read as something else.
    refused = _run(name, "vistaqa")
    assert refused.returncode == 2, refused.stdout


def test_commands_stand_in_the_order_of_work() -> None:
    shown = _run("--help").stdout.partition("Commands:")[2].splitlines()
    names = [line.split()[0] for line in shown if line.strip()]
    assert names == list(cli.ORDER)
    assert set(names) == {path[0] for path in COMMANDS if path}
    assert names.index("build") < names.index("view") < names.index("score") < names.index("publish")


def test_the_version() -> None:
    assert _run("--version").stdout == f"lookcheck {version('lookcheck')}\n"


def test_completion_can_be_installed() -> None:
    assert "--install-completion" in _run("-h").stdout


def test_one_bar_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    terminal = console.Console(file=shown, force_terminal=True, width=100)
    monkeypatch.setattr(console, "stderr", terminal)
    with console.tracking() as track:
        for name in ("checking", "writing"):
            step = track(name, 2)
            step()
    last = shown.getvalue().rpartition("checking")[2]
    assert "writing" in last, "the last thing drawn is the second stage, alone"


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from lookcheck.scripts.cli import main; sys.argv[0] = 'lookcheck'; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80", "TERM": "dumb"},
    )
