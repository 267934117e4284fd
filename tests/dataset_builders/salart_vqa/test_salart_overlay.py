"""Boxes are drawn where they are, with letters that can be told apart, on a picture of any size."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lookcheck.dataset_builders.core.errors import IntegrityError
from lookcheck.dataset_builders.salart_vqa.integrity import inspect_all
from lookcheck.dataset_builders.salart_vqa.overlay import COLOURS, draw_boxes
from lookcheck.dataset_builders.salart_vqa.rows import ChainJob, make_rows


@pytest.mark.parametrize("side", [256, 1000, 4096])
def test_boxes_are_drawn_where_they_are_and_labels_stay_inside(side: int) -> None:
    unit = side // 16
    boxes = {
        letter: (x * unit, y * unit, 3 * unit, 3 * unit)
        for letter, x, y in zip("ABCD", (0, 13, 0, 7), (0, 0, 13, 7), strict=True)
    }
    plain = Image.new("RGB", (side, side), (128, 128, 128))
    drawn = np.asarray(draw_boxes(plain, boxes))
    assert plain.getextrema() == ((128, 128),) * 3
    line = max(2, side // 200)
    for letter, (x, y, width, height) in boxes.items():
        colour, ink = COLOURS[letter]
        middle_x, middle_y = x + width // 2, y + height // 2
        right, bottom = x + width - 1, y + height - 1
        # All four sides, `line` pixels deep, and nothing in the middle.
        for strip in (
            drawn[y : y + line, middle_x],
            drawn[bottom - line + 1 : bottom + 1, middle_x],
            drawn[middle_y, x : x + line],
            drawn[middle_y, right - line + 1 : right + 1],
        ):
            assert (strip == colour).all()
        assert (drawn[middle_y, middle_x] == 128).all()
        # A letter can be read: it is a fiftieth of the picture high, or nine pixels.
        around = drawn[max(0, y - 2 * unit) : y + height + 2 * unit, x : x + width]
        label = around[_rows_of(around, colour, side // 20)]
        letter_rows = np.flatnonzero((np.abs(label - np.array(ink, int)).max(2) < 60).any(1))
        assert np.ptp(letter_rows) + 1 >= max(9, side // 50)


def _rows_of(part: np.ndarray, colour: tuple[int, int, int], least: int) -> slice:
    """Rows in which the colour fills a label's width, and no line's."""
    count = (part == colour).all(2).sum(1)
    found = np.flatnonzero((count > least // 3) & (count < part.shape[1] - 2))
    return slice(int(found.min()), int(found.max()) + 1)


def test_the_four_colours_differ_for_every_eye() -> None:
    red, blue, cyan, orange = (np.array(COLOURS[letter][0], float) for letter in "ABCD")
    assert red.argmax() == 0
    assert blue.argmax() == 2
    assert cyan.argmin() == 0
    assert (orange.argmax(), orange.argmin()) == (0, 2)
    # Luminance, which is what is left to an eye that sees no colours.
    weights = np.array([0.2126, 0.7152, 0.0722])
    shades = sorted(float(colour @ weights) for colour in (red, blue, cyan, orange))
    assert shades[2] - shades[1] > 50


@given(
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    boxes=st.lists(
        st.tuples(st.floats(-1, 90), st.floats(-1, 90), st.floats(0.01, 90), st.floats(0.01, 90)),
        min_size=4,
        max_size=4,
    ),
    mode=st.sampled_from(["RGB", "L", "RGBA", "P"]),
)
def test_any_boxes_on_any_picture(size: tuple[int, int], boxes: list[Any], mode: str) -> None:
    plain = Image.new(mode, size)
    once, again = (draw_boxes(plain, dict(zip("ABCD", boxes, strict=True))) for _ in range(2))
    assert (once.mode, once.size) == ("RGB", size)
    assert once.tobytes() == again.tobytes()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_drawn_overlay_is_as_the_image_is_shown(tmp_path: Path, kind: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    lying = Image.new("RGB", (60, 40), (10, 20, 30))
    lying.putpixel((0, 0), (255, 255, 255))
    lying.save(tmp_path / "picture", kind, exif=exif)
    fields: dict[str, Any] = {
        "row_id": "one",
        "image_role": "clean_reference",
        **dict.fromkeys(("q1_prompt", "q2_prompt", "q3_prompt", "q4_prompt"), "?"),
        **dict.fromkeys(("q2_options", "q4_options"), dict.fromkeys("ABCDE", "that")),
        "q1_answer": "no",
        **dict.fromkeys(("q2_answer", "q3_answer", "q4_answer"), "E"),
        "q3_boxes": {letter: [4 + 8 * n, 30, 6, 20] for n, letter in enumerate("ABCD")},
    }
    (job,) = inspect_all([ChainJob("here", fields, tmp_path / "picture", None)], allow_partial=True)
    (row,) = make_rows(job)["images"]
    image, overlay = (Image.open(io.BytesIO(row[name]["bytes"])) for name in ("image", "q3_overlay_image"))
    assert image.size == overlay.size == (40, 60)
    assert overlay.format == ("JPEG" if kind == "JPEG" else "PNG")
    assert row["q3_boxes"]["B"] == [12, 30, 6, 20]
    assert row["q3_overlay_image"]["path"] == ("one_q3.jpg" if kind == "JPEG" else "one_q3.png")


@pytest.mark.parametrize(
    ("box", "inside"),
    [
        ([-1, -1, 62, 42], True),  # one pixel over on every side, which rounding may do
        ([-1.001, 0, 5, 5], False),
        ([0, -1.001, 5, 5], False),
        ([0, 0, 61.001, 5], False),
        ([0, 0, 5, 41.001], False),
    ],
)
def test_a_box_may_leave_the_picture_by_one_pixel(tmp_path: Path, box: list[float], inside: bool) -> None:
    Image.new("RGB", (60, 40)).save(tmp_path / "picture.png")
    boxes = {letter: [1, 1, 4, 4] for letter in "ABC"} | {"D": box}
    fields: dict[str, Any] = {
        "row_id": "one",
        "image_role": "clean_reference",
        **dict.fromkeys(("q1_prompt", "q2_prompt", "q3_prompt", "q4_prompt"), "?"),
        **dict.fromkeys(("q2_options", "q4_options"), dict.fromkeys("ABCDE", "that")),
        "q1_answer": "no",
        **dict.fromkeys(("q2_answer", "q3_answer", "q4_answer"), "E"),
        "q3_boxes": boxes,
    }
    jobs = [ChainJob("here", fields, tmp_path / "picture.png", None)]
    if inside:
        assert len(inspect_all(jobs, allow_partial=True)) == 1
    else:
        with pytest.raises(IntegrityError, match=r"box D .* leaves the image of 60 × 40"):
            inspect_all(jobs, allow_partial=True)
