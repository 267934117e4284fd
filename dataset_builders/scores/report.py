"""A score as figures with names; printing and writing it is the command's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Report:
    """What a scoring command shows.

    Attributes
    ----------
    title : str
    columns : sequence of str
        Names of the figures.
    rows : list of (name, figures)
        The model's row first, then the baselines; a figure is a fraction in [0, 1], or None where
        it does not apply.
    notes : list of str
        Sentences shown below the table: counts of missing or unparsed answers, repeated ids.
    result : dict
        Everything the metric returned.
    figures_down : bool
        Print one line for each figure and one column for each system: for more figures than fit
        beside each other in 80 characters. Output files keep one row for each system.
    in_files : Report or None
        What CSV files get where that is more than the table.
    """

    title: str
    columns: Sequence[str]
    rows: list[tuple[str, Sequence[float | None]]]
    result: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    figures_down: bool = False
    in_files: Report | None = None


def percent(fraction: float | None) -> str:
    """A fraction as percent with two places; an en dash where there is none."""
    if fraction is None or fraction != fraction:
        return "–"
    return f"{100 * fraction:.2f}"
