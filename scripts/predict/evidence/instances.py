"""Instances that a segmenter found: encoded at once, held apart, and merged only over phrases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from PIL import Image

from lookcheck.dataset_builders.core.masks import Mask, Rle, encode
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.metrics.grove.masks import iou_matrix

MERGE_IOU = 0.8
"""From this IoU on, two phrases have found the same instance.

Our own, as the paper gives none: far above the .5 from which COCO calls a detection found, so that things
which cover each other in part stay apart.
"""

SLICE_PIXELS = 1 << 25
"""Pixels of masks at full size that are held at once: 400 MB with probabilities and 64-bit results."""


@dataclass(frozen=True)
class Instance:
    """One thing in the picture.

    Attributes
    ----------
    rle : Rle
        ``{"size": [h, w], "counts": str}`` at the picture's own size, ready for JSON and for the metric.
    score : float
        The segmenter's, in [0, 1]; 1 where it has none.
    phrase : str
        That found it; of several the one with the highest score.
    also : tuple of str
        Further phrases that found it.
    """

    rle: Rle
    score: float
    phrase: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """What a segmenter made of a picture.

    Attributes
    ----------
    instances : list of Instance
        In the order of the phrases, the highest score first.
    problems : mapping of str to int
        How often what was no use: phrases that are too long, masks without a pixel …
    """

    instances: list[Instance]
    problems: Mapping[str, int] = field(default_factory=dict)


class Segmenter(Protocol):
    """Finds what phrases name."""

    def describe(self) -> Mapping[str, Json]:
        """All that affects a mask: model, revision, dtype, thresholds."""

    def segment(self, picture: Image.Image, phrases: Sequence[str]) -> Found:
        """Find the instances of each phrase.

        Parameters
        ----------
        picture : PIL image
            RGB, at its own size and as people see it.
        phrases : sequence of str
        """

    def close(self) -> None:
        """Give back memory, so that the next model has room."""


def instance(mask: Mask, score: float, phrase: str = "") -> Instance:
    """An instance of a mask of shape (h, w)."""
    return Instance(encode(mask), score, phrase)


def ordered(instances: Iterable[Instance]) -> list[Instance]:
    """One phrase's instances, the highest score first; equal scores stay in their order."""
    return sorted(instances, key=lambda found: -found.score)


def merged(instances: Sequence[Instance], threshold: float = MERGE_IOU) -> list[Instance]:
    """Instances of which none stands twice because two phrases found it.

    The instance with the higher score stays, in its place. Instances of one phrase are never merged: the
    segmenter has told them apart; so an instance takes in at most one of each other phrase.

    Parameters
    ----------
    instances : sequence of Instance
        Of one picture.
    threshold : float
        IoU from which two are the same, in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.ones((2, 2), dtype=bool)
    >>> [found.also for found in merged([instance(mask, 0.5, "cup"), instance(mask, 0.4, "mug")])]
    [('mug',)]
    """
    rles = [found.rle for found in instances]
    iou = iou_matrix(rles, rles)
    kept: dict[int, list[int]] = {}
    for index in sorted(range(len(instances)), key=lambda index: (-instances[index].score, index)):
        phrase = instances[index].phrase
        same = [
            (-iou[index, other], other)
            for other, taken in kept.items()
            if iou[index, other] >= threshold
            and all(instances[member].phrase != phrase for member in (other, *taken))
        ]
        if same:
            kept[min(same)[1]].append(index)
        else:
            kept[index] = []
    return [
        replace(instances[index], also=tuple(instances[member].phrase for member in kept[index]))
        for index in sorted(kept)
    ]


def slices(count: int, width: int, height: int) -> Iterable[slice]:
    """Cut `count` masks of a picture's size so that each part has at most `SLICE_PIXELS`, or one mask.

    Examples
    --------
    >>> list(slices(3, 4000, 3000))
    [slice(0, 2, None), slice(2, 4, None)]
    """
    step = max(1, SLICE_PIXELS // (width * height))
    return (slice(start, start + step) for start in range(0, count, step))
