"""What models write as evidence, put on the original picture: to the pixel, or counted under its reason."""

from __future__ import annotations

import doctest
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.native import conventions, reading, shapes
from lookcheck.dataset_builders.native.adapters import ADAPTERS, adapter_of
from lookcheck.dataset_builders.native.conventions import CONVENTIONS, smart_resize
from lookcheck.dataset_builders.native.folder import read_folder
from lookcheck.dataset_builders.native.reading import Claimed, read_native

# As the processors of Qwen2.5-VL and Qwen3-VL are delivered.
LIMITS = {"min_pixels": 56 * 56, "max_pixels": 14 * 14 * 4 * 16384}
PICTURES = [(368, 434), (4000, 300)]

Bits = npt.NDArray[np.bool_]


def read(
    name: str, text: str, size: tuple[int, int] = (40, 30), seen: tuple[int, int] | None = None
) -> Claimed:
    return read_native(ADAPTERS[name], text, size=size, seen=seen)


def rectangle(size: tuple[int, int], x1: float, y1: float, x2: float, y2: float) -> Bits:
    """By the definition: pixels whose centre lies inside."""
    rows, columns = np.mgrid[: size[1], : size[0]] + 0.5
    made: Bits = (columns >= x1) & (columns < x2) & (rows >= y1) & (rows < y2)
    return made


@pytest.mark.parametrize("factor", [28, 32])
@given(
    st.integers(1, 6000), st.integers(1, 6000), st.sampled_from([(3136, 12_845_056), (200_704, 1_003_520)])
)
def test_smart_resize_is_that_of_transformers(
    factor: int, width: int, height: int, limits: tuple[int, int]
) -> None:
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize as theirs

    settings = {"min_pixels": limits[0], "max_pixels": limits[1], "factor": factor}
    if max(width, height) / min(width, height) > 200:
        with pytest.raises(ValueError, match="aspect ratio"):
            theirs(height, width, **settings)
        with pytest.raises(InputError, match="200 times"):
            smart_resize((width, height), **settings)
    else:
        assert smart_resize((width, height), **settings) == theirs(height, width, **settings)[::-1]


