"""Masks: every accepted form gives the same encoding; nothing malformed gets through."""

from __future__ import annotations

import doctest
import itertools
import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image
from pycocotools import mask as coco

from lookcheck.metrics.grove import area, decode, iou_matrix, masks, rle, to_rle, to_rles
from lookcheck.metrics.grove.rle import are_canonical, decode_counts, encode_runs

MASKS = hnp.arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 17)))


def runs_of(mask: npt.NDArray[np.bool_]) -> list[int]:
    """The slow, obvious run lengths: down the columns, starting with 0s."""
    runs, value = [0], False
    for pixel in mask.flatten(order="F").tolist():
        if pixel != value:
            runs.append(0)
            value = pixel
        runs[-1] += 1
    return runs


@given(MASKS)
def test_round_trip_of_all_encodings(mask: npt.NDArray[np.bool_]) -> None:
    size = list(mask.shape)
    expected = coco.encode(np.asfortranarray(mask, dtype=np.uint8))["counts"].decode()
    forms: list[Any] = [
        mask,
        mask.astype(np.uint8),
        mask.astype(np.int64) * 255,
        Image.fromarray(mask.astype(np.uint8) * 255),
        Image.fromarray(mask),
        {"size": size, "counts": runs_of(mask)},
        {"size": tuple(size), "counts": np.array(runs_of(mask))},
        {"size": size, "counts": expected},
        {"size": np.array(size), "counts": expected.encode()},
    ]
    for rle_ in to_rles(forms, [f"mask {index}" for index in range(len(forms))]):
        assert rle_ == {"size": size, "counts": expected}
        assert np.array_equal(decode(rle_), mask)
        assert area(rle_) == mask.sum()


@given(st.lists(MASKS, min_size=1, max_size=6))
def test_strings_decoded_together_give_each_ones_runs(items: list[npt.NDArray[np.bool_]]) -> None:
    runs, starts = decode_counts([to_rle(mask)["counts"].encode() for mask in items])
    assert [part.tolist() for part in np.split(runs, starts[1:])] == [runs_of(mask) for mask in items]


def test_long_runs_of_many_characters() -> None:
    runs = [0, 7, 2**28, 1, 31, 2**27, 16, 15, 3, 2**20]
    pixels = sum(runs)
    encoded = coco.frPyObjects({"size": [1, pixels], "counts": runs}, 1, pixels)
    assert decode_counts([encoded["counts"]])[0].tolist() == runs
    text = encoded["counts"].decode()
    assert to_rle({"size": [1, pixels], "counts": encoded["counts"]})["counts"] == text
    assert encode_runs(np.array(runs)) == text


@given(MASKS, st.data())
def test_iou_is_symmetric_bounded_and_equal_to_counting(
    mask: npt.NDArray[np.bool_], data: st.DataObject
) -> None:
    other = data.draw(hnp.arrays(np.bool_, mask.shape))
    a, b = to_rle(mask), to_rle(other)
    union = int((mask | other).sum())
    expected = int((mask & other).sum()) / union if union else 0.0
    assert iou_matrix([a], [b])[0, 0] == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(iou_matrix([a], [b]), iou_matrix([b], [a]).T)


BAD: list[tuple[Any, str]] = [
    (None, "the mask is a NoneType"),
    ("0120", "the mask is a str"),
    ([[0, 1]], "the mask is a list"),
    (np.zeros((2, 2, 3), bool), r"shape \(2, 2, 3\)"),
    (np.zeros((0, 4), bool), r"shape \(0, 4\)"),
    (np.array([[0, 2]]), r"values \[0, 2\]"),
    (np.array([[1, 255]]), r"values \[1, 255\]"),
    (np.array([[0.0, 1.0]]), "dtype float64"),
    (Image.new("RGB", (2, 2)), "mode 'RGB'"),
    ({"size": [2, 2]}, r"fields \['size'\]"),
    ({"counts": "04"}, r"fields \['counts'\]"),
    ({"size": [2], "counts": "4"}, r"size is \[2\]"),
    ({"size": [2, -2], "counts": "4"}, r"size is \[2, -2\]"),
    ({"size": [2, 0], "counts": "0"}, r"size is \[2, 0\]"),
    ({"size": [2.0, 2], "counts": "4"}, r"size is \[2\.0, 2\]"),
    ({"size": [True, 4], "counts": "4"}, r"size is \[True, 4\]"),
    ({"size": "22", "counts": "4"}, "size is '22'"),
    ({"size": [2**20, 2**20], "counts": "4"}, "more than 536870911 pixels"),
    ({"size": [2, 2], "counts": None}, "counts are NoneType"),
    ({"size": [2, 2], "counts": ""}, "counts are empty"),
    ({"size": [2, 2], "counts": []}, "sum to 0, but"),
    ({"size": [2, 2], "counts": [1, 2]}, r"sum to 3, but the size \[2, 2\] has 4 pixels"),
    ({"size": [2, 2], "counts": [1, 2, 2]}, "sum to 5"),
    ({"size": [2, 2], "counts": [5, -1]}, "negative run -1"),
    ({"size": [2, 2], "counts": [1, 3.0]}, r"counts hold 3\.0"),
    ({"size": [2, 2], "counts": [1, None]}, "counts hold None"),
    ({"size": [2, 2], "counts": [2**70]}, "."),
    ({"size": [2, 2], "counts": "12"}, "sum to 3"),
    ({"size": [2, 2], "counts": "014"}, "sum to 5"),
    ({"size": [2, 2], "counts": b"5O"}, "negative run -1"),
    ({"size": [2, 2], "counts": "4 "}, "outside '0' to 'o'"),
    ({"size": [2, 2], "counts": "4\0"}, "outside '0' to 'o'"),
    ({"size": [2, 2], "counts": "4p"}, "outside '0' to 'o'"),
    ({"size": [2, 2], "counts": "4é"}, "outside '0' to 'o'"),
    ({"size": [2, 2], "counts": "4\ud800"}, "outside '0' to 'o'"),
    ({"size": [2, 2], "counts": "4P"}, "middle of a number"),
    ({"size": [2, 2], "counts": "4" + "P" * 9 + "1"}, "more than six characters"),
]


