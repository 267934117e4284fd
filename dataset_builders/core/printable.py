"""Text of a file at a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text of a file as a terminal may show it: control characters as their escapes.

    Examples
    --------
    >>> print(printable("a\\x1b[31mb\\n"))
    a\\x1b[31mb\\n
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )
