"""How answers to a data set are scored: what a command asks for, and the report it gets."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord
from lookcheck.dataset_builders.scores.report import Report

Thinking = Annotated[
    str | None,
    typer.Option(
        help="A trace of thoughts (<think>…</think>) before an answer: strip takes it off, keep leaves it. "
        "Default: strip; keep where an upstream scorer is reproduced."
    ),
]
"""An option of all scorers that read a model's words."""

Confidence = Annotated[
    float | None,
    typer.Option(help="Add intervals of this level, 0.95 for example, clustered by picture or pair."),
]
"""An option of all scorers."""

R = TypeVar("R")
T = TypeVar("T")

_ID = re.compile(r"""(?:index \d+: )?(?:the )?id ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


class Scorer(Protocol[R]):
    """Scores files of answers.

    Attributes
    ----------
    command : str
        Of ``lookcheck score``.
    summary : str
        One sentence for ``--help``.
    references_help, predictions_help : str
        What a line of these files holds.
    options : type
        A dataclass whose fields carry their typer options.
    beside : tuple of str
        Options of type ``list[Path] | None`` that are given once for each file of predictions;
        `score` gets the one that belongs to its file.
    """

    command: str
    summary: str
    references_help: str
    predictions_help: str
    options: type[Any]
    beside: tuple[str, ...]

    def read_references(self, path: Path) -> R:
        """What the answers are held against: from a built folder, or from a file.

        Raises
        ------
        InputError
            Naming file, line and id.
        """

    def score(self, references: R, source: str, predictions: Path, system: str, options: Any) -> Report:
        """Score one file of predictions.

        Parameters
        ----------
        references : R
        source : str
            Where the references come from, for messages.
        predictions : Path
        system : str
            Who made them.
        options : dataclass

        Raises
        ------
        InputError
            Naming file, line, id and value.
        """


def computed(
    compute: Callable[[], T], accepts: Callable[[str], object], *places: Callable[[str], str | None]
) -> T:
    """Call a metric; what it complains of is named with file and line.

    Parameters
    ----------
    compute : callable
    accepts : callable
        Scores one reference, by its id, with an answer that is surely sound: raises where the reference
        is at fault.
    *places : callable
        From an id to its file and line (None if it is not there): of the references, then of each file of
        answers, the likeliest culprit first.

    Raises
    ------
    InputError
    """
    try:
        return compute()
    except InputError:
        raise
    except ValueError as error:
        message = str(error)
    found = _ID.match(message)
    id = str(ast.literal_eval(found[1])) if found else None
    if id is None:
        raise InputError(message)
    try:
        accepts(id)
    except ValueError:
        places = places[:1]
    wheres = (place(id) for place in (*places[1:], places[0]))
    where = next((where for where in wheres if where is not None), None)
    raise InputError(message if where is None else f"{where}: {message}")


def placed(records: Mapping[str, JsonRecord]) -> Callable[[str], str | None]:
    """From an id to file and line."""
    return lambda id: records[id].where if id in records else None


def labels_of(references: Mapping[str, JsonRecord], key: str) -> list[str] | None:
    """One label a row, or None where no row has any; some with and some without is an error."""
    if all(record.fields.get(key) is None for record in references.values()):
        return None
    return [record.text(key) for record in references.values()]
