"""The second stage of a run: evidence that a model named becomes masks, once the model is gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.evidence.instances import Segmenter
from lookcheck.scripts.predict.evidence.native import NativeFinder, native_adapter
from lookcheck.scripts.predict.evidence.sam2 import Sam2
from lookcheck.scripts.predict.evidence.settings import GROUNDING_DINO, Looking
from lookcheck.scripts.predict.plan import EVIDENCE, Plan
from lookcheck.scripts.predict.run_folder import Line
from lookcheck.scripts.predict.settings import Finding

PHRASES = "phrases"


class Finder:
    """Finds the phrases of a line of predictions.

    Parameters
    ----------
    segmenter : Segmenter
    """

    def __init__(self, segmenter: Segmenter) -> None:
        self._segmenter = segmenter

    def describe(self) -> Mapping[str, Json]:
        """All that affects a mask."""
        return self._segmenter.describe()

    def waits(self, line: Line) -> bool:
        """Whether the line has evidence that is not found yet."""
        return PHRASES in line and "masks" not in line

    def find(self, line: Line, picture: Callable[[], Image.Image]) -> Line:
        """The line with ``masks`` (run-length encodings, one an instance) and what found each.

        Parameters
        ----------
        line : Line
        picture : callable
            Gives the picture in RGB at its own size; not called where nothing is to be found.
        """
        phrases = line[PHRASES]
        if not phrases:
            return {**line, "masks": [], "instances": []}
        found = self._segmenter.segment(picture(), phrases)
        told: dict[str, Any] = {
            "masks": [item.rle for item in found.instances],
            "instances": [
                {"phrase": item.phrase, "also": list(item.also), "score": round(item.score, 6)}
                for item in found.instances
            ],
        }
        if found.problems:
            told["evidence_problems"] = dict(found.problems)
        return {**line, **told}

    def close(self) -> None:
        """Give back memory."""
        self._segmenter.close()


def open_finder(
    plan: Plan, finding: Finding, place: Place, processes: Processes, evidence: str | None = None
) -> Finder | NativeFinder | None:
    """What finds the evidence of the plan's protocol; None if that asks for none.

    Native evidence takes the adapter that `evidence` names, ``native:NAME``.

    Raises
    ------
    InputError
        If the models can't be opened, or the protocol's evidence is none of those.
    """
    kind = (plan.protocol.options or {}).get(EVIDENCE)
    if kind is None:
        return None
    looking = Looking(
        segmenter=finding.segmenter,
        revision=finding.segmenter_revision,
        grounder=finding.grounder or GROUNDING_DINO,
        grounder_revision=finding.grounder_revision,
        place=place,
        boxes=finding.boxes,
        merge=finding.merge_iou,
    )
    if kind == "hybrid":
        from lookcheck.scripts.predict.evidence.sam3 import Sam3

        return Finder(Sam3(looking, processes))
    if kind == "grounding":
        from lookcheck.scripts.predict.evidence.grounding import GroundedSam2

        return Finder(GroundedSam2(looking, processes))
    if kind == "native":
        adapter = native_adapter(evidence, finding.masks, finding.native_boxes)
        outlined = finding.native_boxes == "sam2"
        return NativeFinder(adapter, finding.masks, Sam2(looking, processes) if outlined else None)
    raise InputError(f"{plan.protocol.name}: evidence {kind!r} can't be found by this version")
