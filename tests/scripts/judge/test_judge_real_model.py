"""SmolLM2-135M-Instruct end to end: it judges badly, but its figures are those of a real model."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lookcheck.dataset_builders.core.verdict_file import read_verdicts
from lookcheck.scripts.judge.decision import MARGIN_TOLERANCE, NO_FORMS, YES_FORMS
from lookcheck.scripts.judge.engine import Engine
from lookcheck.scripts.judge.render import Renderer
from lookcheck.scripts.models.forms import single_tokens

Run = Callable[..., Any]

# One worker runs them all, so that the model is in memory once.
pytestmark = [pytest.mark.model, pytest.mark.xdist_group("model")]

ROWS = 24


@pytest.fixture(scope="module")
def chosen(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """24 triples of all kinds."""
    step = len(cases) / ROWS
    return [cases[int(index * step)] for index in range(ROWS)]


@pytest.fixture(scope="module")
def loaded(smol_folder: Path) -> tuple[Any, Any]:
    """Model and tokenizer by the library's own loading."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(smol_folder, dtype=torch.float32).eval()
    return model, AutoTokenizer.from_pretrained(smol_folder)


@pytest.fixture(scope="module")
def done() -> dict[str, Any]:
    """Rows of the local back end by method: two tests make them, others compare with them."""
    return {}


@pytest.fixture
def local(
    done: dict[str, Any], lookcheck: Run, write: Run, chosen: list[Any], smol_folder: Path, tmp_path: Path
) -> Callable[[str], dict[str, Any]]:
    def judged(method: str) -> dict[str, Any]:
        if method not in done:
            path, output = write(tmp_path / "cases.jsonl", chosen), tmp_path / f"{method}.jsonl"
            files = ("--dataset", path, "--answers", path, "--output", output)
            # The model puts a third of its probability on yes and no.
            options = ("--model", smol_folder, "--device", "cpu", "--method", method, "--min-mass", 0.05)
            run = lookcheck("judge", "run", *files, *options)
            assert run.code == 0, run.err
            done[method] = read_verdicts(output)[1]
        rows: dict[str, Any] = done[method]
        return rows

    return judged


def triple(case: dict[str, Any]) -> tuple[str, str, str]:
    return case["question"], case["answer"], case["prediction"]


def plain_margin(loaded: tuple[Any, Any], ids: list[int]) -> float:
    """One prompt in one plain pass, and the sums over the forms written out."""
    import torch

    model, tokenizer = loaded
    with torch.inference_mode():
        chances = model(torch.tensor([ids])).logits[0, -1].double().softmax(0)
    yes, no = (
        sum(chances[tokenizer.encode(form, add_special_tokens=False)[0]] for form in forms)
        for forms in (("Yes", "yes", " Yes", " yes"), ("No", "no", "NO", " No", " no", " NO"))
    )  # fmt: skip
    return float((yes / no).log())


def test_logprob(local: Callable[[str], dict[str, Any]], chosen: list[Any]) -> None:
    rows = local("logprob")
    assert rows.keys() == {case["id"] for case in chosen}
    assert {row["verdict"] for row in rows.values()} <= {"yes", "no"}
    assert all(row["verdict"] == ("yes" if row["margin"] > 0 else "no") for row in rows.values())
    assert all(0.05 < row["mass"] < 1 for row in rows.values())


def test_batched_margins_are_those_of_single_passes(
    local: Callable[[str], dict[str, Any]], loaded: tuple[Any, Any], chosen: list[Any]
) -> None:
    """All rows one by one; every eighth in a plain pass over the whole prompt besides."""
    model, tokenizer = loaded
    rows, renderer = local("logprob"), Renderer(tokenizer, "smol")
    yes, no = (list(single_tokens(tokenizer, forms).values()) for forms in (YES_FORMS, NO_FORMS))
    engine = Engine(model, yes=yes, no=no, pad=0, prefix=renderer.prefix)
    prompts = renderer.ids([triple(case) for case in chosen])
    for number, (case, ids) in enumerate(zip(chosen, prompts, strict=True)):
        assert isinstance(ids, list)
        row, first = rows[case["id"]], engine.first([ids])
        single = first.yes[0] - first.no[0]
        assert row["margin"] == pytest.approx(single, abs=MARGIN_TOLERANCE)
        if abs(single) > MARGIN_TOLERANCE:
            assert row["verdict"] == ("yes" if single > 0 else "no")
        if number % 8 == 0:
            assert row["margin"] == pytest.approx(plain_margin(loaded, ids), abs=MARGIN_TOLERANCE)


