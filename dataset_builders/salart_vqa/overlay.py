"""Four lettered boxes over a picture, for data that comes without upstream's overlays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from lookcheck.dataset_builders.salart_vqa.constants import BOX_LETTERS

Box = tuple[float, float, float, float]

# Colour of the box and of the letter on its label.
COLOURS: Final = {
    "A": ((214, 24, 31), (255, 255, 255)),  # red
    "B": ((25, 84, 224), (255, 255, 255)),  # blue
    "C": ((0, 200, 220), (0, 0, 0)),  # cyan
    "D": ((255, 145, 0), (0, 0, 0)),  # orange
}


def draw_boxes(image: Image.Image, boxes: Mapping[str, Box]) -> Image.Image:
    """Draw the boxes A to D with their letters.

    Lines and letters grow with the picture, and each label stands where it hides least: above its
    box, below it, or inside where there is no room.

    Parameters
    ----------
    image : PIL.Image
    boxes : mapping of str to (x, y, width, height)
        In pixels.

    Returns
    -------
    PIL.Image
        Mode RGB, of the same size; `image` stays as it is.

    Examples
    --------
    >>> boxes = {letter: (40 * number, 20, 30, 30) for number, letter in enumerate("ABCD")}
    >>> draw_boxes(Image.new("RGB", (160, 80)), boxes).getpixel((0, 30))
    (214, 24, 31)
    """
    drawn = image.convert("RGB") if image.mode != "RGB" else image.copy()
    draw = ImageDraw.Draw(drawn)
    side = max(drawn.size)
    line = max(2, round(side / 128))
    # Pillow's own font: the same letters on every machine.
    font = ImageFont.load_default(max(12, round(side / 24)))
    taken: list[tuple[float, float, float, float]] = []
    for letter in BOX_LETTERS:
        x, y, width, height = boxes[letter]
        colour, _ = COLOURS[letter]
        # A thin dark rim keeps a line apart from a ground of its own colour.
        draw.rectangle((x - 1, y - 1, x + width, y + height), outline=(0, 0, 0), width=line + 2)
        draw.rectangle((x, y, x + width - 1, y + height - 1), outline=colour, width=line)
    for letter in BOX_LETTERS:
        colour, ink = COLOURS[letter]
        label = _place(boxes[letter], font.getbbox(letter), line, drawn.size, taken)
        taken.append(label)
        draw.rectangle(label, fill=colour, outline=(0, 0, 0))
        middle = ((label[0] + label[2]) / 2, (label[1] + label[3]) / 2)
        draw.text(middle, letter, fill=ink, font=font, anchor="mm")
    return drawn


def _place(
    box: Box,
    ink: tuple[float, float, float, float],
    line: int,
    size: tuple[int, int],
    taken: list[tuple[float, float, float, float]],
) -> tuple[float, float, float, float]:
    x, y, width, height = box
    side = max(ink[2] - ink[0], ink[3]) + 2 * line
    left, right = x, x + width - side
    above, below, top, bottom = y - side, y + height, y + line, y + height - side - line
    places = [
        (left, above),
        (right, above),
        (left, below),
        (right, below),
        (left + line, top),
        (right, bottom),
    ]
    whole = [
        (px, py, px + side, py + side)
        for px, py in places
        if px >= 0 and py >= 0 and px + side <= size[0] and py + side <= size[1]
    ]
    free = [place for place in whole if not any(_meet(place, other) for other in taken)]
    inside = (min(max(0, x), size[0] - side), min(max(0, y), size[1] - side))
    return (free or whole or [(inside[0], inside[1], inside[0] + side, inside[1] + side)])[0]


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
