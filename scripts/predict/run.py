"""`lookcheck predict run`: from a model's name to a folder of predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookcheck.scripts.models.settings import Access, Place
from lookcheck.scripts.option_objects import with_option_objects
from lookcheck.scripts.predict.local.settings import Limits
from lookcheck.scripts.predict.settings import Asking, Fields, Finding, Model

EXIT_FAILED = 5
"""Exit status where a request failed, as of `lookcheck judge run --fail-on failed`: the run is unfinished."""


@with_option_objects
def run(
    asking: Asking,
    model: Model,
    place: Place,
    limits: Limits,
    access: Access,
    fields: Fields,
    finding: Finding,
    output: Annotated[Path, typer.Option(help="The run's folder; an unfinished run is continued.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked, and ask nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as one JSON object.")] = False,
) -> None:
    """Ask a model a data set's questions, by a protocol, and keep what `lookcheck score` needs.

    Every reply is seen to the disk. After a break, the same command goes on where it stopped and asks
    again what failed; with another model, protocol or data it refuses to. It ends with status 5 where
    a request failed. Start it with
    `accelerate launch -m lookcheck.scripts.predict` for several GPUs.

    Example:

    \b
      lookcheck predict run --dataset perturbed --condition original \\
        --model Qwen/Qwen2.5-VL-7B-Instruct --output run
      lookcheck score run
    """
    from lookcheck.scripts.predict.session import RunOptions, prepare
    from lookcheck.scripts.predict.telling import tell_plan, tell_run
    from lookcheck.scripts.predict.work import FAILURE

    session = prepare(RunOptions(asking, model, place, access, fields, finding, limits))
    first = session.processes.first
    if dry_run:
        if first:
            tell_plan(session.plan, session.backend, output, as_json=as_json)
        session.backend.close()
        session.processes.close()
        return
    lines = session.run(output, quiet=quiet)
    if first:
        tell_run(output, lines, as_json=as_json)
    session.processes.close()
    if any(FAILURE in line for line in lines.values()):
        raise typer.Exit(EXIT_FAILED)