@pytest.mark.parametrize(
    ("size", "seen"), [((368, 434), (364, 448)), ((4000, 300), (4004, 308)), ((640, 480), (644, 476))]
)
def test_boxes_of_qwen25_vl_land_to_the_pixel(size: tuple[int, int], seen: tuple[int, int]) -> None:
    assert smart_resize(size, **LIMITS) == seen
    # The whole picture, its right half, and one whose borders fall between pixels of the original.
    for x1, y1, x2, y2 in [(0, 0, *seen), (seen[0] // 2, 0, *seen), (13, 29, 101, 157)]:
        text = f'```json\n[{{"bbox_2d": [{x1}, {y1}, {x2}, {y2}], "label": "a cup"}}]\n```'
        claimed = read("qwen2.5-vl", text, size, seen)
        assert (claimed.problem, claimed.problems, claimed.clipped) == (None, {}, 0)
        (shape,) = claimed.shapes
        assert shape.label == "a cup"
        assert shape.box == tuple(
            Fraction(side * size[axis % 2], seen[axis % 2]) for axis, side in enumerate((x1, y1, x2, y2))
        )
        wanted = rectangle(size, *map(float, shape.box))
        assert np.array_equal(shape.drawn(size), wanted)
    assert (
        read("qwen2.5-vl", f'{{"bbox_2d": [0, 0, {seen[0]}, {seen[1]}]}}', size, seen)
        .shapes[0]
        .drawn(size)
        .all()
    )


@pytest.mark.parametrize(
    ("size", "box", "pixels"),
    [
        ((368, 434), (0, 0, 1000, 1000), (0, 0, 368, 434)),
        ((368, 434), (250, 500, 750, 1000), (92, 217, 276, 434)),
        ((4000, 300), (1, 10, 999, 20), (4, 3, 3996, 6)),
        ((4000, 300), (500, 0, 501, 1000), (2000, 0, 2004, 300)),
        # 36.8 to 110.4 and 4.34 to 8.68: pixels 37 to 109, 4 to 8.
        ((368, 434), (100, 10, 300, 20), (37, 4, 110, 9)),
    ],
)
def test_boxes_of_qwen3_vl_land_to_the_pixel(
    size: tuple[int, int], box: tuple[int, ...], pixels: tuple[int, ...]
) -> None:
    (shape,) = read("qwen3-vl", json.dumps([{"bbox_2d": box, "label": "x"}]), size).shapes
    wanted = np.zeros(size[::-1], dtype=bool)
    wanted[pixels[1] : pixels[3], pixels[0] : pixels[2]] = True
    assert np.array_equal(shape.drawn(size), wanted)


def test_a_border_through_the_middle_of_pixels_takes_the_first_and_not_the_last() -> None:
    (shape,) = read("boxes-original", "[[1.5, 0.5, 3.5, 2.5]]").shapes
    assert np.array_equal(shape.drawn((40, 30)), rectangle((40, 30), 1.5, 0.5, 3.5, 2.5))
    assert shape.drawn((40, 30))[0:2, 1:3].all()


def annotations(shared_data: Path) -> list[tuple[tuple[int, int], dict[str, Any]]]:
    told = json.loads((shared_data / "coco" / "instances.json").read_text())
    sizes = {image["id"]: (image["width"], image["height"]) for image in told["images"]}
    return [(sizes[int(found["image_id"])], found) for found in told["annotations"]]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_boxes_of_coco_come_back_in_every_convention(shared_data: Path, convention: str) -> None:
    """Boxes around whole pixels; as decimals of 12 digits they still end on the pixel."""
    seen = (1008, 756)
    found = annotations(shared_data)
    assert len(found) == 180
    for size, annotation in found:
        x, y, width, height = (int(float(side)) for side in coco.toBbox(annotation["segmentation"]))
        unit = {"original": size, "resized": seen, "unit": (1, 1), "thousand": (1000, 1000)}[convention]
        corners = [
            round(side * unit[axis % 2] / size[axis % 2], 12)
            for axis, side in enumerate((x, y, x + width, y + height))
        ]
        (shape,) = read(f"boxes-{convention}", json.dumps({"boxes": [corners]}), size, seen).shapes
        mask = coco.decode(
            coco.frPyObjects(np.array([[x, y, width, height]], dtype=np.float64), size[1], size[0])[0]
        ).astype(bool)
        assert np.array_equal(shape.drawn(size), mask)
        tag = f"Here <box>{json.dumps(corners)}</box> it is"
        (tagged,) = read(f"tags-{convention}", tag, size, seen).shapes
        assert np.array_equal(tagged.drawn(size), mask)


def test_encodings_of_coco_come_back_as_they_are(shared_data: Path, tmp_path: Path) -> None:
    for number, (size, annotation) in enumerate(annotations(shared_data)):
        given_rle = annotation["segmentation"]
        wanted = coco.decode(given_rle).astype(bool)
        (shape,) = read("rle", "Yes.\n" + json.dumps({"answer": "a dog", "masks": [given_rle]}), size).shapes
        assert shape.mask is not None
        assert np.array_equal(coco.decode(shape.mask).astype(bool), wanted)
        result = {"image_id": "1", "caption": "A dog.", "phrases": ["dog"], "pred_masks": [given_rle]}
        claimed = read("glamm", json.dumps(result), size)
        assert claimed.answer == "A dog."
        assert [one.mask for one in claimed.shapes] == [shape.mask]
        if number < 20:
            folder = tmp_path / str(number)
            folder.mkdir()
            Image.fromarray(wanted).save(folder / "1.png")
            Image.fromarray(wanted.astype(np.uint8) * 255).save(folder / "0.png")
            assert [one.mask for one in read_folder(tmp_path, str(number), size)] == [shape.mask] * 2


corners = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 30)), min_size=3, max_size=8)


