"""An OpenAI-compatible server on 127.0.0.1: a real model behind it, hosted servers' habits in front.

Lists only the likeliest tokens, and fails as told. Its forward passes are plain ones: one prompt, no
padding, no cache shared, nothing of the package under test.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer:
    """Serves `model` until closed; a context manager.

    Attributes
    ----------
    requests : list of dict
        Bodies of the requests that came, failures included.
    faults : list
        For the next requests: a status (429, 500, 401 …), (status, body, headers) in which ``{key}`` stands
        for what came as Authorization, "close", "hang", a function that changes the reply's object, or
        None.
    refused : dict of str to fault
        The same for requests whose text holds the key.
    most : int
        The server's own limit of listed tokens; 0 ignores ``logprobs``, as `transformers serve` does.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        name: str = "served",
        most: int = 20,
        known: dict[tuple[int, ...], Any] | None = None,
    ) -> None:
        self.model, self.tokenizer, self.name, self.most = model, tokenizer, name, most
        # What the model said of a prompt before, for servers of one model.
        self.known = {} if known is None else known
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.faults: list[Any] = []
        self.refused: dict[str, Any] = {}
        self.times: list[float] = []
        self.longest = 1_000_000
        self.at_once = self.peak = 0
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer.answer(self)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self) -> ModelServer:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            self.requests.append(body)
            self.times.append(time.monotonic())
            self.keys.append(handler.headers["Authorization"])
            fault = self.faults.pop(0) if self.faults else None
            for text, refusal in self.refused.items():
                if text in json.dumps(body["messages"]):
                    fault = refusal
            self.at_once += 1
            self.peak = max(self.peak, self.at_once)
        try:
            self.reply(handler, body, fault)
        finally:
            with self.lock:
                self.at_once -= 1

    def reply(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], fault: Any) -> None:
        if fault == "close":
            handler.close_connection = True
            return
        if fault == "hang":
            time.sleep(1.5)
        if isinstance(fault, tuple):
            status, text, headers = fault
            text = text.replace("{key}", handler.headers["Authorization"] or "")
            send(handler, status, text.encode("utf-8", "replace"), headers)
        elif isinstance(fault, int):
            send(handler, fault, json.dumps({"error": {"message": f"fault {fault}"}}).encode())
        else:
            status, value = self.complete(body)
            if callable(fault):
                fault(value)
            send(handler, status, json.dumps(value).encode())

    def complete(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        import torch

        text = self.tokenizer.apply_chat_template(
            body["messages"], tokenize=False, add_generation_prompt=True
        )
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if len(ids) > self.longest:
            message = f"This model's maximum context length is {self.longest} tokens, not {len(ids)}."
            return 400, {"error": {"message": message, "code": "context_length_exceeded"}}
        most = body.get("max_tokens") or body["max_completion_tokens"]
        new: list[int] = []
        first = None
        with self.lock, torch.inference_mode():
            while len(new) < most:
                prompt = (*ids, *new)
                if prompt not in self.known:
                    self.known[prompt] = self.model(torch.tensor([prompt])).logits[0, -1].log_softmax(-1)
                logs = self.known[prompt]
                first = logs if first is None else first
                token = int(logs.argmax())
                if token == self.tokenizer.eos_token_id:
                    break
                new.append(token)
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "length" if len(new) == most else "stop",
            "message": {"role": "assistant", "content": self.tokenizer.decode(new)},
            "logprobs": None,
        }
        if body.get("logprobs") and self.most:
            count = min(body["top_logprobs"], self.most)
            values, tokens = first.topk(count)
            listed = [
                {"token": self.tokenizer.decode([token]), "logprob": value, "bytes": None}
                for token, value in zip(tokens.tolist(), values.tolist(), strict=True)
            ]
            choice["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
        return 200, {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": self.name,
            "choices": [choice],
        }


def send(
    handler: BaseHTTPRequestHandler, status: int, data: bytes, headers: dict[str, str] | None = None
) -> None:
    handler.send_response(status)
    if status != 204:
        handler.send_header("Content-Length", str(len(data)))
    # Clients are told to come back at once, so that tests don't wait.
    told = {"Content-Type": "application/json", "retry-after-ms": "5", **(headers or {})}
    for name, value in told.items():
        if value:
            handler.send_header(name, value)
    handler.end_headers()
    if status != 204:
        handler.wfile.write(data)
