"""Masks of what a model writes itself, read by a named adapter, boxes and points outlined where asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.masks import Rle, encode
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.native.adapters import Adapter, adapter_of
from lookcheck.dataset_builders.native.folder import read_folder
from lookcheck.dataset_builders.native.reading import Claimed, read_native
from lookcheck.dataset_builders.native.shapes import NO_PIXEL, Shape
from lookcheck.scripts.predict.evidence.sam2 import Sam2

NATIVE = "native"
UNSEGMENTED = "point without a segmenter"
# Fields of a line that only this stage reads.
_INNER = (NATIVE, "seen", "size")


class NativeFinder:
    """Finds what the words ``native`` of a line claim, on a picture of ``size`` that the model ``seen``.

    Parameters
    ----------
    adapter : Adapter
    masks : Path or None
        Folder of PNG masks, of adapters that read one.
    outliner : Sam2 or None
        Without one, a box is its rectangle and a point has no pixel.
    """

    def __init__(self, adapter: Adapter, masks: Path | None, outliner: Sam2 | None) -> None:
        self._adapter, self._masks, self._outliner = adapter, masks, outliner

    def describe(self) -> Mapping[str, Json]:
        """All that affects a mask."""
        outliner = None if self._outliner is None else dict(self._outliner.describe())
        return {"adapter": self._adapter.name, "coordinates": self._adapter.convention, "outliner": outliner}

    def waits(self, line: Mapping[str, Any]) -> bool:
        """Whether the line has words that are not read yet."""
        return NATIVE in line and "masks" not in line

    def find(self, line: Mapping[str, Any], picture: Callable[[], Image.Image]) -> dict[str, Any]:
        """The line with ``masks``, its answer without the shapes, and what could not be read.

        Parameters
        ----------
        line : mapping
        picture : callable
            Gives the picture in RGB at its own size.
        """
        width, height = line["size"]
        size = int(width), int(height)
        claimed = self._claimed(line, size)
        problems = Counter(claimed.problems)
        told: dict[str, Any] = {
            "answer": claimed.answer,
            "masks": self._drawn(claimed.shapes, picture, size, problems),
            "instances": [{"phrase": shape.label} for shape in claimed.shapes],
            "clipped": claimed.clipped,
        }
        if there := dict(sorted((+problems).items())):
            told["evidence_problems"] = there
        if said := [reason for reason in (claimed.problem, *there) if reason]:
            told["problem"] = "; ".join(said)
        return {**{name: value for name, value in line.items() if name not in _INNER}, **told}

    def close(self) -> None:
        """Give back memory."""
        if self._outliner is not None:
            self._outliner.close()

    def _claimed(self, line: Mapping[str, Any], size: tuple[int, int]) -> Claimed:
        text, seen = str(line[NATIVE]), line.get("seen")
        if self._masks is not None:
            return Claimed(text.strip(), read_folder(self._masks, str(line["id"]), size))
        return read_native(self._adapter, text, size=size, seen=None if seen is None else (seen[0], seen[1]))

    def _drawn(
        self,
        shapes: Sequence[Shape],
        picture: Callable[[], Image.Image],
        size: tuple[int, int],
        problems: Counter[str],
    ) -> list[Rle]:
        masks = [shape.rle(size) for shape in shapes]
        boxes = {index: shape.box for index, shape in enumerate(shapes) if shape.box is not None}
        points = {index: shape.point for index, shape in enumerate(shapes) if shape.point is not None}
        if self._outliner is None:
            problems[UNSEGMENTED] += len(points)
            return masks
        if boxes or points:
            shown = picture()
            corners = [(float(x1), float(y1), float(x2), float(y2)) for x1, y1, x2, y2 in boxes.values()]
            places = [(float(x), float(y)) for x, y in points.values()]
            made = [
                *zip(boxes, self._outliner.outline_boxes(shown, corners), strict=True),
                *zip(points, self._outliner.outline_points(shown, places), strict=True),
            ]
            for index, mask in made:
                problems[NO_PIXEL] += not mask.any()
                masks[index] = encode(mask)
        return masks


def native_adapter(evidence: str | None, masks: Path | None, boxes: str) -> Adapter:
    """The adapter that ``--evidence native:NAME`` names.

    Raises
    ------
    InputError
        If there is none, or the other options do not go with it.
    """
    name = (evidence or "").partition(":")[2]
    if not name:
        raise InputError("--evidence native: expected native:NAME, as native:qwen3-vl")
    adapter = adapter_of(name)
    if (adapter.form == "folder") != (masks is not None):
        raise InputError(f"--evidence {evidence} {'needs' if masks is None else 'takes no'} --masks")
    if masks is not None and not masks.is_dir():
        raise InputError(f"--masks {masks}: no such folder")
    if adapter.form == "points" and boxes != "sam2":
        raise InputError(f"--evidence {evidence} needs --native-boxes sam2: a point has no mask of its own")
    return adapter
