"""The back end `openai`: any server that speaks the OpenAI chat completions protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.judge.backend import Settings, Share, Triple, require
from lookcheck.scripts.judge.decision import (
    MAX_NEW_TOKENS,
    NO_FORMS,
    YES_FORMS,
    Judgement,
    decide_truncated,
    parse,
)
from lookcheck.scripts.judge.prompt import messages

# A question whose answer no judge can miss; it is asked once, to learn who answers and how.
_PROBE = ("What colour is the wall?", "red", "red")

_TOO_LONG = ("context length", "context_length", "maximum context", "too many tokens", "max_model_len")


@dataclass(frozen=True)
class Access:
    """How a server is reached.

    Attributes
    ----------
    base_url : str
        For example ``http://localhost:8000/v1``.
    api_key : str or None
        Never written anywhere.
    concurrency : int
        Requests at a time.
    timeout : float
        Seconds that one request may take.
    retries : int
        Further tries after 429, 5xx, a timeout or a broken connection, with growing pauses.
    top_logprobs : int
        Likeliest tokens to ask for; 0 asks for none.
    extra_body : dict
        Further fields of the request; they replace those of the same name, and null leaves one out.
    stated : str or None
        What the user says that the server runs.
    """

    base_url: str
    api_key: str | None = None
    concurrency: int = 32
    timeout: float = 120.0
    retries: int = 6
    top_logprobs: int = 20
    extra_body: dict[str, Any] = field(default_factory=dict)
    stated: str | None = None


class ServerJudge:
    """A model behind an OpenAI-compatible server."""

    def __init__(self, settings: Settings, access: Access) -> None:
        require("openai")
        import openai

        if urlsplit(access.base_url).scheme not in {"http", "https"}:
            raise InputError(f"--base-url {access.base_url}: expected http://… or https://…")
        if settings.method == "logprob" and access.top_logprobs < 1:
            raise InputError("--method logprob needs --top-logprobs 1 or more")
        self._settings, self._access, self._openai = settings, access, openai
        self._client = openai.OpenAI(
            base_url=access.base_url,
            # The package insists on a key; servers on one's own machines take any.
            api_key=access.api_key or "none",
            timeout=access.timeout,
            max_retries=access.retries,
        )
        self._served: str | None = None

    def describe(self) -> tuple[dict[str, Json], dict[str, Json]]:
        """Ask once, and say who answered; see :class:`Backend`."""
        reply = self._ask(_PROBE)
        if isinstance(reply, Judgement):
            raise InputError(f"{self._access.base_url}: can't judge the shortest prompt ({reply.reason})")
        self._served = reply.model
        if self._settings.method == "logprob" and not _listed(reply.choices[0]):
            raise InputError(f"{self._access.base_url}: sends no log-probabilities; use --method generate")
        deciding: dict[str, Json] = {
            "backend": "openai",
            "model": self._settings.model,
            "revision": self._settings.revision,
            "served_model": reply.model,
            "server": self._access.stated,
            "prompt": hashlib.sha256(json.dumps(messages(*_PROBE)).encode()).hexdigest()[:16],
            "forms": [*YES_FORMS, *NO_FORMS],
            "top_logprobs": self._access.top_logprobs,
            "extra_body": self._access.extra_body,
        }
        known: dict[str, Json] = {
            "base_url": _without_secrets(self._access.base_url),
            "system_fingerprint": getattr(reply, "system_fingerprint", None),
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
        reply = self._ask(triple)
        if isinstance(reply, Judgement):
            return reply
        if reply.model != self._served:
            raise InputError(
                f"{self._access.base_url}: answers as {reply.model!r} now, as {self._served!r} before"
            )
        choice = reply.choices[0]
        raw, listed = choice.message.content, _listed(choice)
        if self._settings.method == "logprob":
            return decide_truncated(raw, listed, self._settings.min_mass)
        seen = decide_truncated(raw, listed, 0.0)
        verdict = parse(raw or "")
        reason = None if verdict != "none" else f"the reply is not yes or no ({choice.finish_reason})"
        return Judgement(verdict, raw, seen.margin, seen.probability, seen.mass, seen.bounds, reason)

    def _ask(self, triple: Triple) -> Any:
        """The server's reply, or a judgement where the server refuses this prompt for its length."""
        access, openai = self._access, self._openai
        options: dict[str, Any] = {
            "temperature": 0,
            "max_tokens": 1 if self._settings.method == "logprob" else MAX_NEW_TOKENS,
        }
        if access.top_logprobs:
            options |= {"logprobs": True, "top_logprobs": access.top_logprobs}
        options = {key: value for key, value in options.items() if key not in access.extra_body}
        further = {key: value for key, value in access.extra_body.items() if value is not None}
        conversation: Any = messages(*triple)
        try:
            reply = self._client.chat.completions.create(
                model=self._settings.model, messages=conversation, extra_body=further or None, **options
            )
        except openai.APIStatusError as error:
            said = _one_line(error.message)
            if error.status_code in {400, 413, 422} and any(hint in said.lower() for hint in _TOO_LONG):
                return Judgement("none", reason=f"the server refused the prompt's length: {said}")
            raise InputError(f"{access.base_url}: answered {error.status_code}: {said}") from None
        except openai.APIConnectionError as error:
            said = _one_line(str(error.__cause__ or error))
            raise InputError(
                f"{access.base_url}: no reply after {access.retries + 1} tries: {said}"
            ) from None
        except openai.OpenAIError as error:
            raise InputError(f"{access.base_url}: {_one_line(str(error))}") from None
        if not getattr(reply, "choices", None):
            raise InputError(f"{access.base_url}: the reply is no chat completion: {_one_line(str(reply))}")
        return reply


def _listed(choice: Any) -> dict[str, float]:
    """Log-probabilities of the listed first tokens by text; of two tokens of one text, the likelier."""
    content = getattr(choice.logprobs, "content", None) if choice.logprobs is not None else None
    if not content:
        return {}
    listed: dict[str, float] = {}
    # Without a list, the chosen token is known alone; as it is the likeliest, it bounds all others.
    for token in content[0].top_logprobs or [content[0]]:
        listed[token.token] = max(token.logprob, listed.get(token.token, float("-inf")))
    return listed


def _without_secrets(url: str) -> str:
    """The address without user, password and query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _one_line(text: str, limit: int = 200) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
