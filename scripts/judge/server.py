"""The back end `openai`: any server that speaks the OpenAI chat completions protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import islice
from threading import Event
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.judge.backend import Share, Triple, require
from lookcheck.scripts.judge.decision import (
    NO_FORMS,
    NOISE,
    YES_FORMS,
    Judgement,
    decide_truncated,
    failure,
    from_reply,
)
from lookcheck.scripts.judge.prompt import messages
from lookcheck.scripts.judge.reply import Reply, ReplyError, parse_reply, pause
from lookcheck.scripts.judge.settings import Access, Asking

# A question whose answer no judge can miss; it is asked once, to learn who answers and how.
_PROBE = ("What colour is the wall?", "red", "red")

# The server refuses this prompt (its length, its content); another may pass.
_PROMPT_REFUSED = {400, 413, 422, 451}
_PASSING = {408, 409, 429}

_TOO_LONG = ("context length", "context_length", "maximum context", "too many tokens", "max_model_len")


class _Down(Exception):
    """No usable reply after all tries."""


class ServerJudge:
    """A model behind an OpenAI-compatible server."""

    def __init__(self, asking: Asking, access: Access) -> None:
        require("openai")
        import openai

        if asking.method == "logprob" and access.top_logprobs < 1:
            raise InputError("--method logprob needs --top-logprobs 1 or more")
        self._asking, self._access, self._openai = asking, access, openai
        try:
            self._client = openai.OpenAI(
                base_url=access.url,
                # The package insists on a key; servers on one's own machines take any.
                api_key=access.key or "none",
                timeout=access.timeout,
                max_retries=0,
            )
        except Exception as error:
            raise self._error(f"is no address ({error})") from None
        self._served: str | None = None
        self._over = Event()

    def describe(self) -> tuple[dict[str, Json], dict[str, Json]]:
        """Ask once, and say who answered; see :class:`Backend`."""
        try:
            reply = self._ask(_PROBE)
        except (_Down, ReplyError) as error:
            raise self._error(str(error)) from None
        self._served = reply.model
        if self._asking.method == "logprob" and not reply.listed:
            raise self._error("sends no log-probabilities; use --method generate")
        hidden, body = self._access.secrets, self._access.body
        deciding: dict[str, Json] = {
            "backend": "openai",
            "model": self._asking.model,
            "revision": self._asking.revision,
            "served_model": hidden.hide_in(reply.model),
            "server": self._access.server,
            "prompt": hashlib.sha256(json.dumps(messages(*_PROBE)).encode()).hexdigest()[:16],
            "forms": [*YES_FORMS, *NO_FORMS],
            "max_new_tokens": self._budget(),
            "top_logprobs": self._access.top_logprobs,
            "extra_body": hidden.hide_in(body),
            # Which numbers a server computes with is not known: the coarsest of the usual ones.
            "noise": NOISE["bfloat16"],
        }
        known: dict[str, Json] = {
            "base_url": self._access.shown,
            "system_fingerprint": hidden.hide_in(reply.fingerprint),
        }
        return deciding, known

    def judge(
        self, triples: Sequence[Triple], wanted: set[int], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[tuple[int, Judgement]]]:
        """Judge with many requests at a time, in the order in which replies come; see :class:`Backend`."""
        ours = iter(sorted(wanted)[share.rank :: share.world])
        with ThreadPoolExecutor(self._access.concurrency) as pool:
            running: dict[Future[Judgement], int] = {}
            try:
                while True:
                    for index in islice(ours, self._access.concurrency - len(running)):
                        running[pool.submit(self._judge, triples[index])] = index
                    if not running:
                        return
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    yield self._collect(done, running)
            finally:
                # Whoever waits to try again leaves at once.
                self._over.set()
                for future in running:
                    future.cancel()

    def _collect(
        self, done: set[Future[Judgement]], running: dict[Future[Judgement], int]
    ) -> list[tuple[int, Judgement]]:
        """Replies that have come; one that failed is raised only where no other came with it."""
        ordered = sorted(done, key=running.__getitem__)
        sound = [future for future in ordered if future.exception() is None]
        if not sound:
            ordered[0].result()
        return [(running.pop(future), future.result()) for future in sound]

    def _judge(self, triple: Triple) -> Judgement:
        try:
            reply = self._ask(triple)
        except ReplyError as error:
            return failure(self._shown(str(error)))
        except _Down as error:
            return self._failed_alone(str(error))
        if reply.model != self._served:
            raise self._error(f"answers as {reply.model!r} now, as {self._served!r} before")
        judged = decide_truncated(reply.text, reply.listed, self._asking.min_mass)
        if self._asking.method == "generate":
            judged = from_reply(judged, reply.text, reply.cut(), self._asking.thinking)
        return replace(judged, raw=self._access.secrets.hide(reply.text))

    def _failed_alone(self, reason: str) -> Judgement:
        """A row's failure where the server still answers others; otherwise the end of the run."""
        try:
            self._ask(_PROBE)
        except (_Down, ReplyError):
            raise self._error(reason) from None
        return failure(self._shown(reason))

    def _ask(self, triple: Triple) -> Reply:
        """The server's reply.

        Raises
        ------
        ReplyError
            If it can't be read, or the server refuses this prompt.
        _Down
            If none came in all tries.
        InputError
            If the server refuses whatever it is asked.
        """
        access, openai = self._access, self._openai
        for tried in range(1, access.retries + 2):
            try:
                return parse_reply(self._send(triple))
            except openai.APIStatusError as error:
                status, said = error.status_code, self._shown(error.response.text or error.message)
                if status in _PROMPT_REFUSED:
                    long = any(hint in said.lower() for hint in _TOO_LONG)
                    what = "the prompt's length" if long else f"this prompt ({status})"
                    raise ReplyError(f"the server refused {what}: {said}") from None
                if status not in _PASSING and status < 500:
                    raise self._error(f"answered {status}: {said}") from None
                failed, headers = f"answered {status}: {said}", dict(error.response.headers)
            except openai.APIConnectionError as error:
                failed = f"no reply after {tried} tries: {error.__cause__ or error}"
                headers = {}
            except openai.OpenAIError as error:
                raise self._error(str(error)) from None
            if tried <= access.retries:
                self._wait(pause(headers, tried), failed)
        raise _Down(failed)

    def _wait(self, seconds: float, failed: str) -> None:
        if seconds > self._access.timeout:
            raise self._error(
                f"{failed}; asks to wait {seconds:,.0f} s, --timeout allows {self._access.timeout:g}"
            )
        if self._over.wait(seconds):
            raise _Down(failed)

    def _send(self, triple: Triple) -> str:
        access = self._access
        options: dict[str, Any] = {"temperature": 0, "max_tokens": self._asking.budget}
        if access.top_logprobs:
            options |= {"logprobs": True, "top_logprobs": access.top_logprobs}
        options = {key: value for key, value in options.items() if key not in access.body}
        further = {key: value for key, value in access.body.items() if value is not None}
        conversation: Any = messages(*triple)
        reply = self._client.chat.completions.with_raw_response.create(
            model=self._asking.model, messages=conversation, extra_body=further or None, **options
        )
        return reply.text

    def _budget(self) -> Json:
        """Tokens of a reply, as the request has them."""
        body = self._access.body
        named = [body[key] for key in ("max_completion_tokens", "max_tokens") if body.get(key) is not None]
        return named[0] if named else None if "max_tokens" in body else self._asking.budget

    def _error(self, said: str) -> InputError:
        return InputError(f"{self._access.shown}: {self._shown(said)}")

    def _shown(self, text: str, limit: int = 300) -> str:
        """What a server said, in one line and without secrets; those go before the line is cut."""
        text = " ".join(self._access.secrets.hide(text).split())
        return text if len(text) <= limit else text[: limit - 1] + "…"
