"""A tiny random model for plumbing, the small real one for figures, and the command run in this process."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

Run = Callable[..., "Outcome"]

QUESTIONS = [
    {"id": 1, "question": "What colour is the kite?", "answer": "red"},
    {"id": "b", "question": "How many dogs?", "answer": "two"},
    {"id": "c", "question": "How many dogs?", "answer": "two"},
    {"id": "d", "question": "What is it?", "answer": "a cat"},
    {"id": "e", "question": "What is it?", "answer": "-5"},
    {"id": "f", "question": "Where?", "answer": "left"},
]
ANSWERS = [
    {"id": "f", "answer": " \n"},
    {"id": "c", "prediction": "2", "answer": "two"},
    {"id": 1, "prediction": "scarlet"},
    {"id": "b", "prediction": "2"},
    {"id": "e", "prediction": "5"},
]


class Outcome(NamedTuple):
    """What a command left at the terminal."""

    code: int
    out: str
    err: str


def _beside(name: str) -> ModuleType:
    # Loaded by path: tests are no package.
    spec = importlib.util.spec_from_file_location(f"judge_{name}", Path(__file__).parent / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny() -> ModuleType:
    """The module that makes random models."""
    import torch

    # Several threads only get into each other's way on so small a model.
    torch.set_num_threads(1)
    return _beside("tiny")


@pytest.fixture(scope="session")
def tiny_folder(tiny: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model with ChatML; not to be changed."""
    folder: Path = tiny.save(tmp_path_factory.mktemp("model") / "tiny")
    return folder


@pytest.fixture(scope="session")
def smol_folder() -> Path:
    """SmolLM2-135M-Instruct; skips where its wheel can't be had."""
    import torch

    torch.set_num_threads(1)
    module = _beside("smollm")
    try:
        return module.folder()  # type: ignore[no-any-return]
    except module.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def serving() -> ModuleType:
    """The module with the OpenAI-compatible test server."""
    return _beside("serving")


@pytest.fixture(scope="session")
def cases(repository: Path) -> list[dict[str, Any]]:
    """The triples with their authors' verdicts."""
    path = repository / "tests" / "data" / "judge_cases.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture
def write() -> Callable[[Path, list[Any]], Path]:
    """Writes records as JSON Lines."""

    def written(path: Path, records: list[Any]) -> Path:
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return path

    return written


@pytest.fixture
def lookcheck(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command as the console does, without the seconds that a new process takes to import."""
    from lookcheck.scripts import cli, console

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = 0
        try:
            console.run(lambda: cli.app([str(argument) for argument in arguments], prog_name="lookcheck"))
        except SystemExit as left:
            code = int(left.code or 0)
        shown = capsys.readouterr()
        return Outcome(code, shown.out, shown.err)

    return run


@pytest.fixture
def judge(lookcheck: Run, write: Callable[[Path, list[Any]], Path], tiny_folder: Path, tmp_path: Path) -> Run:
    """Runs the judge with the tiny model on questions and answers, into v.jsonl."""

    def run(*options: object, questions: list[Any] = QUESTIONS, answers: list[Any] = ANSWERS) -> Outcome:
        files = (
            "--dataset",
            write(tmp_path / "q.jsonl", questions),
            "--answers",
            write(tmp_path / "a.jsonl", answers),
        )
        output = tmp_path / "v.jsonl"
        # A random model puts next to nothing on yes and no; what is asked of the mass comes after it.
        model = ("--model", tiny_folder, "--device", "cpu", "--min-mass", 0)
        return lookcheck("judge", "run", *files, "--output", output, *model, *options)

    return run


@pytest.fixture(scope="session")
def questions() -> list[dict[str, Any]]:
    """Six questions; what `judge` asks if not told otherwise."""
    return QUESTIONS


@pytest.fixture(scope="session")
def answers() -> list[dict[str, Any]]:
    """Answers to five of them."""
    return ANSWERS
