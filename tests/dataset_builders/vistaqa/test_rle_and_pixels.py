"""Masks against pycocotools as the oracle; labels, overlays and doctests."""

from __future__ import annotations

import doctest
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image, ImageCms, ImageOps
from pycocotools import mask as coco

from lookcheck.dataset_builders.core import images, masks
from lookcheck.dataset_builders.core.images import encode, exif_transpose
from lookcheck.dataset_builders.display.drawing import COLOURS, DIMMED
from lookcheck.dataset_builders.vistaqa import builder, constants, integrity, pixels, records
from lookcheck.dataset_builders.vistaqa.sources import jobs_of

MASKS = arrays.arrays(np.uint8, st.tuples(st.integers(1, 70), st.integers(1, 70)), elements=st.integers(0, 1))


@given(MASKS)
def test_compressed_counts_decode_as_pycocotools_does(mask: np.ndarray) -> None:
    encoded = coco.encode(np.asfortranarray(mask))
    runs = masks.parse_counts(encoded["counts"])
    assert runs == masks.parse_counts(encoded["counts"].decode())
    plain = {"size": list(mask.shape), "counts": runs}
    assert np.array_equal(masks.decode(plain), mask)
    assert masks.encode(plain) == {"size": list(mask.shape), "counts": encoded["counts"].decode()}


@given(st.text(max_size=12))
def test_any_string_gives_runs_or_a_value_error(text: str) -> None:
    try:
        runs = masks.parse_counts(text)
    except ValueError:
        return
    assert all(run >= 0 for run in runs)


def test_a_wrong_sum_is_refused() -> None:
    with pytest.raises(ValueError, match=r"sum to 3, but the size \[2, 2\] has 4 pixels"):
        masks.decode({"size": [2, 2], "counts": [1, 2]})


@pytest.mark.parametrize("kind", ["task", "domain"])
def test_spellings_name_one_label_each(kind: str) -> None:
    table = constants.TASK_SPELLINGS if kind == "task" else constants.DOMAIN_SPELLINGS
    assert tuple(table) == (constants.TASKS if kind == "task" else constants.DOMAINS)
    for name, others in table.items():
        for spelling in (name, *others):
            assert records.canonical(spelling.title().replace(" ", "_"), kind) == name
    assert records.canonical("nothing", kind) is None


def test_mask_picture_is_black_and_white() -> None:
    mask = np.array([[0, 1, 0], [1, 1, 0]], bool)
    image = Image.open(io.BytesIO(pixels.mask_png(mask)))
    assert image.mode == "L"
    assert np.asarray(image).tolist() == [[0, 255, 0], [255, 255, 0]]


def test_overlay_is_small_and_leaves_the_instance_as_it_is() -> None:
    grey = encode(Image.new("RGB", (1280, 960), (128, 128, 128)), "PNG")
    mask = np.zeros((960, 1280), bool)
    mask[200:600, 200:600] = True
    shown = Image.open(io.BytesIO(pixels.overlay_jpeg(grey, [mask])))
    assert (shown.format, shown.size) == ("JPEG", (640, 480))
    values = np.asarray(shown).astype(int)
    assert np.abs(values[400, 500] - 128 * DIMMED // 255).max() <= 3
    # The instance has its own colour; only in the blocks of its edge JPEG mixes in some of the outline's.
    assert np.abs(values[104:296, 104:296] - 128).max() <= 2
    assert np.abs(values[100:300, 100:300] - 128).max() <= 32
    assert np.abs(values[200, 98] - COLOURS[0]).max() <= 32


@pytest.mark.parametrize("across", [True, False])
def test_an_instance_one_pixel_thin_stays_in_sight_when_it_shrinks(across: bool) -> None:
    # Eight to one: an eighth of a pixel's shade is left of it.
    grey = encode(Image.new("RGB", (5120, 960), (128, 128, 128)), "PNG")
    mask = np.zeros((960, 5120), bool)
    if across:
        mask[404, 800:4000] = True
    else:
        mask[200:800, 2004] = True
    shown = np.asarray(Image.open(io.BytesIO(pixels.overlay_jpeg(grey, [mask])))).astype(int)
    assert shown.shape == (120, 640, 3)
    line = shown[50, 110:490] if across else shown[30:95, 250]
    beside = shown[[48, 52], 110:490] if across else shown[30:95, [248, 252]]
    # Its own colour, between two lines of the outline's.
    assert (np.abs(line - 128).max(-1) < 60).all()
    assert (beside[..., 0] - beside[..., 2] > 100).all()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_picture_that_needs_no_transpose_keeps_its_bytes(kind: str) -> None:
    data = encode(Image.new("RGB", (5, 3), (10, 200, 30)), kind)
    assert exif_transpose(data)[0] is data
    assert exif_transpose(data)[2] == (5, 3)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_baked_in_as_pillow_does(orientation: int) -> None:
    from PIL import ImageOps

    noise = np.random.default_rng(0).integers(0, 256, (6, 9, 3), dtype=np.uint8)
    exif = Image.Exif()
    exif[0x0112] = orientation
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, "PNG", exif=exif)
    data, _, size = exif_transpose(stream.getvalue())
    expected = ImageOps.exif_transpose(Image.open(stream))
    found = Image.open(io.BytesIO(data))
    assert found.size == size == expected.size
    assert np.array_equal(np.asarray(found), np.asarray(expected))
    assert found.getexif().get(0x0112, 1) == 1


