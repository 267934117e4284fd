"""From a model's reply in JSON to its answer and the phrases of its evidence, or to why it can't be read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

# An object with a field begins so.
_OPENING = re.compile(r'\{(?=[ \t\n\r]*")')
_DECODER = json.JSONDecoder()

NO_JSON, TWO_OBJECTS = "no JSON with answer", "two JSON objects"
NO_TEXT, NO_LIST, NO_PHRASE = "answer is no text", "evidence is no list", "evidence holds what is no phrase"


@dataclass(frozen=True)
class Reply:
    """What a reply says.

    Attributes
    ----------
    answer : str
        Empty with a problem.
    phrases : tuple of str
        Each once, in the reply's order.
    problem : str or None
        Why nothing can be read of it.
    """

    answer: str = ""
    phrases: tuple[str, ...] = ()
    problem: str | None = None


def read_reply(text: str) -> Reply:
    """Read the one JSON object of a reply that has ``answer`` and ``evidence``.

    Words and code fences around it do not matter; two such objects are no answer, and nothing is guessed.

    Examples
    --------
    >>> read_reply('Sure: {"answer": "a cup", "evidence": ["spoon", "spoon"]}')
    Reply(answer='a cup', phrases=('spoon',), problem=None)
    >>> read_reply("a cup").problem
    'no JSON with answer'
    """
    found = [value for value in _objects(text) if "answer" in value]
    if not found:
        return Reply(problem=NO_JSON)
    if len(found) > 1:
        return Reply(problem=TWO_OBJECTS)
    answer, evidence = found[0]["answer"], found[0].get("evidence")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        # A count without quotes is the text that it is written as.
        answer = json.dumps(answer)
    if not isinstance(answer, str) or not answer.strip():
        return Reply(problem=NO_TEXT)
    if not isinstance(evidence, list):
        return Reply(problem=NO_LIST)
    if not all(isinstance(phrase, str) and phrase.strip() for phrase in evidence):
        return Reply(problem=NO_PHRASE)
    return Reply(answer, tuple(dict.fromkeys(phrase.strip() for phrase in evidence)))


def _objects(text: str) -> list[dict[str, object]]:
    """JSON objects of the text that lie in no other."""
    found: list[dict[str, object]] = []
    opening = _OPENING.search(text)
    while opening is not None:
        begin = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            end = begin + 1
        else:
            found.append(value)
        opening = _OPENING.search(text, end)
    return found