@pytest.mark.parametrize(("mask", "said"), BAD)
def test_malformed_masks_raise_and_name_the_place(mask: Any, said: str) -> None:
    good = {"size": [2, 2], "counts": "4"}
    with pytest.raises(ValueError, match=rf"^mask 1: .*{said}"):
        to_rles([good, mask, good], ["mask 0", "mask 1", "mask 2"])


@given(st.lists(st.integers(-(2**29), 2**29 - 1), min_size=1, max_size=12))
def test_no_string_of_numbers_slips_through(numbers: list[int]) -> None:
    # Arbitrary differences, written by the slow rule; whatever is accepted must be exactly right.
    text = "".join(map(_write, numbers))
    runs = list(numbers)
    for index in range(3, len(runs)):
        runs[index] += runs[index - 2]
    right = all(run >= 0 for run in runs) and sum(runs) == 12
    mask = {"size": [3, 4], "counts": text}
    if right:
        assert np.array_equal(decode(to_rle(mask)), decoded(runs, 3, 4))
        assert to_rle(mask)["counts"] == to_rle(decoded(runs, 3, 4))["counts"]
    else:
        with pytest.raises(ValueError, match="mask"):
            to_rle(mask)


def decoded(runs: list[int], height: int, width: int) -> npt.NDArray[np.bool_]:
    """The slow, obvious mask of run lengths."""
    flat = [bool(index % 2) for index, run in enumerate(runs) for _ in range(run)]
    return np.array(flat).reshape((height, width), order="F")


RUNS = st.lists(st.integers(0, 6), min_size=1, max_size=40).filter(any)


@given(st.lists(RUNS, min_size=2, max_size=9), st.data())
def test_runs_of_nothing_change_no_score(several: list[list[int]], data: st.DataObject) -> None:
    """pycocotools takes two runs of 0 for the end of a mask; nothing but the canonical form reaches it."""
    width = max(map(sum, several))
    several = [[*runs, width - sum(runs)] for runs in several]
    arrays = [decoded(runs, 1, width) for runs in several]
    written = list(map(_text, several))
    forms = [
        data.draw(st.sampled_from([runs, text, text.encode()]))
        for runs, text in zip(several, written, strict=True)
    ]
    masks_ = [{"size": [1, width], "counts": form} for form in forms]
    encoded = to_rles(masks_, list(map(str, range(len(masks_)))))
    assert encoded == to_rles(arrays, list(map(str, range(len(arrays)))))
    found = iou_matrix(encoded, encoded)
    for (row, a), (column, b) in itertools.product(enumerate(arrays), repeat=2):
        union = int((a | b).sum())
        assert found[row, column] == (int((a & b).sum()) / union if union else 0.0)


def test_a_mask_with_runs_of_nothing_equals_itself() -> None:
    odd = {"size": [2, 4], "counts": [2, 0, 2, 2, 2]}
    assert to_rle(odd) == {"size": [2, 4], "counts": "422"}
    assert iou_matrix([to_rle(odd)], [to_rle(odd)]).tolist() == [[1.0]]


GIANT = [1, 100_000_000]


def test_strings_of_giant_masks_are_written_whole() -> None:
    """pycocotools writes one byte past its buffer where every number takes six characters."""
    runs = [20_000_000, 20_000_000, 20_000_000, 40_000_000]
    found = to_rle({"size": GIANT, "counts": runs})
    assert found["counts"] == "".join(map(_write, [*runs[:3], 20_000_000]))
    assert len(found["counts"]) == 24
    array = np.zeros(GIANT, dtype=bool)
    array[0, 20_000_000:40_000_000] = array[0, 60_000_000:] = True
    assert to_rle(array) == found
    assert area(found) == 60_000_000
    with pytest.raises(ValueError, match=r"mask: the size .* has more than 536870911 pixels"):
        to_rle(np.broadcast_to(np.True_, (2**15, 2**15)))


