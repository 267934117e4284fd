"""The back end `openai` against a real HTTP server with a real (tiny) model, failing as servers fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lookcheck.dataset_builders.core.verdict_file import read_verdicts
from lookcheck.scripts.judge.decision import MARGIN_TOLERANCE

Run = Callable[..., Any]


@pytest.fixture
def server(serving: ModuleType, tiny_folder: Path) -> Iterator[Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(tiny_folder).eval()
    with serving.ModelServer(model, AutoTokenizer.from_pretrained(tiny_folder)) as running:
        yield running


@pytest.fixture
def some(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """24 triples, all different; injections among them."""
    return cases[::7]


@pytest.fixture
def files(write: Run, tmp_path: Path, some: list[dict[str, Any]]) -> tuple[object, ...]:
    path = write(tmp_path / "cases.jsonl", some)
    return ("judge", "run", "--dataset", path, "--answers", path)


@pytest.fixture
def local(
    lookcheck: Run, files: tuple[object, ...], tiny_folder: Path, tmp_path: Path
) -> Callable[[str], Any]:
    """Rows of the local back end."""

    def judged(method: str) -> Any:
        output = tmp_path / f"local-{method}.jsonl"
        run = lookcheck(
            *files, "--output", output, "--model", tiny_folder, "--device", "cpu", "--method", method
        )
        assert run.code == 0, run.err
        return read_verdicts(output)[1]

    return judged


@pytest.fixture
def remote(lookcheck: Run, files: tuple[object, ...], server: Any, tmp_path: Path) -> Run:
    """Runs the judge against the server."""

    def judged(*options: object) -> Any:
        fixed = (
            "--output",
            tmp_path / "v.jsonl",
            "--backend",
            "openai",
            "--base-url",
            server.url,
            "--model",
            "tiny",
            "--concurrency",
            4,
        )
        return lookcheck(*files, *fixed, *options)

    return judged


def rows(tmp_path: Path) -> dict[str, Any]:
    return read_verdicts(tmp_path / "v.jsonl")[1]


def test_all_tokens_listed_is_the_local_margin(remote: Run, local: Run, server: Any, tmp_path: Path) -> None:
    server.most = len(server.tokenizer)
    run = remote("--top-logprobs", len(server.tokenizer))
    assert run.code == 0, run.err
    expected, found = local("logprob"), rows(tmp_path)
    assert found.keys() == expected.keys()
    for id, row in found.items():
        assert row["bounds"] is None
        assert row["margin"] == pytest.approx(expected[id]["margin"], abs=MARGIN_TOLERANCE)
        assert row["verdict"] == expected[id]["verdict"]


@pytest.mark.parametrize("listed", [5, 20, 120])
def test_truncated_lists_never_contradict(
    remote: Run, local: Run, server: Any, tmp_path: Path, listed: int
) -> None:
    server.most = 120
    assert remote("--top-logprobs", listed).code == 0
    expected, found = local("logprob"), rows(tmp_path)
    for id, row in found.items():
        full = expected[id]["margin"]
        if row["verdict"] == "none":
            assert row["reason"]
        else:
            assert row["verdict"] == expected[id]["verdict"]
        if row["bounds"] is not None:
            low, high = row["bounds"]
            assert (
                (-inf if low is None else low) - MARGIN_TOLERANCE
                <= full
                <= (inf if high is None else high) + MARGIN_TOLERANCE
            )
            assert (row["margin"] is None) == (low is None or high is None)


def test_generated_replies_are_the_local_ones(remote: Run, local: Run, tmp_path: Path) -> None:
    assert remote("--method", "generate").code == 0
    expected, found = local("generate"), rows(tmp_path)
    assert {id: (row["raw"], row["verdict"]) for id, row in found.items()} == {
        id: (row["raw"], row["verdict"]) for id, row in expected.items()
    }


def test_a_server_without_log_probabilities(remote: Run, server: Any, tmp_path: Path) -> None:
    server.most = 0
    run = remote()
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "sends no log-probabilities; use --method generate" in run.err
    assert not (tmp_path / "v.jsonl").exists()
    assert remote("--method", "generate").code == 0
    for row in rows(tmp_path).values():
        assert (row["margin"], row["probability"], row["mass"], row["bounds"]) == (None, None, None, None)


def test_requests_are_greedy_and_one_a_triple(remote: Run, server: Any, some: list[Any]) -> None:
    assert remote("--method", "generate", "--extra-body", '{"seed": 7}').code == 0
    # One to learn who answers. Nothing is asked twice, though no reply can be parsed.
    assert len(server.requests) == len(some) + 1
    assert {
        (body["temperature"], body["max_tokens"], body["seed"], body["model"]) for body in server.requests
    } == {(0, 4, 7, "tiny")}
    assert [message["role"] for message in server.requests[0]["messages"]] == ["system", "user"]


def test_fields_can_be_replaced_and_left_out(remote: Run, local: Run, server: Any, tmp_path: Path) -> None:
    """Reasoning models refuse max_tokens and a temperature."""
    body = {"temperature": None, "max_tokens": None, "max_completion_tokens": 4}
    assert remote("--method", "generate", "--extra-body", json.dumps(body)).code == 0
    assert all({"temperature", "max_tokens"}.isdisjoint(sent) for sent in server.requests)
    assert {sent["max_completion_tokens"] for sent in server.requests} == {4}
    assert read_verdicts(tmp_path / "v.jsonl")[0]["deciding"]["judge"]["extra_body"] == body
    assert {row["raw"] for row in rows(tmp_path).values()} == {
        row["raw"] for row in local("generate").values()
    }


def test_failures_that_pass_are_tried_again(
    remote: Run, local: Run, server: Any, tmp_path: Path, some: list[Any]
) -> None:
    server.faults = [503, None, 429, 429, "close", 500, None, "hang", 502, 408]
    run = remote("--method", "generate", "--timeout", 1)
    assert run.code == 0, run.err
    assert len(server.requests) == len(some) + 1 + 8
    expected, found = local("generate"), rows(tmp_path)
    assert {id: row["raw"] for id, row in found.items()} == {id: row["raw"] for id, row in expected.items()}


def test_many_requests_at_a_time(remote: Run, server: Any) -> None:
    assert remote("--method", "generate").code == 0
    assert 2 <= server.peak <= 4


def test_a_server_that_stays_down_ends_the_run_and_keeps_the_rows(
    remote: Run, server: Any, tmp_path: Path, some: list[Any]
) -> None:
    server.faults = [None] * 9 + [500] * 1000
    run = remote("--method", "generate", "--retries", 1)
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "answered 500: " in run.err
    kept = len(rows(tmp_path))
    assert 1 <= kept < len(some)
    server.faults = []
    before = len(server.requests)
    assert remote("--method", "generate").code == 0
    assert len(server.requests) == before + 1 + len(some) - kept
    assert len(rows(tmp_path)) == len(some)
    assert not [row for row in rows(tmp_path).values() if row["raw"] is None]


def test_refusals_are_not_tried_again_and_never_show_the_key(
    remote: Run, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    server.faults = [401]
    run = remote("--api-key-env", "MY_KEY")
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "answered 401: " in run.err
    assert len(server.requests) == 1
    assert remote("--api-key-env", "MY_KEY").code == 0
    assert set(server.keys) == {"Bearer sk-very-secret"}
    assert "secret" not in (tmp_path / "v.jsonl").read_text() + run.err + run.out


def test_prompts_beyond_the_server_s_context_are_none(
    lookcheck: Run, write: Run, server: Any, tmp_path: Path
) -> None:
    long = {"id": "long", "question": "q", "answer": "r", "prediction": "y7" * 500}
    path = write(tmp_path / "c.jsonl", [long, {**long, "id": "short", "prediction": "y"}])
    server.longest = 1000
    fixed = ("--backend", "openai", "--base-url", server.url, "--model", "tiny", "--method", "generate")
    assert (
        lookcheck(
            "judge", "run", "--dataset", path, "--answers", path, "--output", tmp_path / "v.jsonl", *fixed
        ).code
        == 0
    )
    found = rows(tmp_path)
    assert found["long"]["verdict"] == "none"
    assert found["long"]["reason"].startswith("the server refused the prompt's length: ")
    assert found["short"]["raw"] is not None


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (["html"], "the reply is no chat completion"),
        ([None, "other model"], "answers as 'another' now, as 'served' before"),
        ([None, 400], "answered 400: "),
        ([404], "answered 404: "),
    ],
)
def test_odd_servers_end_the_run_in_one_line(remote: Run, server: Any, faults: list[Any], said: str) -> None:
    server.faults = faults
    run = remote("--method", "generate")
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert said in run.err


def test_a_null_reply_is_none(remote: Run, server: Any, tmp_path: Path) -> None:
    server.faults = [None, "null"]
    assert remote("--method", "generate", "--concurrency", 1).code == 0
    (empty,) = [row for row in rows(tmp_path).values() if row["raw"] is None]
    assert (empty["verdict"], empty["reason"]) == ("none", "the reply is not yes or no (length)")


def test_half_a_surrogate_pair_in_a_reply_leaves_the_file_readable(
    remote: Run, server: Any, tmp_path: Path
) -> None:
    server.faults = [None, "surrogate"]
    assert remote("--method", "generate", "--concurrency", 1).code == 0
    assert "\\ud800 yes" in {row["raw"] for row in rows(tmp_path).values()}


def test_the_header_names_the_server_s_answer(remote: Run, server: Any, tmp_path: Path) -> None:
    assert remote("--server", "vllm 0.11, bfloat16", "--revision", "abc").code == 0
    header = read_verdicts(tmp_path / "v.jsonl")[0]
    judge = header["deciding"]["judge"]
    assert (judge["backend"], judge["model"], judge["served_model"], judge["server"], judge["revision"]) == (
        "openai", "tiny", "served", "vllm 0.11, bfloat16", "abc",
    )  # fmt: skip
    assert judge["top_logprobs"] == 20
    assert header["known"]["base_url"] == server.url
    refused = remote("--server", "vllm 0.12, bfloat16", "--revision", "abc")
    assert "judge.server was 'vllm 0.11, bfloat16', is 'vllm 0.12, bfloat16'" in refused.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--base-url", "localhost:1/v1"], "--base-url localhost:1/v1: expected http://… or https://…"),
        (["--base-url", "http://127.0.0.1:9/v1", "--retries", "0"], "no reply after 1 tries: "),
        (["--top-logprobs", "0"], "--method logprob needs --top-logprobs 1 or more"),
        (["--extra-body", "[]"], "--extra-body []: expected a JSON object"),
    ],
)
def test_bad_options(remote: Run, tmp_path: Path, options: list[str], said: str) -> None:
    run = remote(*options)
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert said in run.err
    assert not (tmp_path / "v.jsonl").exists()


def test_the_address_s_secrets_are_not_kept(remote: Run, server: Any, tmp_path: Path) -> None:
    with_secrets = server.url.replace("http://", "http://user:pw@")
    assert remote("--base-url", with_secrets).code == 0
    text = (tmp_path / "v.jsonl").read_text()
    assert "pw@" not in text
    assert json.loads(text.split("\n")[0])["lookcheck_judge"]["known"]["base_url"] == server.url
