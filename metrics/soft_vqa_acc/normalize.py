"""Answer normalisation: the official VQA evaluation's steps, quirks included, and the explainer's.

Conventions
-----------
Official steps, in this order: :func:`clean`, :func:`process_punctuation`,
:func:`process_digits_and_articles`. They follow ``vqaEval.py`` of GT-Vision-Lab/VQA at revision
a013f00. Nothing is repaired: a "better" normaliser gives numbers that no leaderboard can be
compared with. Each quirk has a comment here and a test that pins it.
"""

from __future__ import annotations

import re

from .contractions import CONTRACTIONS

PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
"""The 21 characters that are deleted or replaced; ``' : & $ % # * ~ .`` are not among them."""

ARTICLES = frozenset({"a", "an", "the"})

_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {word: str(value) for value, word in enumerate(_COUNTED)}

# Quirk: "none" is read as the number 0.
OFFICIAL_WORDS = NUMBERS | {"none": "0"} | CONTRACTIONS
_CHANGED = ARTICLES | OFFICIAL_WORDS.keys()

# Quirk: the official code passes re.UNICODE (the integer 32) where re.sub takes its count, so at most
# 32 full stops go. Its look-behind is misspelt and never applies: a stop goes unless a digit follows.
_FULL_STOP = re.compile(r"\.(?!\d)")
_MOST_FULL_STOPS = 32

_DIGIT_COMMA_DIGIT = re.compile(r"\d,\d")
_KINDS = frozenset(PUNCTUATION)
_ANYTHING_TO_DO = re.compile("[" + re.escape(PUNCTUATION + ".") + "]")
_SIMPLE_TOKEN = re.compile(r"[a-z0-9']+")


def clean(text: str) -> str:
    r"""Turn newline and tab into spaces, then strip; the step that precedes the gate.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        A carriage return inside the text stays, as in the official code.

    Examples
    --------
    >>> clean(" red\tcar\n")
    'red car'
    """
    return text.replace("\n", " ").replace("\t", " ").strip()


def process_punctuation(text: str) -> str:
    """Delete punctuation or replace it by spaces, then delete full stops.

    Parameters
    ----------
    text : str
        A cleaned answer.

    Returns
    -------
    str
        Quirk: the choice is made per kind of character for the whole text. If a character stands
        beside a space anywhere, all of its kind are deleted; and if digit, comma, digit occurs
        anywhere, all punctuation is deleted. Otherwise it becomes a space.

    Examples
    --------
    >>> process_punctuation("black-and-white"), process_punctuation("black -and-white")
    ('black and white', 'black andwhite')
    >>> process_punctuation("1,000 t-shirts"), process_punctuation("5 p.m. or 5.30")
    ('1000 tshirts', '5 pm or 5.30')
    """
    result = text
    # The kinds do not touch one another (the original text decides), so their order is free.
    for character in _KINDS.intersection(text):
        beside_space = character + " " in text or " " + character in text
        delete = beside_space or ("," in text and _DIGIT_COMMA_DIGIT.search(text))
        result = result.replace(character, "" if delete else " ")
    if "." in result:
        result = _FULL_STOP.sub("", result, count=_MOST_FULL_STOPS)
    return result


def process_digits_and_articles(text: str) -> str:
    """Lower-case; number words to digits; drop a, an and the; restore contractions; single spaces.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Can be empty: "the" alone leaves nothing.

    Examples
    --------
    >>> process_digits_and_articles("The two  dogs dont bark")
    "2 dogs don't bark"
    """
    words = text.lower().split()
    if not _CHANGED.isdisjoint(words):
        words = [OFFICIAL_WORDS.get(word, word) for word in words if word not in ARTICLES]
    return " ".join(words)


def normalize_official(text: str) -> str:
    """All official steps on one raw answer: clean, punctuation, digits and articles.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> normalize_official("None.")
    '0'
    """
    # Most answers have no punctuation. Then cleaning has no effect either: the split takes all white space.
    if _ANYTHING_TO_DO.search(text) is not None:
        text = process_punctuation(clean(text))
    return process_digits_and_articles(text)


def normalize_simple(text: str) -> str:
    """The explainer's normalisation, used by the mode ``simple``.

    Lower-case, keep runs of a–z, 0–9 and the apostrophe, drop articles, zero…ten to digits.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Tokens joined by one space; empty where the text has no such character.

    Examples
    --------
    >>> normalize_simple("A red-ish apple, two of them!")
    'red ish apple 2 of them'
    """
    tokens = _SIMPLE_TOKEN.findall(text.lower())
    return " ".join([NUMBERS.get(token, token) for token in tokens if token not in ARTICLES])
