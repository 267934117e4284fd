"""The page on a phone, in the dark, with a thousand rows, and for those who don't see it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("view")]

Open = Callable[..., Any]

# Contrast of an element's text with what lies behind it (WCAG 2).
CONTRAST = """
() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!text || !element.offsetParent || element.closest("script, :disabled")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push([element.className || element.tagName, Number(ratio.toFixed(2))]);
  }
  return found;
}
"""
SMALL_TARGETS = """
() => [...document.querySelectorAll("button, input, a.cell")]
  .filter((each) => each.offsetParent && each.getBoundingClientRect().height < 40)
  .map((each) => each.className + " " + each.textContent)
"""


def _overflow(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize("gallery", ["vistaqa_gallery", "salart_gallery"])
def test_phone(gallery: str, open_page: Open, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    root = request.getfixturevalue(gallery)
    opened = open_page(root, width=360, height=740, has_touch=True, is_mobile=True, device_scale_factor=2)
    page = opened.page
    assert page.evaluate("innerWidth") == 360
    assert _overflow(page) == 0
    opened.wait_for_pictures()
    page.screenshot(path=tmp_path / "grid.png")
    assert page.locator("#filters").is_hidden()
    page.locator("#open-filters").tap()
    assert page.locator("#filters").is_visible()
    assert page.evaluate(SMALL_TARGETS) == []
    assert _overflow(page) == 0
    page.locator("#open-filters").tap()
    cells = page.locator(".cell").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    for address in cells[:10]:
        opened.follow(address)
        assert _overflow(page) == 0, address
        assert page.evaluate(SMALL_TARGETS) == []
    page.locator(".previous").tap()
    assert page.locator(".position").inner_text().startswith("9 of ")
    opened.wait_for_pictures()
    page.screenshot(path=tmp_path / "detail.png")
    print(f"screenshots: {tmp_path}")
    page.locator(".chip.zoom").tap()
    assert _overflow(page) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_and_names(scheme: str, salart_gallery: Path, open_page: Open, tmp_path: Path) -> None:
    opened = open_page(salart_gallery, color_scheme=scheme)
    page = opened.page
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 21, 23)"
    assert dark == (scheme == "dark")
    page.locator(".value").first.click()
    assert page.evaluate(CONTRAST) == []
    opened.wait_for_pictures()
    page.screenshot(path=tmp_path / "grid.png")
    page.locator(".cell").first.click()
    assert page.evaluate(CONTRAST) == []
    opened.wait_for_pictures()
    page.screenshot(path=tmp_path / "detail.png")
    print(f"screenshots: {tmp_path}")
    unnamed = (
        "all => all.filter(each => !(each.getAttribute('aria-label') || each.textContent.trim())).length"
    )
    assert page.locator("button:visible, a:visible").evaluate_all(unnamed) == 0
    assert (
        page.locator("img").evaluate_all("all => all.filter(each => !each.hasAttribute('alt')).length") == 0
    )
    assert page.locator(".frame .picture").get_attribute("alt").startswith("picture of row sample_")
    # A reader who moves by keyboard sees where they are.
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    assert page.locator("#say").inner_text().startswith("1 of ")


def test_a_thousand_rows_open_at_once(
    upstream: Any, build_vistaqa: Any, open_page: Open, tmp_path: Path
) -> None:
    from lookcheck.scripts.view.gallery import write_gallery

    tasks = list(upstream.TASKS)
    folder = build_vistaqa(tmp_path, [upstream.record(number, tasks[number % 6]) for number in range(1000)])
    write_gallery(folder, tmp_path / "gallery")
    opened = open_page(tmp_path / "gallery")
    opened.page.locator(".cell").first.wait_for()
    opened.wait_for_pictures()
    page = opened.page
    assert page.locator("#count").inner_text() == "1,000 rows"
    # Only what is near the window is made and loaded.
    assert page.locator(".cell").count() < 400
    assert len(set(opened.requests)) < 400
    page.locator("#text").fill("picture 99")
    # Words are looked for one by one: 99, 199 … 899 and 990 … 999.
    assert page.locator("#count").inner_text() == "19 of 1,000 rows"
    page.locator("#text").fill("")
    # All of them can be reached by scrolling, and the last by its address.
    opened.wait_until(
        "(window.scrollTo(0, document.body.scrollHeight), document.querySelectorAll('.cell').length === 1000)"
    )
    # Rows stand by task; 995 is the last of the last task.
    opened.go("id=0995")
    assert page.locator(".position").inner_text() == "1,000 of 1,000"
    page.keyboard.press("Escape")
    assert page.locator(".cell").nth(999).evaluate("each => each === document.activeElement")
