"""What is known of SalArt-VQA before a file of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NAME = "salart_vqa"
# Part of the cache key of `datasets`: raise it with any change of the rows.
VERSION = "1.0.0"
PRETTY_NAME = "SalArt-VQA"
HOMEPAGE = "https://arxiv.org/abs/2606.12671"
CITATION = """\
@misc{sun2026salartvqadiagnosingvlmsunderstand,
  title         = {SalArt-VQA: Diagnosing Whether VLMs Understand Salient Artifacts in Generated Images},
  author        = {Xiaoxiao Sun and Ruotian Zhang and Junzhe Huang and James Burgess and Serena Yeung-Levy},
  year          = {2026},
  eprint        = {2606.12671},
  archivePrefix = {arXiv},
  primaryClass  = {cs.CV},
  url           = {https://arxiv.org/abs/2606.12671}
}"""
LICENSE = "cc-by-4.0"
SAMPLE_LICENSE = "apache-2.0"
DESCRIPTION = (
    "Chains of four questions that ask whether a picture has an artifact, where it is and what shows it."
)

REPOSITORY = "salartvqa/SalArt-VQA"
# Three commits have been called v1; this is the newest whose whole name is known.
REVISION = "eacc6d39661b04c0ac2abdcd8ed2c5d37d9ed6f4"
SPLIT = "test"

QUESTIONS: Final = ("q1", "q2", "q3", "q4")
# The question that is asked of the picture with boxes drawn on it.
BOXED: Final = "q3"
LETTERS: Final = ("A", "B", "C", "D", "E")
BOX_LETTERS: Final = LETTERS[:4]

ARTIFACT, REAL, GENERATED = "artifact", "clean_reference", "paired_generated_counterpart"
ROLES: Final = (ARTIFACT, REAL, GENERATED)
# From role to the answers its questions may have; None where the question is not asked.
ANSWERS: Final[dict[str, dict[str, tuple[str | None, ...]]]] = {
    ARTIFACT: {"q1": ("yes",), "q2": BOX_LETTERS, "q3": BOX_LETTERS, "q4": BOX_LETTERS},
    REAL: {"q1": ("no",), "q2": ("E",), "q3": ("E",), "q4": ("E",)},
    GENERATED: {"q1": (None,), "q2": ("E",), "q3": ("E",), "q4": ("E",)},
}
# Where an image came from, and the role that goes with it.
SUBSETS: Final = {"Art-DG": ARTIFACT, "Art-PG": ARTIFACT, "Ref-Real": REAL, "Ref-PG": GENERATED}

# The counts that a whole SalArt-VQA has; ``rows`` are those of the largest configuration.
DECLARED: Final[Mapping[str, Any]] = {
    "rows": 3681,
    "images": 950,
    "image_role": {ARTIFACT: 475, REAL: 356, GENERATED: 119},
}