def test_generate(local: Callable[[str], dict[str, Any]]) -> None:
    rows = local("generate")
    assert len(rows) == ROWS
    assert all(row["raw"] for row in rows.values())
    for id, row in rows.items():
        # The same pass comes first in both methods.
        assert row["margin"] == pytest.approx(local("logprob")[id]["margin"], abs=MARGIN_TOLERANCE)
        assert (row["verdict"] == "none") == (row["reason"] is not None)


def test_logprob_through_a_server_that_lists_the_likeliest(
    local: Callable[[str], dict[str, Any]], loaded: tuple[Any, Any], serving: ModuleType, lookcheck: Run, write: Run, chosen: list[Any], tmp_path: Path
) -> None:  # fmt: skip
    some = chosen[::6]
    path, output = write(tmp_path / "cases.jsonl", some), tmp_path / "v.jsonl"
    with serving.ModelServer(*loaded, most=20) as server:
        options = (
            "--backend",
            "openai",
            "--base-url",
            server.url,
            "--model",
            "smol",
            "--timeout",
            600,
            "--min-mass",
            0.05,
        )
        run = lookcheck("judge", "run", "--dataset", path, "--answers", path, "--output", output, *options)
    assert run.code == 0, run.err
    decided = 0
    for id, row in read_verdicts(output)[1].items():
        full = local("logprob")[id]
        low, high = row["bounds"] or (full["margin"], full["margin"])
        assert (
            (-inf if low is None else low) - MARGIN_TOLERANCE
            <= full["margin"]
            <= (inf if high is None else high) + MARGIN_TOLERANCE
        )
        if abs(full["margin"]) > MARGIN_TOLERANCE:
            assert row["verdict"] in {full["verdict"], "none"}
        decided += row["verdict"] != "none"
    assert decided


@pytest.fixture(scope="module")
def serve(smol_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A `transformers serve` process; its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("serve") / "log"
    command = [
        sys.executable,
        "-m",
        "transformers.cli.transformers",
        "serve",
        str(smol_folder),
        "--device",
        "cpu",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 600
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                    break
            except OSError:
                if process.poll() is not None and b"serving" in log.read_bytes():
                    pytest.skip("transformers serve needs fastapi and uvicorn")
                assert process.poll() is None, log.read_text(errors="replace")[-2000:]
                assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def test_generate_through_transformers_serve(
    local: Callable[[str], dict[str, Any]], serve: str, lookcheck: Run, write: Run, chosen: list[Any], smol_folder: Path, tmp_path: Path
) -> None:  # fmt: skip
    some = chosen[::8]
    path, output = write(tmp_path / "cases.jsonl", some), tmp_path / "v.jsonl"
    options = (
        "--backend",
        "openai",
        "--base-url",
        serve,
        "--model",
        smol_folder,
        "--timeout",
        600,
        "--concurrency",
        2,
    )
    files = ("--dataset", path, "--answers", path, "--output", output)
    run = lookcheck("judge", "run", *files, *options, "--method", "generate")
    assert run.code == 0, run.err
    for id, row in read_verdicts(output)[1].items():
        full = local("generate")[id]
        assert (row["raw"], row["verdict"]) == (full["raw"], full["verdict"])
        # It takes the wish for log-probabilities and ignores it: nothing is made up.
        assert (row["margin"], row["probability"], row["mass"], row["bounds"]) == (None, None, None, None)
    refused = lookcheck("judge", "run", *files[:4], "--output", tmp_path / "l.jsonl", *options)
    assert refused.code == 2
    assert "sends no log-probabilities; use --method generate" in refused.err
