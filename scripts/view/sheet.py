"""A contact sheet: many rows in one picture, for looking at all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

from lookcheck.dataset_builders.display.items import Item, Picture
from lookcheck.scripts.view.lettering import Lettering

# A sheet beyond this is a picture that few programs open.
MOST = 600
COLUMNS = 8
TILE = (300, 225)
GAP = 14
LINE = 17
# A text that goes on for longer is no caption.
MOST_LINES = 8
# Facts of a perturbed picture that go below it.
TOLD = ("masked",)
PAPER, INK, SOFT, WASH = (251, 250, 248), (29, 29, 27), (98, 95, 89), (238, 236, 231)
SMALL, LARGE = Lettering(13), Lettering(24)

Row = list[tuple[Item, Picture]]
Caption = list[tuple[str, tuple[int, int, int]]]


@dataclass(frozen=True)
class Heading:
    """What stands above the tiles: a title, where the rows are from, and what the marks mean."""

    title: str
    about: str
    legend: Sequence[str] = ()


def sampled(items: Sequence[Item]) -> tuple[Sequence[Item], int]:
    """Every n-th item, and n: the smallest with which no more than `MOST` pictures are left."""
    step = 1
    while sum(len(item.pictures) for item in items[::step]) > MOST and step < len(items):
        step += 1
    return items[::step], step


def write_sheet(items: Sequence[Item], root: Path, path: Path, heading: Heading) -> None:
    """Write a contact sheet from the thumbnails of a page.

    An item with one picture is a tile, its masks or boxes drawn in. An item with several has a line
    of its own, unless two tiles (the original and one condition) do.

    Parameters
    ----------
    items : sequence of Item
    root : Path
        The page's folder, which the paths of the thumbnails start from.
    path : Path
        PNG file to write.
    heading : Heading
    """
    tiles = sum(len(item.pictures) for item in items)
    widest = max(len(item.pictures) for item in items)
    columns = max(widest, COLUMNS - COLUMNS % widest) if widest > 1 else min(COLUMNS, tiles)
    width = columns * (TILE[0] + GAP) + GAP
    above = [(line, INK, LARGE) for line in LARGE.wrap(heading.title, width - 2 * GAP, MOST_LINES)]
    for text in (heading.about, *heading.legend):
        above += [(line, SOFT, SMALL) for line in SMALL.wrap(text, width - 2 * GAP, MOST_LINES)]
    rows = [[(tile, _caption(*tile)) for tile in row] for row in _rows(items, columns)]
    heights = [TILE[1] + 5 + max(len(caption) for _, caption in row) * LINE + GAP for row in rows]
    top = GAP + sum(lettering.size + 8 for *_, lettering in above) + GAP
    sheet = Image.new("RGB", (width, top + sum(heights) + GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    y = GAP
    for line, colour, lettering in above:
        lettering.draw(draw, (GAP, y), line, colour)
        y += lettering.size + 8
    for row, height in zip(rows, heights, strict=True):
        for column, ((item, picture), caption) in enumerate(row):
            corner = (GAP + column * (TILE[0] + GAP), top)
            _draw(sheet, draw, corner, item, picture, root)
            for number, (line, colour) in enumerate(caption):
                SMALL.draw(draw, (corner[0], top + TILE[1] + 5 + number * LINE), line, colour)
        top += height
    sheet.save(path, "PNG", optimize=False)


def _rows(items: Sequence[Item], columns: int) -> list[Row]:
    """The tiles line by line; the pictures of an item stay on one line."""
    rows: list[Row] = [[]]
    for item in items:
        if len(rows[-1]) + len(item.pictures) > columns:
            rows.append([])
        rows[-1] += [(item, picture) for picture in item.pictures]
    return rows


def _draw(
    sheet: Image.Image,
    draw: ImageDraw.ImageDraw,
    at: tuple[int, int],
    item: Item,
    picture: Picture,
    root: Path,
) -> None:
    x, y = at
    thumb = (picture.marked if len(item.pictures) == 1 else None) or picture.thumb
    if thumb is None:
        draw.rectangle((x, y, x + TILE[0] - 1, y + TILE[1] - 1), fill=WASH)
        SMALL.draw(draw, (x + 10, y + TILE[1] // 2 - LINE), "no picture", SOFT)
        return
    with Image.open(root / thumb.path) as image:
        small = image.convert("RGB")
    # The tile, or twice the picture if that is less.
    room = min(TILE[0], 2 * small.width), min(TILE[1], 2 * small.height)
    small = ImageOps.contain(small, room, Image.Resampling.LANCZOS)
    sheet.paste(small, (x + (TILE[0] - small.width) // 2, y + TILE[1] - small.height))


def _caption(item: Item, picture: Picture) -> Caption:
    """Lines below a tile, each with its colour."""
    if len(item.pictures) == 1:
        texts = [f"{item.id} · {item.caption}", picture.note or item.note]
    elif picture is item.pictures[0]:
        texts = [f"{item.id} · {item.caption}", picture.note]
    else:
        told = [f"{name} {value}" for name, value in picture.facts if name in TOLD]
        texts = [picture.note or picture.label, " · ".join([picture.about, *told])]
    lines = [SMALL.wrap(text, TILE[0], MOST_LINES) for text in texts]
    return [(line, SOFT if number else INK) for number, found in enumerate(lines) for line in found]
