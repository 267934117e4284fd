"""VQA soft accuracy as a metric of the library `evaluate`; the work is done in `scoring`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from .circular import circular_accuracy
from .common import CheckedRows, Id
from .contractions import CONTRACTIONS
from .headline import headline
from .intervals import RESAMPLES
from .normalize import normalize_official
from .scoring import VERSION, compute
from .validation import check_answers

# evaluate copies only the modules that this file names, so it names all of them, one a line.
__all__ = [
    "CONTRACTIONS",
    "RESAMPLES",
    "VERSION",
    "SoftVqaAcc",
    "circular_accuracy",
    "headline",
    "normalize_official",
]

_DESCRIPTION = """
VQA soft accuracy: for each annotator min(1, matches among the others / 3), averaged over annotators
and questions, exactly as the official VQA evaluation computes it (mode "official"), the same without
its unanimity gate ("ungated"), or min(matches / 3, 1) ("simple"). Reports exact match beside it.
"""

_INPUTS = """
Args:
    predictions (list of str): one answer for each question, "" where the answer is missing.
    references (list of list of str): for each question one answer for each annotator.
    mode (str): "official" (default), "ungated" or "simple".
    ids, groups, question_types, answer_types (list, optional): one item for each question.
    exact_match (str): "any" (default) or "most_frequent".
    confidence (float, optional): 0.95 for example; adds "intervals" of the figures, clustered by groups.
Returns:
    soft_vqa_acc and exact_match (fractions in [0, 1]), by_question_type, by_answer_type, counts,
    baselines, per_sample, signature.
"""

_CITATION = """
@inproceedings{antol2015vqa,
  title = {{VQA}: Visual Question Answering},
  author = {Antol, Stanislaw and Agrawal, Aishwarya and Lu, Jiasen and Mitchell, Margaret and
            Batra, Dhruv and Zitnick, C. Lawrence and Parikh, Devi},
  booktitle = {International Conference on Computer Vision (ICCV)},
  year = {2015}
}
"""


class SoftVqaAcc(CheckedRows, evaluate.Metric):
    """The metric that ``evaluate.load`` returns; options go to ``compute``."""

    per_row = ("ids", "groups", "question_types", "answer_types")

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": datasets.List(datasets.Value("string")),
                }
            ),
            reference_urls=["https://visualqa.org/evaluation.html"],
        )

    def check_rows(self, predictions: Sequence[Any], references: Sequence[Any], ids: Sequence[Id]) -> None:
        """Refuse what is no answer; evaluate would turn a number into a string."""
        check_answers(predictions, references, ids)

    def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
        return {**compute(list(predictions), list(references), **options)}
