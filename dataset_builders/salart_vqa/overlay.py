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
    line, rim = max(2, round(side / 128)), max(1, round(side / 512))
    # Pillow's own font: the same letters on every machine.
    letters = max(13, round(side / 24))
    font = ImageFont.load_default(letters)
    corners = {letter: _corners(boxes[letter]) for letter in BOX_LETTERS}
    for letter, (left, top, right, bottom) in corners.items():
        # A dark rim on both sides keeps a line apart from a ground of its own colour.
        outer = (left - rim, top - rim, right + rim, bottom + rim)
        draw.rectangle(outer, outline=(0, 0, 0), width=line + 2 * rim)
        draw.rectangle((left, top, right, bottom), outline=COLOURS[letter][0], width=line)
    taken: list[Box] = []
    for letter, box in corners.items():
        colour, ink = COLOURS[letter]
        # All four labels are as wide as the widest letter asks.
        height = max(font.getbbox(other)[3] for other in BOX_LETTERS)
        label = _place(box, height + 2 * line, line, drawn.size, taken)
        taken.append(label)
        draw.rectangle(label, fill=colour, outline=(0, 0, 0), width=rim)
        middle = ((label[0] + label[2]) / 2, (label[1] + label[3]) / 2)
        draw.text(middle, letter, fill=ink, font=font, anchor="mm", stroke_width=letters // 30)
    return drawn


def _corners(box: Box) -> Box:
    """First and last pixel of a box, which may be thinner than a pixel."""
    left, top = round(box[0]), round(box[1])
    return left, top, max(left, round(box[0] + box[2]) - 1), max(top, round(box[1] + box[3]) - 1)


def _place(box: Box, side: float, line: int, size: tuple[int, int], taken: list[Box]) -> Box:
    """Where a label of `side` pixels stands, as its corners."""
    left, top, right, bottom = box
    far_left, far_top = right - side, bottom - side
    places = [
        (left, top - side),
        (far_left, top - side),
        (left, bottom),
        (far_left, bottom),
        (left + line, top + line),
        (far_left - line, far_top - line),
    ]
    whole = [
        (x, y, x + side, y + side)
        for x, y in places
        if x >= 0 and y >= 0 and x + side < size[0] and y + side < size[1]
    ]
    free = [place for place in whole if not any(_meet(place, other) for other in taken)]
    # In a picture hardly larger than a label there is no good place.
    x, y = min(max(0, left), size[0] - side), min(max(0, top), size[1] - side)
    return (free or whole or [(x, y, x + side, y + side)])[0]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
