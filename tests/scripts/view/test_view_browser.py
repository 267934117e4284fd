"""The page in headless Chromium: what a reader clicks, types and sees."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("view")]

Open = Callable[..., Any]


def _pixels(page: Any, selector: str) -> np.ndarray:
    picture = Image.open(io.BytesIO(page.locator(selector).screenshot()))
    return np.asarray(picture.convert("RGB")).astype(int)


def _keep(page: Any, path: Path) -> None:
    page.screenshot(path=path)
    print(f"screenshot: {path}")


def test_a_toggle_shows_and_hides_exactly_its_instance(
    vistaqa_gallery: Path, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(vistaqa_gallery, "id=0016").page
    chips = page.locator(".chip.one")
    # Record 16 has 1 + 16 % 3 instances: boxes of 5 × 6 from x = 2 and 8, y = 2, of 24 × 16 pixels.
    assert chips.count() == 2
    with_both = _pixels(page, ".frame")
    _keep(page, tmp_path / "detail.png")
    chips.nth(0).click()
    assert chips.nth(0).get_attribute("aria-pressed") == "false"
    without_first = _pixels(page, ".frame")
    page.keyboard.press("m")
    plain = _pixels(page, ".frame")
    page.keyboard.press("m")
    page.keyboard.press("2")
    assert chips.nth(1).get_attribute("aria-pressed") == "false"
    only_first = _pixels(page, ".frame")
    page.keyboard.press("2")
    assert (_pixels(page, ".frame") == with_both).all()
    height, width, _ = plain.shape

    def inside(x: int) -> np.ndarray:
        """The pixels of the box from x; Chromium blends scaled ones, so that its edge is left out."""
        box, scale = np.zeros((height, width), bool), width / 24
        box[round(2.6 * scale) : round(7.4 * scale), round((x + 0.6) * scale) : round((x + 4.4) * scale)] = (
            True
        )
        return box

    first, second = inside(2), inside(8)
    # What is shown keeps its colours; all else gets darker, a hidden instance too.
    for shown, lit, dim in (
        (with_both, first | second, None),
        (without_first, second, first),
        (only_first, first, second),
    ):
        assert (shown[lit] == plain[lit]).all()
        far = np.s_[-height // 4 :, :]
        assert (shown[far].sum(-1) < plain[far].sum(-1)).mean() > 0.9
        if dim is not None:
            assert (shown[dim].sum(-1) < plain[dim].sum(-1)).all()


def test_boxes_of_salart_are_drawn_and_the_right_one_stands_out(
    salart_gallery: Path, open_page: Open, tmp_path: Path
) -> None:
    opened = open_page(salart_gallery)
    page = opened.page
    # A picture and the one it was made from.
    artifact, before = page.evaluate(
        "['artifact', 'paired generated counterpart'].map(role => [...GROUPS.values()]"
        ".find(pair => pair.some(item => item.note.startsWith('paired')))"
        ".find(item => item.note === role).id)"
    )
    opened.go(f"id={artifact}")
    shown = _pixels(page, ".frame")
    right_box = page.locator(".chip.one", has_text="right box")
    assert [chip.get_attribute("aria-pressed") for chip in page.locator(".chip.one").all()] == [
        "true",
        "true",
    ]
    right_box.click()
    boxes = _pixels(page, ".frame")
    page.locator(".chip.one", has_text="boxes A to D").click()
    plain = _pixels(page, ".frame")
    # The boxes cover little; beside the right one, all is dimmed.
    assert 0.02 < (boxes != plain).any(axis=2).mean() < 0.5
    assert (shown.sum(-1) < boxes.sum(-1)).mean() > 0.5
    right_box.click()
    page.locator(".chip.one", has_text="boxes A to D").click()
    assert (_pixels(page, ".frame") == shown).all()
    assert page.locator(".ask h2").all_inner_texts() == ["Q1 Presence", "Q2 Region", "Q3 Box", "Q4 Evidence"]
    right = page.evaluate("BY_ID.get(current.id).questions.map(question => question.answer)")
    assert right[0] == "yes"
    marked = [text.split("\n")[0] for text in page.locator(".options .right").all_inner_texts()]
    assert marked == [right[1], right[3]]
    assert right_box.inner_text() == f"right box: {right[2]}"
    _keep(page, tmp_path / "salart.png")
    page.locator(".facts a").click()
    opened.wait_until("id => current.id === id", before)
    # No box of the picture before is right.
    assert page.locator(".chip.one").all_inner_texts() == ["boxes A to D"]
    assert page.locator(".chip.one").get_attribute("aria-pressed") == "true"
    # The counterpart is not asked whether it has an artifact.
    assert page.locator(".ask").first.inner_text().endswith("Not asked")
    page.go_back()
    opened.wait_until("id => current.id === id", artifact)


def test_filters_narrow_and_count(vistaqa_gallery: Path, open_page: Open) -> None:
    opened = open_page(vistaqa_gallery)
    page = opened.page
    count = page.locator("#count")
    assert count.inner_text() == "48 rows"
    assert page.locator(".cell").count() == 48

    def values() -> dict[str, str]:
        texts = page.locator(".value").all_inner_texts()
        return dict(text.split("\n") for text in texts)

    # Record n has task n % 6 and domain n % 6; 3, 10, 17, … have no evidence.
    assert values()["counting"] == "8"
    assert values()["without evidence"] == "7"
    page.locator(".value", has_text="counting").click()
    assert count.inner_text() == "8 of 48 rows"
    assert page.locator(".cell").count() == 8
    assert values()["counting"] == "8"
    # Counts of the other facets are of what is left; those of the same facet say what one more adds.
    assert values()["ocr"] == "8"
    assert values()["driving"] == "0"
    assert values()["without evidence"] == "1"
    assert page.locator(".value", has_text="driving").is_disabled()
    page.locator(".value", has_text="without evidence").click()
    assert count.inner_text() == "1 of 48 rows"
    page.locator(".value", has_text="ocr").click()
    assert count.inner_text() == "2 of 48 rows"
    # The address holds the filters: it can be sent to somebody.
    address = page.evaluate("location.hash")
    page.locator("#clear").click()
    assert count.inner_text() == "48 rows"
    opened.follow(address)
    assert count.inner_text() == "2 of 48 rows"
    page.locator(".cell").first.click()
    assert page.locator(".position").inner_text() == "1 of 2"


def test_search_reads_questions_answers_and_ids(vistaqa_gallery: Path, open_page: Open) -> None:
    page = open_page(vistaqa_gallery).page
    page.keyboard.press("/")
    page.keyboard.type("picture 20")
    assert page.locator("#count").inner_text() == "1 of 48 rows"
    page.locator("#text").fill("עברית")
    assert page.locator("#count").inner_text() == "1 of 48 rows"
    page.locator("#text").fill("A BOX 31")
    assert page.locator(".cell .note").inner_text() == "a box 31"
    page.locator("#text").fill("0047")
    assert page.locator("#count").inner_text() == "1 of 48 rows"
    page.locator("#text").fill("nothing of the kind")
    assert page.locator("#count").inner_text() == "0 of 48 rows"
    # What is empty says how to go on.
    assert page.locator("#nothing").inner_text() == "No row fits all of this. Clear filters and search"
    page.locator("#clear-all").click()
    assert page.locator("#count").inner_text() == "48 rows"
    assert page.locator("#nothing").is_hidden()
    assert page.locator("#text").input_value() == ""


def test_keys_move_and_the_address_follows(vistaqa_gallery: Path, open_page: Open) -> None:
    # The folder has its rows by task: 0, 6, 12, … come first.
    opened = open_page(vistaqa_gallery, "id=0012")
    page = opened.page
    position = page.locator(".position")
    assert position.inner_text() == "3 of 48"
    for key, expected in (
        ("ArrowRight", 4),
        ("j", 5),
        ("k", 4),
        ("ArrowLeft", 3),
        ("ArrowLeft", 2),
        ("k", 1),
        ("k", 1),
    ):
        page.keyboard.press(key)
        assert position.inner_text() == f"{expected} of 48"
    assert page.evaluate("location.hash") == "#id=0000"
    assert page.title() == "0000 · VistaQA"
    page.keyboard.press("Escape")
    assert page.locator("#detail").is_hidden()
    # The eye and the focus are where they were, and Enter goes in again.
    assert page.evaluate("document.activeElement.className") == "cell"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert position.inner_text() == "2 of 48"
    page.go_back()
    page.locator("#detail").wait_for(state="hidden")
    page.go_forward()
    assert position.inner_text() == "2 of 48"
    page.locator(".next").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert position.inner_text() == "4 of 48"
    opened.go("id=no%20such")
    assert page.locator("#notice").inner_text() == "No row here has the id “no such”."
    assert page.locator(".cell").count() == 48


def test_hostile_text_is_text(vistaqa_gallery: Path, open_page: Open) -> None:
    opened = open_page(vistaqa_gallery)
    page = opened.page
    shown = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.cell')].map(cell =>"
        " [cell.getAttribute('href').slice(-4), cell.querySelector('.cap').textContent]))"
    )
    for number in range(1, 8):
        opened.follow(f"id={number:04d}")
        text = page.locator(".ask .text").evaluate("each => each.textContent")
        assert text == shown[f"{number:04d}"]
        assert page.locator(".ask .answer b").evaluate("each => each.textContent") == text
        assert page.locator(".ask .text *").count() == 0
    assert shown["0001"] == "</script><script>window.hacked = 1</script>"
    assert "\u2028separator\u2029" in shown["0006"]
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.locator("script").count() == 2
    opened.follow("id=0004")
    assert page.locator(".ask .text").evaluate("each => getComputedStyle(each).direction") == "rtl"
    # What is injected in spite of all does not run: the policy knows two hashes.
    page.evaluate(
        "() => { const made = document.createElement('script'); made.textContent = 'window.hacked = 9';"
        " document.body.append(made); }"
    )
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert len(opened.errors) == 1
    assert "violates the following Content Security Policy" in opened.errors.pop()


def test_what_scrolls_can_be_reached_by_keyboard(vistaqa_gallery: Path, open_page: Open) -> None:
    page = open_page(vistaqa_gallery, "id=0016").page
    view = page.locator(".view")
    assert view.get_attribute("tabindex") is None
    page.keyboard.press("z")
    named = [view.get_attribute(name) for name in ("tabindex", "role", "aria-label")]
    assert named == ["0", "region", "picture of row 0016"]
    view.focus()
    assert view.evaluate("each => document.activeElement === each")
    # The next row stays zoomed, and as easy to reach.
    page.keyboard.press("j")
    assert page.locator(".view").get_attribute("tabindex") == "0"
    page.keyboard.press("z")
    assert page.locator(".view").get_attribute("tabindex") is None
