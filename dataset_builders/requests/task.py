"""What a data set tells `predict`: how its rows are asked, and how replies become a scorer's fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lookcheck.dataset_builders.requests.request import Answer, Asked, Thinking

if TYPE_CHECKING:
    from lookcheck.dataset_builders.parquet.reader import BuiltFolder
    from lookcheck.dataset_builders.requests.protocol import AskingProtocol


@dataclass(frozen=True)
class Wish:
    """Which rows of a built folder are asked, and what is left to the user.

    Attributes
    ----------
    conditions : tuple of str
        Configurations of perturbed POPE; empty for all.
    no_image : bool
        Without the picture: the language prior, SalArt's control.
    thinking : {"on", "off"} or None
    """

    conditions: tuple[str, ...] = ()
    no_image: bool = False
    thinking: Thinking | None = None


class Task(Protocol):
    """A data set's side of `predict`; reached by ``DataSet.task()``."""

    def rows(self, folder: BuiltFolder, protocol: AskingProtocol, wish: Wish) -> Iterator[Asked]:
        """Yield all rows, in the data set's order.

        Raises
        ------
        InputError
            Naming row and value.
        """

    def fields(
        self, asked: Asked, answers: Mapping[str, Answer], protocol: AskingProtocol
    ) -> Mapping[str, Any]:
        """The fields of a line of predictions as the data set's scorer reads them, beside ``id``.

        ``problem`` is added where a reply can't be read (a short reason: ``no JSON``, ``cut thinking`` …): it
        is counted, and scored as the metric scores an unreadable answer. For VistaQA ``phrases`` or
        ``masks`` come from here, and the evidence stage turns phrases into masks.

        Parameters
        ----------
        asked : Asked
        answers : mapping of str to Answer
            By part, none failed.
        protocol : AskingProtocol
        """
