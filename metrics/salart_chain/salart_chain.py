"""SalArt-VQA's chain accuracies as a metric of the library `evaluate`; the work is done in `scoring`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from .aggregate import METRICS
from .baselines import baselines
from .common import CheckedRows, Id
from .headline import headline
from .intervals import RESAMPLES
from .no_image import no_image_control
from .parsing import parse
from .samples import score_sample
from .scoring import VERSION, compute
from .validation import check_predictions, check_references

# evaluate copies only the modules that this file names, so it names all of them, one a line.
__all__ = [
    "METRICS",
    "RESAMPLES",
    "VERSION",
    "SalartChain",
    "baselines",
    "headline",
    "no_image_control",
    "parse",
    "score_sample",
]

_DESCRIPTION = """
Chain accuracies of SalArt-VQA: is an artifact seen (Q1), and are region, box and evidence (Q2 to Q4) right
as well, on artifact images and on two kinds of references without one. Reports where chains break, and
beside the score what random and constant answers reach.
"""

_INPUTS = """
Args:
    predictions (list of dict): q1, q2, q3, q4, the model's words; "" where the answer is missing.
    references (list of dict): role, q1, q2, q3, q4; role is "artifact", "clean_reference" or
        "paired_generated_counterpart" (q1 "").
    ids, groups, artifact_types, no_image (list, optional): one item for each image.
    parser (str): "strict" (default) or "json".
    confidence (float, optional): 0.95 for example; adds "intervals" of the figures, clustered by groups.
Returns:
    artifact_q1, artifact_all_1_4, artifact_all_2_4, real_q1, real_all_1_4, real_all_2_4,
    generated_all_2_4, overall_q1, overall_all_1_4, overall_all_2_4 (fractions in [0, 1]), counts,
    failure_attribution, q4_right_q3_wrong, q3_right_q4_wrong, patterns, by_artifact_type, no_image,
    baselines, per_sample, signature.
"""

_CITATION = """
@misc{sun2026salartvqadiagnosingvlmsunderstand,
  title = {{SalArt-VQA}: Diagnosing Whether {VLMs} Understand Salient Artifacts in Generated Images},
  author = {Xiaoxiao Sun and Ruotian Zhang and Junzhe Huang and James Burgess and Serena Yeung-Levy},
  year = {2026},
  eprint = {2606.12671},
  archivePrefix = {arXiv},
  primaryClass = {cs.CV},
  url = {https://arxiv.org/abs/2606.12671}
}
"""

_TEXT = {question: datasets.Value("string") for question in ("q1", "q2", "q3", "q4")}


class SalartChain(CheckedRows, evaluate.Metric):
    """The metric that ``evaluate.load`` returns; options go to ``compute``."""

    per_row = ("ids", "groups", "artifact_types", "no_image")

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": dict(_TEXT), "references": {"role": datasets.Value("string"), **_TEXT}}
            ),
            reference_urls=["https://arxiv.org/abs/2606.12671"],
        )

    def check_rows(self, predictions: Sequence[Any], references: Sequence[Any], ids: Sequence[Id]) -> None:
        """Refuse what can't be scored; evaluate would turn a number into a string."""
        check_predictions(predictions, ids)
        check_references(references, ids)

    def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
        return {**compute(list(predictions), list(references), **options)}
