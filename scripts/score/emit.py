"""Showing figures: rich tables for people; JSON, CSV, Markdown and LaTeX for files."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table as RichTable
from rich.text import Text

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.printable import printable
from lookcheck.dataset_builders.parquet.listing import refuse_inside_built
from lookcheck.dataset_builders.scores.report import (
    BASELINE,
    Cell,
    Report,
    Table,
    percent,
    side_by_side,
)
from lookcheck.scripts import console

ROW_KINDS = (".jsonl", ".csv")
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
    }
)


def emit(
    reports: Sequence[Report], *, outputs: Sequence[Path], per_sample: Path | None, as_json: bool
) -> None:
    """Write the files, then print the tables, or with `as_json` one JSON object.

    Parameters
    ----------
    reports : sequence of Report
        One for each system; several stand side by side.
    outputs : sequence of Path
        Their endings are of `KINDS`.
    per_sample : Path or None
        JSON Lines or CSV: a row of each sample of each system.
    as_json : bool
        Print the results without their per-sample rows, and nothing else.
    """
    tables = [table for table in reports[0].tables if not table.in_files_only]
    if len(reports) > 1:
        tables = side_by_side(reports)
    for path in outputs:
        console.write_text(path, KINDS[path.suffix](reports, tables))
    if per_sample is not None:
        console.write_text(per_sample, _rows(reports, per_sample.suffix))
    if as_json:
        print(console.to_json(_named([(report.system, _brief(report)) for report in reports])))
        return
    for table in tables:
        console.stdout.print(draw(table))
    for report in reports:
        before = f"{report.system}: " if len(reports) > 1 else ""
        for note in [*report.notes, f"signature: {report.result['signature']}"]:
            console.stdout.print(Text(printable(before + note)))
    for path in [*outputs, *([per_sample] if per_sample else [])]:
        console.stdout.print(Text(f"wrote {path}"))


def refuse_destruction(outputs: Sequence[Path], per_sample: Path | None, inputs: Sequence[Path]) -> None:
    """Refuse files to write of another kind, that would destroy an input or each other, or in a built folder.

    Raises
    ------
    InputError
    """
    rows = [per_sample] if per_sample else []
    console.check_outputs(outputs, inputs, tuple(KINDS))
    console.check_outputs(rows, inputs, ROW_KINDS, "--per-sample")
    for path, times in Counter(path.resolve() for path in [*outputs, *rows]).items():
        if times > 1:
            raise InputError(f"{path}: is to be written {times} times; name a file for each")
    for path in [*outputs, *rows]:
        refuse_inside_built(path)


def draw(table: Table) -> RichTable:
    """A table for the terminal."""
    drawn = RichTable(title=Text(table.title), title_justify="left", caption_justify="left")
    headings, rows = _grid(table)
    # The model's figures stand out from what never looks.
    loud = [line.kind != BASELINE for line in table.lines]
    for number, heading in enumerate(headings):
        down = table.figures_down and number > 0
        style = ("bold" if loud[number - 1] else "dim") if down else None
        drawn.add_column(Text(printable(heading)), justify="right" if number else "left", style=style)
    for number, row in enumerate(rows):
        style = None if table.figures_down else "bold" if loud[number] else "dim"
        drawn.add_row(*(Text(printable(cell)) for cell in row), style=style)
    return drawn


def _grid(table: Table) -> tuple[list[str], list[list[str]]]:
    """Headings and cells as text; tables of parts have a column with the number of rows."""
    unit = percent if table.unit == "percent" else _plain

    def show(cell: Cell) -> str:
        if cell.interval is None:
            return unit(cell.value)
        low, high = map(unit, cell.interval)
        return f"{unit(cell.value)} [{low}, {high}]"

    if table.figures_down:
        rows = [
            [heading, *(show(line.cells[index]) for line in table.lines)]
            for index, heading in enumerate(table.columns.values())
        ]
        return ["", *(line.shown for line in table.lines)], rows
    rows = []
    for line in table.lines:
        n = [_plain(line.cells[0].n)] if table.counted else []
        rows.append([line.shown or "(empty)", *n, *(show(cell) for cell in line.cells)])
    return ["", *(["n"] if table.counted else []), *table.columns.values()], rows


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _brief(report: Report) -> dict[str, Any]:
    return {
        **{key: value for key, value in report.result.items() if key != "per_sample"},
        "notes": report.notes,
    }


def _named(results: Sequence[tuple[str, Any]]) -> Any:
    """The one result, or several by their names."""
    return results[0][1] if len(results) == 1 else {"predictions": dict(results)}


def _json(reports: Sequence[Report], tables: Sequence[Table]) -> str:
    return console.to_json(_named([(report.system, report.result) for report in reports])) + "\n"


def _csv(reports: Sequence[Report], tables: Sequence[Table]) -> str:
    """One row a figure; several systems are told apart by a first column."""
    rows = [
        [report.system, line.kind, "/".join(filter(None, (line.name, key))), cell.n, cell.value, *_ends(cell)]
        for report in reports
        for table in report.tables
        for line in table.lines
        for key, cell in zip(table.columns, line.cells, strict=True)
        if cell.value is not None
    ]
    first = 0 if len(reports) > 1 else 1
    columns = ["predictions", "kind", "name", "n", "value", "low", "high"]
    last = 7 if any("intervals" in report.result for report in reports) else 5
    return _sheet(columns[first:last], (row[first:last] for row in rows))


def _ends(cell: Cell) -> tuple[float | None, float | None]:
    return cell.interval or (None, None)


def _sheet(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _rows(reports: Sequence[Report], suffix: str) -> str:
    """Each sample's figures, with the system's name where there are several."""
    several = len(reports) > 1
    rows: list[Mapping[str, Any]] = [
        {**({"predictions": report.system} if several else {}), **row}
        for report in reports
        for row in report.result["per_sample"]
    ]
    if suffix == ".jsonl":
        return "".join(console.to_json(row) + "\n" for row in rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return _sheet(columns, ([_field(row.get(name)) for name in columns] for row in rows))


def _field(value: Any) -> Any:
    """A value as CSV holds it: nothing for None, JSON for what is no number and no text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        return json.dumps(value, ensure_ascii=False)
    return value


