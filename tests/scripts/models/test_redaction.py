"""Secrets are hidden in every way in which a server may send them back."""

from __future__ import annotations

import doctest
import json
from base64 import b64encode
from urllib.parse import quote

import pytest

from lookcheck.scripts.models import redaction
from lookcheck.scripts.models.redaction import Secrets, secrets_of, shown_url

SECRET = 'sk/very "secret" ü?=&'
WAYS = {
    "as it is": SECRET,
    "in an address": quote(SECRET, ""),
    "in JSON": json.dumps(SECRET)[1:-1],
    "in base64": b64encode(SECRET.encode()).decode(),
    "shortened": SECRET[:9] + "…",
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_write_a_secret(way: str) -> None:
    shown = Secrets([SECRET]).hide(f"<{WAYS[way]}> and again {WAYS[way]}")
    assert shown.count("[redacted]") == 2
    assert "sk" not in shown
    assert "secret" not in shown
    assert WAYS[way] not in shown
    assert shown.startswith("<[redacted]")


def test_honest_words_stay() -> None:
    assert Secrets(["", "a", "yes"]).hide("yes, a banana") == "yes, a banana"
    # What begins like a secret and is no beginning of it is none.
    assert Secrets(["sk-12345678"]).hide("sk-1234 and sk-1299999") == "sk-1234 and sk-1299999"


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("http://me:pass%40word@h/v1", ["me:pass%40word", "me:pass@word", "pass%40word", "pass@word"]),
        ("http://me:p@ss/word@h/v1", ["me:p@ss/word", "p@ss/word"]),
        ("http://h/v1?api-key=abcdef&x=ghijkl", ["abcdef", "ghijkl"]),
        ("https://token-alone@h/v1", ["token-alone"]),
    ],
)
def test_what_is_secret_in_an_address(url: str, secrets: list[str]) -> None:
    hidden = secrets_of(url, None, {})
    for secret in secrets:
        assert hidden.hide(f"({secret})") == "([redacted])"
        assert secret not in shown_url(url)
    basic = b64encode(secrets[0].encode()).decode()
    assert hidden.hide(f"Basic {basic}") == "Basic [redacted]"
    assert shown_url(url) in {"http://h/v1", "https://h/v1"}


def test_what_is_secret_in_a_request() -> None:
    body = {
        "metadata": [{"Api-Key": "first-one"}],
        "access_token": "second-one",
        "max_tokens": 4,
        "seed": "abcd",
    }
    hidden = secrets_of("http://h/v1", "third-one", body)
    assert hidden.hide("first-one second-one third-one abcd") == "[redacted] [redacted] [redacted] abcd"
    assert hidden.hide_in({**body, "note": ["third-one", 3, None]}) == {
        "metadata": [{"Api-Key": "[redacted]"}],
        "access_token": "[redacted]",
        "max_tokens": 4,
        "seed": "abcd",
        "note": ["[redacted]", 3, None],
    }


def test_doctests() -> None:
    result = doctest.testmod(redaction)
    assert result.attempted
    assert not result.failed
