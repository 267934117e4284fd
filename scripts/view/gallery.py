"""The whole gallery, or nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.interrupts import interrupts_held
from lookcheck.dataset_builders.core.permissions import make_readable
from lookcheck.dataset_builders.core.processes import Track, no_track
from lookcheck.dataset_builders.display.items import Item
from lookcheck.dataset_builders.display.media import Media
from lookcheck.dataset_builders.display.view import View
from lookcheck.dataset_builders.parquet.listing import refuse_inside_built
from lookcheck.dataset_builders.parquet.reader import BuiltFolder, Choice, open_folder
from lookcheck.dataset_builders.parquet.writer import refuse_output
from lookcheck.dataset_builders.registry import data_set
from lookcheck.scripts.view.page import render_page
from lookcheck.scripts.view.sheet import Heading, sampled, write_sheet


@dataclass(frozen=True)
class Viewed:
    """What was written.

    Attributes
    ----------
    name : str
        Of the data set.
    items, of : int
        Rows (for perturbed POPE: questions) on the page, and in the chosen configuration and splits.
    every : int
        The contact sheet has every so many-th of the items.
    """

    name: str
    items: int
    of: int
    every: int = 1


def write_gallery(
    path: Path,
    output: Path | None,
    choice: Choice = Choice(),
    *,
    sheet: Path | None = None,
    track: Track = no_track,
) -> Viewed:
    """Write the gallery of a built folder, a contact sheet of it, or both.

    Everything is written in a hidden folder beside the output and gets its name in the last step.

    Parameters
    ----------
    path : Path
        A folder written by `lookcheck build`.
    output : Path or None
        New or empty folder for the page.
    choice : Choice
    sheet : Path or None
        New PNG file for the contact sheet.
    track : callable
        Shows progress.

    Raises
    ------
    InputError
        If the folder can't be read, a row can't be shown, or an output is there already.
    """
    folder = open_folder(path)
    if output is not None:
        refuse_output(output)
    if sheet is not None:
        refuse_sheet(sheet)
        refuse_inside_built(sheet)
    view = data_set(folder.name, path).view()
    target = (output or sheet or path).absolute()
    work = None
    try:
        with interrupts_held():
            work = Path(tempfile.mkdtemp(prefix=f".{target.name}.viewing-", dir=target.parent))
        page = work / "page"
        page.mkdir()
        media = Media(page, whole=output is not None)
        items = list(_unique(view.items(folder, media, choice, track)))
        if not items:
            raise InputError(f"{path}: no rows to show")
        total = view.count(folder, choice)
        title = f"{view.title}, sample" if folder.source.get("kind") == "sample" else view.title
        about = _about(folder, choice, len(items), total, view.nouns)
        chosen, every = sampled(items)
        if output is not None:
            text = render_page(title, about, items, _described(view, items))
            (page / "index.html").write_text(text, encoding="utf-8", newline="\n")
        if sheet is not None:
            if every > 1:
                about += f" · every {ordinal(every)} of them"
            heading = Heading(title, about, [view.legend, *_explained(view, chosen)])
            write_sheet(chosen, page, work / "sheet.png", heading)
            make_readable(work / "sheet.png")
            # It may lie on another disk than the page.
            shutil.move(work / "sheet.png", sheet.absolute())
        if output is not None:
            make_readable(page)
            page.rename(output.absolute())
    finally:
        if work is not None:
            shutil.rmtree(work, ignore_errors=True)
    return Viewed(folder.name, len(items), total, every)


def refuse_sheet(sheet: Path) -> None:
    """Refuse a file that is there already or that is no PNG.

    Raises
    ------
    InputError
    """
    if sheet.suffix.lower() != ".png":
        raise InputError(f"{sheet}: a contact sheet is a .png file")
    if sheet.exists() or sheet.is_symlink():
        raise InputError(f"{sheet}: exists already; name a new file")
    if not sheet.absolute().parent.is_dir():
        raise InputError(f"{sheet}: the folder {sheet.absolute().parent} does not exist")


def _unique(items: Iterator[Item]) -> Iterator[Item]:
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise InputError(f"{item.id}: the id stands twice, so that it is no address; see lookcheck check")
        seen.add(item.id)
        yield item


def _described(view: View, items: Sequence[Item]) -> dict[str, Any]:
    used = [name for name in view.facets if any(item.facets.get(name) for item in items)]
    return {
        "facets": used,
        "orders": {name: list(values) for name, values in view.orders.items() if name in used},
        "pictureFacet": view.picture_facet,
        "explained": {name: dict(values) for name, values in view.explained.items() if name in used},
        "marks": view.marks,
        "noun": view.nouns[0],
        "nouns": view.nouns[1],
    }


def _explained(view: View, items: Sequence[Item]) -> list[str]:
    """A line on each picture's label that stands on a sheet."""
    meanings = view.explained.get(view.picture_facet or "", {})
    labels = dict.fromkeys(picture.label for item in items for picture in item.pictures)
    named = [f"{label}: {meanings[label]}" for label in labels if label in meanings]
    return ["; ".join(named)] if named else []


def ordinal(number: int) -> str:
    """For people: 2nd, 3rd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, "th")
    return f"{number:,}{ending}"


def _about(folder: BuiltFolder, choice: Choice, shown: int, total: int, nouns: tuple[str, str]) -> str:
    parts = [folder.version, f"source {folder.source.get('kind', 'unknown')}"]
    parts += [name for name in (choice.config, choice.split) if name]
    rows = f"{shown:,}\u00a0{nouns[shown != 1]}"
    parts.append(rows if shown == total else f"the first {shown:,} of {total:,} {nouns[1]}")
    return " · ".join(part for part in parts if part)
