"""One request to a model, and its answer; nothing here knows a data set or a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

Thinking = Literal["on", "off"]


@dataclass(frozen=True)
class Picture:
    """A picture to be shown to a model: where its encoded bytes lie.

    Attributes
    ----------
    file : Path
        A Parquet file of a built folder, or the picture's own file.
    row : int or None
        Row of the Parquet file; None where `file` is the picture.
    column : str
        Of the Parquet file.
    sha256 : str
        Of the encoded bytes, hexadecimal: two pictures are the same where it is.
    size : tuple of (int, int)
        Width and height in pixels, as people see it.
    """

    file: Path
    row: int | None
    column: str
    sha256: str
    size: tuple[int, int]


@dataclass(frozen=True)
class Measure:
    """What is to be read off the probabilities of the first new token.

    Attributes
    ----------
    words : tuple of str
        Lower-case words; the probability of a word is the sum over all its single-token forms (any case,
        with a leading space or without).
    entity : str or None
        A name whose first token's rank and probability are wanted.
    """

    words: tuple[str, ...] = ()
    entity: str | None = None


@dataclass(frozen=True)
class Request:
    """A single-turn conversation: at most one picture and a text.

    Attributes
    ----------
    text : str
        Goes to the model as plain text: nothing in it acts as a control token or a placeholder.
    system : str or None
    picture : Picture or None
    picture_first : bool
        Whether the picture stands before the text.
    max_new_tokens : int
        Of the reply; 0 asks for the first token's probabilities only.
    measure : Measure or None
    thinking : {"on", "off"} or None
        None leaves it to the model's template.
    """

    text: str
    system: str | None = None
    picture: Picture | None = None
    picture_first: bool = True
    max_new_tokens: int = 16
    measure: Measure | None = None
    thinking: Thinking | None = None

    @cached_property
    def key(self) -> str:
        """Hash of all that affects the answer: requests of one key are asked once."""
        picture = None if self.picture is None else self.picture.sha256
        measure = None if self.measure is None else [self.measure.words, self.measure.entity]
        told = [self.text, self.system, picture, self.picture_first, self.max_new_tokens, measure]
        return hashlib.sha256(json.dumps([*told, self.thinking]).encode()).hexdigest()


@dataclass(frozen=True)
class FirstToken:
    """Probabilities of the first new token, from raw logits.

    Attributes
    ----------
    logp : mapping of str to float or None
        For each word of `Measure.words`, the log (nats) of the summed probability of its forms; None where a
        server doesn't list enough to say.
    mass : float or None
        Probability of all words together, in [0, 1].
    entity_rank : int or None
        1 is the most probable; the best over the entity's forms.
    entity_prob : float or None
        Of that form's first token, in [0, 1].
    entity_form : str or None
        The form of the best rank, such as ``" Dog"``.
    entity_whole : bool or None
        Whether its first token is the whole entity.
    """

    logp: Mapping[str, float | None] = field(default_factory=dict)
    mass: float | None = None
    entity_rank: int | None = None
    entity_prob: float | None = None
    entity_form: str | None = None
    entity_whole: bool | None = None


@dataclass(frozen=True)
class Answer:
    """What came back for a request.

    Attributes
    ----------
    raw : str or None
        All that the model wrote, a thinking trace with its tags included; None where nothing was asked for.
    text : str or None
        What follows the last closing tag of a thinking trace; None if there is none.
    reasoning : str or None
        The trace, from its tags or from a server's own field.
    ended : bool
        Whether the reply came to its end before the tokens did.
    failure : str or None
        Why there is no answer: such a request is asked again by the next start and never scored.
    first : FirstToken or None
    prompt_tokens, new_tokens : int or None
    picture_size : tuple of (int, int) or None
        Width and height of the picture as the model saw it, where known.
    seconds : float or None
        Of this request's share of its batch.
    fields : mapping or None
        Fields of the line of predictions as they are, where a Python function gave them instead of words.
    """

    raw: str | None = None
    text: str | None = None
    reasoning: str | None = None
    ended: bool = True
    failure: str | None = None
    first: FirstToken | None = None
    prompt_tokens: int | None = None
    new_tokens: int | None = None
    picture_size: tuple[int, int] | None = None
    seconds: float | None = None
    fields: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Names:
    """By what other programs name a row, so that answers made elsewhere find it.

    Attributes
    ----------
    question_id : str or None
        Of the upstream file; may repeat across splits.
    split : str or None
    pictures : tuple of str
        File name or number of the picture upstream.
    """

    question_id: str | None = None
    split: str | None = None
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """One row of a data set as requests.

    Attributes
    ----------
    id : str
    requests : mapping of str to Request
        By part: ``{"": request}`` where a row is one request, else such as ``q1`` … ``q4``.
    size : tuple of (int, int) or None
        Width and height of the original picture, to which masks refer.
    about : mapping
        What the task needs to read the answers: options of a choice question and the like. ``questions``
        holds the row's bare question for each part.
    names : Names
        Beside `id`.
    """

    id: str
    requests: Mapping[str, Request]
    size: tuple[int, int] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
