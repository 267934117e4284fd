"""Grove: the right answer and the right masks. `README.md` says how; `scoring.py` does it."""

from .headline import headline
from .masks import area, decode, iou_matrix, to_rle, to_rles
from .scoring import (
    VERSION,
    baselines,
    combine,
    compute,
    cross_table,
    mask_score,
    match,
    score_sample,
)

__all__ = [
    "VERSION",
    "area",
    "baselines",
    "combine",
    "compute",
    "cross_table",
    "decode",
    "headline",
    "iou_matrix",
    "mask_score",
    "match",
    "score_sample",
    "to_rle",
    "to_rles",
]