@given(corners, st.sampled_from(["original", "resized"]))
def test_polygons_are_drawn_as_coco_draws_them(ring: list[tuple[int, int]], convention: str) -> None:
    flat = [side for corner in ring for side in corner]
    wanted = coco.decode(coco.frPyObjects([flat], 30, 40)[0]).astype(bool)
    factor = 1 if convention == "original" else 3
    written = [side * factor for side in flat]
    pairs = list(zip(written[::2], written[1::2], strict=True))
    for item in (written, pairs, [written, written]):
        text = json.dumps({"polygons": [item]})
        (shape,) = read(f"polygons-{convention}", text, (40, 30), (120, 90)).shapes
        assert np.array_equal(shape.drawn((40, 30)), wanted)
        assert shape.problem == (None if wanted.any() else shapes.NO_PIXEL)
        assert not shape.clipped


def test_a_polygon_that_leaves_the_picture_is_cut_at_the_border() -> None:
    # A diamond of which only the lower right quarter is inside, and one around all of the picture.
    (shape,) = read("polygons-original", '{"polygons": [[-8, 0, 0, -8, 8, 0, 0, 8]]}').shapes
    whole = coco.decode(coco.frPyObjects([[12, 20, 20, 12, 28, 20, 20, 28]], 60, 80)[0])[20:50, 20:60]
    assert shape.clipped
    assert int((shape.drawn((40, 30)) != whole).sum()) <= 8
    ring = [-(10**8), -(10**8), 10**8, -(10**8), 10**8, 10**8, -(10**8), 10**8]
    (shape,) = read("polygons-original", json.dumps({"polygons": [ring]})).shapes
    assert shape.drawn((40, 30)).all()
    (shape,) = read("polygons-original", '{"polygons": [[50, 0, 60, 0, 60, 10]]}').shapes
    assert (shape.problem, shape.clipped) == (shapes.OUTSIDE, True)


def test_points_lie_on_the_original() -> None:
    claimed = read("qwen2.5-vl", '[{"point_2d": [91, 224], "label": "eye"}]', (368, 434), (364, 448))
    assert claimed.shapes[0].point == (92, 217)
    claimed = read("points-thousand", "[[500, 1100]]")
    assert claimed.shapes[0].point == (20, 30)
    assert claimed.clipped == 1


WRONG = [
    ("boxes-original", "[[20, 5, 10, 9]]", shapes.REVERSED),
    ("boxes-original", "[[10, 9, 20, 5]]", shapes.REVERSED),
    ("boxes-original", "[[10, 5, 10, 9]]", shapes.EMPTY_BOX),
    ("boxes-original", "[[50, 5, 60, 9]]", shapes.OUTSIDE),
    ("boxes-original", "[[-9, -9, -1, -1]]", shapes.OUTSIDE),
    ("boxes-original", "[[1.6, 1.6, 2.4, 2.4]]", shapes.NO_PIXEL),
    ("boxes-original", "[[1, 2, 3]]", shapes.BAD_BOX),
    ("boxes-original", '[{"box": [1, 2, 3, 4]}]', shapes.BAD_BOX),
    ("boxes-original", '[["1", 2, 3, 4]]', "coordinate that is no number"),
    ("boxes-original", "[[true, 2, 3, 4]]", "coordinate that is no number"),
    ("boxes-original", "[[1e999999999, 2, 3, 4]]", "coordinate out of range"),
    ("boxes-original", "[[1e-999999999, 2, 3, 4]]", "coordinate out of range"),
    ("boxes-original", "[[0e999999999, 2, 0.0, 4]]", shapes.EMPTY_BOX),
    ("points-unit", "[[0.5]]", shapes.BAD_POINT),
    ("polygons-original", "[[]]", shapes.EMPTY_POLYGON),
    ("polygons-original", "[[1, 2, 3, 4]]", shapes.BAD_POLYGON),
    ("polygons-original", "[[1, 2, 3, 4, 5, 6, 7]]", shapes.BAD_POLYGON),
    ("rle", '[{"size": [40, 30], "counts": [0, 1200]}]', shapes.OTHER_SIZE),
    ("rle", '[{"size": [30, 40], "counts": [0, 1199]}]', shapes.BAD_MASK),
    ("rle", '[{"size": [30, 40], "counts": "zz\\u20ac"}]', shapes.BAD_MASK),
    ("rle", '[{"size": [30, 40], "counts": [1200]}]', shapes.NO_PIXEL),
    ("rle", "[[1]]", shapes.BAD_MASK),
    ("tags-original", "<box>[1, 2</box>", reading.BAD_TAG),
    ("tags-original", "<box>[1, 2, 3, 4]", reading.BAD_TAG),
]


