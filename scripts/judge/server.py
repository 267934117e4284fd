"""The back end `openai`: the judge's prompt to any server that speaks OpenAI's protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.judge.backend import Triple
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
from lookcheck.scripts.judge.settings import Asking
from lookcheck.scripts.models.processes import Share
from lookcheck.scripts.models.reply import Reply, ReplyError
from lookcheck.scripts.models.server import Chat, Server
from lookcheck.scripts.models.settings import Access

# A question whose answer no judge can miss; it is asked once, to learn who answers and how.
_PROBE = ("What colour is the wall?", "red", "red")


class ServerJudge:
    """A model behind an OpenAI-compatible server."""

    def __init__(self, asking: Asking, access: Access) -> None:
        if asking.method == "logprob" and access.top_logprobs < 1:
            raise InputError("--method logprob needs --top-logprobs 1 or more")
        self._asking, self._access = asking, access
        self._server = Server(access, asking.model, self._chat(_PROBE))

    def describe(self) -> tuple[dict[str, Json], dict[str, Json]]:
        """Ask once, and say who answered; see :class:`Backend`."""
        reply = self._server.greet()
        if self._asking.method == "logprob" and not reply.listed:
            raise self._server.error("sends no log-probabilities; use --method generate")
        hidden = self._server.hidden
        deciding: dict[str, Json] = {
            "backend": "openai",
            "model": self._asking.model,
            "revision": self._asking.revision,
            "served_model": hidden(reply.model),
            "server": self._access.server,
            "prompt": hashlib.sha256(json.dumps(messages(*_PROBE)).encode()).hexdigest()[:16],
            "forms": [*YES_FORMS, *NO_FORMS],
            "max_new_tokens": self._budget(),
            "top_logprobs": self._access.top_logprobs,
            "extra_body": hidden(self._access.body),
            # Which numbers a server computes with is not known: the coarsest of the usual ones.
            "noise": NOISE["bfloat16"],
        }
        known: dict[str, Json] = {
            "base_url": self._access.shown,
            "system_fingerprint": hidden(reply.fingerprint),
        }
        return deciding, known

    def judge(
        self, triples: Sequence[Triple], wanted: set[int], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[tuple[int, Judgement]]]:
        """Judge with many requests at a time, in the order in which replies come; see :class:`Backend`."""
        ours = sorted(wanted)[share.rank :: share.world]
        for replies in self._server.ask_all((index, self._chat(triples[index])) for index in ours):
            yield [(index, self._judgement(reply)) for index, reply in replies]

    def _judgement(self, reply: Reply | ReplyError) -> Judgement:
        if isinstance(reply, ReplyError):
            return failure(str(reply))
        judged = decide_truncated(reply.text, reply.listed, self._asking.min_mass)
        if self._asking.method == "generate":
            judged = from_reply(judged, reply.text, reply.cut(), self._asking.thinking)
        return replace(judged, raw=self._access.secrets.hide(reply.text))

    def _chat(self, triple: Triple) -> Chat:
        options: dict[str, Json] = {"temperature": 0, "max_tokens": self._asking.budget}
        if self._access.top_logprobs:
            options |= {"logprobs": True, "top_logprobs": self._access.top_logprobs}
        return Chat(messages(*triple), options)

    def _budget(self) -> Json:
        """Tokens of a reply, as the request has them."""
        sent = self._server.sent(self._chat(_PROBE))
        return next((sent[key] for key in ("max_completion_tokens", "max_tokens") if key in sent), None)
