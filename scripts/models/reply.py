"""A server's reply, read strictly: what is no chat completion is the failure of that row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from time import time
from typing import NoReturn

CUT = "the reply is cut"

# A probability above 1 by more than rounding is none.
_ROUNDING = 0.01

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0


class ReplyError(ValueError):
    """A reply that can't be read; the message says why."""


@dataclass(frozen=True)
class Reply:
    """What there is in a chat completion.

    Attributes
    ----------
    model : str or None
        Who answered.
    text : str
    finish : str or None
        Why it ended.
    listed : list of (str, float)
        Texts and log-probabilities of the likeliest first tokens; empty where there are none.
    fingerprint : str or None
    reasoning : str or None
        A thinking trace that the server keeps apart from the text (``reasoning_content`` or
        ``reasoning``); the text is empty where the trace took all tokens.
    prompt_tokens, new_tokens : int or None
        As the server counts them, the trace among the new ones.
    """

    model: str | None
    text: str
    finish: str | None
    listed: list[tuple[str, float]]
    fingerprint: str | None = None
    reasoning: str | None = None
    prompt_tokens: int | None = None
    new_tokens: int | None = None

    def cut(self) -> str | None:
        """Why the reply may not be whole, if so."""
        if self.finish in {"length", "max_tokens"}:
            return CUT
        if self.finish is None:
            return "the server doesn't say whether the reply is whole"
        return None


def parse_reply(body: str) -> Reply:
    """Read the body of a chat completion.

    Raises
    ------
    ReplyError
        If it is no JSON object with a text and finite log-probabilities, or a filter cut it.

    Examples
    --------
    >>> reply = parse_reply('{"choices": [{"message": {"content": "Yes"}, "finish_reason": "stop"}]}')
    >>> reply.text, reply.finish, reply.listed, reply.model
    ('Yes', 'stop', [], None)
    """
    if not body.strip():
        raise ReplyError("the reply is empty")
    try:
        value = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"the reply is no JSON ({error}): {body}") from None
    choices = value.get("choices") if isinstance(value, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ReplyError(f"the reply is no chat completion: {body}")
    finish = _text_or_none(choice.get("finish_reason"))
    if finish == "content_filter":
        raise ReplyError("the server's content filter stopped the reply")
    traces = (message.get(key) for key in ("reasoning_content", "reasoning"))
    reasoning = next((trace for trace in traces if isinstance(trace, str) and trace), None)
    text = message.get("content")
    if text is None and reasoning is not None:
        text = ""
    if not isinstance(text, str):
        raise ReplyError(f"the reply's content is {json.dumps(text)}, no text ({finish})")
    model, fingerprint = (_text_or_none(value.get(key)) for key in ("model", "system_fingerprint"))
    usage = value.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Reply(
        model,
        text,
        finish,
        _listed(choice.get("logprobs")),
        fingerprint,
        reasoning,
        _count_or_none(counts.get("prompt_tokens")),
        _count_or_none(counts.get("completion_tokens")),
    )


def pause(headers: Mapping[str, str], tried: int) -> float:
    """Seconds to wait before the next try: what the server asks for, or twice the last pause.

    Parameters
    ----------
    headers : mapping of str to str
        Of the reply that failed, with names in lower case; ``retry-after`` holds seconds or a date.
    tried : int
        Tries so far.

    Examples
    --------
    >>> pause({"retry-after": "130"}, 1), pause({}, 1), pause({}, 3)
    (130.0, 0.5, 2.0)
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        asked = _seconds(headers.get(name, ""))
        if asked is not None:
            return asked / unit
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(tried - 1, 10))


def _seconds(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        try:
            found = parsedate_to_datetime(text).timestamp() - time()
        except ValueError:
            return None
    return max(0.0, found) if isfinite(found) else None


def _listed(logprobs: object) -> list[tuple[str, float]]:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return []
    first = content[0]
    # Without a list, the chosen token is known alone; as it is the likeliest, it bounds all others.
    tokens = first.get("top_logprobs") or [first] if isinstance(first, dict) else None
    if not isinstance(tokens, list):
        raise ReplyError("the reply's log-probabilities are no list of tokens")
    return [_token(token) for token in tokens]


def _token(token: object) -> tuple[str, float]:
    text, value = (token.get("token"), token.get("logprob")) if isinstance(token, dict) else (None, None)
    if not isinstance(text, str) or isinstance(value, bool) or not isinstance(value, int | float):
        raise ReplyError(f"the reply lists {json.dumps(token)}, no token with a log-probability")
    if not isfinite(value) or value > _ROUNDING:
        raise ReplyError(f"the reply gives {text!r} the log-probability {value}")
    return text, min(0.0, float(value))


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count_or_none(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
