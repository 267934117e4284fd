"""From a model's words to one legal answer, or to none; a doubtful answer is never guessed at.

Two parsers. ``strict``: strip white space, fold case, and then the text must be exactly one option.
``json``: the last JSON object of the text that has a field ``answer``, whose value is then read as by
``strict``; words and code fences around the object do not matter.
"""

from __future__ import annotations

import json
import re

PARSERS = ("strict", "json")
QUESTIONS = ("q1", "q2", "q3", "q4")
PRESENCE = frozenset({"yes", "no"})
LETTERS = frozenset("ABCDE")
# Without the image, Q4 has the further option F, "no image provided".
LETTERS_NO_IMAGE = LETTERS | {"F"}

_DECODER = json.JSONDecoder()
# An object with a field begins so; trying every brace takes seconds on a text of nothing but braces.
_OPENING = re.compile(r'\{(?=[ \t\n\r]*")')


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
    if question not in QUESTIONS:
        raise ValueError(f"question is {question!r}; expected one of {', '.join(QUESTIONS)}")
    if parser not in PARSERS:
        raise ValueError(f"parser is {parser!r}; expected one of {', '.join(PARSERS)}")
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
    found: object = None
    opening = _OPENING.search(text)
    while opening is not None:
        following = opening.end()
        try:
            value, end = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            # Not JSON, or nested beyond what Python reads: try the next brace.
            pass
        else:
            if "answer" in value:
                found, following = value["answer"], end
        opening = _OPENING.search(text, following)
    return found
