"""What a data set is: one object that every command asks, so that no command knows a data set.

A data set lies in a folder of its own, whose ``dataset.py`` holds one object of this shape; the table
`lookcheck.dataset_builders.registry.DATASETS` lists them. Attributes are plain values that cost nothing
to read; methods import what they need when they are called, so that ``lookcheck --help`` stays quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from lookcheck.dataset_builders.core.processes import Track, no_track

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker
    from lookcheck.dataset_builders.parquet.plan import FolderPlan
    from lookcheck.dataset_builders.parquet.reader import BuiltFolder, Choice
    from lookcheck.dataset_builders.requests.protocol import AskingProtocol
    from lookcheck.dataset_builders.requests.task import Task
    from lookcheck.dataset_builders.scores.demonstration import Demonstration
    from lookcheck.dataset_builders.scores.report import Report
    from lookcheck.dataset_builders.scores.scorer import Scorer

J = TypeVar("J", covariant=True)


@dataclass(frozen=True)
class Source(Generic[J]):
    """What a build starts from, whatever the data set.

    Attributes
    ----------
    jobs : sequence
        Small picklable values from which rows are made, in the order of the rows.
    described : mapping
        Goes into ``lookcheck.json`` and the card: kind, repository, revision, credits.
    declared : mapping
        Counts that the source must have; empty if none are known.
    """

    jobs: Sequence[J]
    described: Mapping[str, Any]
    declared: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """What a build lends to a data set while it plans.

    Attributes
    ----------
    folder : Path
        Temporary, and gone once the data set is written.
    num_proc : int
        Processes.
    track : callable
        Shows progress.
    """

    folder: Path
    num_proc: int = 1
    track: Track = no_track


class DataSet(Protocol):
    """A data set, for all commands: a class of its own inherits what most have in common.

    Attributes
    ----------
    name : str
        As ``lookcheck.json`` has it; with hyphens it is the name of the commands.
    title : str
        For people.
    id_column : mapping of str to str
        From configuration to the column that names a row, `id` in all others.
    scorer : Scorer
        Scores files of answers; `score` makes a command of it.
    build_options : type
        A dataclass whose fields carry their typer options; `build` makes a command of it. Its `source` may
        be ``"sample"``, which needs neither a file nor the network nor any other option.
    """

    name: str
    title: str
    id_column: Mapping[str, str] = {}
    scorer: Scorer[Any]
    build_options: type[Any]

    def plan(self, options: Any, work: Work) -> FolderPlan:
        """Read the source that the options name, check all of it and plan the folder.

        Raises
        ------
        InputError, IntegrityError
            If options contradict each other, or the source is not as it should be.
        """

    def built(self, manifest: Mapping[str, Any]) -> Sequence[str]:
        """Lines that `build` prints below the counts: what was recognised, what was left out."""
        return ()

    def checker(self) -> Checker:
        """The rules of the rows of a built folder."""

    def view(self) -> View:
        """How rows are shown."""

    def questions(self, folder: BuiltFolder, choice: Choice) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place of each chosen row and its texts ``id``, ``question`` and ``answer``.

        Raises
        ------
        InputError
            If the rows can't be read, or the choice leaves several splits.
        """
        from lookcheck.dataset_builders.parquet.reader import read_questions

        return read_questions(folder, choice, {name: name for name in ("id", "question", "answer")})

    def task(self) -> Task | None:
        """How rows are asked and replies read; None if `predict` can't run it."""
        return None

    def protocols(self) -> Mapping[str, AskingProtocol]:
        """The files of ``protocols/`` beside the data set's module by name, the default first.

        Raises
        ------
        InputError
            Naming file and key.
        """
        from lookcheck.dataset_builders.requests.loader import read_protocols

        return read_protocols(Path(inspect.getfile(type(self))).parent / "protocols", self.name)

    def demonstration(self) -> Demonstration | None:
        """How `demo` scores the sample; None if it doesn't."""
        return None

    def published(self) -> Report | None:
        """The score of published answers that ship with the data set, if some do."""
        return None

    def needs_rights(self, source: Mapping[str, Any]) -> str | None:
        """Why publishing rows of this source takes the rights of whoever does it; None if it doesn't."""
        return None
