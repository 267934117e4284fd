"""`check` finds what is broken in a built folder, row by row."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lookcheck.dataset_builders.core.masks import decode, encode, extent
from lookcheck.dataset_builders.perturbed_pope import perturbations as ops
from lookcheck.dataset_builders.perturbed_pope.checking import PerturbedPopeChecker
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS
from lookcheck.dataset_builders.perturbed_pope.constants import ANSWERS, SPLITS

Row = dict[str, Any]
Rows = dict[str, Row]


@pytest.fixture(scope="module")
def built_rows(tiny_built: Path) -> Rows:
    rows: Rows = {}
    for condition in CONDITIONS:
        (path,) = (tiny_built / "data").glob(f"{condition}-test-*")
        for category in SPLITS:
            for row in pq.read_table(path, partitioning=None).to_pylist():
                if row["category"] == category:
                    rows[row["id"]] = row | {"answer": ANSWERS[row["answer"]]}
    return rows


def _check(rows: list[Row]) -> set[tuple[str, str]]:
    checker = PerturbedPopeChecker()
    found = [fault for row in rows for fault in checker.row(row)]
    return {(fault.id, fault.rule) for fault in [*found, *checker.finish()]}


def _picture(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Row], Row]:
    def changed(row: Row) -> Row:
        with Image.open(io.BytesIO(row["image"]["bytes"])) as image:
            pixels = np.array(image.convert("RGB"))
        stream = io.BytesIO()
        Image.fromarray(change(pixels)).save(stream, "PNG")
        return {"image": {"bytes": stream.getvalue(), "path": "a.png"}}

    return changed


def _one_pixel(pixels: np.ndarray) -> np.ndarray:
    """Off by one in the corner, which no mask holds."""
    pixels[-1, -1, 2] ^= 1
    return pixels


def _set(**fields: Any) -> Callable[[Row], Row]:
    return lambda _row: fields


def test_a_sound_folder(built_rows: Rows) -> None:
    assert _check(list(built_rows.values())) == set()


@pytest.mark.parametrize(
    ("id", "change", "rule"),
    [
        ("random-3", _set(question=None), "null"),
        ("random-3-blur_50", _set(id="random-3"), "duplicate-id"),
        ("random-3-blur_50", _set(id="random-3-blur"), "id"),
        ("random-3-blur_50", _set(condition="blur_51"), "condition"),
        ("random-3-blur_50", _set(strength=0.4), "strength"),
        ("random-3-noise_50", _set(seed=None), "seed"),
        ("random-3-blur_50", _set(image=None), "image"),
        ("random-3-no_image", _set(image={"bytes": b"x", "path": None}), "image"),
        ("random-1-blur_50", _picture(lambda pixels: pixels[:-1]), "image-size"),
        ("random-1-black_50", _picture(lambda pixels: pixels | np.uint8(1)), "pixels"),
        ("random-1-black_image", _picture(lambda pixels: pixels + np.uint8(1)), "pixels"),
        ("random-3-black_mask", _picture(lambda pixels: pixels | np.uint8(1)), "pixels"),
        ("popular-3-black_mask", _picture(lambda pixels: pixels), "picture-differs"),
        # From here on pictures that were made otherwise, or not at all.
        ("random-3-black_mask", _picture(np.zeros_like), "pixels"),
        ("random-3-black_box", _picture(_one_pixel), "pixels"),
        ("random-1-black_50", _picture(_one_pixel), "pixels"),
        ("random-1-noise_75", _picture(_one_pixel), "pixels"),
        ("random-1-noise_75", _picture(lambda pixels: ops.noise(pixels, 0.75, 1)), "pixels"),
        ("random-1-noise_75", _set(seed=1), "seed"),
        ("random-1-blur_75", _picture(lambda pixels: ops.gaussian_blur(pixels, 0.1)), "pixels"),
        ("random-3-entity_swap", _picture(_one_pixel), "pixels"),
        ("random-3-entity_swap", _set(image="random-3"), "pixels"),
        ("random-3-entity_swap", _set(donor_box=[100.0, 20.0, 62.0, 10.0]), "donor-box"),
        ("random-3-black_mask", _set(masked_fraction=0.01), "masked-fraction"),
        ("random-1-black_50", _set(masked_fraction=0.49), "masked-fraction"),
        ("random-1", _set(masked_fraction=0.1), "masked-fraction"),
        ("popular-3-black_box", _set(masked_fraction=0.1), "picture-differs"),
        ("random-3-black_box", _set(mask_rle=None), "mask"),
        ("random-3-black_box", _set(mask_rle={"size": [120, 160], "counts": "x"}), "mask"),
        ("random-3-black_box", _set(mask_rle={"size": [120, 161], "counts": "02"}), "mask"),
        ("random-3-black_box", _set(masked_fraction=0.5), "masked-fraction"),
        ("random-3-entity_swap", _set(donor="car"), "donor"),
        ("random-3-entity_swap", _set(answer="yes"), "parent-differs"),
        ("random-3-blur_50", _set(answer="no"), "parent-differs"),
        ("random-3-blur_50", _set(entity="cat"), "parent-differs"),
        ("random-3-blur_50", _set(question="Is there a cat in the image?"), "parent-differs"),
    ],
)
def test_what_is_broken_is_found(built_rows: Rows, id: str, change: Callable[[Row], Row], rule: str) -> None:
    changed = change(built_rows[id])
    if isinstance(changed.get("image"), str):
        changed["image"] = built_rows[changed["image"]]["image"]
    rows = [row | changed if row["id"] == id else row for row in built_rows.values()]
    found = _check(rows)
    assert (changed.get("id", id), rule) in found
    # Whoever else complains asks about the same picture.
    assert all(re.search("-[1-4](-|$)", other) for other, _ in found)


def test_a_lost_parent_and_a_parent_answered_no(built_rows: Rows) -> None:
    orphans = [row for row in built_rows.values() if row["id"] != "random-3"]
    found = _check(orphans)
    assert {id for id, _ in found} == {
        f"random-3-{condition}" for condition in CONDITIONS if condition != "original"
    }
    assert {rule for _, rule in found} == {"parent"}
    turned = [
        row | {"answer": "no"} if row["parent_id"] == "random-3" else row for row in built_rows.values()
    ]
    assert _check(turned) == {
        (f"random-3-{condition}", "parent") for condition in ("black_mask", "black_box", "entity_swap")
    }


@pytest.mark.parametrize("grow", [-1, 2])
def test_masks_of_one_object_that_disagree(built_rows: Rows, grow: int) -> None:
    """A box smaller than its object, or larger, although picture and share go with it."""
    parent, row = built_rows["random-3"], built_rows["random-3-black_box"]
    top, bottom, left, right = extent(decode(row["mask_rle"]))
    mask = np.zeros(row["mask_rle"]["size"], bool)
    mask[top : bottom + grow, left:right] = True
    with Image.open(io.BytesIO(parent["image"]["bytes"])) as image:
        made = np.array(image.convert("RGB"))
    made[mask] = 0
    stream = io.BytesIO()
    Image.fromarray(made).save(stream, "PNG")
    changed = {
        "mask_rle": encode(mask),
        "masked_fraction": float(mask.mean()),
        "image": {"bytes": stream.getvalue(), "path": "a.png"},
    }
    rows = [
        other | changed if other["id"].endswith("-3-black_box") else other for other in built_rows.values()
    ]
    assert _check(rows) == {("random-3-black_box", "mask")}
