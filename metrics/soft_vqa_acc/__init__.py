"""VQA soft accuracy in the modes official, ungated and simple; exact match; circular accuracy."""

from .circular import circular_accuracy
from .contractions import CONTRACTIONS
from .headline import headline
from .normalize import normalize_official, normalize_simple
from .scoring import VERSION, compute, leave_one_out, most_frequent, score_question

__all__ = [
    "CONTRACTIONS",
    "VERSION",
    "circular_accuracy",
    "compute",
    "headline",
    "leave_one_out",
    "most_frequent",
    "normalize_official",
    "normalize_simple",
    "score_question",
]
