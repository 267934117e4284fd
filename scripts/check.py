"""`lookcheck check`: does a built folder keep all rules?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookcheck.dataset_builders.core.errors import fault_lines
from lookcheck.dataset_builders.parquet.listing import refuse_unbuilt
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.scripts import console


def check(
    folder: Annotated[Path, typer.Option("--dataset", help="A folder written by lookcheck build.")],
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Check a built folder against the rules of its data set and the limits of the Hub's viewer.

    Exit code 2 if anything falls short.

    Example:

    \b
      lookcheck check --dataset vistaqa
    """
    refuse_unbuilt(folder)
    # `datasets` takes seconds to import: not for --help, nor to say that there is nothing.
    from lookcheck.dataset_builders.parquet.check import check_folder

    with console.tracking(quiet=json) as track:
        report = check_folder(folder, DATASETS, track)
    if json:
        faults = [{"id": fault.id, "rule": fault.rule, "message": fault.message} for fault in report.faults]
        counts = {"files": report.files, "rows": report.rows}
        print(console.to_json({"folder": str(folder), **counts, "faults": faults, "notes": report.notes}))
    else:
        for line in [*fault_lines(report.faults), *(f"note: {note}" for note in report.notes)]:
            print(line)
        verdict = f"{len(report.faults):,} fall short" if report.faults else "all rules kept"
        print(f"{folder}: {report.files} files, {report.rows:,} rows, {verdict}")
    if report.faults:
        raise typer.Exit(console.EXIT_INPUT)


app = console.new_app("Check a built folder.")
app.command()(check)


if __name__ == "__main__":
    console.run(app)