@pytest.mark.parametrize(("name", "text", "reason"), WRONG)
def test_a_wrong_shape_is_counted_and_has_no_pixel(name: str, text: str, reason: str) -> None:
    claimed = read(name, text)
    assert claimed.problem is None
    assert claimed.problems == {reason: 1}
    assert not claimed.shapes[0].drawn((40, 30)).any()


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("boxes-original", "I see nothing.", reading.NO_JSON),
        ("boxes-original", "", reading.NO_JSON),
        ("boxes-original", "[1, 2", reading.NO_JSON),
        ("boxes-original", "[NaN]", reading.NO_JSON),
        ("boxes-original", "As said [1].", reading.NO_CLAIM),
        ("boxes-original", '{"answer": "no"}', reading.NO_CLAIM),
        ("qwen3-vl", '{"answer": "no"}', reading.NO_CLAIM),
        ("qwen3-vl", "[" * 5000, reading.TOO_MANY),
        ("qwen2.5-vl", '[{"bbox_2d": [1, 2, 3, 4]}]', conventions.UNKNOWN_SIZE),
    ],
)
def test_a_reply_without_evidence_to_read_says_why(name: str, text: str, reason: str) -> None:
    claimed = read(name, text)
    assert (claimed.problem, claimed.shapes) == (reason, ())


def test_nothing_claimed_is_no_problem() -> None:
    for name, text in (
        ("boxes-unit", '{"answer": "none", "boxes": []}'),
        ("qwen3-vl", "[]"),
        ("tags-unit", "No."),
    ):
        claimed = read(name, text)
        assert (claimed.problem, claimed.shapes) == (None, ())


def test_good_and_bad_shapes_of_one_reply_are_told_apart() -> None:
    claimed = read("boxes-original", "[[0, 0, 99, 2], [9, 9, 1, 1], [0, 0, 4, 4], [7, 7, 2, 2]]")
    assert claimed.problems == {shapes.REVERSED: 2}
    assert claimed.clipped == 1
    assert [int(shape.drawn((40, 30)).sum()) for shape in claimed.shapes] == [80, 0, 16, 0]


def test_the_answer_is_the_words_around_the_evidence() -> None:
    assert read("boxes-unit", '{"answer": "two", "boxes": []} Because.').answer == "two"
    text = 'Two dogs.\n```json\n[{"bbox_2d": [1, 2, 30, 40], "label": "dog"}]\n```'
    assert read("qwen3-vl", text).answer == "Two dogs."
    assert read("qwen3-vl", '[{"bbox_2d": [1, 2, 30, 40]}]').answer == '[{"bbox_2d": [1, 2, 30, 40]}]'
    assert read("tags-unit", "A dog <box>[0, 0, 1, 1]</box>").answer == "A dog"


