"""A server on 127.0.0.1 that keeps every request byte for byte and answers as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[[dict[str, Any]], tuple[int, Any]]
"""From a request's object to a status and the reply's object (or its bytes)."""


def completion(text: str | None, **further: Any) -> dict[str, Any]:
    """A chat completion as servers write it."""
    message = {"role": "assistant", "content": text, **further.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **further.pop("choice", {})}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "served",
        "choices": [choice],
        **further,
    }


class Recorder:
    """A context manager.

    Attributes
    ----------
    bodies : list of bytes
        As they came over the wire.
    headers : list of dict
    peak : int
        Most requests at one time.
    """

    def __init__(self, answer: Answering, seconds: float = 0.0) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.peak = self.at_once = 0
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with outer.lock:
                    outer.bodies.append(body)
                    outer.headers.append({key.lower(): value for key, value in self.headers.items()})
                    outer.at_once += 1
                    outer.peak = max(outer.peak, outer.at_once)
                time.sleep(seconds)
                status, value = answer(json.loads(body))
                with outer.lock:
                    outer.at_once -= 1
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Content-Type", "application/json")
                self.send_header("retry-after-ms", "5")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The requests' objects."""
        return [json.loads(body) for body in self.bodies]

    def __enter__(self) -> Recorder:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
