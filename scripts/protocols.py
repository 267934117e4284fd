"""`lookcheck protocols`: how models are asked, by data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.requests.protocol import AskingProtocol
from lookcheck.scripts import console


def protocols(
    name: Annotated[str | None, typer.Argument(help="Show this one with its prompt and source.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, all fields.")] = False,
) -> None:
    """List the protocols by which a model is asked: prompt, tokens, parser.

    Each is a versioned text file in its data set's folder; a data set's first is its default.

    Example:

    \b
      lookcheck protocols pope-yes-no
    """
    found = {key: item for data_set in DATASETS.values() for key, item in data_set.protocols().items()}
    if name is not None and name not in found:
        raise InputError(f"no protocol {name!r}; there are {', '.join(found)}")
    shown = found if name is None else {name: found[name]}
    if as_json:
        print(console.to_json({key: asdict(item) for key, item in shown.items()}))
    elif name is not None:
        _tell(found[name])
    else:
        for data_set in DATASETS.values():
            console.stdout.print(_table(data_set.title, data_set.protocols().values()))


def _table(title: str, shown: Iterable[AskingProtocol]) -> Table:
    drawn = Table(title=title, title_justify="left", show_lines=True)
    drawn.add_column("protocol", no_wrap=True)
    drawn.add_column("tokens", justify="right")
    drawn.add_column("what is asked")
    for item in shown:
        drawn.add_row(*map(Text, (f"{item.name} {item.version}", str(item.max_new_tokens), item.title)))
    return drawn


def _tell(item: AskingProtocol) -> None:
    told = {
        "protocol": f"{item.name}, version {item.version}, for {item.dataset}",
        "about": item.title,
        "source": item.source,
        "new tokens": str(item.max_new_tokens),
        "picture": "before the text" if item.picture_first else "behind the text",
        "measured": ", ".join(item.words) or "nothing",
        "parser": item.parser,
        "sha256": item.sha256,
    }
    for key, value in told.items():
        console.stdout.print(Text(f"{key}: {value}"))
    console.stdout.print(Text(f"prompt:\n{item.prompt}"))
