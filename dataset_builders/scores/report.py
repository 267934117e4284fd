"""A score as figures with names; printing and writing it is the command's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MODEL = "score"
"""The kind of the model's own line; policies that never look are of kind `BASELINE`."""
BASELINE = "baseline"


class Cell(NamedTuple):
    """A figure, usually a fraction in [0, 1] (None if there is none), the rows it is over, its interval."""

    value: float | None
    n: int | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Line:
    """One line of a table.

    Attributes
    ----------
    kind : str
        What the rows were chosen by: `MODEL`, `BASELINE`, or for example ``"task"``.
    name : str
        The chosen value, for example ``"ocr"``; empty for all rows.
    cells : sequence of Cell
        One for each column.
    title : str
        How a person sees it; `name` if empty.
    """

    kind: str
    name: str
    cells: Sequence[Cell]
    title: str = ""

    @property
    def shown(self) -> str:
        """For people."""
        return self.title or self.name


@dataclass(frozen=True)
class Table:
    """Lines of figures.

    Attributes
    ----------
    title : str
    columns : mapping of str to str
        From a figure's name in files to its heading.
    lines : sequence of Line
    figures_down : bool
        Print one line for each figure and one column for each `Line`: for more figures than fit beside
        each other in 80 characters.
    unit : str
        ``"percent"`` of fractions, or ``"plain"`` numbers.
    counted : bool
        Show the number of rows, which is the same for all figures of a line.
    in_files_only : bool
        Not for people: too many figures.
    """

    title: str
    columns: Mapping[str, str]
    lines: Sequence[Line]
    figures_down: bool = False
    unit: str = "percent"
    counted: bool = False
    in_files_only: bool = False


@dataclass
class Report:
    """What scoring one file of predictions gave.

    Attributes
    ----------
    system : str
        Who made the predictions.
    tables : list of Table
        The first holds the model's line and those of policies that never look.
    notes : list of str
        Sentences shown below the tables: counts of missing or unparsed answers, repeated ids.
    result : dict
        Everything the metric returned.
    """

    system: str
    tables: Sequence[Table]
    result: Mapping[str, Any]
    notes: list[str] = field(default_factory=list)


def percent(fraction: float | None) -> str:
    """A fraction as percent with two places; an en dash where there is none."""
    if fraction is None or fraction != fraction:
        return "–"
    return f"{100 * fraction:.2f}"


def interval_of(result: Mapping[str, Any], *path: str) -> tuple[float, float] | None:
    """The interval of a figure by its keys; None where none was asked for, or it has none."""
    found: Any = result.get("intervals")
    for key in path:
        found = found.get(key) if found else None
    return None if not found or found["low"] is None else (found["low"], found["high"])


def interval_notes(result: Mapping[str, Any]) -> list[str]:
    """What the intervals in brackets are, where there are any, and what is said of those of few clusters."""
    if "intervals" not in result:
        return []
    parts = dict(part.split(":", 1) for part in result["signature"].split("|") if ":" in part)
    said = f"in brackets: intervals of level {parts['confidence']} ({parts['intervals']})"
    said += f" over {parts['clusters']}"
    few = _fewest(result["intervals"])
    if few is None:
        return [said]
    return [said, f"few clusters, {few} at the least: read those intervals with care"]


def _fewest(tree: Mapping[str, Any]) -> int | None:
    """The fewest clusters of an interval that has a note."""
    found: list[int | None] = []
    for value in tree.values():
        if isinstance(value, Mapping):
            noted = "low" in value
            found.append((value["clusters"] if value["note"] else None) if noted else _fewest(value))
    return min((number for number in found if number is not None), default=None)


def share(part: int, whole: int) -> str:
    """How many of how many, with the share.

    Examples
    --------
    >>> share(1, 1157), share(843, 1157)
    ('1 of 1,157 (0.09 %)', '843 of 1,157 (72.86 %)')
    """
    return f"{part:,} of {whole:,} ({100 * part / whole:.2f} %)"


def thinking_notes(result: Mapping[str, Any]) -> list[str]:
    """What became of answers with a trace of thoughts, where there are any."""
    found = result["counts"]["thinking"]
    if not found["seen"]:
        return []
    kept = "|thinking:keep|" in result["signature"]
    became = "read as they stand" if kept else f"read behind it; {found['cut']:,} are cut in it and not read"
    return [f"{found['seen']:,} answers have a trace of thoughts: {became}"]


def side_by_side(reports: Sequence[Report]) -> list[Table]:
    """The tables of several systems as tables with a column for each; a figure that none has is left out.

    Parameters
    ----------
    reports : sequence of Report
        Of one data set: tables of the same titles and columns.
    """
    merged = []
    for table in reports[0].tables:
        if table.in_files_only:
            continue
        headings: dict[str, str] = {}
        found: dict[str, dict[str, Cell]] = {}
        for report in reports:
            own = found.setdefault(report.system, {})
            for line in next((other for other in report.tables if other.title == table.title), table).lines:
                for (key, heading), cell in zip(table.columns.items(), line.cells, strict=True):
                    place = f"{line.kind}/{line.name}/{key}"
                    if cell.value is not None:
                        own[place] = cell
                        headings[place] = heading if line.kind == MODEL else f"{line.shown}: {heading}"
        lines = [
            Line(MODEL, system, [cells.get(place, Cell(None)) for place in headings])
            for system, cells in found.items()
        ]
        merged.append(Table(table.title, headings, lines, figures_down=True, unit=table.unit))
    return merged
