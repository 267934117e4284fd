"""What is known of perturbed POPE before a file of it is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

NAME = "perturbed_pope"
# Part of the cache key of `datasets`: raise it with any change of the rows.
VERSION = "1.0.0"
PRETTY_NAME = "Perturbed POPE"
HOMEPAGE = "https://arxiv.org/abs/2605.22903"
CITATION = """\
@misc{seeing2026without,
  title         = {Seeing without Looking},
  year          = {2026},
  eprint        = {2605.22903},
  archivePrefix = {arXiv}
}
@inproceedings{li2023pope,
  title     = {Evaluating Object Hallucination in Large Vision-Language Models},
  author    = {Yifan Li and Yifan Du and Kun Zhou and Jinpeng Wang and Wayne Xin Zhao and Ji-Rong Wen},
  booktitle = {EMNLP},
  year      = {2023}
}"""
# The questions are MIT; each picture has a licence of its own, given in its row.
LICENSE = "other"
LICENSE_LINK = "https://cocodataset.org/#termsofuse"
DESCRIPTION = "Is an object in the picture? Asked again when the object or the picture has been taken away."
HUB_IMAGES = "lmms-lab/POPE"
HUB_REVISION = "main"

SPLITS: Final = ("random", "popular", "adversarial")
# POPEv2 has one file without a sampling of its own.
SECOND_SPLIT = "popev2"
ANSWERS: Final = ("no", "yes")
# COCO calls an object small below this area, in pixels.
TINY_AREA = 32 * 32

# The old random file has 2,910 rows, some of which end in "imange"; repaired only if this is named.
REPAIRS: Final = {"imange": ("in the imange?", "in the image?")}
OLD_RANDOM_ROWS = 2910
# Names that go with "a pair of"; POPE's own files have "a skis".
PAIRS: Final = ("skis", "scissors")

UNKNOWN_OPTION = '{question} Answer with "yes", "no" or "unknown".'
OPEN_ENDED = "What objects are in the image?"


@dataclass(frozen=True)
class Condition:
    """One way to perturb, which is one configuration.

    Attributes
    ----------
    name : str
    operator : str
        A function of `perturbations`, ``"original"`` or ``"entity_swap"``.
    strength : float or None
        Ratio of `black`, alpha of `noise` and of `gaussian_blur`.
    about : str
    """

    name: str
    operator: str
    strength: float | None
    about: str

    @property
    def of_entity(self) -> bool:
        """Whether it needs the masks of the asked object; then it holds rows answered yes only."""
        return self.operator in ("black_mask", "black_box", "entity_swap")


CONDITIONS: Final = (
    Condition("original", "original", None, "the picture as it is"),
    Condition("no_image", "text_only", None, "no picture at all"),
    Condition("black_image", "black_image", 1.0, "a black picture of the same size"),
    Condition("black_50", "black", 0.5, "the upper half black"),
    Condition("black_75", "black", 0.75, "the upper half and the lower left quarter black"),
    Condition("noise_50", "noise", 0.5, "half the picture, half uniform noise"),
    Condition("noise_75", "noise", 0.75, "a quarter the picture, three quarters uniform noise"),
    Condition("blur_50", "gaussian_blur", 0.5, "Gaussian blur of radius 5"),
    Condition("blur_75", "gaussian_blur", 0.75, "Gaussian blur of radius 7.5"),
    Condition("black_mask", "black_mask", None, "the pixels of the asked object black"),
    Condition("black_box", "black_box", None, "the bounding boxes of the asked object black"),
    Condition("entity_swap", "entity_swap", None, "another thing in place of the asked object"),
)
BY_NAME: Final = {condition.name: condition for condition in CONDITIONS}


def in_order(splits: Iterable[str]) -> list[str]:
    """Splits in POPE's order; others come last, by name.

    Examples
    --------
    >>> in_order({"popular", "random", "mine"})
    ['random', 'popular', 'mine']
    """
    return sorted(splits, key=lambda split: (*(split != name for name in SPLITS), split))
