"""What has to be asked: identical triples once, exact answers perhaps not at all, the rest not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lookcheck.dataset_builders.core.verdict_file import MISSING, VerdictRow
from lookcheck.scripts.judge.backend import Triple
from lookcheck.scripts.judge.decision import CUT_THINKING, Judgement, failure
from lookcheck.scripts.judge.samples import Sample
from lookcheck.scripts.judge.settings import MAX_CHARACTERS

UNASKED = "unasked"
EXACT = "exact"


@dataclass
class Plan:
    """The work of a run, the same for every process of it.

    Attributes
    ----------
    direct : list of VerdictRow
        Rows that need no model.
    triples : list of (question, reference, candidate)
        What the model is asked.
    samples : list of list of Sample
        For each triple the samples that it stands for.
    """

    direct: list[VerdictRow] = field(default_factory=list)
    triples: list[Triple] = field(default_factory=list)
    samples: list[list[Sample]] = field(default_factory=list)


def make_plan(
    samples: Sequence[Sample], *, dedupe: bool = True, accept_exact: bool = False, most: int = MAX_CHARACTERS
) -> Plan:
    """Sort samples into those that the model is asked about and the others.

    Parameters
    ----------
    samples : sequence of Sample
    dedupe : bool
        Ask about identical triples once.
    accept_exact : bool
        Say yes without the model where candidate and reference are equal after normalisation.
    most : int
        Characters of question, reference and candidate together.

    Returns
    -------
    Plan
    """
    plan = Plan()
    seen: dict[Triple, int] = {}
    for sample in samples:
        refusal = _refusal(sample, most)
        if refusal is not None:
            plan.direct.append(row_of(sample, refusal, UNASKED))
        elif accept_exact and sample.acceptable:
            plan.direct.append(row_of(sample, Judgement().deciding("yes"), EXACT))
        elif dedupe and sample.triple in seen:
            plan.samples[seen[sample.triple]].append(sample)
        else:
            seen[sample.triple] = len(plan.triples)
            plan.triples.append(sample.triple)
            plan.samples.append([sample])
    return plan


def row_of(sample: Sample, judgement: Judgement, method: str) -> VerdictRow:
    """A row of the verdict file; every row has the same keys."""
    return {
        "id": sample.id,
        "verdict": judgement.verdict,
        "status": judgement.status,
        "method": method,
        "raw": _text(judgement.raw),
        "probability": judgement.probability,
        "margin": judgement.margin,
        "bounds": None if judgement.bounds is None else list(judgement.bounds),
        "mass": judgement.mass,
        "exact": sample.exact,
        "same_as": None,
        "batch": judgement.batch,
        "reason": _text(judgement.reason),
    }


def copies(row: VerdictRow, samples: Sequence[Sample]) -> list[VerdictRow]:
    """Rows of the further samples of a triple, each saying whose verdict it repeats."""
    return [{**row, "id": sample.id, "same_as": row["id"]} for sample in samples]


def _refusal(sample: Sample, most: int) -> Judgement | None:
    if sample.candidate is None:
        return Judgement(reason=f"the answer: {CUT_THINKING}" if sample.cut else "no answer", status=MISSING)
    if not sample.candidate.strip():
        return Judgement(reason="the answer is empty", status=MISSING)
    length = sum(map(len, sample.triple))
    if length > most:
        return failure(f"question and answers have {length:,} characters, more than {most:,}")
    return None


def _text(text: str | None) -> str | None:
    """Text that every reader takes: half of a surrogate pair, which a server may send, as its escape."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()
