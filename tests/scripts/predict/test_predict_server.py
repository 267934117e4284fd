"""What goes over the wire to a server, and what is made of what comes back."""

from __future__ import annotations

import io
import json
import math
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from lookcheck.dataset_builders.requests.request import Measure
from lookcheck.scripts.predict.server import ENOUGH, first_token

Lookcheck = Callable[..., Any]
KEY = "sk-SECRET-of-the-server-0123456789"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def command(dataset: Path, url: str, output: Path, *further: object) -> list[object]:
    return [
        "predict", "run", "--dataset", dataset, "--backend", "openai", "--base-url", url, "--model", "served",
        "--output", output, "--quiet", *further,
    ]  # fmt: skip


def lines(run: Path, name: str = "predictions.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / name).read_text().splitlines()]


def parts_of(body: dict[str, Any]) -> tuple[bytes | None, str, str | None]:
    """Picture, text and system prompt of a request."""
    *before, user = body["messages"]
    assert [message["role"] for message in before] in ([], ["system"])
    assert user["role"] == "user"
    system = before[0]["content"] if before else None
    if isinstance(user["content"], str):
        return None, user["content"], system
    kinds = [part["type"] for part in user["content"]]
    assert kinds == ["image_url", "text"]
    uri = user["content"][0]["image_url"]["url"]
    assert uri.startswith("data:image/")
    return b64decode(uri.partition(",")[2]), user["content"][1]["text"], system


def test_the_four_requests_of_salart(
    lookcheck: Lookcheck, built: dict[str, Path], stored: Callable[..., Any], recording: Any, tmp_path: Path
) -> None:
    with recording.RecordingServer(
        lambda body: recording.completion("no" if "yes or no" in str(body) else "E")
    ) as server:
        done = lookcheck(*command(built["salart_vqa"], server.url, tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    rows = stored("salart_vqa", "images")
    wanted = {}
    for row in rows:
        for part in ("q1", "q2", "q3", "q4"):
            if row[f"{part}_answer"] is not None:
                text = row[f"{part}_prompt"]
                if part in ("q2", "q4"):
                    listed = "".join(f"\n{letter}. {row[f'{part}_options'][letter]}" for letter in "ABCDE")
                    text = f"{text}\n\nOptions:{listed}"
                picture = row["q3_overlay_image" if part == "q3" else "image"]["bytes"]
                wanted[picture, text, row["system_prompt"]] = row["row_id"], part
    assert len(wanted) == 47
    found = [parts_of(body) for body in server.bodies]
    # Each question once, with the right picture byte for byte and the exact text; one turn, no history.
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    for body in server.bodies:
        assert (body["temperature"], body["max_tokens"], body["model"]) == (0, 4096, "served")
        assert set(body) == {"model", "messages", "temperature", "max_tokens"}
    for headers, data in server.raw:
        assert KEY.encode() not in data
        assert headers["authorization"] == f"Bearer {KEY}"
    for path in (tmp_path / "run").iterdir():
        assert KEY.encode() not in path.read_bytes()
    for line in lines(tmp_path / "run"):
        assert {line.get("q1", "no"), line["q2"], line["q3"], line["q4"]} == {"no", "E"}
    assert lookcheck("score", tmp_path / "run").returncode == 0
    # "no, E, E, E": right of all pictures but the artifacts.
    result = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert (result["real_all_1_4"], result["artifact_all_1_4"]) == (1.0, 0.0)


def test_the_control_sends_no_picture(
    lookcheck: Lookcheck, built: dict[str, Path], model: Callable[[str], str], recording: Any, tmp_path: Path
) -> None:
    with recording.RecordingServer(lambda body: recording.completion("F")) as server:
        lookcheck(*command(built["salart_vqa"], server.url, tmp_path / "blind", "--no-image"))
        lookcheck(*command(built["salart_vqa"], server.url, tmp_path / "run"))
    blind = [parts_of(body) for body in server.bodies if isinstance(body["messages"][-1]["content"], str)]
    assert blind
    assert all(text.endswith("\nF. no image provided") for _, text, _ in blind)
    refused = lookcheck("score", tmp_path / "blind")
    assert "is the control without the picture" in refused.stderr
    assert lookcheck("score", tmp_path / "run", "--no-image", tmp_path / "blind").returncode == 0
    assert json.loads((tmp_path / "run" / "scores.json").read_text())["no_image"]["picks_f"] == 1.0


def test_other_pictures_go_as_png_with_equal_pixels(
    lookcheck: Lookcheck, built: dict[str, Path], stored: Callable[..., Any], recording: Any, tmp_path: Path
) -> None:
    with recording.RecordingServer(lambda body: recording.completion("Yes")) as server:
        lookcheck(
            *command(
                built["perturbed_pope"], server.url, tmp_path / "run", "--condition", "black_50", "--limit", 1
            )
        )
    (row, *_) = stored("perturbed_pope", "black_50")
    ((picture, _, _),) = [parts_of(body) for body in server.bodies]
    assert picture is not None
    original, sent = Image.open(io.BytesIO(row["image"]["bytes"])), Image.open(io.BytesIO(picture))
    assert (original.format, sent.format) == ("WEBP", "PNG")
    assert original.convert("RGB").tobytes() == sent.convert("RGB").tobytes()


def test_equal_requests_are_asked_once_and_log_probabilities_kept(
    lookcheck: Lookcheck, built: dict[str, Path], stored: Callable[..., Any], recording: Any, tmp_path: Path
) -> None:
    listed = [
        {"token": token, "logprob": math.log(p)}
        for token, p in (("Yes", 0.5), (" yes", 0.125), ("No", 0.375 - 1e-9))
    ]
    listed.append({"token": "rest", "logprob": -9999.0})

    def reply(body: dict[str, Any]) -> Any:
        return recording.completion("Yes", logprobs={"content": [{**listed[0], "top_logprobs": listed}]})

    with recording.RecordingServer(reply) as server:
        done = lookcheck(
            *command(
                built["perturbed_pope"],
                server.url,
                tmp_path / "run",
                "--condition",
                "original",
                "--condition",
                "no_image",
            )
        )
    assert done.returncode == 0, done.stderr
    rows = stored("perturbed_pope", "original", "no_image")
    distinct = {(row["question"], None if row["image"] is None else row["image"]["bytes"]) for row in rows}
    assert len(server.bodies) == len(distinct) < len(rows)
    assert len(lines(tmp_path / "run", "replies.jsonl")) == len(distinct)
    found = lines(tmp_path / "run")
    assert [line["id"] for line in found] == [row["id"] for row in rows]
    for line in found:
        assert line["text"] == "Yes"
        assert math.isclose(line["logp_yes"], math.log(0.625))
        assert math.isclose(line["logp_no"], math.log(0.375), rel_tol=1e-6)
        assert (line["prompt_tokens"], line["new_tokens"]) == (7, 2)
    assert all(body["logprobs"] is True and body["top_logprobs"] == 20 for body in server.bodies)


def test_a_server_without_log_probabilities_leaves_them_missing(
    lookcheck: Lookcheck, built: dict[str, Path], recording: Any, tmp_path: Path
) -> None:
    with recording.RecordingServer(lambda body: recording.completion("No")) as server:
        lookcheck(
            *command(
                built["perturbed_pope"], server.url, tmp_path / "run", "--condition", "original", "--limit", 2
            )
        )
        open_ended = lookcheck(
            *command(built["perturbed_pope"], server.url, tmp_path / "open", "--protocol", "pope-open-ended")
        )
    assert all("logp_yes" not in line and line["text"] == "No" for line in lines(tmp_path / "run"))
    assert lookcheck("score", tmp_path / "run").returncode == 0
    assert open_ended.returncode == 2
    assert "sends no log-probabilities, which the protocol measures" in open_ended.stderr
    assert not (tmp_path / "open").exists()


def test_thinking_is_kept_apart_and_a_cut_trace_is_no_answer(
    lookcheck: Lookcheck, built: dict[str, Path], recording: Any, tmp_path: Path
) -> None:
    replies = iter(
        [
            recording.completion("probe"),
            recording.completion("Yes", message={"reasoning_content": "A dog."}),
            recording.completion("<think>No dog.</think>No"),
            recording.completion("<think>Hm", finish_reason="length"),
            recording.completion("", message={"reasoning_content": "Hm"}, finish_reason="length"),
        ]
    )
    with recording.RecordingServer(lambda body: next(replies)) as server:
        done = lookcheck(
            *command(
                built["perturbed_pope"], server.url, tmp_path / "run", "--condition", "original", "--limit", 40,
                "--concurrency", 1, "--thinking", "on", "--retries", 0,
            )
        )  # fmt: skip
    assert done.returncode in (0, 2)
    told = lines(tmp_path / "run", "replies.jsonl")
    assert [(line["text"], line["reasoning"]) for line in told[:4]] == [
        ("Yes", "A dog."),
        ("No", "<think>No dog.</think>"),
        (None, "<think>Hm"),
        ("", "Hm"),
    ]
    found = {line["raw"]: line for line in lines(tmp_path / "run") if "raw" in line}
    assert found["<think>Hm"]["problem"] == found[""]["problem"] == "cut thinking"
    assert found["<think>Hm"]["text"] == ""
    body = server.bodies[0]
    assert body["chat_template_kwargs"] == {"enable_thinking": True}
    assert body["max_tokens"] == 16 + 4096
    # What is measured at the first token of a thought says nothing of the answer.
    assert "logprobs" not in body


def test_fields_are_renamed_and_dropped_by_option_and_recorded(
    lookcheck: Lookcheck, built: dict[str, Path], recording: Any, tmp_path: Path
) -> None:
    def strict(body: dict[str, Any]) -> Any:
        refused = sorted({"max_tokens", "temperature"} & set(body))
        if refused:
            return 400, {"error": {"message": f"Unsupported parameter: {refused[0]}"}}
        return recording.completion("Yes")

    with recording.RecordingServer(strict) as server:
        plain = command(
            built["perturbed_pope"], server.url, tmp_path / "run", "--condition", "original", "--limit", 2
        )
        refused = lookcheck(*plain)
        assert refused.returncode == 2
        assert "Unsupported parameter: max_tokens" in refused.stderr
        changed = ["--rename-field", "max_tokens=max_completion_tokens", "--drop-field", "temperature"]
        done = lookcheck(*plain, *changed)
        assert done.returncode == 0, done.stderr
        wrong = lookcheck(*plain, "--drop-field", "messages")
    assert all(body["max_completion_tokens"] == 16 for body in server.bodies if "max_tokens" not in body)
    told = json.loads((tmp_path / "run" / "run.json").read_text())["lookcheck_run"]["deciding"]["model"]
    assert told["fields"] == {"max_tokens": "max_completion_tokens", "temperature": None}
    assert told["temperature"] is None
    assert "'messages' is no field of a request" in wrong.stderr


def test_what_the_server_refuses_is_a_failed_row(
    lookcheck: Lookcheck, built: dict[str, Path], recording: Any, tmp_path: Path
) -> None:
    refusing = True

    def reply(body: dict[str, Any]) -> Any:
        if refusing and "Is there an airplane" in str(body):
            return 400, {"error": {"message": f"content policy {KEY}"}}
        return recording.completion("No")

    with recording.RecordingServer(reply) as server:
        arguments = command(built["perturbed_pope"], server.url, tmp_path / "run", "--condition", "original")
        assert lookcheck(*arguments).returncode == 5
        failed = [line for line in lines(tmp_path / "run") if "failure" in line]
        assert failed
        assert all("content policy" in line["failure"] and KEY not in line["failure"] for line in failed)
        asked = len(server.bodies)
        refusing = False
        assert lookcheck(*arguments).returncode == 0
        assert not [line for line in lines(tmp_path / "run") if "failure" in line]
        # Only those are asked again.
        again = server.bodies[asked:]
        assert all("Is there an airplane" in str(body) for body in again)
        assert 0 < len(again) <= len(failed)


def test_a_word_is_known_only_where_the_rest_can_not_matter() -> None:
    def listed(*pairs: tuple[str, float]) -> list[tuple[str, float]]:
        return [(text, math.log(p)) for text, p in pairs]

    whole = first_token(listed(("Yes", 0.6), (" yes", 0.1), ("No", 0.3)), Measure(("yes", "no")))
    assert whole is not None
    assert math.isclose(math.exp(whole.logp["yes"] or 0), 0.7)
    assert whole.mass is not None
    assert math.isclose(whole.mass, 1.0)
    # Four further forms of no, each at most as likely as the last: that could be 0.2 more.
    loose = first_token(listed(("Yes", 0.6), ("No", 0.05), ("Hm", 0.05)), Measure(("yes", "no")))
    assert loose is not None
    assert loose.logp == {"yes": None, "no": None}
    assert loose.mass is None
    tight = first_token(listed(("Yes", 0.6), ("No", 0.3999), ("Hm", 1e-9)), Measure(("yes", "no")))
    assert tight is not None
    assert math.isclose(tight.logp["no"] or 0, math.log(0.3999))
    assert first_token([], Measure(("yes",))) is None
    assert first_token([("Yes", -9999.0)], Measure(("yes",))) is None
    absent = first_token(listed(("Yes", 1.0)), Measure(("yes", "no")))
    assert absent is not None
    assert absent.logp["no"] is None
    assert ENOUGH < 0.05


def test_an_entitys_rank_is_that_of_its_best_whole_form() -> None:
    listed = [("The", -0.5), (" dog", -2.0), ("Dog", -3.0), ("Do", -1.0)]
    found = first_token(listed, Measure(entity="dog"))
    assert found is not None
    assert (found.entity_rank, found.entity_form, found.entity_whole) == (3, " dog", True)
    assert math.isclose(found.entity_prob or 0, math.exp(-2.0))
    missing = first_token(listed, Measure(entity="cat"))
    assert missing is not None
    assert missing.entity_rank is None
