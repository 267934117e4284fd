"""Grove: the right answer and the right masks. `README.md` says how; `scoring.py` does it."""

from .masks import area, decode, iou_matrix, to_rle, to_rles
from .scoring import (
    VERSION,
    combine,
    compute,
    cross_table,
    mask_score,
    match,
    score_sample,
    trivial_policies,
)

__all__ = [
    "VERSION",
    "area",
    "combine",
    "compute",
    "cross_table",
    "decode",
    "iou_matrix",
    "mask_score",
    "match",
    "score_sample",
    "to_rle",
    "to_rles",
    "trivial_policies",
]
