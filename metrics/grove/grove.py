"""Grove as a metric of the library `evaluate`; the work is done in `scoring`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from .common import CheckedRows, Id, place
from .headline import headline
from .intervals import RESAMPLES
from .masks import to_rle
from .rle import decode_counts
from .scoring import VERSION, compute
from .validation import check_row

# evaluate copies only the modules that this file names, so it names all of them, one a line.
__all__ = ["RESAMPLES", "VERSION", "Grove", "decode_counts", "headline", "to_rle"]

_DESCRIPTION = """
Grove (VistaQA, arXiv 2605.20676): a visual answer counts for what it can point at. The judge's verdict
on the answer and the optimally matched mask IoU of its evidence are combined as a geometric mean with a
floor: S = sqrt(max(S_a, epsilon) * max(S_m, epsilon)), averaged over samples.
"""

_INPUTS = """
Args:
    predictions (list of dict): {"verdict": "yes" | "no" | "none", "masks": [{"size": [h, w], "counts": str}]}
    references (list of dict): {"masks": [...]}, one mask for each instance, [] where there is no evidence.
    epsilon (float): floor of both parts, 0.1.
    ids, groups, tasks, domains (list, optional): one item for each sample.
    judge (str, optional): who gave the verdicts; goes into the signature.
    unjudged (str): "error" (default) or "wrong", what a verdict "none" does.
    missing (str): "wrong" (default) or "empty", what masks of None (no prediction at all) are.
    empty_masks (str): "keep" (default) or "drop", whether an all-zero predicted mask counts.
    confidence (float, optional): 0.95 for example; adds "intervals" of the figures, clustered by groups.
Returns:
    grove, answer_accuracy, mask_score (fractions in [0, 1]), with_evidence, without_evidence, by_task,
    by_domain, by_num_instances, cross_table, counts, baselines, per_sample, signature.
"""

_CITATION = """
@misc{azadani2026vistaqa,
  title         = {VistaQA: Benchmarking Joint Visual Question Answering and Pixel-Level Evidence},
  author        = {Mozhgan Nasr Azadani and Yimu Wang and Yongpeng Zhu and Lihong Chen and Milan Ganai
                   and Sean Sedwards and Marco Pavone and Krzysztof Czarnecki},
  year          = {2026},
  eprint        = {2605.20676},
  archivePrefix = {arXiv},
  primaryClass  = {cs.CV}
}
"""


class Grove(CheckedRows, evaluate.Metric):
    """The metric that ``evaluate.load`` returns; options go to ``compute``."""

    per_row = ("ids", "groups", "tasks", "domains")

    def _info(self) -> evaluate.MetricInfo:
        mask = {"size": datasets.List(datasets.Value("int64")), "counts": datasets.Value("string")}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {
                    "predictions": {"verdict": datasets.Value("string"), "masks": datasets.List(mask)},
                    "references": {"masks": datasets.List(mask)},
                }
            ),
            reference_urls=["https://arxiv.org/abs/2605.20676"],
        )

    def check_rows(self, predictions: Sequence[Any], references: Sequence[Any], ids: Sequence[Id]) -> None:
        """Refuse what evaluate's columns would change or can't hold; `compute` checks the rest."""
        for prediction, reference, row in zip(predictions, references, ids, strict=True):
            check_row(prediction, reference, row)
            for mask in (*(prediction["masks"] or ()), *reference["masks"]):
                _check_encoding(mask, row)

    def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
        return {**compute(list(predictions), list(references), **options)}


def _check_encoding(mask: Any, row: Id) -> None:
    size = mask.get("size") if isinstance(mask, dict) else None
    if (
        not isinstance(mask, dict)
        or set(mask) != {"size", "counts"}
        or not isinstance(mask["counts"], str)
        or not isinstance(size, list | tuple)
        or not all(type(side) is int for side in size)
    ):
        raise ValueError(
            f"{place(row)}: a mask is {str(mask)[:80]!r}; through evaluate it must be "
            '{"size": [h, w], "counts": str} (compressed COCO encoding)'
        )
