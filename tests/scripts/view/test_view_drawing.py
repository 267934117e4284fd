"""Masks as they are drawn, and the contact sheet."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image, ImageDraw
from scipy import ndimage

from lookcheck.dataset_builders.display.drawing import (
    COLOURS,
    DIMMED,
    light_png,
    outline,
    outline_png,
    spotlight,
)
from lookcheck.dataset_builders.display.items import Item, Picture, Stored
from lookcheck.dataset_builders.display.media import Media
from lookcheck.dataset_builders.parquet.reader import Choice
from lookcheck.scripts.view.gallery import write_gallery
from lookcheck.scripts.view.lettering import Lettering, _blank
from lookcheck.scripts.view.sheet import Heading, sampled, write_sheet

# One worker makes the folders once.
pytestmark = pytest.mark.xdist_group("view")


def _rgba(png: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGBA")).astype(int)


masks_of_a_picture = array_shapes(min_dims=2, max_dims=2, max_side=40).flatmap(
    lambda shape: st.lists(arrays(bool, shape), min_size=1, max_size=3)
)


@given(masks_of_a_picture)
def test_no_pixel_of_an_instance_changes_and_all_others_get_darker(masks: list[np.ndarray]) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (*masks[0].shape, 3), dtype=np.uint8)
    inside = np.logical_or.reduce(masks)
    shown = spotlight(noise, masks)
    assert (shown[inside] == noise[inside]).all()
    drawn = [outline(mask, inside, 1) for mask in masks]
    plain = ~inside & ~np.logical_or.reduce([each > 0 for each in drawn])
    assert (shown[plain] == noise[plain].astype(int) * DIMMED // 255).all()
    for number, mask in enumerate(masks):
        # The page puts the same together from a picture to multiply with and one to lay over it.
        light = _rgba(light_png(mask))
        assert (light[mask] == 255).all()
        assert (light[~mask] == [DIMMED, DIMMED, DIMMED, 255]).all()
        over = _rgba(outline_png(mask, inside, COLOURS[number]))
        assert (over[..., 3] > 0).tolist() == (drawn[number] > 0).tolist()
        assert not (over[..., 3] > 0)[inside].any()
        # Whatever has room around it is outlined, however thin it is.
        beside = ndimage.binary_dilation(mask) & ~inside
        assert (over[beside] == [*COLOURS[number], 255]).all()


def test_without_instances_nothing_changes() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert (spotlight(noise, []) == noise).all()


def test_the_outline_of_a_large_mask() -> None:
    mask = np.zeros((900, 1200), bool)
    mask[100:800, 200:900] = True
    pixels = _rgba(outline_png(mask, mask, (0, 158, 115)))
    # 1200 / 300 pixels wide, with a dark hairline of a third around it.
    assert [pixels[450, x].tolist() for x in (200, 199, 196, 195, 194)] == [
        [0, 0, 0, 0],
        [0, 158, 115, 255],
        [0, 158, 115, 255],
        [0, 39, 28, 255],
        [0, 0, 0, 0],
    ]


def test_a_blue_block_stays_blue(tmp_path: Path) -> None:
    """A question that asks for a colour can be answered from every picture of it."""
    blue = Image.new("RGB", (1280, 960), (90, 90, 90))
    blue.paste((40, 90, 200), (400, 300, 800, 700))
    mask = np.zeros((960, 1280), bool)
    mask[300:700, 400:800] = True
    stream = io.BytesIO()
    blue.save(stream, "PNG")
    thumb = Media(tmp_path, whole=False).add_marked({"bytes": stream.getvalue()}, [mask], "a")
    with Image.open(tmp_path / thumb.path) as image:
        shown = np.asarray(image.convert("RGB")).astype(int)
    assert (thumb.width, thumb.height) == (400, 300)
    assert np.abs(shown[97:216, 128:247] - [40, 90, 200]).max() <= 12
    assert np.abs(shown[10:60, 10:100] - 90 * DIMMED // 255).max() <= 6


def _tile(number: int, root: Path, pictures: int = 1, **texts: str) -> Item:
    Image.new("RGB", (300, 225), (200, 30, 30)).save(root / "t.jpg")
    thumb = Stored("t.jpg", 300, 225)
    shown = tuple(Picture(f"p{index}" if index else "original", thumb, thumb) for index in range(pictures))
    return Item(str(number), texts.get("caption", "what?"), texts.get("note", "red"), shown, {})


def _sheet(items: list[Item], root: Path, heading: Heading) -> np.ndarray:
    write_sheet(items, root, root / "sheet.png", heading)
    with Image.open(root / "sheet.png") as image:
        assert image.mode == "RGB"
        return np.asarray(image).astype(int)


def test_a_sheet_has_title_source_and_legend(tmp_path: Path, vistaqa_folder: Path) -> None:
    write_gallery(vistaqa_folder, None, Choice(limit=10), sheet=tmp_path / "sheet.png")
    print(f"screenshot: {tmp_path / 'sheet.png'}")
    items = [_tile(number, tmp_path) for number in range(3)]
    plain = _sheet(items, tmp_path, Heading("T", "", ()))
    told = _sheet(items, tmp_path, Heading("T", "1.0.0 · source sample", ("Outlined: evidence.",)))
    # Two more lines above the same tiles.
    assert told.shape == (plain.shape[0] + 2 * 21, plain.shape[1], 3)
    assert (told[-200:] == plain[-200:]).all()
    assert (told[50:90, 10:200] != told[0, 0]).any()


def test_a_caption_is_wrapped_and_not_cut(tmp_path: Path) -> None:
    question = " ".join(["which", "of", "the", "many", "things"] * 6)
    assert len(question) > 100
    lines = Lettering(13).wrap(question, 300, 8)
    assert " ".join(lines) == question
    assert len(lines) > 2
    assert all(Lettering(13).width(line) <= 300 for line in lines)
    short = _sheet([_tile(1, tmp_path, caption="a")], tmp_path, Heading("T", ""))
    long = _sheet([_tile(1, tmp_path, caption=question)], tmp_path, Heading("T", ""))
    # The id stands before the question.
    more = len(Lettering(13).wrap(f"1 · {question}", 300, 8)) - 1
    assert long.shape[0] - short.shape[0] == more * 17
    # What has no end is cut, and says so.
    assert Lettering(13).wrap("w" * 4000, 300, 8)[-1].endswith("…")
    assert len(Lettering(13).wrap("w" * 4000, 300, 8)) == 8


@pytest.mark.parametrize(
    "text", ["ما الذي يظهر", "Что видно?", "מה רואים", "Τι φαίνεται;", "家族は何人", "👩‍🚀"]
)
def test_text_of_any_script_is_readable(text: str) -> None:
    """Either a font of this machine has the characters, or their code points stand there; never a blank box."""
    lettering = Lettering(13)
    (line,) = lettering.wrap(text, 2000, 1)
    missing = [character for character in text if f"[U+{ord(character):04X}]" in line]
    kept = [character for character in text if character not in missing]
    assert "".join(character for character in line if not character.isascii()) == "".join(
        character for character in kept if not character.isascii()
    )
    image = Image.new("RGB", (int(lettering.width(line)) + 20, 30), "white")
    lettering.draw(ImageDraw.Draw(image), (5, 5), line, (0, 0, 0))
    assert (np.asarray(image) < 128).any()
    parts = list(lettering._parts(line))
    assert "".join(part for _, part in parts) == line
    for font, part in parts:
        blank = bytes(font.getmask("\U0010fffe"))
        assert all(_blank(character) or bytes(font.getmask(character)) != blank for character in part)


def test_a_sheet_of_too_many_pictures_is_a_sample_of_them(tmp_path: Path) -> None:
    items = [_tile(number, tmp_path, 4) for number in range(151)]
    assert sampled(items[:150]) == (items[:150], 1)
    chosen, every = sampled(items)
    assert every == 2
    assert chosen == items[::2]
    assert sampled([_tile(1, tmp_path, 3)] * 601)[1] == 4


def test_view_of_more_than_600_pictures_says_that_the_sheet_is_sampled(
    lookcheck: Any, tmp_path: Path, upstream: Any, build_vistaqa: Any
) -> None:
    folder = build_vistaqa(tmp_path, [upstream.record(number, "counting") for number in range(1201)])
    made = lookcheck(
        "view", "--dataset", folder, "--output", tmp_path / "page", "--sheet", tmp_path / "sheet.png"
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout == (
        f"{tmp_path / 'page' / 'index.html'}: 1,201 of 1,201\n"
        f"{tmp_path / 'sheet.png'}: 1,201 of 1,201, every 3rd of them: a sheet holds 600 pictures\n"
    )
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.width == 8 * 314 + 14
        # 401 tiles in eight columns; captions of two lines or more.
        assert sheet.height > 51 * 279
