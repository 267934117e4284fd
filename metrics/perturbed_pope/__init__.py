"""Perturbed POPE: does the answer change when the evidence is taken out of the picture?"""

from .baselines import BASELINES
from .changes import RANK_FIGURES, relative_change, relative_changes
from .conditions import CONDITIONS, ORIGINAL, REMOVED, SPLITS
from .headline import headline
from .parsing import ANSWERS, PARSERS, parse
from .samples import score_sample
from .scoring import VERSION, compute
from .validation import MISSING, UNPARSED

__all__ = [
    "ANSWERS",
    "BASELINES",
    "CONDITIONS",
    "MISSING",
    "ORIGINAL",
    "PARSERS",
    "RANK_FIGURES",
    "REMOVED",
    "SPLITS",
    "UNPARSED",
    "VERSION",
    "compute",
    "headline",
    "parse",
    "relative_change",
    "relative_changes",
    "score_sample",
]
