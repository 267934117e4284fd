"""A sample's masks drawn by their outlines, with the pairs of the matching: for the gradio page alone."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps
from pycocotools import mask as coco

# Okabe and Ito's blue and orange: apart for every kind of colour vision, on dark and light ground.
COLOURS = {"R": "#0072B2", "P": "#E69F00"}
_LETTERS = {"R": "#00507d", "P": "#7d4a00"}
_WIDTHS = {"R": 5, "P": 2.5}
_UNITS = 1000
"""The drawing's width; small pictures would need letters smaller than browsers draw."""
_FONT = 44


def outline(mask: npt.NDArray[np.bool_]) -> str:
    """The borders between inside and outside, as the data of an SVG path in pixels.

    Parameters
    ----------
    mask : ndarray of bool, shape (h, w)

    Examples
    --------
    >>> outline(np.array([[True, True]]))
    'M0 0H2M0 1H2M0 0V1M2 0V1'
    """
    padded = np.pad(mask, 1)
    across = _runs(padded[1:, 1:-1] != padded[:-1, 1:-1])
    down = _runs((padded[1:-1, 1:] != padded[1:-1, :-1]).T)
    return "".join(f"M{x} {y}H{end}" for y, x, end in across) + "".join(
        f"M{x} {y}V{end}" for x, y, end in down
    )


def _runs(edges: npt.NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    steps = np.diff(edges.astype(np.int8), axis=1, prepend=0, append=0)
    lines, begins = np.nonzero(steps == 1)
    return list(zip(lines.tolist(), begins.tolist(), np.nonzero(steps == -1)[1].tolist(), strict=True))


def picture_of(path: str, size: Sequence[int]) -> str:
    """A picture as the address of a JPEG, upright as in the data set; ValueError if it isn't ``[h, w]``."""
    name = Path(path).name
    try:
        with Image.open(path) as opened:
            picture = ImageOps.exif_transpose(opened).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"{name} can't be read as a picture ({error})") from None
    if picture.size != (size[1], size[0]):
        raise ValueError(
            f"{name} is {picture.width} × {picture.height} pixels, but the masks are {size[1]} × {size[0]}"
        )
    picture.thumbnail((1280, 1280))
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{b64encode(data.getvalue()).decode()}"


def draw(row: Mapping[str, Any], masks: Mapping[str, Sequence[Any]], path: str | None = None) -> str:
    """A sample as HTML: the drawing, and below it what became of every mask.

    Parameters
    ----------
    row : dict
        The sample's row of ``per_sample``.
    masks : dict
        ``R``, reference, and ``P``, predicted: checked encodings in the order in which they were given.
    path : str, optional
        The picture; without it the ground is plain.
    """
    title = f"Sample {row['id']!r}: mask score {row['mask_score']:.3f}"
    encoded = [rle for side in masks.values() for rle in side]
    if not encoded:
        return (
            f"<figure class='grove'><figcaption>{escape(title)}; no mask on either side</figcaption></figure>"
        )
    height, width = encoded[0]["size"]
    scale = _UNITS / width
    tall = round(height * scale)
    ground = '<rect width="100%" height="100%" fill="#e8e8e8"/>'
    if path is not None:
        address = picture_of(path, (height, width))
        ground = f'<image href="{address}" width="{_UNITS}" height="{tall}" preserveAspectRatio="none"/>'
    pairs = [(f"R{pair['reference']}", f"P{pair['prediction']}", pair["iou"]) for pair in row["matches"]]
    shares = {predicted: iou for _, predicted, iou in pairs}
    lines = [f"<li>{ours} with {theirs}: IoU {iou:.3f}</li>" for ours, theirs, iou in pairs]
    matched = {name for pair in pairs for name in pair[:2]}
    paths, texts = [], []
    for side, rles in masks.items():
        for index, rle in enumerate(rles):
            name, mask = f"{side}{index}", coco.decode(rle).astype(bool)
            if name not in matched:
                lines.append(f"<li>{name}: {'no pair' if mask.any() else 'empty, no pair'}</li>")
            if not mask.any():
                continue
            for colour, wider in (("#fff", 2.5), (COLOURS[side], 0.0)):
                paths.append(
                    f'<path d="{outline(mask)}" stroke="{colour}" stroke-width="{_WIDTHS[side] + wider}"/>'
                )
            label = f"{name} · IoU {shares[name]:.2f}" if name in shares else name
            texts.append(_label(mask, scale, side, label))
    return (
        f"<figure class='grove'><figcaption>{escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {_UNITS} {tall}" role="img" aria-label="{escape(title)}">{ground}'
        f'<g transform="scale({scale})" fill="none" stroke-linecap="square">{"".join(paths)}</g>'
        f"{''.join(texts)}</svg>"
        f"<p><b>R: reference</b>, thick blue line; "
        f"<b>P: predicted</b>, thin orange line; counted from 0.</p>"
        f"<ul>{''.join(lines)}</ul></figure>"
    )


def _label(mask: npt.NDArray[np.bool_], scale: float, side: str, label: str) -> str:
    """A mask's name inside its box: a reference's at the top left, a predicted one's at the bottom right."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    tall = mask.shape[0] * scale
    x, y, anchor = columns[0] * scale + 10, rows[0] * scale + _FONT, "start"
    if side == "P":
        x, y, anchor = (columns[-1] + 1) * scale - 10, (rows[-1] + 1) * scale - 20, "end"
    # What would run over the picture's border begins or ends there.
    room = 0.6 * _FONT * len(label)
    x = min(x, _UNITS - room - 5) if anchor == "start" else max(x, room + 5)
    y = min(max(y, _FONT), max(tall - 8, _FONT))
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{_FONT}" font-weight="700" '
        f'fill="{_LETTERS[side]}" stroke="#fff" stroke-width="9" paint-order="stroke">{label}</text>'
    )
