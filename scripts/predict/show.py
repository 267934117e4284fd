"""`lookcheck predict show`: what one row becomes, to the last special token."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated

import typer
from rich.text import Text

from lookcheck.dataset_builders.core.printable import printable
from lookcheck.scripts import console
from lookcheck.scripts.models.settings import Access, Place
from lookcheck.scripts.option_objects import with_option_objects
from lookcheck.scripts.predict.local.settings import Limits
from lookcheck.scripts.predict.settings import Asking, Fields, Model


@with_option_objects
def show(
    asking: Asking,
    model: Model,
    place: Place,
    limits: Limits,
    access: Access,
    fields: Fields,
    id: Annotated[str, typer.Argument(help="Of the row.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the exact prompt, the picture's size and the tokens of a row; no model is asked.

    Example:

    \b
      lookcheck predict show random-1 --dataset perturbed \\
        --model Qwen/Qwen2.5-VL-7B-Instruct
    """
    from lookcheck.scripts.predict.session import RunOptions, prepare

    session = prepare(
        RunOptions(replace(asking, ids=[id], limit=None), model, place, access, fields, limits=limits)
    )
    (row,) = session.plan.rows
    found = {part: (request, session.backend.show(request)) for part, request in row.requests.items()}
    session.backend.close()
    session.processes.close()
    if as_json:
        told = {
            part or "request": {
                **asdict(shown),
                "system": request.system,
                "text": request.text,
                "max_new_tokens": request.max_new_tokens,
                "original_size": None if request.picture is None else request.picture.size,
                "picture_sha256": None if request.picture is None else request.picture.sha256,
            }
            for part, (request, shown) in found.items()
        }
        print(console.to_json({"id": row.id, "protocol": session.plan.protocol.name, "requests": told}))
        return
    for part, (request, shown) in found.items():
        picture = "none"
        if request.picture is not None:
            seen = "the model's own size" if shown.picture_size is None else _size(shown.picture_size)
            picture = f"{_size(request.picture.size)}, seen as {seen}"
        tokens = "known to the server alone" if shown.tokens is None else f"{shown.tokens:,}"
        lines = [
            f"id: {row.id}" + (f", {part}" if part else ""),
            f"picture: {picture}",
            f"tokens: {tokens}, at most {request.max_new_tokens:,} new ones",
            "prompt:",
            *shown.prompt.split("\n"),
            "",
        ]
        for line in lines:
            console.stdout.print(Text(printable(line)))


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]} × {size[1]}"