@given(
    st.sampled_from([name for name, adapter in ADAPTERS.items() if adapter.form != "folder"]),
    st.one_of(
        st.text(),
        st.text(alphabet='[]{}":,0123456789.eE-<box>/ \n'),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=5)
                | st.dictionaries(
                    st.sampled_from(
                        ["boxes", "bbox_2d", "point_2d", "points", "masks", "polygons", "size", "counts"]
                    ),
                    inner,
                    max_size=3,
                )
            ),
        ).map(json.dumps),
    ),
)
def test_no_reply_raises_and_masks_have_the_size(name: str, text: str) -> None:
    claimed = read(name, text, (7, 5), (56, 28))
    assert all(shape.drawn((7, 5)).shape == (5, 7) for shape in claimed.shapes)
    assert all(shape.problem is None or not shape.drawn((7, 5)).any() for shape in claimed.shapes)


HUGE = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * HUGE,
        '{"boxes":[' * (HUGE // 10),
        '{"a"' * (HUGE // 4),
        "[[0,0,1,1]" * (HUGE // 10),
        "[" + "[0,0,1,1]," * (HUGE // 10) + "[0,0,1,1]]",
        "<box>" * (HUGE // 5),
        "<box>[0,0,1,1]</box>" * (HUGE // 20),
        "[" + "9" * HUGE + "]",
        "[[0,0,1," + "1" * 4000 + "]]",
    ],
)
def test_a_hundred_thousand_characters_are_read(text: str) -> None:
    for name in ("boxes-original", "qwen3-vl", "tags-original", "rle"):
        claimed = read(name, text)
        assert claimed.problem is None or claimed.problem in {
            reading.NO_JSON,
            reading.NO_CLAIM,
            reading.TOO_MANY,
        }


def test_folders_of_masks(tmp_path: Path) -> None:
    size = (40, 30)
    (tmp_path / "7").mkdir()
    assert read_folder(tmp_path, "7", size) == ()
    Image.new("L", (30, 40), 255).save(tmp_path / "7" / "a.png")
    Image.new("L", size, 100).save(tmp_path / "7" / "b.png")
    Image.new("RGB", size).save(tmp_path / "7" / "c.png")
    (tmp_path / "7" / "d.png").write_bytes(b"no picture")
    Image.new("1", size).save(tmp_path / "7" / "e.png")
    Image.new("1", size, 1).save(tmp_path / "7" / "f.png")
    found = read_folder(tmp_path, "7", size)
    assert [shape.problem for shape in found] == [
        shapes.OTHER_SIZE, shapes.BAD_MASK, shapes.BAD_MASK, shapes.BAD_MASK, shapes.NO_PIXEL, None,
    ]  # fmt: skip
    assert [shape.label for shape in found] == list("abcdef")
    assert found[-1].drawn(size).all()
    (tmp_path / "7" / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=r"notes\.txt: expected PNG"):
        read_folder(tmp_path, "7", size)
    with pytest.raises(InputError, match="8: no such folder; an empty one says"):
        read_folder(tmp_path, "8", size)
    for id in ("../7", "..", "", "a/b"):
        with pytest.raises(InputError, match="can't name a folder"):
            read_folder(tmp_path, id, size)


def test_every_adapter_says_what_it_reads_and_where_that_is_public() -> None:
    assert set(ADAPTERS) > {"qwen2.5-vl", "qwen3-vl", "rle", "png", "glamm"}
    assert set(ADAPTERS) > {"lisa", "sesame", "unipixel", "sa2va", "vrt-rl", "treevgr"}
    for name, adapter in ADAPTERS.items():
        assert adapter.name == name
        assert adapter.title
        assert adapter.source
        assert adapter.convention is None or adapter.convention in CONVENTIONS
    with pytest.raises(InputError, match="native:lamp: there is no such adapter, only qwen"):
        adapter_of("lamp")


def test_examples() -> None:
    assert [doctest.testmod(module).failed for module in (conventions, reading)] == [0, 0]
