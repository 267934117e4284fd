"""What `predict` lets people change about a local model, beside where it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

_LOCAL = "Back end transformers"


@dataclass(frozen=True)
class Limits:
    """The pixels a picture is resized to, and how much is computed together."""

    min_pixels: Annotated[
        int | None,
        typer.Option(min=1, help="Of a picture, where a model has a least.", rich_help_panel=_LOCAL),
    ] = None
    max_pixels: Annotated[
        int | None,
        typer.Option(min=1, help="Of a picture, where a model has a most.", rich_help_panel=_LOCAL),
    ] = None
    batch_tokens: Annotated[
        int,
        typer.Option(
            min=0, help="Tokens of a batch, padding included; 0: by device.", rich_help_panel=_LOCAL
        ),
    ] = 0
