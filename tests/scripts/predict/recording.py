"""An OpenAI-compatible server on 127.0.0.1 that keeps all that it is sent, and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[dict[str, Any]], Any]


def completion(text: str | None, **changes: Any) -> dict[str, Any]:
    """A chat completion; `changes` replace fields of the choice, ``message`` and ``usage`` add to theirs."""
    message = {"role": "assistant", "content": text, **changes.pop("message", {})}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, **changes.pop("usage", {})}
    choice = {"index": 0, "finish_reason": "stop", "message": message, **changes}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "served",
        "choices": [choice],
        "usage": usage,
    }


class RecordingServer:
    """Serves until closed; a context manager.

    Attributes
    ----------
    raw : list of (headers, bytes)
        All requests as they came over the wire.
    reply : callable
        From a request's body to the reply's object, or to (status, object).
    """

    def __init__(self, reply: Reply) -> None:
        self.raw: list[tuple[dict[str, str], bytes]] = []
        self.reply = reply
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                with outer.lock:
                    outer.raw.append(({name.lower(): text for name, text in self.headers.items()}, data))
                found = outer.reply(json.loads(data))
                status, value = found if isinstance(found, tuple) else (200, found)
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Bodies of the requests but the probe."""
        found = [json.loads(data) for _, data in self.raw]
        return [body for body in found if "colour is the sky" not in json.dumps(body)]

    def __enter__(self) -> RecordingServer:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
