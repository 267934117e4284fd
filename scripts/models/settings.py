"""Options of whoever runs a model, grouped as they are used: where it runs, and how a server is reached."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Literal

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.redaction import Secrets, secrets_of, shown_url

_LOCAL, _SERVER = "Back end transformers", "Back end openai"


@dataclass(frozen=True)
class Place:
    """Where and how a local model runs."""

    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 …", rich_help_panel=_LOCAL)] = "auto"
    device_map: Annotated[
        str | None, typer.Option(help="auto: one model over several GPUs.", rich_help_panel=_LOCAL)
    ] = None
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16", "float16"],
        typer.Option(help="auto: bfloat16 on a GPU, float32 on a CPU.", rich_help_panel=_LOCAL),
    ] = "auto"
    attention: Annotated[str, typer.Option(help="sdpa, eager, …", rich_help_panel=_LOCAL)] = "sdpa"
    quantization: Annotated[
        Literal["4bit", "8bit"] | None,
        typer.Option(help="Weights by bitsandbytes; needs a GPU.", rich_help_panel=_LOCAL),
    ] = None
    adapter: Annotated[
        str | None, typer.Option(help="LoRA by peft: Hub name or folder.", rich_help_panel=_LOCAL)
    ] = None
    batch_size: Annotated[
        int,
        typer.Option(min=0, help="Rows; 0: by tokens. Halved as memory ends.", rich_help_panel=_LOCAL),
    ] = 0
    prefix_cache: Annotated[
        bool, typer.Option(help="Compute the shared beginning once.", rich_help_panel=_LOCAL)
    ] = True

    @property
    def bare(self) -> Place:
        """The same place for a further model, such as a segmenter: its weights are as its files have them."""
        return replace(self, quantization=None, adapter=None)


@dataclass(frozen=True)
class Access:
    """How a server is reached; what is secret in it is never written anywhere."""

    base_url: Annotated[str | None, typer.Option(help="http://host:8000/v1", rich_help_panel=_SERVER)] = None
    api_key_env: Annotated[
        str, typer.Option(help="Variable that holds the key.", rich_help_panel=_SERVER)
    ] = "OPENAI_API_KEY"
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at a time.", rich_help_panel=_SERVER)] = 32
    timeout: Annotated[
        float,
        typer.Option(
            min=0.1,
            help="Seconds that a request may take, and that a server may ask to wait.",
            rich_help_panel=_SERVER,
        ),
    ] = 120.0
    retries: Annotated[
        int, typer.Option(min=0, help="After 429, 5xx and timeouts.", rich_help_panel=_SERVER)
    ] = 6
    top_logprobs: Annotated[
        int,
        typer.Option(min=0, help="Tokens to list; hosted servers allow 5 to 20.", rich_help_panel=_SERVER),
    ] = 20
    extra_body: Annotated[
        str, typer.Option(help="JSON object of further fields; null drops one.", rich_help_panel=_SERVER)
    ] = "{}"
    server: Annotated[
        str | None,
        typer.Option(help="What the server runs ('vllm 0.11, bfloat16'): kept.", rich_help_panel=_SERVER),
    ] = None

    @cached_property
    def url(self) -> str:
        """The address, user and password included.

        Raises
        ------
        InputError
            If there is none, or it is no address.
        """
        if self.base_url is None:
            raise InputError("--backend openai needs --base-url")
        if not self.base_url.startswith(("http://", "https://")):
            raise InputError(f"--base-url {shown_url(self.base_url)}: expected http://… or https://…")
        return self.base_url

    @property
    def shown(self) -> str:
        """The address for people: without user, password and query."""
        return shown_url(self.url)

    @cached_property
    def key(self) -> str | None:
        """The API key.

        Raises
        ------
        InputError
            If no request can carry it.
        """
        key = os.environ.get(self.api_key_env) or None
        if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
            raise InputError(f"the key in {self.api_key_env} has characters that no request can carry")
        return key

    @cached_property
    def body(self) -> Mapping[str, Json]:
        """Further fields of a request; they replace those of the same name, and null leaves one out.

        Raises
        ------
        InputError
            If `extra_body` is no JSON object.
        """
        try:
            value = json.loads(self.extra_body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise InputError(f"--extra-body {self.extra_body}: expected a JSON object")
        return value

    @cached_property
    def secrets(self) -> Secrets:
        """What a server is told in confidence."""
        return secrets_of(self.url, self.key, self.body)
