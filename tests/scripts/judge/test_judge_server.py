"""The back end `openai` against a real HTTP server with a real (tiny) model, failing as servers fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lookcheck.dataset_builders.core.verdict_file import identity, read_verdicts
from lookcheck.scripts.judge.decision import MARGIN_TOLERANCE
from lookcheck.scripts.models.reply import pause

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def loaded(tiny_folder: Path) -> tuple[Any, Any, dict[Any, Any]]:
    """The model behind the servers, its tokenizer, and what it has said."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(tiny_folder).eval()
    return model, AutoTokenizer.from_pretrained(tiny_folder), {}


@pytest.fixture
def server(serving: ModuleType, loaded: tuple[Any, Any, dict[Any, Any]]) -> Iterator[Any]:
    model, tokenizer, known = loaded
    with serving.ModelServer(model, tokenizer, known=known) as running:
        yield running


@pytest.fixture
def some(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """12 triples, all different; injections among them."""
    return cases[::14]


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
            *files,
            "--output",
            output,
            "--model",
            tiny_folder,
            "--device",
            "cpu",
            "--method",
            method,
            "--min-mass",
            0,
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
            "--min-mass",
            0,
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
        ([(200, "<html>welcome</html>", {"Content-Type": "text/html"})], "the reply is no JSON"),
        ([(200, '{"choices": []}', {})], "the reply is no chat completion"),
        ([None, lambda reply: reply.update(model="another")], "answers as 'another' now, as 'served' before"),
        ([400], "the server refused this prompt (400): "),
        ([None, 403], "answered 403: "),
        ([404], "answered 404: "),
    ],
)
def test_odd_servers_end_the_run_in_one_line(remote: Run, server: Any, faults: list[Any], said: str) -> None:
    server.faults = faults
    run = remote("--method", "generate")
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert said in run.err


def changed(**fields: Any) -> Callable[[dict[str, Any]], None]:
    """A fault that changes fields of the reply's choice."""
    return lambda reply: reply["choices"][0].update(fields)


def listing(value: Any, token: Any = "Yes") -> Callable[[dict[str, Any]], None]:
    """A fault that lists one token more."""

    def fault(reply: dict[str, Any]) -> None:
        reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"].append(
            {"token": token, "logprob": value}
        )

    return fault


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (changed(message={"content": None}), "the reply's content is null, no text (length)"),
        (changed(message={"content": 3}), "the reply's content is 3, no text (length)"),
        (changed(message={"content": [{"type": "text", "text": "Yes"}]}), "the reply's content is [{"),
        (changed(message="Yes"), "the reply is no chat completion: {"),
        (changed(finish_reason="content_filter"), "the server's content filter stopped the reply"),
        (listing(float("nan")), "the reply is no JSON (NaN is no JSON): {"),
        (listing(float("inf")), "the reply is no JSON (Infinity is no JSON): {"),
        (listing(float("-inf")), "the reply is no JSON (-Infinity is no JSON): {"),
        (listing(0.7), "the reply gives 'Yes' the log-probability 0.7"),
        (listing("-0.1"), 'the reply lists {"token": "Yes", "logprob": "-0.1"}'),
        (listing(-0.1, None), 'the reply lists {"token": null, "logprob": -0.1}'),
        ((200, '{"choices": [{"mess', {}), "the reply is no JSON (Unterminated string"),
        ((200, "[" * 100_000, {}), "the reply is no JSON ("),
        ((200, "", {}), "the reply is empty"),
        ((204, "", {}), "the reply is empty"),
        ((200, "null", {}), "the reply is no chat completion: null"),
        ((400, '{"error": {"message": "flagged by the content filter"}}', {}), "the server refused this prompt (400): "),
        ((413, "too large", {}), "the server refused this prompt (413): "),
    ],
)  # fmt: skip
def test_a_reply_that_can_t_be_read_is_the_failure_of_its_row(
    remote: Run, server: Any, tmp_path: Path, fault: Any, said: str, some: list[Any]
) -> None:
    server.faults = [None, None, fault]
    run = remote("--concurrency", 1)
    assert run.code == 0, run.err
    found = rows(tmp_path)
    assert len(found) == len(some)
    (failed,) = [row for row in found.values() if row["status"] == "failed"]
    assert failed["verdict"] == "none"
    assert failed["reason"].startswith(said)
    assert len(failed["reason"]) <= 300
    assert [failed[key] for key in ("margin", "probability", "mass", "bounds", "batch")] == [None] * 5
    assert "none: 1 failed" in run.out
    # Asked once: a reply that came is not asked for again.
    assert len(server.requests) == 1 + len(some)


