"""`lookcheck view`: look at a built folder in a browser, or at a contact sheet of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts import console


def view(
    folder: Annotated[Path, typer.Option("--dataset", help="A folder written by lookcheck build.")],
    output: Annotated[
        Path | None, typer.Option(help="New folder for the page (DATASET-gallery without --sheet).")
    ] = None,
    config: Annotated[
        str | None, typer.Option(help="Configuration; the first if not given, all for perturbed POPE.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split; all if not given.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, max=10**9, help="Show only so many rows, from the first.")
    ] = None,
    sheet: Annotated[Path | None, typer.Option(help="New .png file for a contact sheet.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Write a static page to look through a built folder: pictures, masks, questions, answers.

    The page is one index.html with its pictures in a folder beside it; it opens from the disk and
    asks the network for nothing. For perturbed POPE, all conditions of a question stand together;
    --config shows one of them beside the original.

    Example:

    \b
      lookcheck view --dataset vistaqa --output gallery --sheet sheet.png
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    # `datasets` takes seconds to import: not for --help, nor to say that there is nothing.
    from lookcheck.dataset_builders.parquet.reader import Choice
    from lookcheck.scripts.view.gallery import ordinal, write_gallery
    from lookcheck.scripts.view.sheet import MOST

    if output is None and sheet is None:
        output = folder.absolute().with_name(f"{folder.absolute().name}-gallery")
    with console.tracking(quiet=json) as track:
        viewed = write_gallery(folder, output, Choice(config, split, limit), sheet=sheet, track=track)
    page = None if output is None else output / "index.html"
    if json:
        counts = {"name": viewed.name, "shown": viewed.items, "of": viewed.of}
        written = {"page": page and str(page), "sheet": sheet and str(sheet)}
        print(console.to_json({**counts, **written, "sheet_every": viewed.every if sheet else None}))
        return
    if page is not None:
        print(f"{page}: {viewed.items:,} of {viewed.of:,}")
    if sheet is not None:
        more = (
            f", every {ordinal(viewed.every)} of them: a sheet holds {MOST} pictures"
            if viewed.every > 1
            else ""
        )
        print(f"{sheet}: {viewed.items:,} of {viewed.of:,}{more}")


app = console.new_app("Look at a built folder.")
app.command()(view)


if __name__ == "__main__":
    console.run(app)
