"""What a back end is: something that judges triples and says what it judged them with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.judge.decision import Judgement
from lookcheck.scripts.models.processes import Share

Triple = tuple[str, str, str]


class Backend(Protocol):
    """One way to ask a model."""

    def describe(self) -> tuple[dict[str, Json], dict[str, Json]]:
        """What affects a verdict, and what is only good to know; both go into the header."""

    def judge(
        self, triples: Sequence[Triple], wanted: set[int], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[tuple[int, Judgement]]]:
        """Judge the triples whose index is in `wanted`, in this process's share.

        Parameters
        ----------
        triples : sequence of (question, reference, candidate)
            All triples of the run, so that an interrupted run is continued with the same batches.
        wanted : set of int
        share : Share
        say : callable
            Takes one line for the person who watches.

        Yields
        ------
        list of (int, Judgement)
            As they come: a batch, or the replies that arrived together.
        """
