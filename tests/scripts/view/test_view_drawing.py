"""Masks as they are drawn, and the contact sheet."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.display.items import Item, Picture, Stored
from lookcheck.dataset_builders.display.media import FILL_ALPHA, mask_overlay, tint
from lookcheck.dataset_builders.parquet.reader import Choice
from lookcheck.scripts.view.gallery import write_gallery
from lookcheck.scripts.view.sheet import write_sheet

# One worker makes the folders once.
pytestmark = pytest.mark.xdist_group("view")


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=40)))
def test_an_overlay_covers_its_mask_and_no_more(mask: np.ndarray) -> None:
    with Image.open(io.BytesIO(mask_overlay(mask, (230, 159, 0)))) as image:
        alpha = np.asarray(image.convert("RGBA"))[..., 3]
    assert ((alpha > 0) == mask).all()
    # The edge of whatever is there is drawn full: a thin instance can't be missed.
    assert not mask.any() or alpha.max() > 2 * FILL_ALPHA


def test_an_overlay_of_a_large_mask_has_outline_and_tint() -> None:
    mask = np.zeros((900, 1200), bool)
    mask[100:800, 200:900] = True
    with Image.open(io.BytesIO(mask_overlay(mask, (0, 158, 115)))) as image:
        pixels = np.asarray(image.convert("RGBA"))
    assert pixels[450, 200].tolist() == [0, 39, 28, 190]
    assert pixels[450, 202].tolist() == [0, 158, 115, 255]
    assert pixels[450, 550].tolist() == [0, 158, 115, FILL_ALPHA]
    assert pixels[450, 199, 3] == 0


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_tint_changes_only_what_the_mask_covers(height: int, width: int, data: st.DataObject) -> None:
    mask = data.draw(arrays(bool, (height, width)))
    image = Image.new("RGB", (width, height), (9, 9, 9))
    changed = (np.asarray(tint(image, [(mask, (230, 159, 0))])) != 9).any(axis=2)
    assert (changed == mask).all()


def test_sheet_draws_masks_and_cuts_captions(tmp_path: Path, vistaqa_folder: Path) -> None:
    write_gallery(vistaqa_folder, None, Choice(limit=10), sheet=tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as sheet:
        # Eight columns and two lines of tiles.
        assert sheet.size == (8 * 314 + 14, 2 * 279 + 14)
        assert sheet.mode == "RGB"
    print(f"screenshot: {tmp_path / 'sheet.png'}")


def test_a_sheet_of_too_many_pictures_is_refused(tmp_path: Path) -> None:
    item = Item("1", "", "", (Picture("", Stored("", 1, 1)),), {})
    with pytest.raises(InputError, match="holds 600 pictures, not 601"):
        write_sheet([item] * 601, tmp_path, tmp_path / "sheet.png")
