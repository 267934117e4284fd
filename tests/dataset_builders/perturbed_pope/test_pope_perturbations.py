"""Each operator against a plain loop over pixels: which change, and to which value."""

from __future__ import annotations

import doctest
import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from lookcheck.dataset_builders.perturbed_pope import perturbations as ops

SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (4, 6), (5, 7), (8, 8), (13, 9), (480, 640), (427, 641)]
shapes = st.tuples(st.integers(1, 24), st.integers(1, 24))


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_black_half_and_three_quarters(height: int, width: int) -> None:
    image = picture(height, width)
    half, three = ops.black(image, 0.5), ops.black(image, 0.75)
    y, x = np.mgrid[:height, :width]
    upper = y < height // 2
    gone = upper | ((y >= height // 2) & (x < width // 2))
    for made, where in ((half, upper), (three, gone)):
        assert made.dtype == np.uint8
        assert not made[where].any()
        assert np.array_equal(made[~where], image[~where])


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_other_ratios_fill_a_grid_row_by_row(height: int, width: int) -> None:
    image = picture(height, width)
    assert np.array_equal(ops.black(image, 0), image)
    assert not ops.black(image, 1).any()
    made = ops.black(image, 0.3)  # 19 of 64 cells: two whole rows and three cells
    for y in range(0, height, max(1, height // 20)):
        for x in range(0, width, max(1, width // 20)):
            # Cell c starts at c * side // 8, so that pixel p lies in the last cell that starts at or before it.
            row = max(c for c in range(8) if c * height // 8 <= y)
            column = max(c for c in range(8) if c * width // 8 <= x)
            assert made[y, x].any() == (row * 8 + column >= 19), (y, x)


@given(shapes, st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.integers(0, 2**63 - 1))
def test_noise_is_the_formula(shape: tuple[int, int], alpha: float, seed: int) -> None:
    image = picture(*shape)
    made = ops.noise(image, alpha, seed)
    # An outside account of U: PCG64's words cut into bytes by plain integer arithmetic.
    words = [int(word) for word in np.random.PCG64(seed).random_raw(image.size // 8 + 1)]
    uniform = [(word >> (8 * place)) & 255 for word in words for place in range(8)][: image.size]
    wanted = [
        min(255, max(0, int((1 - alpha) * value + alpha * other)))
        for value, other in zip(image.ravel().tolist(), uniform, strict=True)
    ]
    assert made.ravel().tolist() == wanted
    assert made.shape == image.shape


def test_noise_is_uniform_and_pinned() -> None:
    pure = ops.noise(np.zeros((256, 256, 3), np.uint8), 1.0, 7)
    counts = np.bincount(pure.ravel(), minlength=256)
    assert abs(pure.mean() - 127.5) < 0.5
    # 768 of each value, give or take five standard deviations.
    assert np.abs(counts - 768).max() < 5 * 768**0.5
    channels = pure.reshape(-1, 3).astype(float)
    assert np.abs(np.corrcoef(channels.T) - np.eye(3)).max() < 0.02
    # The same on every machine and in every version of numpy.
    ramp = (np.arange(48 * 64 * 3) % 251).astype(np.uint8).reshape(48, 64, 3)
    digest = hashlib.sha256(ops.noise(ramp, 0.5, ops.seed_of("a", "noise_50")).tobytes()).hexdigest()
    assert digest == "98f33fd4a0a0bea62f5c8b21312b4063669ab0d29bbe0af1233bdc6339f3e2de"


@pytest.mark.parametrize("alpha", [0.5, 0.75])
@pytest.mark.parametrize(("height", "width"), [(1, 1), (5, 8), (64, 63)])
def test_blur_is_pillows(height: int, width: int, alpha: float) -> None:
    image = picture(height, width)
    wanted = Image.fromarray(image).filter(ImageFilter.GaussianBlur(10 * alpha))
    assert np.array_equal(ops.gaussian_blur(image, alpha), np.asarray(wanted))
    assert np.array_equal(ops.gaussian_blur(image, 0), image)


def test_black_image() -> None:
    image = picture(5, 8)
    assert not ops.black_image(image).any()
    assert ops.black_image(image).shape == image.shape


def _masks(shape: tuple[int, int]) -> dict[str, list[np.ndarray]]:
    height, width = shape
    pixel, corner, whole = np.zeros(shape, bool), np.zeros(shape, bool), np.ones(shape, bool)
    pixel[height // 2, width // 2] = True
    corner[-1, -1] = True
    ring = whole.copy()
    ring[1:-1, 1:-1] = False
    diagonal = np.eye(height, width, dtype=bool)
    return {
        "one pixel": [pixel],
        "last pixel": [corner],
        "whole picture": [whole],
        "ring": [ring],
        "several": [pixel, corner, diagonal],
        "same twice": [diagonal, diagonal],
    }


@pytest.mark.parametrize("name", _masks((2, 2)))
@pytest.mark.parametrize("shape", [(1, 1), (4, 6), (5, 7), (6, 5)])
def test_black_mask_and_box(shape: tuple[int, int], name: str) -> None:
    image, masks = picture(*shape), _masks(shape)[name]
    gone, boxed = ops.black_mask(image, masks), ops.black_box(image, masks)
    for y in range(shape[0]):
        for x in range(shape[1]):
            inside = any(mask[y, x] for mask in masks)
            assert gone[y, x].tolist() == ([0, 0, 0] if inside else image[y, x].tolist())
            # Between masks is not inside: each has a box of its own.
            within = any(
                mask[y:].any() and mask[: y + 1].any() and mask[:, x:].any() and mask[:, : x + 1].any()
                for mask in masks
            )
            assert boxed[y, x].tolist() == ([0, 0, 0] if within else image[y, x].tolist())


@given(shapes, st.integers(0, 2**32 - 1))
def test_boxes_cover_masks_and_leave_the_rest(shape: tuple[int, int], seed: int) -> None:
    draw = np.random.default_rng(seed)
    masks = [mask for mask in draw.random((3, *shape)) < 0.2 if mask.any()]
    if not masks:
        return
    image = picture(*shape)
    whole, boxed = ops.union(masks, shape), ops.boxes(masks, shape)
    assert not (whole & ~boxed).any()
    made = ops.black_box(image, masks)
    assert np.array_equal((made == 0).all(2), boxed)
    assert np.array_equal(ops.black_mask(image, masks[::-1]), ops.black_mask(image, masks))


def test_operators_leave_their_input_alone() -> None:
    image, mask = picture(6, 7), np.ones((6, 7), bool)
    image.setflags(write=False)
    before = image.copy()
    ops.black(image, 0.5)
    ops.noise(image, 0.5, 1)
    ops.gaussian_blur(image, 0.5)
    ops.black_mask(image, [mask])
    ops.black_box(image, [mask])
    assert np.array_equal(image, before)


IMAGE = picture(4, 5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ops.black(IMAGE, 1.5), r"ratio must be in \[0, 1\], not 1.5"),
        (lambda: ops.black(IMAGE, float("nan")), "not nan"),
        (lambda: ops.noise(IMAGE, -0.1, 1), "alpha must be in"),
        (lambda: ops.gaussian_blur(IMAGE, 2), "alpha must be in"),
        (lambda: ops.black_image(IMAGE[..., 0]), "uint8 of shape"),
        (lambda: ops.black_image(IMAGE.astype(float)), "not float64"),
        (lambda: ops.black_mask(IMAGE, []), "an object without an instance can't be masked"),
        (lambda: ops.black_mask(IMAGE, [np.zeros((4, 5), bool)]), "a mask has no pixel"),
        (lambda: ops.black_mask(IMAGE, [np.ones((5, 4), bool)]), "does not fit"),
        (lambda: ops.black_box(IMAGE, [np.ones((4, 5), np.uint8)]), "a mask of uint8"),
    ],
)
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_seeds_come_from_names() -> None:
    assert ops.seed_of("a", "noise_50") != ops.seed_of("a", "noise_75") != ops.seed_of("b", "noise_75")
    seeds = [ops.seed_of(number) for number in range(2000)]
    assert len(set(seeds)) == 2000
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize("module", ["perturbations", "constants", "questions"])
def test_pope_doctests(module: str) -> None:
    import importlib

    result = doctest.testmod(importlib.import_module(f"lookcheck.dataset_builders.perturbed_pope.{module}"))
    assert result.attempted > 0
    assert result.failed == 0
