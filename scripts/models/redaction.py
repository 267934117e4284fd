"""What was sent as a secret stands in no file and in no message."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from posixpath import commonprefix
from urllib.parse import parse_qsl, quote, unquote

from lookcheck.dataset_builders.core.verdict_file import Json

REDACTED = "[redacted]"

# So much of the beginning of a secret is hidden where a server shortens it.
_BEGINNING = 8

# Shorter ones would take letters out of honest words; a server's key is never that short.
_SHORTEST = 4

# Fields of a request that hold a secret; "max_tokens" is none.
_NAMES = re.compile(r"api.?key|secret|password|authorization|credential|(access|auth|bearer|id).?token", re.I)


class Secrets:
    """Texts that must not be shown, in all the ways in which a server may send them back.

    Parameters
    ----------
    texts : iterable of str
        Empty ones and ones of fewer than four characters are passed over.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        known = {text for text in texts if len(text) >= _SHORTEST}
        self._ways = {way(text) for text in known for way in (str, _in_url, _in_json, _basic)}
        self._longest = max(map(len, self._ways), default=0)
        beginnings = sorted({re.escape(way[:_BEGINNING]) for way in self._ways}, key=len, reverse=True)
        self._beginning = re.compile("|".join(beginnings) or "(?!)")

    def hide(self, text: str) -> str:
        """The text with every secret replaced.

        Examples
        --------
        >>> Secrets(["sk-1234"]).hide("no such key: sk-1234!")
        'no such key: [redacted]!'
        """
        parts, done = [], 0
        while found := self._beginning.search(text, done):
            rest = text[found.start() : found.start() + self._longest]
            # Two ways to write a secret may begin alike: the one that goes on longest is meant.
            length = max(len(commonprefix([rest, way])) for way in self._ways)
            parts += [text[done : found.start()], REDACTED]
            done = found.start() + length
        return "".join([*parts, text[done:]])

    def hide_in(self, value: Json) -> Json:
        """The same in nested values; what stands under a name such as ``api_key`` goes whole."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, Mapping):
            return {
                key: REDACTED if _NAMES.search(key) else self.hide_in(item) for key, item in value.items()
            }
        if isinstance(value, Sequence):
            return [self.hide_in(item) for item in value]
        return value


def secrets_of(url: str, key: str | None, body: Mapping[str, Json]) -> Secrets:
    """What a server is told in confidence: the key, user and password, the query, named fields.

    Parameters
    ----------
    url : str
        The server's address as it was given, in whatever shape.
    key : str or None
    body : mapping
        Further fields of the request.

    Returns
    -------
    Secrets
    """
    found = [key or ""]
    inside = url.partition("://")[2].rpartition("@")[0]
    if inside:
        password = inside.partition(":")[2]
        found += [inside, unquote(inside), password, unquote(password)]
    found += [value for _, value in parse_qsl(url.partition("?")[2])]
    return Secrets([*found, *_named(body)])


def shown_url(url: str) -> str:
    """The address without user, password, query and fragment, even where it is none.

    Examples
    --------
    >>> shown_url("http://me:pw@host:8000/v1?key=1"), shown_url("me:pw@host/v1")
    ('http://host:8000/v1', 'host/v1')
    """
    scheme, separator, rest = url.partition("://") if "://" in url else ("", "", url)
    return scheme + separator + re.split(r"[?#]", rest.rpartition("@")[2])[0]


def _named(value: Json) -> Iterable[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if _NAMES.search(key) and isinstance(item, str):
                yield item
            else:
                yield from _named(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _named(item)


def _in_url(text: str) -> str:
    return quote(text, "", errors="replace")


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _basic(text: str) -> str:
    return b64encode(text.encode("utf-8", "backslashreplace")).decode()
