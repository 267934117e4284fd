"""Which models find the evidence, where they run, and from which score on they are believed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.evidence.instances import MERGE_IOU

SAM3 = "facebook/sam3"
SAM2 = "facebook/sam2.1-hiera-large"
GROUNDING_DINO = "IDEA-Research/grounding-dino-base"


@dataclass(frozen=True)
class Looking:
    """Settings of segmenters; all of them are written into ``run.json``.

    Attributes
    ----------
    segmenter : str or None
        On the Hub or a folder; None: SAM 3 for phrases, SAM 2 for boxes and points.
    grounder : str
        Grounding DINO, on the Hub or a folder.
    revision, grounder_revision : str or None
    place : Place
        ``auto`` are float32 numbers: masks are cut at a threshold, and a segmenter is small.
    score : float
        An instance of SAM 3 counts above this product of its own probability and that of presence.
    mask : float
        A pixel of SAM 3 belongs to the mask above this probability.
    box, text : float
        Thresholds of Grounding DINO for a box, and for the words of its label.
    boxes : {"top", "all"}
        Whether only the box with the highest score of a phrase is outlined, or each.
    merge : float
        IoU from which two phrases have found the same instance.
    """

    segmenter: str | None = None
    revision: str | None = None
    grounder: str = GROUNDING_DINO
    grounder_revision: str | None = None
    place: Place = field(default_factory=Place)
    score: float = 0.3
    mask: float = 0.5
    box: float = 0.3
    text: float = 0.25
    boxes: str = "top"
    merge: float = MERGE_IOU

    def __post_init__(self) -> None:
        for name in ("score", "mask", "box", "text", "merge"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} {getattr(self, name)}: expected a number from 0 to 1")
        if self.boxes not in {"top", "all"}:
            raise InputError(f"boxes {self.boxes}: expected top or all")

    @property
    def exact(self) -> Place:
        """The place, with float32 unless other numbers are asked for."""
        return replace(self.place, dtype="float32") if self.place.dtype == "auto" else self.place