def test_prompts_that_are_always_refused_don_t_stop_the_run(
    remote: Run, server: Any, tmp_path: Path, some: list[Any]
) -> None:
    """One launch does all the rows, whatever a filter thinks of some of them."""
    unwanted = {json.dumps(case["prediction"])[1:-1]: case["id"] for case in some[1:6:2]}
    server.refused = {text: (400, '{"error": {"code": "content_filter"}}', {}) for text in unwanted}
    assert remote("--method", "generate").code == 0
    found = rows(tmp_path)
    assert len(found) == len(some)
    assert {id for id, row in found.items() if row["status"] == "failed"} == set(unwanted.values())


def test_what_failed_is_asked_again_only_if_told(
    remote: Run, server: Any, tmp_path: Path, some: list[Any]
) -> None:
    twice = ({**case, "id": f"{case['id']}{again}"} for case in some[:4] for again in ("", "-again"))
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in twice))
    server.faults = [None, None, 400]
    assert remote("--method", "generate", "--concurrency", 1).code == 0
    before = rows(tmp_path)
    failed = {id for id, row in before.items() if row["status"] == "failed"}
    assert len(failed) == 2
    assert remote("--method", "generate").code == 0
    assert rows(tmp_path) == before
    sent = len(server.requests)
    run = remote("--method", "generate", "--retry-failed")
    assert (run.code, len(server.requests)) == (0, sent + 2)
    assert "asking again about 2 rows that failed" in run.err
    after = rows(tmp_path)
    assert list(after) == [*(id for id in before if id not in failed), *(id for id in before if id in failed)]
    assert {id: row for id, row in after.items() if id not in failed} == {
        id: row for id, row in before.items() if id not in failed
    }
    assert {after[id]["status"] for id in failed} == {"undecided"}
    assert [after[id]["same_as"] for id in sorted(failed)] == [None, min(failed)]


@pytest.mark.parametrize("fault", [500, "close"])
def test_a_prompt_that_breaks_the_server_each_time_is_one_row(
    remote: Run, server: Any, tmp_path: Path, some: list[Any], fault: Any
) -> None:
    server.refused = {json.dumps(some[3]["prediction"])[1:-1]: fault}
    run = remote("--method", "generate", "--retries", 1)
    assert run.code == 0, run.err
    (failed,) = [id for id, row in rows(tmp_path).items() if row["status"] == "failed"]
    assert failed == some[3]["id"]


def test_what_a_server_marks_as_not_listed_is_not(remote: Run, server: Any, tmp_path: Path) -> None:
    """vLLM writes −9999 for tokens beyond its list: that says nothing about how likely they are."""

    def fault(reply: dict[str, Any]) -> None:
        yes = {"token": "Yes", "logprob": -0.2}
        unlisted = [{"token": form, "logprob": value} for form, value in (("No", -9999.0), (" no", -1e30))]
        reply["choices"][0]["logprobs"]["content"] = [{**yes, "top_logprobs": [yes, *unlisted]}]

    server.faults = [None, fault]
    assert remote("--concurrency", 1, "--min-mass", 0.5).code == 0
    row = next(row for row in rows(tmp_path).values() if row["mass"] == pytest.approx(0.818731, abs=1e-6))
    # One token is all that is known: five more forms of yes and six of no may be as likely.
    assert (row["verdict"], row["margin"]) == ("none", None)
    assert row["bounds"] == [pytest.approx(-1.791759, abs=1e-6), None]


