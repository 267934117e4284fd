"""The options of `lookcheck predict`, grouped as they are used: each class is a set of options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

BackendName = Literal["transformers", "openai", "function"]

_LOCAL = "Back end transformers"


@dataclass(frozen=True)
class Asking:
    """What is asked, and of which rows."""

    dataset: Annotated[str, typer.Option(help="Built folder, or ORG/NAME of one on the Hub.")]
    dataset_revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None
    protocol: Annotated[
        str | None, typer.Option(help="One of lookcheck protocols. Default: the data set's first.")
    ] = None
    condition: Annotated[
        list[str] | None, typer.Option(help="Perturbed POPE: ask this condition only; repeatable.")
    ] = None
    evidence: Annotated[
        str | None, typer.Option(help="VistaQA: hybrid, grounding or native:NAME. Default: the protocol's.")
    ] = None
    thinking: Annotated[
        Literal["on", "off"] | None, typer.Option(help="Default: the model's own template decides.")
    ] = None
    no_image: Annotated[
        bool, typer.Option("--no-image", help="Withhold the picture; SalArt: Q4 alone, with option F.")
    ] = False
    ids: Annotated[
        list[str] | None, typer.Option(help="Ask this row only, repeatable; @FILE has one id a line.")
    ] = None
    limit: Annotated[int | None, typer.Option(min=1, help="Ask the first rows only.")] = None


@dataclass(frozen=True)
class Model:
    """Who is asked."""

    model: Annotated[str, typer.Option(help="Hub name, folder, the server's name of it, or module:function.")]
    backend: Annotated[
        BackendName | None,
        typer.Option(help="Default: function for module:function, else transformers."),
    ] = None
    revision: Annotated[str | None, typer.Option(help="The model's branch, tag or commit.")] = None
    quantization: Annotated[
        Literal["4bit", "8bit"] | None, typer.Option(help="Of the weights.", rich_help_panel=_LOCAL)
    ] = None
    adapter: Annotated[str | None, typer.Option(help="LoRA: folder or Hub name.", rich_help_panel=_LOCAL)] = (
        None
    )
    min_pixels: Annotated[
        int | None,
        typer.Option(min=1, help="Smallest picture, if the model resizes.", rich_help_panel=_LOCAL),
    ] = None
    max_pixels: Annotated[
        int | None, typer.Option(min=1, help="Largest picture, if the model resizes.", rich_help_panel=_LOCAL)
    ] = None

    @property
    def chosen(self) -> BackendName:
        """The back end: a colon stands in no Hub name."""
        if self.backend is not None:
            return self.backend
        return "function" if ":" in self.model and not Path(self.model).exists() else "transformers"
