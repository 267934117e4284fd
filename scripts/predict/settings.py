"""The options of `lookcheck predict`, grouped as they are used: each class is a set of options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from lookcheck.dataset_builders.core.errors import InputError

_SERVER = "Back end openai"
_EVIDENCE = "Evidence"
_SENT = ("temperature", "max_tokens", "logprobs", "top_logprobs", "chat_template_kwargs")

BackendName = Literal["transformers", "openai", "function"]


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
        str | None, typer.Option(help="hybrid, grounding or native:NAME. Default: the protocol's.")
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
    """Who is asked. What else can change of a local model is its back end's."""

    model: Annotated[str, typer.Option(help="Hub name, folder, the server's name of it, or module:function.")]
    backend: Annotated[
        BackendName | None,
        typer.Option(help="Default: function for module:function, else transformers."),
    ] = None
    revision: Annotated[str | None, typer.Option(help="The model's branch, tag or commit.")] = None

    @property
    def chosen(self) -> BackendName:
        """The back end: a colon stands in no Hub name."""
        if self.backend is not None:
            return self.backend
        return "function" if ":" in self.model and not Path(self.model).exists() else "transformers"


@dataclass(frozen=True)
class Fields:
    """Fields of a request that a server knows by another name, or refuses; both go into ``run.json``."""

    rename_field: Annotated[
        list[str] | None,
        typer.Option(
            help="FIELD=NAME, as max_tokens=max_completion_tokens; repeatable.", rich_help_panel=_SERVER
        ),
    ] = None
    drop_field: Annotated[
        list[str] | None,
        typer.Option(help="A field that the server refuses, as temperature.", rich_help_panel=_SERVER),
    ] = None

    @property
    def names(self) -> dict[str, str | None]:
        """From a field to its name; None where it is not sent.

        Raises
        ------
        InputError
            If a field is none of ours.
        """
        found: dict[str, str | None] = {}
        for item in self.rename_field or []:
            field, _, name = item.partition("=")
            if not name:
                raise InputError(f"--rename-field {item}: expected FIELD=NAME")
            found[field] = name
        found |= dict.fromkeys(self.drop_field or [])
        for field in found:
            if field not in _SENT:
                raise InputError(f"{field!r} is no field of a request; there are {', '.join(_SENT)}")
        return found


@dataclass(frozen=True)
class Finding:
    """What finds the evidence that a model names."""

    segmenter: Annotated[
        str | None, typer.Option(help="SAM 3, or SAM 2 behind Grounding DINO.", rich_help_panel=_EVIDENCE)
    ] = None
    segmenter_revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit.", rich_help_panel=_EVIDENCE)
    ] = None
    grounder: Annotated[str | None, typer.Option(help="Grounding DINO.", rich_help_panel=_EVIDENCE)] = None
    grounder_revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit.", rich_help_panel=_EVIDENCE)
    ] = None
    boxes: Annotated[
        Literal["top", "all"],
        typer.Option(help="Grounding DINO: of each phrase the best box, or all.", rich_help_panel=_EVIDENCE),
    ] = "top"
    masks: Annotated[
        Path | None,
        typer.Option(help="Folder of PNG masks, ID/NAME.png, of native evidence.", rich_help_panel=_EVIDENCE),
    ] = None
    native_boxes: Annotated[
        Literal["rectangles", "sam2"],
        typer.Option(help="Keep a model's boxes, or outline what they show.", rich_help_panel=_EVIDENCE),
    ] = "rectangles"
    merge_iou: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="IoU from which two phrases found one instance.", rich_help_panel=_EVIDENCE
        ),
    ] = 0.8
