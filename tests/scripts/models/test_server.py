"""Requests with pictures on the wire, replies with their traces, and a server that fails, moves or ends."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.models.reply import Reply, ReplyError, parse_reply
from lookcheck.scripts.models.server import Chat, Server
from lookcheck.scripts.models.settings import Access

KEY = "sk-very-secret-key"
PICTURE = bytes(range(256)) * 3
URI = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
PROBE = Chat([{"role": "user", "content": "hello?"}], {"temperature": 0})


def opened(url: str, probe: Chat = PROBE, **options: Any) -> Server:
    return Server(Access(base_url=url, api_key_env="MY_KEY", **{"retries": 2, **options}), "asked", probe)


def chat(text: str, **options: Any) -> Chat:
    return Chat([{"role": "user", "content": text}], options)


def text_of(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else next(part["text"] for part in content if "text" in part)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)


def test_a_picture_goes_out_byte_for_byte(recording: ModuleType) -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": URI}},
        {"type": "text", "text": "Wie viele? é 😀 <image>"},
    ]
    conversation = [{"role": "system", "content": "Look."}, {"role": "user", "content": parts}]
    with recording.Recorder(lambda body: (200, recording.completion("two"))) as server:
        reply = opened(server.url).ask(
            Chat(conversation, {"temperature": 0, "max_tokens": 9, "logprobs": True})
        )
    assert reply.text == "two"
    (sent,) = server.requests
    assert sent == {
        "model": "asked",
        "messages": conversation,
        "temperature": 0,
        "max_tokens": 9,
        "logprobs": True,
    }
    url = sent["messages"][1]["content"][0]["image_url"]["url"]
    assert base64.b64decode(url.partition(",")[2]) == PICTURE
    # The key opens the door, and is nowhere in what the model reads.
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in server.bodies[0]


def test_fields_that_a_server_refuses_are_renamed_or_left_out(recording: ModuleType) -> None:
    body = {
        "temperature": None,
        "max_tokens": None,
        "max_completion_tokens": 5,
        "chat_template_kwargs": {"a": False},
    }
    asked = chat("x", temperature=0, max_tokens=9, top_logprobs=3)
    with recording.Recorder(lambda body: (200, recording.completion("y"))) as server:
        client = opened(server.url, extra_body=json.dumps(body))
        client.ask(asked)
    (sent,) = server.requests
    expected = {"max_completion_tokens": 5, "chat_template_kwargs": {"a": False}, "top_logprobs": 3}
    assert {key: value for key, value in sent.items() if key not in {"model", "messages"}} == expected
    # What a header says of the request is what went out.
    assert client.sent(asked) == expected


def test_replies_come_as_they_are_ready_and_requests_are_made_when_their_turn_comes(
    recording: ModuleType,
) -> None:
    taken: list[int] = []
    done: list[int] = []

    def chats() -> Iterator[tuple[int, Chat]]:
        for number in range(40):
            taken.append(number)
            # Pictures in the memory at a time: those under way, and what has not been fetched yet.
            assert len(taken) - len(done) <= 4 + 1
            yield number, chat(f"number {number}")

    with recording.Recorder(lambda body: (200, recording.completion(text_of(body))), seconds=0.01) as server:
        for replies in opened(server.url, concurrency=4).ask_all(chats()):
            assert [number for number, _ in replies] == sorted(number for number, _ in replies)
            for number, reply in replies:
                assert isinstance(reply, Reply)
                assert reply.text == f"number {number}"
                done.append(number)
    assert sorted(done) == list(range(40))
    assert server.peak == 4


def test_one_request_fails_and_the_others_go_on(recording: ModuleType) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        text = text_of(body)
        if text == "long":
            return 400, {"error": {"message": f"maximum context length is 9 for {KEY}"}}
        if text == "broken":
            return 200, b"<html>"
        if text == "dead":
            return 500, {"error": {"message": "no GPU"}}
        return 200, recording.completion("fine")

    with recording.Recorder(answer) as server:
        client = opened(server.url)
        asked = [(text, chat(text)) for text in ("a", "long", "broken", "dead", "b")]
        found = {key: reply for replies in client.ask_all(asked) for key, reply in replies}
        said = {key: str(reply) for key, reply in found.items() if isinstance(reply, ReplyError)}
        assert {key: said[key].split(":")[0] for key in said} == {
            "long": "the server refused the prompt's length",
            "broken": "the reply is no JSON (Expecting value",
            "dead": "answered 500",
        }
        assert KEY not in str(said)
        # Three tries, and each time the server was asked whether it still answers.
        texts = [text_of(body) for body in server.requests]
        assert texts.count("dead") == 3
        assert "hello?" in texts
        # The same server goes on with the next rows.
        assert [reply for replies in client.ask_all([("c", chat("c"))]) for _, reply in replies] != []


def test_a_text_that_no_request_can_carry_fails_alone(recording: ModuleType) -> None:
    with recording.Recorder(lambda body: (200, recording.completion("fine"))) as server:
        asked = [(text, chat(text)) for text in ("a", "half of \ud83d", "b")]
        found = {key: reply for replies in opened(server.url).ask_all(asked) for key, reply in replies}
    assert str(found.pop("half of \ud83d")) == "the request can't be sent: it holds half of a surrogate pair"
    assert [reply.text for reply in found.values()] == ["fine", "fine"]


def test_a_server_that_ends_or_changes_its_model_ends_the_run(recording: ModuleType) -> None:
    replies = {"count": 0}

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        replies["count"] += 1
        if replies["count"] <= 5:
            return 200, recording.completion("fine")
        return (
            (200, recording.completion("fine", model="another"))
            if body.get("seed")
            else (503, {"error": "x"})
        )

    for options, said in (
        ({}, "answered 503"),
        ({"seed": 1}, "answers as 'another' now, as 'served' before"),
    ):
        replies["count"] = 0
        with recording.Recorder(answer) as server:
            client = opened(server.url, concurrency=1)
            assert client.greet().model == "served"
            came: list[int] = []
            asked = ((number, chat(str(number), **options)) for number in range(100))
            with pytest.raises(InputError, match=said):
                came.extend(number for found in client.ask_all(asked) for number, _ in found)
            assert came == [0, 1, 2, 3]
            assert len(server.bodies) < 20


def test_a_trace_that_the_server_keeps_apart(recording: ModuleType) -> None:
    for name in ("reasoning_content", "reasoning"):
        body = recording.completion(
            "4", message={name: "2 and 2"}, usage={"prompt_tokens": 7, "completion_tokens": 3}
        )
        reply = parse_reply(json.dumps(body))
        assert (reply.text, reply.reasoning, reply.prompt_tokens, reply.new_tokens) == ("4", "2 and 2", 7, 3)
    cut = recording.completion(
        None, message={"reasoning_content": "2 and"}, choice={"finish_reason": "length"}
    )
    reply = parse_reply(json.dumps(cut))
    assert (reply.text, reply.reasoning, reply.cut()) == ("", "2 and", "the reply is cut")
    with pytest.raises(ReplyError, match="the reply's content is null, no text"):
        parse_reply(json.dumps(recording.completion(None)))
    odd = parse_reply(
        json.dumps(recording.completion("4", message={"reasoning": ""}, usage={"prompt_tokens": True}))
    )
    assert (odd.reasoning, odd.prompt_tokens, odd.new_tokens) == (None, None, None)


def test_no_address_no_run() -> None:
    with pytest.raises(InputError, match="--backend openai needs --base-url"):
        Server(Access(), "m", PROBE)
    with pytest.raises(InputError, match=r"--base-url ftp://x: expected http"):
        opened("ftp://x")