def _markdown(reports: Sequence[Report], tables: Sequence[Table]) -> str:
    parts = []
    for table in tables:
        headings, rows = _grid(table)
        lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
        # A bar would end the cell, a line break the row.
        cells = [[printable(cell).replace("|", "\\|") for cell in line] for line in lines]
        parts.append(f"{table.title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in cells))
    signatures = "".join(f"- {report.system}: `{report.result['signature']}`\n" for report in reports)
    return "\n".join([*parts, signatures])


def _latex(reports: Sequence[Report], tables: Sequence[Table]) -> str:
    """Tables for the package booktabs; what was computed stands in comments."""
    parts = [f"% {printable(report.system)}: {printable(report.result['signature'])}\n" for report in reports]
    for table in tables:
        headings, rows = _grid(table)
        lines = [" & ".join(printable(cell).translate(_LATEX) for cell in line) for line in [headings, *rows]]
        parts.append(
            f"\n\\begin{{table}}\n\\caption{{{printable(table.title).translate(_LATEX)}}}\n"
            f"\\begin{{tabular}}{{l{'r' * (len(headings) - 1)}}}\n\\toprule\n{lines[0]} \\\\\n\\midrule\n"
            + "".join(f"{line} \\\\\n" for line in lines[1:])
            + "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
        )
    return "".join(parts)


KINDS: dict[str, Callable[[Sequence[Report], Sequence[Table]], str]] = {
    ".json": _json,
    ".csv": _csv,
    ".md": _markdown,
    ".tex": _latex,
}
