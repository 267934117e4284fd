"""What is known of perturbed POPE before a file of it is read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

NAME = "perturbed_pope"
# Part of the cache key of `datasets`: raise it with any change of the rows.
VERSION = "2.0.0"
PRETTY_NAME = "Perturbed POPE"
HOMEPAGE = "https://arxiv.org/abs/2605.22903"
CITATION = """\
@misc{lan2026seeing,
  title         = {Seeing without Looking: Do Vision-Language Benchmarks Really Test Vision?},
  author        = {Zixuan Lan and Luzhe Sun and Matthew R. Walter and Jiawei Zhou},
  year          = {2026},
  eprint        = {2605.22903},
  archivePrefix = {arXiv},
  primaryClass  = {cs.CV}
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
# All categories of a configuration lie in one split, or each in a split of its own.
LAYOUTS: Final = ("category", "splits")
ONE_SPLIT: Final = "test"
# POPEv2 has one file without a sampling of its own.
SECOND_SPLIT = "popev2"
ANSWERS: Final = ("no", "yes")
# COCO calls an object small below this area, in pixels.
TINY_AREA = 32 * 32

# The old random file has 2,910 rows, some of which end in "imange"; repaired only if this is named.
REPAIRS: Final = {"imange": ("in the imange?", "in the image?")}
OLD_RANDOM_ROWS = 2910
# Starts of the names of POPE's other files, whose objects were found by SEEM.
OTHER_SOURCES: Final = {"aokvqa": "A-OKVQA, objects of SEEM", "gqa": "GQA, objects of SEEM"}
# Names that go with "a pair of"; POPE's own files have "a skis".
PAIRS: Final = ("skis", "scissors")

UNKNOWN_OPTION = '{question} Answer with "yes", "no" or "unknown".'
OPEN_ENDED = "What objects are in the image?"


def in_order(splits: Iterable[str]) -> list[str]:
    """Splits in POPE's order; others come last, by name.

    Examples
    --------
    >>> in_order({"popular", "random", "mine"})
    ['random', 'popular', 'mine']
    """
    return sorted(splits, key=lambda split: (*(split != name for name in SPLITS), split))