@pytest.mark.parametrize("extra", [0, 1, -1])
def test_a_wrong_sum_is_found_among_many_masks(extra: int) -> None:
    """The quick look at all together must see what the slow one sees, wherever it stands."""
    draw = random.Random(extra)
    several = []
    for _ in range(300):
        runs = [draw.randint(1, 3000) for _ in range(draw.randint(3, 60))]
        several.append([*runs, 200_000 - sum(runs)])
    for place in (0, 150, 299):
        changed = [list(runs) for runs in several]
        changed[place][draw.randrange(len(changed[place]))] += extra
        items = [{"size": [1, 200_000], "counts": _text(runs)} for runs in changed]
        names = [f"mask {number}" for number in range(300)]
        if extra:
            with pytest.raises(ValueError, match=f"^mask {place}: the runs sum to {200_000 + extra}, "):
                to_rles(items, names)
        else:
            assert to_rles(items, names) == items


NUMBERS = st.lists(st.integers(1, 9) | st.sampled_from([-1, 0, 40, 1000]), min_size=1, max_size=12)
GOOD = st.tuples(st.integers(0, 9), st.lists(st.integers(1, 1500), min_size=2, max_size=9)).map(
    lambda parts: [parts[0], *parts[1]]
)


@given(st.lists(GOOD | NUMBERS, min_size=1, max_size=8), st.data())
def test_the_quick_look_knows_exactly_what_is_canonical(
    several: list[list[int]], data: st.DataObject
) -> None:
    off = data.draw(st.sampled_from([0, 0, 0, 1, -1]))
    at = data.draw(st.integers(0, len(several) - 1))
    pixels = [sum(runs) + off * (place == at) for place, runs in enumerate(several)]
    texts = [_text(runs).encode() for runs in several]
    expected = not off and all(len(runs) > 2 and runs[0] >= 0 and min(runs[1:]) > 0 for runs in several)
    assert are_canonical(b"".join(texts), list(map(len, texts)), np.array(pixels)) is expected
    runs, starts = decode_counts(texts)
    assert [part.tolist() for part in np.split(runs, starts[1:])] == several


def test_the_quick_look_leaves_what_it_can_not_add_up() -> None:
    giant = [2**28, 2**28, 2**27]
    texts = [_text(giant).encode()] * 4
    pixels = np.array([sum(giant)] * 4)
    assert are_canonical(b"".join(texts[:3]), list(map(len, texts[:3])), pixels[:3])
    assert not are_canonical(b"".join(texts), list(map(len, texts)), pixels)
    assert not are_canonical(b"4p1", [3], np.array([4]))
    assert not are_canonical(b"", [0], np.array([4]))


def test_masks_in_several_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strings are decoded together only up to a size; where one portion ends, the next begins."""
    draw = random.Random(7)
    arrays = [np.array(draw.choices([False, True], k=24)).reshape(4, 6) for _ in range(40)]
    arrays[17][:] = arrays[39][:] = False
    encoded, filled = masks.encode_all(arrays, str)
    assert filled == [bool(array.any()) for array in arrays]
    items = [{"size": [4, 6], "counts": rle["counts"]} for rle in encoded]
    for size in (1, 7, 10, 20, 24, 100, 10_000):
        monkeypatch.setattr(masks, "CHUNK", size)
        assert masks.encode_all(items, str) == (encoded, filled)
        broken = [*items[:-1], {"size": [4, 6], "counts": "0"}]
        with pytest.raises(
            ValueError, match=r"^mask 39: the runs sum to 0, but the size \[4, 6\] has 24 pixels$"
        ):
            masks.encode_all(broken, lambda index: f"mask {index}")


def test_a_negative_run_is_found_among_many_masks() -> None:
    good = [5, 6, 7, 8, 9, 65]
    for bad in ([5, -1, 7, 8, 9, 72], [5, 6, 7, -8, 9, 81], [-5, 6, 7, 8, 9, 75], [5, 6, 7, 8, 109, -35]):
        for place in (0, 1, 5):
            items = [{"size": [1, 100], "counts": _text(bad if at == place else good)} for at in range(6)]
            with pytest.raises(ValueError, match=f"^mask {place}: the counts hold the negative run "):
                to_rles(items, [f"mask {number}" for number in range(6)])


def _text(runs: list[int]) -> str:
    return "".join(map(_write, [*runs[:3], *(b - a for a, b in zip(runs[1:-2], runs[3:], strict=True))]))


def _write(number: int) -> str:
    text = ""
    while True:
        low, number = number & 31, number >> 5
        more = number != (-1 if low & 16 else 0)
        text += chr(48 + low + 32 * more)
        if not more:
            return text


def test_doctests() -> None:
    for module in (masks, rle):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0
