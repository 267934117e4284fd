"""What is known of VistaQA before a file of it is read."""

from __future__ import annotations

from typing import Any

NAME = "vistaqa"
# Part of the cache key of `datasets`: raise it with any change of the rows.
VERSION = "1.1.0"
PRETTY_NAME = "VistaQA"
HOMEPAGE = "https://arxiv.org/abs/2605.20676"
CITATION = """\
@misc{azadani2026vistaqa,
  title         = {VistaQA: Benchmarking Joint Visual Question Answering and Pixel-Level Evidence},
  author        = {Mozhgan Nasr Azadani and Yimu Wang and Yongpeng Zhu and Lihong Chen and Milan Ganai
                   and Sean Sedwards and Marco Pavone and Krzysztof Czarnecki},
  year          = {2026},
  eprint        = {2605.20676},
  archivePrefix = {arXiv},
  primaryClass  = {cs.CV}
}"""
# The licence of the data set is not known.
LICENSE = "unknown"
DESCRIPTION = "Visual question answering that asks for the answer and for the masks of its evidence."

REPOSITORY = "mozhina/VistaQA"
REVISION = "main"
SPLIT = "test"

TASKS = ("identification", "attribute", "ocr", "spatial", "counting", "comparison")
DOMAINS = ("indoor", "outdoor", "driving", "robotics", "science", "math")

EXPECTED_ROWS = 1157
EXPECTED_WITHOUT_EVIDENCE = 314
# Solved from the published tables, which give means and no counts.
EXPECTED_TASKS = {
    "identification": 214,
    "attribute": 191,
    "ocr": 173,
    "spatial": 199,
    "counting": 188,
    "comparison": 192,
}

# The counts that a whole VistaQA has.
DECLARED: dict[str, Any] = {
    "rows": EXPECTED_ROWS,
    "without_evidence": EXPECTED_WITHOUT_EVIDENCE,
    "task": EXPECTED_TASKS,
}

# The upstream spelling of the labels is not confirmed; a label outside these lists is refused.
TASK_SPELLINGS = {
    "identification": ("object identification", "identify", "recognition", "object recognition"),
    "attribute": ("attributes", "attribute recognition", "object attribute"),
    "ocr": ("text", "text recognition", "optical character recognition"),
    "spatial": ("spatial relation", "spatial relations", "spatial relationship", "spatial reasoning"),
    "counting": ("count", "object counting"),
    "comparison": ("compare", "comparative", "comparisons"),
}
DOMAIN_SPELLINGS = {
    "indoor": ("indoors", "indoor scene", "indoor scenes"),
    "outdoor": ("outdoors", "outdoor scene", "outdoor scenes"),
    "driving": ("autonomous driving", "auto driving", "self driving"),
    "robotics": ("robot", "robot manipulation", "robotic manipulation", "manipulation"),
    "science": ("scientific", "scientific figure", "scientific figures", "figure", "figures"),
    "math": ("mathematics", "maths", "geometry", "mathematics geometry", "math geometry"),
}
