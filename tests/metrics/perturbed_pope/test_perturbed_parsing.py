"""What counts as yes, no and unknown: a table checked by hand, and the two rules restated."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookcheck.metrics.perturbed_pope import PARSERS, parse

# Text, strict, official.
TABLE: list[tuple[str, str | None, str]] = [
    ("Yes", "yes", "yes"),
    ("yes", "yes", "yes"),
    ("YES", "yes", "yes"),
    ("No", "no", "no"),
    ("no", "no", "no"),
    ("NO", "no", "yes"),
    ("nO", "no", "yes"),
    ("No.", "no", "no"),
    ("No!", "no", "yes"),
    ("No?", "no", "yes"),
    ("No,", "no", "no"),
    ("No, there is no dog in the image.", "no", "no"),
    ("No\n", "no", "yes"),
    ("No\nThere is none.", "no", "yes"),
    ("No\nThere is not one", "no", "no"),
    ("Answer:\nNo", "no", "yes"),
    (" No ", "no", "no"),
    ("  no", "no", "no"),
    ("\tno", "no", "yes"),
    ("No\u00a0", "no", "yes"),
    ("**No**", "no", "yes"),
    ("_No_", "no", "yes"),
    ('"No"', "no", "yes"),
    ("(no)", "no", "yes"),
    ("no/yes", None, "yes"),
    ("Yes and no", None, "no"),
    ("yes or no", None, "no"),
    ("Yes, no, yes", None, "no"),
    ("No, no, no.", "no", "no"),
    ("Yes. No.", None, "yes"),
    ("No. Yes.", None, "no"),
    ("Yes, but not a dog", "yes", "no"),
    ("Yes, there is a dog, not a cat.", "yes", "no"),
    ("Yes, there is. It is not large.", "yes", "yes"),
    ("Not sure", None, "yes"),
    ("not sure", None, "no"),
    ("I'm not sure.", None, "no"),
    ("I cannot tell.", None, "yes"),
    ("There is not a dog in the image.", None, "no"),
    ("There isn't any dog.", None, "yes"),
    ("There is no dog.", "no", "no"),
    ("The image shows a dog.", None, "yes"),
    (".No", "no", "yes"),
    ("1. No", "no", "yes"),
    ("Well,no", "no", "yes"),
    ("no,thing", "no", "yes"),
    ("n,o", None, "no"),
    ("Nobody", None, "yes"),
    ("None", None, "yes"),
    ("nothing to see", None, "yes"),
    ("I know", None, "yes"),
    ("Yesterday", None, "yes"),
    ("yes2", None, "yes"),
    ("Yes!", "yes", "yes"),
    ("Yes-", "yes", "yes"),
    ("yes yes", "yes", "yes"),
    ("Y", None, "yes"),
    ("true", None, "yes"),
    ("0", None, "yes"),
    ("", None, "yes"),
    (" ", None, "yes"),
    ("...", None, "yes"),
    ("unknown", "unknown", "yes"),
    ("Unknown.", "unknown", "yes"),
    ("**UNKNOWN**", "unknown", "yes"),
    ("The answer is unknown", "unknown", "yes"),
    ("It is not known", None, "no"),
    ("unknowns", None, "yes"),
    ("No, it is unknown", None, "no"),
    ("yes, no or unknown", None, "no"),
    ("unbekannt", None, "yes"),
    ("Nein", None, "yes"),
    ("n\u00f3", None, "yes"),
    ("\uff2e\uff2f", None, "yes"),  # full-width
    ("\u041d\u041e", None, "yes"),  # Cyrillic
    ("n\u200bo", None, "yes"),
    ("yes\x00no", None, "yes"),
]


@pytest.mark.parametrize(("text", "strict", "official"), TABLE)
def test_the_table(text: str, strict: str | None, official: str) -> None:
    assert parse(text) == parse(text, "strict") == strict
    assert parse(text, "official") == official


def test_the_table_is_long_and_has_no_row_twice() -> None:
    assert len({text for text, _, _ in TABLE}) == len(TABLE) >= 40
    assert set(PARSERS) == {"strict", "official"}


def test_an_unknown_parser_is_refused() -> None:
    with pytest.raises(ValueError, match="parser is 'lenient'; expected one of strict, official"):
        parse("yes", "lenient")


def script(text: str) -> str:
    """POPE's script, step by step as it does it."""
    if text.find(".") != -1:
        text = text.split(".")[0]
    text = text.replace(",", "")
    words = text.split(" ")
    if "No" in words or "not" in words or "no" in words:
        return "no"
    return "yes"


PIECES = st.sampled_from(
    [
        "No",
        "no",
        "not",
        "Not",
        "NO",
        "yes",
        "Yes",
        "unknown",
        "dog",
        ".",
        ",",
        " ",
        "  ",
        "\n",
        "!",
        "*",
        "_",
        "-",
    ]
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(PIECES, max_size=8).map("".join))


@given(text=TEXTS)
def test_official_is_the_scripts_rule(text: str) -> None:
    assert parse(text, "official") == script(text)


@given(text=st.lists(PIECES, max_size=8).map("".join))
def test_strict_by_another_way(text: str) -> None:
    # Word boundaries of `re`, where the underscore is no letter.
    spaced = text.replace("_", " ")
    found = [word for word in ("yes", "no", "unknown") if re.search(rf"\b{word}\b", spaced, re.IGNORECASE)]
    assert parse(text) == (found[0] if len(found) == 1 else None)


@given(text=TEXTS)
def test_strict_does_not_mind_case_and_space_around(text: str) -> None:
    assert parse(text) == parse(f"\n {text}\t") == parse(f'"{text}"')
    if text.isascii():
        assert parse(text.upper()) == parse(text.lower()) == parse(text)
