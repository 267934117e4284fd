"""Showing figures: a rich table for people, JSON and CSV for machines. Tables print percent."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from lookcheck.dataset_builders.core.printable import printable
from lookcheck.dataset_builders.scores.report import Report, percent
from lookcheck.scripts import console


def table(report: Report) -> Table:
    """The report's figures as a rich table, in percent."""
    drawn = Table(title=report.title, title_justify="left", caption_justify="left")
    drawn.add_column("")
    if report.figures_down:
        for index, (name, _) in enumerate(report.rows):
            drawn.add_column(Text(printable(name)), justify="right", style="bold" if index == 0 else "dim")
        for index, column in enumerate(report.columns):
            drawn.add_row(Text(printable(column)), *(percent(figures[index]) for _, figures in report.rows))
        return drawn
    for column in report.columns:
        drawn.add_column(column, justify="right")
    for index, (name, figures) in enumerate(report.rows):
        style = "bold" if index == 0 else "dim"
        drawn.add_row(Text(printable(name)), *map(percent, figures), style=style)
    return drawn


def emit(report: Report, *, as_json: bool, outputs: Sequence[Path]) -> None:
    """Write the output files, then print the table, or with `as_json` one JSON object.

    Parameters
    ----------
    report : Report
    as_json : bool
        Print the result without its per-sample rows as one line of JSON, and nothing else.
    outputs : sequence of Path
        ``*.json`` gets the whole result with ``per_sample``; ``*.csv`` the table, as fractions.
    """
    console.check_outputs(outputs)
    for path in outputs:
        whole = path.suffix == ".json"
        text = console.to_json(report.result) + "\n" if whole else _csv(report.in_files or report)
        console.write_text(path, text)
    if as_json:
        shown = {key: value for key, value in report.result.items() if key != "per_sample"}
        print(console.to_json({**shown, "notes": report.notes}))
        return
    console.stdout.print(table(report))
    for note in [*report.notes, f"signature: {report.result['signature']}"]:
        console.stdout.print(Text(printable(note)))
    for path in outputs:
        console.stdout.print(Text(f"wrote {path}"))


def _csv(report: Report) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", *report.columns])
    for name, figures in report.rows:
        writer.writerow([name, *("" if figure is None else repr(float(figure)) for figure in figures)])
    return text.getvalue()
