"""SalArt-VQA's chain accuracies: does the model see an artifact, and can it say where and why?"""

from .aggregate import FIGURES, METRICS, PATTERNS, SINGLE
from .baselines import baselines
from .headline import headline
from .parsing import last_answer, parse
from .samples import ATTRIBUTIONS, attribute, score_sample
from .scoring import VERSION, compute
from .validation import ROLES

__all__ = [
    "ATTRIBUTIONS",
    "FIGURES",
    "METRICS",
    "PATTERNS",
    "ROLES",
    "SINGLE",
    "VERSION",
    "attribute",
    "baselines",
    "compute",
    "headline",
    "last_answer",
    "parse",
    "score_sample",
]
