"""`lookcheck evaluate`: all data sets from a model's name to their tables, and on after a break."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Lookcheck = Callable[..., Any]

MODEL = """
    from pathlib import Path

    def answer(row):
        with Path({here!r}, "asked").open("a") as file:
            file.write(row["id"] + "/" + row["part"] + "\\n")
        if row["part"] == "q2" and Path({here!r}, "broken").exists():
            raise OSError("no GPU")
        if row["part"]:
            return "yes" if row["part"] == "q1" else "A"
        if "yes or no" in row["text"]:
            return "yes"
        return {{"answer": "red", "masks": []}}
"""


@pytest.fixture
def judge(recording: Any) -> Iterator[Any]:
    """A server that says no to everything."""
    with recording.RecordingServer(lambda body: recording.completion("no")) as server:
        yield server


def test_the_whole_samples_from_a_model_to_their_tables(
    lookcheck: Lookcheck,
    built: dict[str, Path],
    model: Callable[[str], str],
    judge: Any,
    tmp_path: Path,
) -> None:
    name = model(MODEL.format(here=str(tmp_path)))
    given = [
        "evaluate", "--model", name, "--output", tmp_path / "runs", "--quiet",
        "--dataset", built["perturbed_pope"], "--dataset", built["salart_vqa"], "--dataset", built["vistaqa"],
        "--protocol", "pope-yes-no", "--protocol", "salart-chain", "--protocol", "vistaqa-answer",
        "--condition", "original", "--condition", "black_mask",
    ]  # fmt: skip
    done = lookcheck(*given)
    assert done.returncode == 2
    assert done.stderr == "error: answers to vistaqa are judged by a language model: name one with --judge\n"
    assert not (tmp_path / "runs").exists()
    given += [
        "--judge", "any", "--judge-backend", "openai", "--judge-base-url", judge.url,
        "--judge-method", "generate", "--top-logprobs", "0",
    ]  # fmt: skip
    (tmp_path / "broken").touch()
    done = lookcheck(*given)
    assert done.returncode == 2
    assert "requests failed; the same command asks them again" in done.stderr
    (tmp_path / "broken").unlink()
    before = len((tmp_path / "asked").read_text().splitlines())
    done = lookcheck(*given)
    assert done.returncode == 0, done.stderr
    # The first data set was not asked again, nor anything of the second that did not fail.
    asked = (tmp_path / "asked").read_text().splitlines()
    assert not [line for line in asked[before:] if line.startswith("random-")]
    assert {line.rpartition("/")[2] for line in asked[before:]} == {"q2", ""}
    for dataset in built:
        assert (tmp_path / "runs" / dataset / "scores.json").is_file()
    scores = json.loads((tmp_path / "runs" / "perturbed_pope" / "scores.json").read_text())
    assert set(scores["by_condition"]) == {"original", "black_mask"}
    for figures in scores["by_condition"]["original"].values():
        assert figures["yes_ratio"] == 1.0
    assert "perturbed_pope" in done.stdout
    assert f"model:{name}" in done.stdout
    # Once more: nothing is left to ask.
    verdicts = (tmp_path / "runs" / "vistaqa" / "verdicts.jsonl").read_bytes()
    again = lookcheck(*given)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "asked").read_text().splitlines() == asked
    assert (tmp_path / "runs" / "vistaqa" / "verdicts.jsonl").read_bytes() == verdicts


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--condition", "unheard"), "--condition unheard: none of the data sets has it"),
        (("--protocol", "a", "--protocol", "b"), "2 --protocol for 1 --dataset"),
        (("--protocol", "unheard"), "--protocol unheard:"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_asked(
    lookcheck: Lookcheck, built: dict[str, Path], more: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    given = ("--dataset", built["perturbed_pope"], "--model", "nothing:here", "--output", tmp_path / "runs")
    done = lookcheck("evaluate", *given, *more)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
