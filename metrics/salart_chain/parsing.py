"""From a model's words to one legal answer, or to none; a doubtful answer is never guessed at.

Two parsers. ``strict``, the authors' own: strip white space, fold case, and then the text must be exactly one
option. ``json``: the last JSON object of the text that has a field ``answer``, whose value is then read as by
``strict``; words and code fences around the object do not matter.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from .common import check_choice

PARSERS = ("strict", "json")
QUESTIONS = ("q1", "q2", "q3", "q4")
PRESENCE = frozenset({"yes", "no"})
LETTERS = frozenset("ABCDE")
# Without the image, Q4 has the further option F, "no image provided".
LETTERS_NO_IMAGE = LETTERS | {"F"}

# An object with a field begins so.
_OPENING = re.compile(r'\{(?=[ \t\n\r]*")')
_TOKEN = re.compile(
    r"[ \t\n\r]*+([{}\[\],:]"
    r'|"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
    r"|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+|true|false|null|NaN|-?Infinity)"
)

Span = tuple[int, int]


def parse(text: str, question: str, parser: str = "strict", *, no_image: bool = False) -> str | None:
    """The legal answer that `text` gives, or None where it gives none.

    Parameters
    ----------
    text : str
    question : {"q1", "q2", "q3", "q4"}
    parser : {"strict", "json"}
    no_image : bool
        Allow F, the option that exists only where the image is withheld.

    Returns
    -------
    str or None
        ``"yes"`` or ``"no"`` for Q1, a capital letter for the rest; None where the text is not one option.

    Raises
    ------
    ValueError
        If the question or the parser is unknown.

    Examples
    --------
    >>> parse(" Yes ", "q1"), parse("b", "q2"), parse("A or B", "q2")
    ('yes', 'B', None)
    >>> parse('Here: {"answer": "C", "chosen_reason": "{a hand}"}', "q4", "json")
    'C'
    """
    check_choice("question", question, QUESTIONS)
    check_choice("parser", parser, PARSERS)
    answer: object = text if parser == "strict" else last_answer(text)
    if not isinstance(answer, str):
        return None
    if question == "q1":
        word = answer.strip().casefold()
        return word if word in PRESENCE else None
    letter = answer.strip().upper()
    return letter if letter in (LETTERS_NO_IMAGE if no_image else LETTERS) else None


def last_answer(text: str) -> object:
    """The value of ``answer`` in the last JSON object of `text` that has it; None where none has.

    An object inside one that itself has ``answer`` is part of that answer and does not count; an object
    inside one that has not is looked at.

    Examples
    --------
    >>> last_answer('{"answer": "A"} no, {"answer": "B"}')
    'B'
    """
    known: dict[int, tuple[int, Span | None] | None] = {}
    found: Span | None = None
    opening = _OPENING.search(text)
    while opening is not None:
        begin = following = opening.start()
        if begin not in known:
            _read_object(text, begin, known)
        result = known[begin]
        if result is not None and result[1] is not None:
            following, found = result
        opening = _OPENING.search(text, max(following, begin + 1))
    if found is None:
        return None
    try:
        value: object = json.loads(text[found[0] : found[1]])
    except (ValueError, RecursionError):
        # A number of thousands of digits, or nested beyond what Python reads: no answer in any case.
        return None
    return value


@dataclass(slots=True)
class _Open:
    """A container that is not closed yet."""

    begin: int
    is_object: bool
    key_is_answer: bool = False
    answer: Span | None = None


def _read_object(text: str, begin: int, known: dict[int, tuple[int, Span | None] | None]) -> None:
    """Put into `known` where the object at `begin`, and each one inside it, ends and has its ``answer``.

    What is no JSON is None there. No object is read twice, so that all of them together take one or two
    passes over the text, however deep it is nested; trying each brace with a parser takes their product.
    """
    stack: list[_Open] = []
    expected, position = "value", begin
    while (token := _TOKEN.match(text, position)) is not None:
        start, position = token.span(1)
        mark = text[start]
        if expected in ("value", "value or end") and mark not in "}]:,":
            if mark == "[" or (mark == "{" and start not in known):
                stack.append(_Open(start, mark == "{"))
                expected = "key or end" if mark == "{" else "value or end"
                continue
            if mark == "{":
                inner = known[start]
                if inner is None:
                    break
                position = inner[0]
        elif expected in ("key", "key or end") and mark == '"':
            stack[-1].key_is_answer = json.loads(token[1]) == "answer"
            expected = ":"
            continue
        elif expected == mark == ":":
            expected = "value"
            continue
        elif expected == "comma or end" and mark == ",":
            expected = "key" if stack[-1].is_object else "value"
            continue
        elif expected.endswith("or end") and mark == ("}" if stack[-1].is_object else "]"):
            closed = stack.pop()
            start = closed.begin
            if closed.is_object:
                known[start] = position, closed.answer
        else:
            break
        # A value is complete.
        if not stack:
            return
        if stack[-1].is_object and stack[-1].key_is_answer:
            stack[-1].answer = start, position
        expected = "comma or end"
    known.update(dict.fromkeys(container.begin for container in stack if container.is_object))
