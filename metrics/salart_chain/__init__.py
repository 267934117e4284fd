"""SalArt-VQA's chain accuracies: does the model see an artifact, and can it say where and why?"""

from .aggregate import METRICS, PATTERNS
from .baselines import baselines
from .parsing import last_answer, parse
from .samples import ATTRIBUTIONS, attribute, score_sample
from .scoring import VERSION, compute
from .validation import ROLES

__all__ = [
    "ATTRIBUTIONS",
    "METRICS",
    "PATTERNS",
    "ROLES",
    "VERSION",
    "attribute",
    "baselines",
    "compute",
    "last_answer",
    "parse",
    "score_sample",
]
