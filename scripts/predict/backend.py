"""What a back end is: something that answers requests and says what it answered them with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.requests.request import Answer, Request
from lookcheck.scripts.models.processes import Share


@dataclass(frozen=True)
class Shown:
    """What exactly a request becomes, for people.

    Attributes
    ----------
    prompt : str
        With all special tokens; of a server, the messages as JSON without the picture's bytes.
    tokens : int or None
        Of the prompt, the picture's included; None where only the server knows.
    picture_size : tuple of (int, int) or None
        Width and height in pixels as the model sees the picture; None without one, or where unknown.
    """

    prompt: str
    tokens: int | None
    picture_size: tuple[int, int] | None


class Backend(Protocol):
    """One way to ask a model."""

    def describe(self) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
        """What affects an answer, and what is only good to know; both go into ``run.json``."""

    def answer(
        self, requests: Sequence[Request], wanted: set[int], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer the requests whose index is in `wanted`, in this process's share.

        Parameters
        ----------
        requests : sequence of Request
            All distinct requests of the run, so that an interrupted run is continued with the same batches.
            Those on one picture stand together.
        wanted : set of int
        share : Share
        say : callable
            Takes one line for the person who watches.

        Yields
        ------
        list of (int, Answer)
            As they come. A request that can't be answered yields an `Answer` with its failure; whatever
            ends the run is raised as InputError.
        """

    def show(self, request: Request) -> Shown:
        """What the request becomes, without asking the model; no weights are loaded."""

    def close(self) -> None:
        """Give back memory and connections, so that the next model (a segmenter, a judge) has room."""