@pytest.mark.parametrize(
    ("finish", "verdict", "reason"),
    [
        ("stop", "yes", None),
        ("length", "none", "the reply is cut"),
        (None, "none", "the server doesn't say whether the reply is whole"),
    ],
)
def test_generate_heeds_how_a_reply_ended(
    remote: Run, server: Any, tmp_path: Path, finish: str | None, verdict: str, reason: str | None
) -> None:
    server.faults = [None, changed(message={"content": "Yes."}, finish_reason=finish)]
    assert remote("--method", "generate", "--concurrency", 1).code == 0
    (row,) = [row for row in rows(tmp_path).values() if row["raw"] == "Yes."]
    assert (row["verdict"], row["reason"]) == (verdict, reason)
    assert row["status"] == ("decided" if verdict == "yes" else "undecided")


@pytest.mark.parametrize(
    ("text", "strip", "keep"),
    [
        ("<think>No, it is not</think>Yes", "yes", "none"),
        ("no doubt</think> Yes", "yes", "none"),
        ("<think>yes", "none", "none"),
        ("<THINK>yes</THINK>no", "no", "none"),
    ],
)
def test_thinking_traces_are_no_replies(
    remote: Run, server: Any, tmp_path: Path, text: str, strip: str, keep: str
) -> None:
    for rule, verdict in (("strip", strip), ("keep", keep)):
        (tmp_path / "v.jsonl").unlink(missing_ok=True)
        server.faults = [None, changed(message={"content": text}, finish_reason="stop")]
        assert remote("--method", "generate", "--concurrency", 1, "--thinking", rule).code == 0
        (row,) = [row for row in rows(tmp_path).values() if row["raw"] == text]
        assert row["verdict"] == verdict
        header = read_verdicts(tmp_path / "v.jsonl")[0]
        assert header["deciding"]["judge"]["thinking"] == rule
        assert f",thinking:{rule}," in identity(header, rows(tmp_path))


def test_the_token_budget_stands_in_the_header(remote: Run, server: Any, tmp_path: Path) -> None:
    for options, budget in (
        (("--method", "generate", "--max-new-tokens", 9), 9),
        (("--method", "generate", "--extra-body", '{"max_completion_tokens": 7, "max_tokens": null}'), 7),
        ((), 1),
    ):
        (tmp_path / "v.jsonl").unlink(missing_ok=True)
        assert remote(*options).code == 0
        assert read_verdicts(tmp_path / "v.jsonl")[0]["deciding"]["judge"]["max_new_tokens"] == budget
        sent = server.requests[-1]
        assert (sent.get("max_tokens") or sent["max_completion_tokens"]) == budget


def test_half_a_surrogate_pair_in_a_reply_leaves_the_file_readable(
    remote: Run, server: Any, tmp_path: Path
) -> None:
    server.faults = [None, changed(message={"content": "\ud800 yes"})]
    assert remote("--method", "generate", "--concurrency", 1).code == 0
    assert "\\ud800 yes" in {row["raw"] for row in rows(tmp_path).values()}


def test_a_server_s_wish_to_wait_is_honoured(remote: Run, server: Any, some: list[Any]) -> None:
    server.faults = [None, (429, "{}", {"Retry-After": "1", "retry-after-ms": ""})]
    assert remote("--method", "generate", "--concurrency", 1).code == 0
    assert len(server.requests) == 2 + len(some)
    assert server.times[2] - server.times[1] >= 1


def test_a_wish_beyond_the_timeout_ends_the_run_at_once(remote: Run, server: Any) -> None:
    server.faults = [None, (503, "{}", {"Retry-After": "300", "retry-after-ms": ""})]
    run = remote("--method", "generate", "--concurrency", 1, "--timeout", 200)
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "asks to wait 300 s, --timeout allows 200" in run.err
    assert len(server.requests) == 2


