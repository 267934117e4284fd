"""Protocols as data: one versioned text file each, with the prompt, the forms asked for and the parser.

The files lie in ``protocols/`` of the data set's folder, ``NAME.yaml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AskingProtocol:
    """How a data set is asked.

    Attributes
    ----------
    name : str
        As ``--protocol`` takes it, such as ``pope-yes-no``.
    version : int
        Raised with every change that could change an answer.
    dataset : str
        Name of the data set.
    title : str
        One sentence for people.
    source : str
        Paper and section it is taken from, or ``own: …`` where it is ours, and why.
    prompt : str
        Of the user's turn, with ``{question}`` where the row's question goes.
    max_new_tokens : int
    picture_first : bool
    words : tuple of str
        Words whose first-token probability is measured.
    parser : str
        Name of the reader of replies.
    options : mapping
        What only this data set's task reads.
    sha256 : str
        Of the file; goes into ``run.json``.
    """

    name: str
    version: int
    dataset: str
    title: str
    source: str
    prompt: str
    max_new_tokens: int
    parser: str
    sha256: str
    picture_first: bool = True
    words: tuple[str, ...] = ()
    options: Mapping[str, Any] | None = None
