"""Perturbed POPE as a metric of the library `evaluate`; the work is done in `scoring`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from .baselines import BASELINES
from .changes import relative_change
from .common import CheckedRows, Id
from .conditions import CONDITIONS
from .figures import answer_figures
from .headline import headline
from .intervals import RESAMPLES
from .pairing import evidence_reliance
from .parsing import parse
from .samples import score_sample
from .scoring import VERSION, compute
from .validation import check_predictions, check_references

# evaluate copies only the modules that this file names, so it names all of them, one a line.
__all__ = [
    "BASELINES",
    "CONDITIONS",
    "RESAMPLES",
    "VERSION",
    "PerturbedPope",
    "answer_figures",
    "evidence_reliance",
    "headline",
    "parse",
    "relative_change",
    "score_sample",
]

_DESCRIPTION = """
Perturbed POPE ("Seeing without Looking", arXiv 2605.22903): yes/no answers about an object, asked again
when the object or the picture has been taken away. Accuracy, yes ratio, unknown rate, margin and rank for
each condition and split, beside the original row of each question and beside answers that never look.
"""

_INPUTS = """
Args:
    predictions (list of dict): text; logp_yes, logp_no (nats, both NaN where not taken); entity_rank
        (1 the most probable, 0 not asked); entity_prob (NaN where not taken).
    references (list of dict): label ("yes" or "no"), condition ("original" or a perturbation's name),
        parent_id (of the original row), split.
    ids, groups (list, optional): one item for each row.
    parser (str): "strict" (default) or "official".
    unparsed (str): "wrong" (default) or "drop", what becomes of an answer that can't be read.
    confidence (float, optional): 0.95 for example; adds "intervals" of the figures, clustered by groups.
Returns:
    by_condition, paired (condition, split, figures), evidence_reliance, baselines, counts, per_sample,
    signature; shares are fractions in [0, 1].
"""

_CITATION = """
@misc{lan2026seeing,
  title         = {Seeing without Looking: Do Vision-Language Benchmarks Really Test Vision?},
  author        = {Zixuan Lan and Luzhe Sun and Matthew R. Walter and Jiawei Zhou},
  year          = {2026},
  eprint        = {2605.22903},
  archivePrefix = {arXiv},
  primaryClass  = {cs.CV}
}
@inproceedings{li2023pope,
  title = {Evaluating Object Hallucination in Large Vision-Language Models},
  author = {Yifan Li and Yifan Du and Kun Zhou and Jinpeng Wang and Wayne Xin Zhao and Ji-Rong Wen},
  booktitle = {EMNLP},
  year = {2023}
}
"""


class PerturbedPope(CheckedRows, evaluate.Metric):
    """The metric that ``evaluate.load`` returns; options go to ``compute``."""

    per_row = ("ids", "groups")

    def _info(self) -> evaluate.MetricInfo:
        text, number = datasets.Value("string"), datasets.Value("float64")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": {
                        "text": text,
                        "logp_yes": number,
                        "logp_no": number,
                        "entity_rank": datasets.Value("int64"),
                        "entity_prob": number,
                    },
                    "references": {"label": text, "condition": text, "parent_id": text, "split": text},
                }
            ),
            reference_urls=["https://arxiv.org/abs/2605.22903", "https://arxiv.org/abs/2305.10355"],
        )

    def check_rows(self, predictions: Sequence[Any], references: Sequence[Any], ids: Sequence[Id]) -> None:
        """Refuse what can't be scored; evaluate would turn a number into a string."""
        check_predictions(predictions, ids)
        check_references(references, ids)

    def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
        return {**compute(list(predictions), list(references), **options)}
