"""The back end `openai`: requests to any server that speaks OpenAI's chat completions protocol."""

from __future__ import annotations

import io
import json
import math
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.requests.pictures import PictureReader, opened
from lookcheck.dataset_builders.requests.replies import told_apart
from lookcheck.dataset_builders.requests.request import Answer, FirstToken, Measure, Picture, Request
from lookcheck.scripts.models.processes import Share
from lookcheck.scripts.models.reply import Reply, ReplyError
from lookcheck.scripts.models.server import Chat, Server
from lookcheck.scripts.models.settings import Access
from lookcheck.scripts.predict.backend import Shown
from lookcheck.scripts.predict.settings import Fields, Model

# A question that any model answers; it is asked once, to learn who answers and how.
_PROBE = Request("What colour is the sky on a clear day?", max_new_tokens=4, measure=Measure(("blue",)))

# vLLM's stand-in for minus infinity: the token is not listed.
_NOT_LISTED = -9999.0

ENOUGH = 0.01
"""Nats by which forms that a server does not list may raise a word's log-probability; else it is missing."""

_SECONDS_BETWEEN_TOTALS = 15.0
_KINDS = {"PNG": "png", "JPEG": "jpeg"}


class ServerBackend:
    """A model behind an OpenAI-compatible server.

    Parameters
    ----------
    model : Model
    access : Access
    fields : Fields
        Which fields of a request go under another name, or not at all.
    requests : sequence of Request
        All of the run: where nothing but the first token is wanted, a server without log-probabilities
        is refused at once.

    Raises
    ------
    InputError
        If the package `openai` is missing, or an option is wrong.
    """

    def __init__(self, model: Model, access: Access, fields: Fields, requests: Sequence[Request]) -> None:
        self._model, self._access, self._fields = model, access, fields
        self._names = fields.names
        self._needs_listed = any(request.max_new_tokens == 0 for request in requests)
        if self._needs_listed and access.top_logprobs < 1:
            raise InputError("the protocol measures the first token: it needs --top-logprobs 1 or more")
        self._pictures = PictureReader()
        self._encoded: tuple[str, str] = ("", "")
        self._server = Server(access, model.model, self._chat(_PROBE))

    def describe(self) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
        """Ask once, and say who answered."""
        reply = self._server.greet()
        if self._needs_listed and not reply.listed:
            raise self._server.error("sends no log-probabilities, which the protocol measures")
        hidden = self._server.hidden
        deciding: dict[str, Json] = {
            "backend": "openai",
            "model": self._model.model,
            "revision": self._model.revision,
            "served_model": hidden(reply.model),
            "server": self._access.server,
            "temperature": self._server.sent(self._chat(_PROBE)).get("temperature"),
            "top_logprobs": self._access.top_logprobs,
            "lists_logprobs": bool(reply.listed),
            "extra_body": hidden(self._access.body),
            "fields": {name: other for name, other in self._names.items() if name != other},
        }
        known: dict[str, Json] = {
            "base_url": self._access.shown,
            "system_fingerprint": hidden(reply.fingerprint),
        }
        return deciding, known

    def answer(
        self, requests: Sequence[Request], wanted: set[int], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer with many requests at a time, in the order in which replies come; see `Backend`."""
        ours = sorted(wanted)[share.rank :: share.world]
        prompt = new = 0
        last = begin = time.monotonic()
        done = 0
        for replies in self._server.ask_all((index, self._chat(requests[index])) for index in ours):
            done += len(replies)
            # All run at the same time: a request's share of it.
            each = (time.monotonic() - begin) / done
            found = [(index, self._answer(requests[index], reply, each)) for index, reply in replies]
            yield found
            prompt += sum(answer.prompt_tokens or 0 for _, answer in found)
            new += sum(answer.new_tokens or 0 for _, answer in found)
            if time.monotonic() - last >= _SECONDS_BETWEEN_TOTALS:
                last = time.monotonic()
                say(f"tokens so far: {prompt:,} of prompts, {new:,} new")

    def show(self, request: Request) -> Shown:
        """The messages, with the picture's bytes counted and left out."""
        messages = self._chat(request).messages
        text = json.dumps(messages, ensure_ascii=False, indent=1, default=str)
        if request.picture is not None:
            uri = self._uri(request.picture)
            text = text.replace(uri, f"{uri.partition(',')[0]},… ({len(uri):,} characters)")
        return Shown(text, None, None if request.picture is None else request.picture.size)

    def close(self) -> None:
        """Give back the connections."""
        self._server.close()
        self._pictures.close()

    def _answer(self, request: Request, reply: Reply | ReplyError, seconds: float) -> Answer:
        if isinstance(reply, ReplyError):
            return Answer(failure=str(reply))
        hide = self._access.secrets.hide
        raw = hide(reply.text)
        reasoning = None if reply.reasoning is None else hide(reply.reasoning)
        text, reasoning = told_apart(raw, reasoning)
        # The first token of a reply that begins with a thought is no answer's.
        measured = request.measure is not None and not reasoning
        wordless = request.max_new_tokens == 0
        return Answer(
            raw=None if wordless else raw,
            text=None if wordless else text,
            reasoning=reasoning,
            ended=reply.cut() is None,
            first=first_token(reply.listed, request.measure) if measured and request.measure else None,
            prompt_tokens=reply.prompt_tokens,
            new_tokens=reply.new_tokens,
            seconds=seconds,
        )

    def _chat(self, request: Request) -> Chat:
        messages: list[dict[str, Any]] = []
        if request.system is not None:
            messages.append({"role": "system", "content": request.system})
        content: Any = request.text
        if request.picture is not None:
            image = {"type": "image_url", "image_url": {"url": self._uri(request.picture)}}
            words = {"type": "text", "text": request.text}
            content = [image, words] if request.picture_first else [words, image]
        messages.append({"role": "user", "content": content})
        options: dict[str, Json] = {"temperature": 0, "max_tokens": max(1, request.max_new_tokens)}
        if request.measure is not None and self._access.top_logprobs:
            options |= {"logprobs": True, "top_logprobs": self._access.top_logprobs}
        if request.thinking is not None:
            options["chat_template_kwargs"] = {"enable_thinking": request.thinking == "on"}
        named = {self._names.get(name, name): value for name, value in options.items()}
        return Chat(messages, {name: value for name, value in named.items() if name is not None})

    def _uri(self, picture: Picture) -> str:
        """The picture as a data URI: its file's own bytes where these are PNG or JPEG, else as PNG."""
        if self._encoded[0] != picture.sha256:
            kind, data = _sendable(self._pictures.read(picture))
            self._encoded = picture.sha256, f"data:image/{kind};base64,{b64encode(data).decode()}"
        return self._encoded[1]


def first_token(listed: Sequence[tuple[str, float]], measure: Measure) -> FirstToken | None:
    """What the likeliest tokens, as a server lists them, say of words; None where it lists none.

    A word's log-probability is missing unless one of its forms is listed and the others, each of which is
    at most as likely as the last that is listed, could raise it by no more than `ENOUGH`. An entity's rank
    is known where the whole of it is listed as one token.

    Parameters
    ----------
    listed : sequence of (str, float)
        Texts and natural log-probabilities.
    measure : Measure

    Examples
    --------
    >>> likely = [("Yes", math.log(0.75)), (" no", math.log(0.2499)), ("a", -9999.0)]
    >>> round(first_token(likely, Measure(("yes",))).mass, 6)
    0.75
    """
    known = sorted(((text, p) for text, p in listed if p > _NOT_LISTED), key=lambda item: -item[1])
    if not known:
        return None
    rest = max(0.0, 1 - math.fsum(math.exp(p) for _, p in known))
    last = math.exp(known[-1][1])
    logp: dict[str, float | None] = {}
    for word in measure.words:
        found = [(text, math.exp(p)) for text, p in known if text.strip().lower() == word]
        total = math.fsum(p for _, p in found)
        further = len(_forms(word) - {text for text, _ in found})
        enough = total > 0 and math.log1p(min(rest, further * last) / total) <= ENOUGH
        logp[word] = min(0.0, math.log(total)) if enough else None
    values = [value for value in logp.values() if value is not None]
    mass = math.fsum(map(math.exp, values)) if values and len(values) == len(logp) else None
    rank = prob = form = None
    if measure.entity is not None:
        forms = {lead + name for lead in ("", " ") for name in (measure.entity, measure.entity.capitalize())}
        for number, (text, p) in enumerate(known, start=1):
            if text in forms:
                rank, prob, form = number, math.exp(p), text
                break
    return FirstToken(logp, mass, rank, prob, form, None if rank is None else True)


def _forms(word: str) -> set[str]:
    return {lead + form for lead in ("", " ") for form in (word, word.capitalize(), word.upper())}


def _sendable(data: bytes) -> tuple[str, bytes]:
    """Kind and bytes: PNG and JPEG as they are, unless they are turned; anything else as PNG."""
    with Image.open(io.BytesIO(data)) as image:
        kind = _KINDS.get(image.format or "")
        if kind is not None and image.getexif().get(274, 1) == 1:
            return kind, data
    stream = io.BytesIO()
    opened(data).save(stream, "PNG", compress_level=1)
    return "png", stream.getvalue()
