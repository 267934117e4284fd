"""The options of `lookcheck judge run`, grouped as they are used: each class is a set of options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from lookcheck.scripts.judge.decision import MAX_NEW_TOKENS

DEFAULT_MODEL = "Qwen/Qwen2.5-14B-Instruct"

MAX_CHARACTERS = 8_000
"""Default of the longest prompt text; an answer beyond it is no short answer."""


@dataclass(frozen=True)
class Questions:
    """What is to be judged."""

    dataset: Annotated[
        str | None,
        typer.Option(help="Built folder, ORG/NAME on the Hub, or JSON Lines: id, question, answer."),
    ] = None
    answers: Annotated[
        Path | None, typer.Option(help="JSON Lines: id, and prediction or answer (prediction if both).")
    ] = None
    config: Annotated[str | None, typer.Option(help="The data set's configuration.")] = None
    split: Annotated[str | None, typer.Option(help="Needed where there are several.")] = None
    dataset_revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None
    max_characters: Annotated[int, typer.Option(min=1, help="Longer texts are not judged: verdict none.")] = (
        MAX_CHARACTERS
    )
    dedupe: Annotated[bool, typer.Option(help="Judge identical triples once.")] = True
    accept_exact: Annotated[
        bool, typer.Option("--accept-exact", help="Say yes without the model to normalised equal answers.")
    ] = False


@dataclass(frozen=True)
class Asking:
    """Who is asked, and how a verdict comes of the reply."""

    backend: Annotated[
        Literal["transformers", "openai"], typer.Option(help="A local model, or a server.")
    ] = "transformers"
    model: Annotated[str, typer.Option(help="Hub name, folder, or the server's name of it.")] = DEFAULT_MODEL
    revision: Annotated[str | None, typer.Option(help="The model's branch, tag or commit.")] = None
    method: Annotated[
        Literal["logprob", "generate"],
        typer.Option(help="logprob compares yes and no at the first token; generate parses a greedy reply."),
    ] = "logprob"
    min_mass: Annotated[
        float,
        typer.Option(min=0, max=1, help="logprob: least probability of yes and no together for a verdict."),
    ] = 0.5
    max_new_tokens: Annotated[
        int, typer.Option(min=1, help="generate: tokens of a reply; a reply that is cut is none.")
    ] = MAX_NEW_TOKENS
    thinking: Annotated[
        Literal["strip", "keep"],
        typer.Option(help="generate: strip reads what follows the last closing tag of a thinking trace."),
    ] = "strip"

    @property
    def budget(self) -> int:
        """Tokens of a reply."""
        return 1 if self.method == "logprob" else self.max_new_tokens
