"""`lookcheck predict import`: a run of answers that were made elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.printable import printable
from lookcheck.scripts import console
from lookcheck.scripts.predict.importing.formats import FormatName

_SHOWN = 5


def import_answers(
    files: Annotated[list[Path], typer.Option("--from", help="A file of answers; repeatable.")],
    format: Annotated[FormatName, typer.Option(help="The program that wrote it.")],
    dataset: Annotated[str, typer.Option(help="Built folder, or ORG/NAME of one on the Hub.")],
    model: Annotated[str, typer.Option(help="Who gave the answers; goes into every signature.")],
    output: Annotated[Path, typer.Option(help="The run's folder.")],
    dataset_revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None,
    condition: Annotated[
        list[str] | None, typer.Option(help="What was shown, where rows differ in it alone; repeatable.")
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(help="The split that a file's answers are of: one for each --from, in their order."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="The questions that were asked, where question_id is its alone.")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="How replies are read. Default: the first that takes no evidence.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as one JSON object.")] = False,
) -> None:
    """Make a run of answers that another program got, so that they are scored as any run.

    They are joined by id, else by question and picture, never by line. What fits no row or several is
    listed, and nothing is written.

    Example:

    \b
      lookcheck predict import --from answers.jsonl --format llava \\
        --split random --dataset perturbed --condition original \\
        --model llava-1.5-7b --output run
      lookcheck score run
    """
    from lookcheck.scripts.predict.importing.making import make_run
    from lookcheck.scripts.predict.work import FAILURE

    if split is not None and len(split) != len(files):
        raise InputError(f"{len(split)} --split for {len(files)} --from; give one for each, or none")
    lines, rows = make_run(
        files,
        format,
        dataset=dataset,
        revision=dataset_revision,
        model=model,
        output=output,
        conditions=condition or [],
        splits=split,
        questions=questions,
        protocol=protocol,
    )
    failures = sum(FAILURE in line for line in lines)
    problems = Counter(str(line["problem"]) for line in lines if "problem" in line)
    if as_json:
        told = {
            "output": str(output),
            "rows": rows,
            "answered": len(lines) - failures,
            "failed": failures,
            "problems": dict(sorted(problems.items())),
        }
        print(console.to_json(told))
        return
    print(f"{output}: {len(lines) - failures:,} of {rows:,} rows have an answer, made elsewhere by {model}")
    if failures:
        print(f"  failed there, {failures:,}: not scored")
    for reason, count in problems.most_common(_SHOWN):
        print(f"  can't be read, {count:,}: {printable(reason)}")