def test_what_a_server_may_ask_for() -> None:
    assert pause({"retry-after": "130"}, 1) == 130.0
    assert pause({"retry-after-ms": "2500", "retry-after": "9"}, 1) == 2.5
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=500), usegmt=True)
    assert 0 < pause({"retry-after": later}, 1) <= 500
    assert pause({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 1) == 0
    for nonsense in ("", "soon", "nan", "inf"):
        assert [pause({"retry-after": nonsense}, tried) for tried in (1, 2, 3, 9)] == [0.5, 1, 2, 8]


SECRET = "sk-very-secret/ü".encode().hex()


@pytest.mark.parametrize("status", [400, 401, 403, 422, 500])
@pytest.mark.parametrize(
    "body", ['{"error": {"message": "no access for {key}"}}', "{key}" * 40, "x" * 285 + "{key}"]
)
def test_a_key_that_a_server_sends_back_is_shown_nowhere(
    remote: Run, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, body: str
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    options = ("--api-key-env", "MY_KEY", "--concurrency", 1, "--retries", 0, "--json")
    for faults in ([(status, body, {})], [None, (status, body, {})]):
        server.faults = faults
        run = remote(*options)
        everything = run.out + run.err + "".join(path.read_text() for path in tmp_path.glob("v.jsonl*"))
        assert SECRET[:6] not in everything
        assert "[redacted]" in everything or body.startswith("x")
        (tmp_path / "v.jsonl").unlink(missing_ok=True)
    assert set(server.keys) == {f"Bearer {SECRET}"}


def test_a_key_in_a_reply_s_text_and_names_is_shown_nowhere(
    remote: Run, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)

    def fault(reply: dict[str, Any]) -> None:
        reply.update(model=f"served for {SECRET}", system_fingerprint=SECRET)
        reply["choices"][0]["message"]["content"] = f"{SECRET} yes"

    server.refused = {"": fault}
    body = json.dumps({"api_key": "another-secret", "user": SECRET})
    run = remote("--method", "generate", "--api-key-env", "MY_KEY", "--extra-body", body, "--json")
    assert run.code == 0, run.err
    text = (tmp_path / "v.jsonl").read_text() + run.out + run.err
    assert SECRET[:8] not in text
    assert "another-secret" not in text
    assert {row["raw"] for row in rows(tmp_path).values()} == {"[redacted] yes"}
    assert server.requests[-1]["api_key"] == "another-secret"


@pytest.mark.parametrize(
    "given",
    [
        "http://user:hunter22@127.0.0.1:9/v1",
        "user:hunter22@127.0.0.1:9/v1",
        "ftp://user:hunter22@host/v1",
        "http://[::1:hunter22@",
        "http://127.0.0.1:9/v1?key=hunter22",
        "http://127.0.0.1:port/hunter22@",
    ],
)
def test_an_address_s_secrets_are_in_no_complaint(remote: Run, given: str) -> None:
    run = remote("--base-url", given, "--retries", 0)
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "hunter22" not in run.err


@pytest.mark.parametrize("key", ["schlüssel", "with space", "two\nlines"])
def test_a_key_that_no_request_can_carry(remote: Run, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("MY_KEY", key)
    run = remote("--api-key-env", "MY_KEY")
    assert (run.code, run.err) == (2, "error: the key in MY_KEY has characters that no request can carry\n")


@pytest.mark.parametrize("kind", ["missing", "undecided", "failed"])
def test_the_exit_status_names_what_is_none(
    remote: Run, server: Any, tmp_path: Path, some: list[Any], write: Run, kind: str
) -> None:
    """A missing answer, an undecided reply and a failed request are three things."""
    write(tmp_path / "cases.jsonl", some)
    write(tmp_path / "answers.jsonl", some[1:])
    answers = ("--answers", tmp_path / "answers.jsonl", "--concurrency", 1, "--method", "generate")
    server.refused = {"": changed(message={"content": "Yes"}, finish_reason="stop")}
    server.refused[json.dumps(some[2]["prediction"])[1:-1]] = 400
    server.refused[json.dumps(some[3]["prediction"])[1:-1]] = changed(
        message={"content": "Maybe"}, finish_reason="stop"
    )
    codes = {"missing": 3, "undecided": 4, "failed": 5}
    assert remote(*answers).code == 0
    assert remote(*answers, "--fail-on", kind).code == codes[kind]
    assert remote(*answers, "--fail-on", "missing", "--fail-on", kind).code == codes[kind]
    found = rows(tmp_path)
    assert [found[case["id"]]["status"] for case in some[:5]] == [
        "missing", "decided", "failed", "undecided", "decided",
    ]  # fmt: skip
    shown = json.loads(remote(*answers, "--json").out)
    assert shown["statuses"] == {"decided": len(some) - 3, "undecided": 1, "failed": 1, "missing": 1}
    # Without such rows the option changes nothing.
    assert remote(*answers[2:], "--output", tmp_path / "w.jsonl", "--fail-on", "missing").code == 0


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
