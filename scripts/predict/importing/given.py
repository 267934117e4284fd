"""One answer as a file of another program gives it: its words, and by what it names its row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Given:
    """An answer and its keys; a key that the file lacks is None or empty.

    Attributes
    ----------
    where : str
        ``"file:line"``, for messages.
    words : str or None
        What the model said; None where `fields` are given.
    fields : mapping or None
        What a scorer reads, as it is.
    failure : str or None
        Why the other program got no answer.
    ids : tuple of str
        Each may be the id of a row.
    number : str or None
        ``question_id`` of the upstream file.
    splits : tuple of str
        The answer holds for a row in each of these.
    question : str or None
        The bare question, or a prompt that begins with it.
    pictures : tuple of str
        File name or number of the picture.
    part : str or None
        Which request of the row, such as ``q3``.
    """

    where: str
    words: str | None = None
    fields: Mapping[str, Any] | None = None
    failure: str | None = None
    ids: tuple[str, ...] = ()
    number: str | None = None
    splits: tuple[str, ...] = ()
    question: str | None = None
    pictures: tuple[str, ...] = ()
    part: str | None = None
