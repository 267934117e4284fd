"""Cups, bottles, bowls, vases and cutlery."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures import fills
from lookcheck.dataset_builders.pictures.canvas import Canvas, Colour
from lookcheck.dataset_builders.pictures.objects.shadow import contact_shadow
from lookcheck.dataset_builders.pictures.shapes import Frame, Region, blob, ellipse, line, polygon, rectangle


def cup(canvas: Canvas, x: float, y: float, size: float, colour: Colour, label: str) -> None:
    """A mug with its foot at (x, y), `size` high; the handle is on the right."""
    contact_shadow(canvas, x, y - size * 0.02, size * 0.85)
    owner = canvas.thing("cup", label)
    half, top = size * 0.4, y - size * 0.88
    handle = ellipse(x + half, y - size * 0.47, size * 0.25, size * 0.26).outline(size * 0.1)
    canvas.paint(handle, fills.tube(colour, y - size * 0.78, y - size * 0.15, upright=False), owner)
    body = vessel_side(x, top, y, half, half * 0.86, size * 0.1)
    canvas.paint(body, fills.tube(colour, x - half, x + half), owner)
    rim = ellipse(x, top, half, size * 0.12)
    canvas.paint(rim, fills.lighter(colour, 0.35), owner)
    inside = ellipse(x, top + size * 0.012, half * 0.88, size * 0.09)
    canvas.paint(inside, fills.darker(colour, 0.45), owner)
    coffee = ellipse(x, top + size * 0.055, half * 0.8, size * 0.07) & inside
    canvas.paint(coffee, (74, 44, 26), owner)


def vessel_side(x: float, top: float, bottom: float, upper: float, lower: float, bulge: float) -> Region:
    """The side of an upright round vessel with half widths `upper` and `lower` and a curved foot."""
    wall = polygon(
        [(x - upper, top), (x + upper, top), (x + lower, bottom - bulge), (x - lower, bottom - bulge)]
    )
    return wall | ellipse(x, bottom - bulge, lower, bulge)


def bottle(canvas: Canvas, x: float, y: float, size: float, colour: Colour, label: str) -> None:
    """A bottle with a paper label and its foot at (x, y), `size` high."""
    contact_shadow(canvas, x, y - size * 0.01, size * 0.34)
    owner = canvas.thing("bottle", label)
    half, neck = size * 0.14, size * 0.05
    left = [
        (x - half, y - size * 0.03),
        (x - half, y - size * 0.55),
        (x - half * 0.92, y - size * 0.63),
        (x - neck * 1.25, y - size * 0.74),
        (x - neck, y - size * 0.8),
        (x - neck, y - size * 0.97),
    ]
    outline = left + [(2 * x - px, py) for px, py in reversed(left)]
    body = polygon(outline) | ellipse(x, y - size * 0.03, half, size * 0.03)
    canvas.paint(body, fills.tube(colour, x - half, x + half), owner)
    paper = rectangle(x - half, y - size * 0.46, x + half, y - size * 0.2)
    canvas.paint(paper, fills.tube((236, 228, 206), x - half, x + half), owner)
    band = rectangle(x - half, y - size * 0.36, x + half, y - size * 0.3)
    canvas.paint(band, fills.tube(fills.darker(colour, 0.1), x - half, x + half), owner)
    cap = rectangle(x - neck * 1.25, y - size, x + neck * 1.25, y - size * 0.91, size * 0.012)
    canvas.paint(cap, fills.tube((196, 176, 120), x - neck * 1.25, x + neck * 1.25), owner)


def bowl(canvas: Canvas, x: float, y: float, width: float, colour: Colour, label: str = "") -> int:
    """The back and inside of a bowl with its foot at (x, y); gives the owner for `bowl_front`."""
    contact_shadow(canvas, x, y, width * 0.75)
    owner = canvas.thing("bowl", label)
    half, top = width / 2, y - width * 0.4
    canvas.paint(ellipse(x, top, half, width * 0.13), fills.lighter(colour, 0.3), owner)
    canvas.paint(ellipse(x, top + width * 0.01, half * 0.94, width * 0.11), fills.darker(colour, 0.35), owner)
    return owner


def bowl_front(canvas: Canvas, x: float, y: float, width: float, colour: Colour, owner: int) -> None:
    """The front of the bowl, in front of what lies in it."""
    half, top = width / 2, y - width * 0.4
    left = [(x - half, top), (x - half * 0.95, top + width * 0.12), (x - half * 0.72, y - width * 0.1)]
    left += [(x - half * 0.4, y - width * 0.015), (x - half * 0.36, y + width * 0.01)]
    front = polygon(left + [(2 * x - px, py) for px, py in reversed(left)])
    hollow = ellipse(x, top, half, width * 0.13)
    canvas.paint(front - hollow, fills.tube(colour, x - half, x + half), owner)
    lip = (hollow - ellipse(x, top - width * 0.018, half, width * 0.13)) & rectangle(
        x - half, top, x + half, top + width
    )
    canvas.paint(lip, fills.lighter(colour, 0.4), owner)


def plate(canvas: Canvas, x: float, y: float, radius: float, colour: Colour = (240, 240, 236)) -> None:
    """A plate seen from above; scenery without a category."""
    canvas.shade(ellipse(x + radius * 0.06, y + radius * 0.08, radius), radius * 0.06, 0.45)
    shades = fills.lighter(colour, 0.5), fills.darker(colour, 0.1)
    canvas.paint(ellipse(x, y, radius), fills.down(*shades, y - radius, y + radius), 0)
    canvas.paint(ellipse(x, y, radius * 0.985).outline(radius * 0.02), fills.darker(colour, 0.08))
    canvas.paint(
        ellipse(x, y, radius * 0.7), fills.down(shades[1], shades[0], y - radius * 0.7, y + radius * 0.7)
    )
    canvas.paint(ellipse(x, y, radius * 0.7).outline(radius * 0.025), fills.darker(colour, 0.12))


def cutlery(canvas: Canvas, kind: str, x: float, y: float, length: float) -> None:
    """A fork, knife or spoon that lies along y, its handle down; (x, y) is its middle."""
    steel = (188, 192, 198)
    top, bottom = y - length / 2, y + length / 2
    handle = polygon(
        [
            (x - length * 0.014, y - length * 0.12),
            (x + length * 0.014, y - length * 0.12),
            (x + length * 0.027, bottom - length * 0.03),
            (x - length * 0.027, bottom - length * 0.03),
        ]
    )
    handle |= ellipse(x, bottom - length * 0.03, length * 0.027)
    if kind == "spoon":
        region = handle | ellipse(x, top + length * 0.17, length * 0.095, length * 0.17)
    elif kind == "knife":
        blade = [(x - length * 0.035, y), (x - length * 0.035, top + length * 0.02), (x, top)]
        region = handle | polygon([*blade, (x + length * 0.045, top + length * 0.2), (x + length * 0.04, y)])
    else:
        region = handle | blob(
            [
                (x - length * 0.07, top + length * 0.24),
                (x + length * 0.07, top + length * 0.24),
                (x + length * 0.04, y - length * 0.1),
                (x - length * 0.04, y - length * 0.1),
            ]
        )
        for offset in (-0.06, -0.02, 0.02, 0.06):
            tine = x + length * offset
            region |= line([(tine, top + length * 0.01), (tine, top + length * 0.27)], length * 0.022)
    canvas.shade(region.moved(length * 0.02, length * 0.02), length * 0.014 + 0.6, 0.5)
    canvas.paint(
        region,
        fills.across(fills.lighter(steel, 0.6), fills.darker(steel, 0.3), x - 12, x + 12),
        canvas.thing(kind),
    )
    if kind == "spoon":
        bowl_x, bowl_y = x, top + length * 0.17
        hollow = ellipse(bowl_x, bowl_y, length * 0.075, length * 0.145)
        canvas.paint(
            hollow, fills.across((138, 142, 150), (224, 227, 231), x - length * 0.07, x + length * 0.07)
        )


def potted_plant(canvas: Canvas, x: float, y: float, size: float, pot: Colour, label: str = "") -> None:
    """A plant with long leaves in a pot, `size` high, its foot at (x, y)."""
    contact_shadow(canvas, x, y, size * 0.4)
    owner = canvas.thing("potted plant", label)
    base = y - size * 0.3
    leaves = [
        (-0.34, 0.5),
        (0.36, 0.52),
        (-0.22, 0.66),
        (0.24, 0.68),
        (-0.1, 0.72),
        (0.12, 0.74),
        (0.0, 0.62),
    ]
    for number, (dx, dy) in enumerate(leaves):
        tip = (x + dx * size, base - dy * size)
        mid_x, mid_y = x + dx * size * 0.42, base - dy * size * 0.66
        w = size * 0.045
        leaf = blob([(x - w * 0.3, base), (mid_x - w, mid_y), tip, (mid_x + w, mid_y), (x + w * 0.3, base)])
        green = fills.mixed((38, 104, 52), (104, 170, 74), (number % 4) / 3)
        canvas.paint(
            leaf, fills.down(fills.lighter(green, 0.2), fills.darker(green, 0.3), tip[1], base), owner
        )
        canvas.paint(line([(x, base), (mid_x, mid_y), tip], 1.2), fills.darker(green, 0.25), opacity=0.7)
    side = vessel_side(x, base, y, size * 0.19, size * 0.135, size * 0.025)
    canvas.paint(side, fills.tube(pot, x - size * 0.19, x + size * 0.19), owner)
    rim = rectangle(x - size * 0.205, base - size * 0.03, x + size * 0.205, base + size * 0.035, size * 0.012)
    canvas.paint(rim, fills.tube(fills.lighter(pot, 0.12), x - size * 0.205, x + size * 0.205), owner)


def vase(canvas: Canvas, x: float, y: float, size: float, colour: Colour, label: str = "") -> None:
    """An empty vase, `size` high, its foot at (x, y)."""
    contact_shadow(canvas, x, y, size * 0.45)
    owner = canvas.thing("vase", label)
    left = Frame(x, y, size).points("-0.15,0 -0.26,-0.3 -0.2,-0.58")
    left += [
        (x - size * 0.075, y - size * 0.76),
        (x - size * 0.08, y - size * 0.9),
        (x - size * 0.14, y - size),
    ]
    body = blob(left + [(2 * x - px, py) for px, py in reversed(left)])
    canvas.paint(body, fills.tube(colour, x - size * 0.27, x + size * 0.27), owner)
    mouth = ellipse(x, y - size * 0.985, size * 0.13, size * 0.03)
    canvas.paint(mouth, fills.darker(colour, 0.55), owner)
    band = body & rectangle(x - size, y - size * 0.5, x + size, y - size * 0.44)
    canvas.paint(band, fills.lighter(colour, 0.55), opacity=0.55)
