"""A contact sheet: many rows in one picture, for looking at all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.display.items import Item, Picture

# A sheet beyond this is a picture that few programs open.
MOST = 600
COLUMNS = 8
TILE = (300, 225)
GAP = 14
LINE = 17
# Facts of a perturbed picture that go below it.
TOLD = ("masked", "put there")
PAPER, INK, SOFT, WASH = (251, 250, 248), (29, 29, 27), (98, 95, 89), (238, 236, 231)


def write_sheet(items: Sequence[Item], root: Path, path: Path) -> None:
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

    Raises
    ------
    InputError
        If there are more tiles than a picture should hold.
    """
    tiles = sum(len(item.pictures) for item in items)
    if tiles > MOST:
        raise InputError(f"a contact sheet holds {MOST} pictures, not {tiles:,}; --limit or --config")
    widest = max(len(item.pictures) for item in items)
    columns = max(widest, COLUMNS - COLUMNS % widest) if widest > 1 else min(COLUMNS, tiles)
    places = _places(items, columns)
    cell = (TILE[0] + GAP, TILE[1] + 2 * LINE + GAP + 6)
    rows = max(row for row, _, _, _ in places) + 1
    sheet = Image.new("RGB", (columns * cell[0] + GAP, rows * cell[1] + GAP), PAPER)
    for row, column, item, picture in places:
        _draw(sheet, (GAP + column * cell[0], GAP + row * cell[1]), item, picture, root)
    sheet.save(path, "PNG", optimize=False)


def _places(items: Sequence[Item], columns: int) -> list[tuple[int, int, Item, Picture]]:
    """Row and column of each picture; the pictures of an item stay on one line."""
    places = []
    row = column = 0
    for item in items:
        if column + len(item.pictures) > columns:
            row, column = row + 1, 0
        for picture in item.pictures:
            places.append((row, column, item, picture))
            column += 1
    return places


def _draw(sheet: Image.Image, corner: tuple[int, int], item: Item, picture: Picture, root: Path) -> None:
    x, y = corner
    draw = ImageDraw.Draw(sheet)
    alone = len(item.pictures) == 1
    thumb = (picture.marked if alone else None) or picture.thumb
    if thumb is None:
        draw.rectangle((x, y, x + TILE[0] - 1, y + TILE[1] - 1), fill=WASH)
        _write(draw, (x + 10, y + TILE[1] // 2 - LINE), "no picture", SOFT, TILE[0] - 20)
    else:
        with Image.open(root / thumb.path) as image:
            small = image.convert("RGB")
        small = ImageOps.contain(small, _room(small), Image.Resampling.LANCZOS)
        sheet.paste(small, (x + (TILE[0] - small.width) // 2, y + TILE[1] - small.height))
    for number, line in enumerate(_captions(item, picture)):
        _write(draw, (x, y + TILE[1] + 5 + number * LINE), line, SOFT if number else INK, TILE[0])


def _room(image: Image.Image) -> tuple[int, int]:
    """The tile, or twice the picture if that is less."""
    return min(TILE[0], 2 * image.width), min(TILE[1], 2 * image.height)


def _captions(item: Item, picture: Picture) -> tuple[str, str]:
    if len(item.pictures) == 1:
        return f"{item.id} · {item.caption}", item.note
    if picture is item.pictures[0]:
        return item.id, item.caption
    told = [f"{name} {value}" for name, value in picture.facts if name in TOLD]
    return picture.label, " · ".join(told) or picture.about


def _write(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], text: str, colour: tuple[int, int, int], room: int
) -> None:
    """One line, cut to the room that there is."""
    font = _font()
    line = " ".join(text.split())
    while line and draw.textlength(line, font) > room:
        line = line.removesuffix("…")[:-1].rstrip() + "…" if len(line) > 1 else ""
    draw.text(at, line, colour, font)


def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    font = ImageFont.load_default(13)
    # The basic layout is the same on every machine; the other needs a library that may be missing.
    if isinstance(font, ImageFont.FreeTypeFont):
        return font.font_variant(layout_engine=ImageFont.Layout.BASIC)
    return font
