"""`lookcheck judge run`: free-form answers to verdicts."""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import (
    FAILED,
    MISSING,
    STATUSES,
    UNDECIDED,
    VERDICTS,
    Json,
    JudgeHeader,
    VerdictRow,
    fingerprint,
    identity,
    near_ties,
    status_of,
)
from lookcheck.scripts import console
from lookcheck.scripts.judge.backend import Backend
from lookcheck.scripts.judge.jobs import job_of_files, jobs_of_runs
from lookcheck.scripts.judge.plan import make_plan
from lookcheck.scripts.judge.prompt import PROMPT_VERSION
from lookcheck.scripts.judge.samples import Sample
from lookcheck.scripts.judge.settings import Asking, Questions
from lookcheck.scripts.judge.work import Judging
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.require import installed_version
from lookcheck.scripts.models.resumable import Resumable
from lookcheck.scripts.models.settings import Access, Place
from lookcheck.scripts.models.watch import Watch
from lookcheck.scripts.option_objects import with_option_objects

# Those whose version can change a figure.
_PACKAGES = {
    "transformers": ("lookcheck", "torch", "transformers", "tokenizers"),
    "openai": ("lookcheck", "openai"),
}


class NoneKind(StrEnum):
    """Why a verdict is none."""

    missing = MISSING
    undecided = UNDECIDED
    failed = FAILED


EXIT_STATUS = {FAILED: 5, UNDECIDED: 4, MISSING: 3}
"""Exit status for a kind of none that ``--fail-on`` names, the gravest first."""


@with_option_objects
def run(
    questions: Questions,
    asking: Asking,
    place: Place,
    access: Access,
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="Folders of lookcheck predict, or of several runs each."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="The verdict file; an unfinished one is continued.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="RUN: judge what an unfinished run has answered so far.")
    ] = False,
    fail_on: Annotated[
        list[NoneKind] | None,
        typer.Option(
            help="End with status 3 if an answer is missing, 4 if a reply is undecided, 5 if a request "
            "failed; repeatable."
        ),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again about the rows that failed in an earlier run.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the counts, one line of JSON a file.")
    ] = False,
) -> None:
    """Judge answers against reference answers by their meaning, with a language model.

    The verdict file is written row by row. After a break the same command goes on where it stopped;
    with any other model, prompt, method or data it refuses to. Start it with `accelerate launch` to
    use several GPUs, each with the whole model. The folder of a run says itself what it was asked,
    and takes the verdicts.

    Example:

    \b
      lookcheck judge run --dataset vistaqa --answers answers.jsonl \\
        --output verdicts.jsonl
      lookcheck judge run runs/qwen
    """
    if runs:
        jobs = jobs_of_runs(
            runs, questions, output, asking.thinking, partial=partial, say=Watch(quiet=quiet).say
        )
    elif partial:
        raise InputError("--partial is for runs of lookcheck predict")
    else:
        jobs = [job_of_files(questions, output, asking.thinking)]
    processes = Processes(cpu=asking.backend == "openai" or place.device == "cpu")
    backend = _backend(asking, place, access, processes)
    found: set[str] = set()
    for job in jobs:
        header = make_header(job.samples, backend, questions, asking, job.dataset)
        plan = make_plan(
            job.samples,
            dedupe=questions.dedupe,
            accept_exact=questions.accept_exact,
            most=questions.max_characters,
        )
        with Watch(quiet=quiet or not processes.first) as watch:
            file = Resumable(job.output, job.form, header, retry=retry_failed)
            rows = file.run(Judging(plan, backend, asking.method), processes, watch)
        if processes.first:
            _show(rows, header, job.output, as_json=as_json)
            found |= {status_of(row) for row in rows.values()}
    processes.close()
    for status, code in EXIT_STATUS.items():
        if processes.first and status in found and status in (fail_on or []):
            raise SystemExit(code)


def _backend(asking: Asking, place: Place, access: Access, processes: Processes) -> Backend:
    if asking.backend == "transformers":
        from lookcheck.scripts.judge.local import LocalJudge

        return LocalJudge(asking, place, processes)
    from lookcheck.scripts.judge.server import ServerJudge

    return ServerJudge(asking, access)


def make_header(
    samples: list[Sample], backend: Backend, questions: Questions, asking: Asking, dataset: str
) -> JudgeHeader:
    """The header of a verdict file.

    Returns
    -------
    JudgeHeader
    """
    judge, known = backend.describe()
    rules: dict[str, Json] = {
        "method": asking.method,
        "prompt_version": PROMPT_VERSION,
        "min_mass": asking.min_mass,
        "thinking": asking.thinking,
        "max_characters": questions.max_characters,
        "accept_exact": questions.accept_exact,
    }
    answered = [sample for sample in samples if sample.candidate is not None]
    deciding: dict[str, Json] = {
        "judge": {**judge, **rules},
        "packages": {name: installed_version(name) for name in _PACKAGES[asking.backend]},
        "dataset": {
            "rows": len(samples),
            "sha256": fingerprint((row.id, row.question, row.reference) for row in samples),
        },
        "answers": {
            "rows": len(answered),
            "sha256": fingerprint((row.id, row.candidate or "") for row in answered),
        },
    }
    return JudgeHeader(deciding=deciding, known={"dataset": dataset, **known})


def _show(rows: dict[str, VerdictRow], header: JudgeHeader, output: Path, *, as_json: bool) -> None:
    verdicts = Counter(row["verdict"] for row in rows.values())
    statuses = Counter(status_of(row) for row in rows.values())
    reasons = Counter(_kind(str(row["reason"])) for row in rows.values() if row["verdict"] == "none")
    copied = sum(row["same_as"] is not None for row in rows.values())
    close = near_ties(header, rows)
    if as_json:
        result = {
            "output": str(output),
            "rows": len(rows),
            **{verdict: verdicts[verdict] for verdict in VERDICTS},
            "statuses": {status: statuses[status] for status in STATUSES},
            "reasons": dict(sorted(reasons.items())),
            "near_ties": close,
            "copied": copied,
            "judge": identity(header, rows),
        }
        print(console.to_json(result))
        return
    listed = ", ".join(f"{verdicts[verdict]:,} {verdict}" for verdict in VERDICTS)
    print(f"{output}: {len(rows):,} verdicts: {listed}")
    nones = ", ".join(f"{statuses[status]:,} {status}" for status in EXIT_STATUS if statuses[status])
    if nones:
        print(f"  none: {nones}")
    console.print_reasons("none", reasons)
    if close:
        print(f"  {close:,} near ties: another batch size or another machine could turn them around")
    if copied:
        print(f"  {copied:,} repeat the verdict of an identical question, reference and answer")
    print(f"  judge: {identity(header, rows)}")


def _kind(reason: str) -> str:
    """The reason without the numbers of its row, so that rows of one kind are counted together."""
    return re.sub(r"\d[\d,]*(?= tokens| characters)|(?<=not )\d[\d,]*", "…", reason)
