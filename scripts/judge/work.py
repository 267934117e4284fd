"""The judge's work, as a file of rows is continued with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lookcheck.dataset_builders.core.verdict_file import (
    FAILED,
    FORMAT,
    HEADER_KEY,
    VerdictRow,
    parse_verdicts,
    status_of,
)
from lookcheck.scripts.judge.backend import Backend
from lookcheck.scripts.judge.plan import Plan, copies, row_of
from lookcheck.scripts.models.processes import Share
from lookcheck.scripts.models.store import RowFormat

VERDICT_FILE: RowFormat[VerdictRow] = RowFormat(
    name="a verdict file", made="judged", parse=parse_verdicts, header_key=HEADER_KEY, version=FORMAT
)


@dataclass(frozen=True)
class Judging:
    """Verdicts of a plan by a back end; see :class:`~lookcheck.scripts.models.resumable.Work`.

    Attributes
    ----------
    plan : Plan
    backend : Backend
    method : str
        ``logprob`` or ``generate``; goes into the rows.
    """

    plan: Plan
    backend: Backend
    method: str

    @property
    def order(self) -> Sequence[str]:
        """Ids of the samples that the model is asked about, those of one triple together."""
        return [sample.id for samples in self.plan.samples for sample in samples]

    def ready(self, done: Mapping[str, VerdictRow]) -> list[VerdictRow]:
        """Rows that need no model, and those that repeat one that is there."""
        rows = [row for row in self.plan.direct if row["id"] not in done]
        for first, *others in self.plan.samples:
            if first.id in done:
                # A run may have been killed between a row and its copies.
                rows += copies(done[first.id], [other for other in others if other.id not in done])
        return rows

    def failed(self, row: VerdictRow) -> bool:
        """Whether the row says only that its request failed."""
        return status_of(row) == FAILED

    def left(self, done: Mapping[str, VerdictRow]) -> int:
        """How many samples have no row yet."""
        return sum(len(self.plan.samples[index]) for index in self._wanted(done))

    def make(
        self, done: Mapping[str, VerdictRow], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[VerdictRow]]:
        """Rows as the back end judges, each followed by those that repeat it."""
        for judged in self.backend.judge(self.plan.triples, self._wanted(done), share, say):
            rows: list[VerdictRow] = []
            for index, judgement in judged:
                first, *others = self.plan.samples[index]
                row = row_of(first, judgement, self.method)
                rows += [row, *copies(row, others)]
            yield rows

    def _wanted(self, done: Mapping[str, VerdictRow]) -> set[int]:
        return {index for index, samples in enumerate(self.plan.samples) if samples[0].id not in done}