@pytest.mark.parametrize("module", [builder, records, masks])
def test_doctests(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


def test_orientation_of_a_png_is_found_behind_its_pixels() -> None:
    stream = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (6, 4)).save(stream, "PNG", exif=exif)
    data = stream.getvalue()
    start = data.index(b"eXIf") - 4
    end = start + 12 + int.from_bytes(data[start : start + 4], "big")
    tail = data.index(b"IEND") - 4
    moved = data[:start] + data[end:tail] + data[start:end] + data[tail:]
    for order in (data, moved):
        assert exif_transpose(order, whole=False)[2] == (4, 6)


def test_samples_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "annotations").mkdir()
    for name in ("10", "9", "100", "b", "1", "a", ".hidden", "²"):
        (tmp_path / "annotations" / f"{name}.json").write_text("{}")
    jobs = jobs_of(tmp_path / "annotations", tmp_path / "images")
    assert [job.id for job in jobs] == ["1", "9", "10", "100", "a", "b", "²"]


def _saved(image: Image.Image, kind: str, **how: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **how)
    return stream.getvalue()


SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_grey_of_16_bits_is_scaled_and_not_clipped(kind: str) -> None:
    deep = np.arange(0, 65536, 17)[:3855].astype(np.uint16).reshape(15, 257)
    data, suffix, size = exif_transpose(_saved(Image.fromarray(deep), kind))
    assert (suffix, size) == (".png", (257, 15))
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "L"
        assert np.array_equal(np.asarray(image), np.rint(deep / 257).astype(np.uint8))
    assert np.array_equal(images.decode(data)[..., 1], np.rint(deep / 257).astype(np.uint8))


def test_pixels_without_a_range_are_refused() -> None:
    for values in (np.ones((2, 2), np.float32), np.full((2, 2), 70_000, np.int32)):
        with pytest.raises(OSError, match="no known range"):
            exif_transpose(_saved(Image.fromarray(values), "TIFF"))


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_a_turned_jpeg_keeps_profile_and_nearly_all_of_its_pixels(orientation: int, subsampling: int) -> None:
    """With the tables kept, less is lost than by a second compression at high quality."""
    y, x = np.mgrid[:96, :128]
    smooth = np.stack([x * 2, y * 2, 255 - x - y], -1) + 8 * np.sin(x / 3)[..., None]
    exif = Image.Exif()
    exif[0x0112] = orientation
    source = Image.fromarray(np.clip(smooth, 0, 255).astype(np.uint8))
    stored = _saved(source, "JPEG", quality=70, subsampling=subsampling, exif=exif, icc_profile=SRGB)
    turned = ImageOps.exif_transpose(Image.open(io.BytesIO(stored)))
    data, suffix, size = exif_transpose(stored)
    assert (suffix, size) == (".jpg", turned.size)
    wanted = np.asarray(turned).astype(int)

    def loss(data: bytes) -> float:
        return float(np.abs(np.asarray(Image.open(io.BytesIO(data))).astype(int) - wanted).mean())

    with Image.open(io.BytesIO(data)) as image:
        assert image.info["icc_profile"] == SRGB
        assert image.getexif().get(0x0112) is None
    assert loss(data) < (0.7 if subsampling == 1 else 0.35)
    assert loss(data) < loss(_saved(turned, "JPEG", quality=95))


def test_cmyk_goes_through_its_profile_or_pillow(tmp_path: Path) -> None:
    cmyk = Image.new("CMYK", (4, 4), (0, 255, 255, 0))
    data, suffix, _ = exif_transpose(_saved(cmyk, "JPEG"))
    with Image.open(io.BytesIO(data)) as image:
        assert (image.mode, suffix) == ("RGB", ".jpg")
        red, green, _ = image.getpixel((1, 1))
        assert red > 200 > 60 > green
    with pytest.raises(OSError, match="ICC profile can't be used"):
        exif_transpose(_saved(cmyk, "JPEG", icc_profile=SRGB))


@pytest.mark.parametrize(
    ("box", "another"),
    [
        ((100, 50, 400, 300), False),
        ((101.5, 48.2, 399, 302), False),  # rounded, or from the centres of pixels
        ((95, 44, 412, 309), False),  # drawn by hand, loosely
        ((100, 50, 500, 350), True),  # corners in place of a size
        ((10, 10, 40, 30), True),  # elsewhere
        ((100, 50, 400, 149), True),  # under half of it
        ((100, 50, 400, 151), False),
    ],
)
def test_a_box_that_is_not_its_masks(box: tuple[float, ...], another: bool) -> None:
    assert integrity._is_another_box(box, (100, 50, 400, 300)) is another
