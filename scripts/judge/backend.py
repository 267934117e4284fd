"""What a back end is: something that judges triples and says what it judged them with."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.judge.decision import Judgement
from lookcheck.scripts.models.torchvision_ops import define_missing_ops

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Share:
    """Which of several processes this is."""

    rank: int = 0
    world: int = 1


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


def require(*packages: str) -> None:
    """Refuse to go on without the packages of the extra `models`.

    Raises
    ------
    InputError
        Naming the first that can't be imported.
    """
    define_missing_ops()
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError:
            raise InputError(f"this needs the package {package}: pip install 'lookcheck[models]'") from None
