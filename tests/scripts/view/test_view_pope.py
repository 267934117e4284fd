"""Perturbed POPE: every condition of a question together, joined by the parent's id."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.reader import Choice
from lookcheck.scripts.view.gallery import write_gallery

# One worker makes the folders once.
pytestmark = pytest.mark.xdist_group("view")

Open = Callable[..., Any]


def _items(gallery: Path) -> dict[str, dict[str, Any]]:
    page = (gallery / "index.html").read_text(encoding="utf-8")
    text = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    return {item["id"]: item for item in json.loads(text)["items"]}


def _labels(item: dict[str, Any]) -> list[str]:
    return [picture["label"] for picture in item["pictures"]]


def test_conditions_stand_with_their_parent(pope_gallery: Path) -> None:
    items = _items(pope_gallery)
    assert len(items) == 12
    for item in items.values():
        yes = item["facets"]["answer"] == ["yes"]
        expected = ["original", "no_image", "black_50"] + (["black_mask"] if yes else [])
        assert _labels(item) == item["facets"]["condition"] == expected
        rows = [dict(picture["facts"])["row"] for picture in item["pictures"]]
        assert rows == [item["id"], *(f"{item['id']}-{name}" for name in expected[1:])]
        assert "stored" not in item["pictures"][1]
    # Questions about one picture share its file; each picture is stored once.
    shared = [item["pictures"][2]["stored"]["path"] for item in items.values()]
    assert sorted(shared) == sorted([*set(shared)] * 2)


def test_one_condition_beside_its_originals(pope_folder: Path, tmp_path: Path) -> None:
    viewed = write_gallery(
        pope_folder, tmp_path / "out", Choice("black_mask", "random", 4), sheet=tmp_path / "sheet.png"
    )
    assert (viewed.items, viewed.of) == (4, 6)
    items = _items(tmp_path / "out")
    assert [_labels(item) for item in items.values()] == [["original", "black_mask"]] * 4
    for item in items.values():
        original, masked = (
            np.asarray(Image.open(tmp_path / "out" / picture["stored"]["path"]).convert("RGB"))
            for picture in item["pictures"]
        )
        (overlay,) = item["pictures"][1]["overlays"]
        assert overlay["shown"] is False
        with Image.open(tmp_path / "out" / overlay["path"]) as image:
            drawn = np.asarray(image.convert("RGBA"))[..., 3] > 0
        with Image.open(tmp_path / "out" / overlay["light"]) as image:
            mask = np.asarray(image.convert("L")) == 255
        assert not (drawn & mask).any()
        # The mask that is drawn is the one whose pixels went black.
        assert (masked[mask] == 0).all()
        assert (masked[~mask] == original[~mask]).all()
    with Image.open(tmp_path / "sheet.png") as sheet:
        # Four questions of two pictures each on one line, below a heading.
        assert sheet.width == 8 * 314 + 14
        assert 279 + 14 < sheet.height < 2 * 279


def test_original_alone_and_limits(pope_folder: Path, tmp_path: Path) -> None:
    write_gallery(pope_folder, tmp_path / "a", Choice("original"))
    assert {len(item["pictures"]) for item in _items(tmp_path / "a").values()} == {1}
    write_gallery(pope_folder, tmp_path / "b", Choice(limit=3))
    assert [len(item["pictures"]) for item in _items(tmp_path / "b").values()] == [4, 3, 4]


def _rewrite(folder: Path, stem: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    (path,) = (folder / "data").glob(f"{stem}-*.parquet")
    table = pq.read_table(path)
    pq.write_table(pa.Table.from_pylist(change(table.to_pylist()), schema=table.schema), path)


def test_a_row_without_its_original_is_shown_as_such(pope_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pope"
    shutil.copytree(pope_folder, folder)
    _rewrite(folder, "original", lambda rows: rows[1:])
    write_gallery(folder, tmp_path / "out")
    items = _items(tmp_path / "out")
    assert len(items) == 12
    (alone,) = [item for item in items.values() if "stored" not in item["pictures"][0]]
    assert alone["pictures"][0]["about"] == "The original is not in this folder."
    assert _labels(alone) == ["original", "no_image", "black_50", "black_mask"]
    assert alone["facets"]["condition"] == ["no_image", "black_50", "black_mask"]
    # With a limit the rows of other questions are not wanted.
    write_gallery(folder, tmp_path / "some", Choice(limit=5))
    assert len(_items(tmp_path / "some")) == 5


def test_two_rows_of_one_condition_are_refused(pope_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pope"
    shutil.copytree(pope_folder, folder)
    _rewrite(folder, "black_50", lambda rows: [*rows, rows[0]])
    with pytest.raises(InputError, match=r"the question random-\S+ has two rows of black_50"):
        write_gallery(folder, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["pope"]


def _pixels(page: Any, selector: str, number: int) -> np.ndarray:
    picture = Image.open(io.BytesIO(page.locator(selector).nth(number).screenshot()))
    return np.asarray(picture.convert("RGB")).astype(int)


@pytest.mark.browser
def test_original_beside_each_condition(pope_gallery: Path, open_page: Open, tmp_path: Path) -> None:
    opened = open_page(pope_gallery)
    page = opened.page
    page.locator(".cell").first.click()
    labels = page.locator(".pane figcaption b")
    # First comes a condition with something to look for.
    assert labels.all_inner_texts() == ["original", "black_mask"]
    opened.wait_for_pictures()
    page.screenshot(path=tmp_path / "compare.png")
    print(f"screenshot: {tmp_path / 'compare.png'}")
    left, right = _pixels(page, ".frame", 0), _pixels(page, ".frame", 1)
    assert left.shape == right.shape
    assert (left != right).any()
    page.keyboard.press("1")
    # The mask of the condition is drawn over both.
    assert (_pixels(page, ".frame", 0) != left).any()
    assert (_pixels(page, ".frame", 1) != right).any()
    page.keyboard.press("1")
    for expected in ("no_image", "black_50", "black_mask", "no_image"):
        page.keyboard.press("c")
        assert labels.all_inner_texts() == ["original", expected]
    assert page.locator(".pane .empty").inner_text() == "no picture at all"
    page.keyboard.press("C")
    assert labels.all_inner_texts() == ["original", "black_mask"]
    # A row without it shows another; the next with it shows it again.
    page.keyboard.press("j")
    assert labels.all_inner_texts() == ["original", "black_50"]
    page.keyboard.press("j")
    assert labels.all_inner_texts() == ["original", "black_mask"]
    page.locator(".strip button", has_text="black_50").click()
    assert labels.all_inner_texts() == ["original", "black_50"]
    # The focus stays in the strip.
    assert page.evaluate("document.activeElement.textContent") == "black_50"
    half = _pixels(page, ".frame", 1)
    # Without the round corners and the soft edge between the halves.
    assert (half[8 : len(half) // 2 - 2, 8:-8] == 0).all()


@pytest.mark.browser
def test_a_condition_filter_chooses_the_picture(pope_gallery: Path, open_page: Open) -> None:
    page = open_page(pope_gallery).page
    page.locator(".value", has_text="black_mask").click()
    assert page.locator("#count").inner_text() == "6 of 12 questions"
    plain = page.locator(".cell img").first.get_attribute("src")
    page.locator("#clear").click()
    assert page.locator(".cell img").first.get_attribute("src") != plain
    page.locator(".value", has_text="black_50").click()
    page.locator(".cell").first.click()
    assert page.locator(".pane figcaption b").all_inner_texts() == ["original", "black_50"]


@pytest.mark.browser
def test_compare_on_a_phone(pope_gallery: Path, open_page: Open, tmp_path: Path) -> None:
    opened = open_page(pope_gallery, width=360, height=740, has_touch=True, is_mobile=True)
    page = opened.page
    page.locator(".cell").first.tap()
    boxes = [page.locator(".pane").nth(number).bounding_box() for number in (0, 1)]
    # Side by side, and the strip moves within itself.
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    chosen = page.locator('.strip [aria-pressed="true"]').bounding_box()
    assert chosen["x"] >= 0
    assert chosen["x"] + chosen["width"] <= 360
    page.locator(".chip.zoom").tap()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.evaluate("document.querySelector('.view').scrollTo(40, 30)")
    opened.wait_until("[...document.querySelectorAll('.view')].every(view => view.scrollLeft === 40)")
    opened.wait_for_pictures()
    page.screenshot(path=tmp_path / "phone.png")
    print(f"screenshot: {tmp_path / 'phone.png'}")


def test_a_swap_is_told_in_plain_words_with_the_rows_own_answer(tmp_path: Path) -> None:
    from lookcheck.dataset_builders.display.media import Media
    from lookcheck.dataset_builders.perturbed_pope.view import COLUMNS, OPTIONAL, _picture

    row = dict.fromkeys((*COLUMNS, *OPTIONAL)) | {"id": "a", "question": "Is there an airplane in the image?"}
    swap = {"condition": "entity_swap", "entity": "airplane", "donor": "umbrella", "answer": "no"}
    mask = {"condition": "black_mask", "entity": "airplane", "answer": "yes"}
    told = [_picture({**row, **own}, Media(tmp_path / own["condition"])) for own in (swap, mask)]
    assert [picture.about for picture in told] == [
        "an umbrella in place of the airplane",
        "the pixels of the airplane black",
    ]
    # Whoever sees no airplane must not read that the answer is yes.
    assert [picture.note for picture in told] == [
        "entity_swap · answer: no",
        "black_mask · label of the original: yes",
    ]
    assert [picture.questions[0].answer_name for picture in told] == ["", "Label of the original"]
    assert [picture.facets["answer"] for picture in told] == [("no",), ("yes",)]


@pytest.mark.browser
def test_answers_and_counts_are_those_of_the_picture_shown(
    pope_folder: Path, open_page: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "pope"
    shutil.copytree(pope_folder, folder)
    # As a swap does: what is asked for is gone from six rows, and their answer is no.
    _rewrite(folder, "black_mask", lambda rows: [{**row, "answer": 0} for row in rows])
    write_gallery(folder, tmp_path / "out")
    page = open_page(tmp_path / "out").page

    def shown() -> dict[str, str]:
        values = page.locator(".value:not(:disabled)").all()
        return {value.inner_text().split("\n")[0]: value.inner_text().split("\n")[-1] for value in values}

    assert (shown()["yes"], shown()["no"], shown()["black_mask"]) == ("6", "6", "6")
    page.locator(".value", has_text="black_mask").click()
    assert page.locator("#count").inner_text() == "6 of 12 questions"
    assert shown()["no"] == "6"
    assert "yes" not in shown()
    assert {*page.locator(".cell .note").all_inner_texts()} == {"black_mask · label of the original: no"}
    page.locator(".value", has_text="no").locator("visible=true").last.click()
    page.locator(".value", has_text="black_mask").click()
    # Of the originals six have the answer no, and none is one of the six above.
    assert page.locator("#count").inner_text() == "6 of 12 questions"
    assert {*page.locator(".cell .note").all_inner_texts()} == {"no · 2 conditions"}
    assert "black_mask" in shown()
    page.locator(".cell").first.click()
    page.locator(".strip button", has_text="black_50").click()
    assert page.locator(".ask .answer").inner_text() == "Label of the original  no"
