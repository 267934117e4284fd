"""What a model wrote, told apart: the trace of its thoughts, and what it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lookcheck.dataset_builders.requests.protocol import AskingProtocol
from lookcheck.dataset_builders.requests.request import Answer, Thinking
from lookcheck.metrics.soft_vqa_acc.common import without_thoughts

CUT_THINKING = "cut thinking"
CUT_REPLY = "cut reply"
EMPTY = "empty reply"
REFUSAL = "refusal"

# Only a name for what can't be read in any case; no reply that can be read is held against it.
_REFUSAL = re.compile(
    r"\W*(?:i(?:['’]m| am) (?:very |so |really )?sorry|sorry\b|i (?:can(?:['’]t|not)|won['’]t)\b"
    r"|i(?:['’]m| am) (?:unable|not able|not allowed)\b|as an ai\b|unfortunately\b)",
    re.IGNORECASE,
)

THINKING_TOKENS = "thinking_tokens"
"""Option of a protocol: new tokens that a trace may take, beside those of the answer."""


def told_apart(raw: str, reasoning: str | None = None) -> tuple[str | None, str | None]:
    """Text and reasoning of what a model wrote.

    Parameters
    ----------
    raw : str
    reasoning : str, optional
        What a server gave in a field of its own.

    Returns
    -------
    text : str or None
        What follows the last closing tag of a trace; None where a trace was opened and not closed.
    reasoning : str or None
        The trace without what follows it; the field of the server before it, if there are both.

    Examples
    --------
    >>> told_apart("<think>No dog.</think>No"), told_apart("No"), told_apart("<think>No do")
    (('No', '<think>No dog.</think>'), ('No', None), (None, '<think>No do'))
    """
    found = without_thoughts(raw)
    if not found.thought:
        return raw, reasoning
    trace = raw if found.cut else raw[: len(raw) - len(found.text)]
    return None if found.cut else found.text, (reasoning or "") + trace


def unread(answer: Answer) -> str | None:
    """Why there is no text to read at all: the trace was cut, or nothing was said; None if there is one."""
    if answer.text is None and answer.raw is not None:
        return CUT_THINKING
    if not (answer.text or "").strip():
        return CUT_THINKING if answer.reasoning and not answer.ended else EMPTY
    return None


def unreadable(text: str, otherwise: str) -> str:
    """Why a text that no parser can read can't be: it declines to answer, or what the parser says.

    By its first words in English; our own rule, which no paper states.

    Examples
    --------
    >>> unreadable("I'm sorry, but I can't help with that.", "no JSON"), unreadable("A cup.", "no JSON")
    ('refusal', 'no JSON')
    """
    return REFUSAL if _REFUSAL.match(text) else otherwise


def budget(protocol: AskingProtocol, thinking: Thinking | None) -> int:
    """New tokens of a reply: a model that thinks gets those of its trace, too."""
    options: Mapping[str, Any] = protocol.options or {}
    return protocol.max_new_tokens + (int(options.get(THINKING_TOKENS, 0)) if thinking == "on" else 0)
