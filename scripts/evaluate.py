"""`lookcheck evaluate`: from a model's name to a table: ask, judge where that is needed, score."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields as fields_of
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.judge.run import run as judge_run
from lookcheck.scripts.models.settings import Access, Place
from lookcheck.scripts.option_objects import with_option_objects
from lookcheck.scripts.predict.local.settings import Limits
from lookcheck.scripts.predict.settings import Asking, Fields, Finding, Model
from lookcheck.scripts.score.runs import score_runs

if TYPE_CHECKING:
    from lookcheck.scripts.predict.plan import Opened
    from lookcheck.scripts.predict.session import RunOptions

_JUDGE = "Judge"


@dataclass(frozen=True)
class Data:
    """What is asked; all but the data sets as in `predict run`."""

    dataset: Annotated[list[str], typer.Option(help="Built folder, or ORG/NAME on the Hub; repeatable.")]
    protocol: Annotated[list[str] | None, typer.Option(help="One for each data set. Default: its first.")] = (
        None
    )
    condition: Annotated[
        list[str] | None, typer.Option(help="Of a data set that has conditions; repeatable.")
    ] = None
    thinking: Annotated[
        Literal["on", "off"] | None, typer.Option(help="Default: the model's own template decides.")
    ] = None
    limit: Annotated[int | None, typer.Option(min=1, help="Ask the first rows of each only.")] = None


@dataclass(frozen=True)
class Judge:
    """Who judges free-form answers."""

    judge: Annotated[
        str | None,
        typer.Option(help="Where answers need one: Hub name, folder, or name.", rich_help_panel=_JUDGE),
    ] = None
    judge_backend: Annotated[
        Literal["transformers", "openai"],
        typer.Option(help="A model here, or a server.", rich_help_panel=_JUDGE),
    ] = "transformers"
    judge_method: Annotated[
        Literal["logprob", "generate"], typer.Option(help="As judge run --method.", rich_help_panel=_JUDGE)
    ] = "logprob"
    judge_base_url: Annotated[
        str | None, typer.Option(help="http://host:8000/v1", rich_help_panel=_JUDGE)
    ] = None


@with_option_objects
def evaluate(
    data: Data,
    model: Model,
    place: Place,
    limits: Limits,
    access: Access,
    fields: Fields,
    finding: Finding,
    judge: Judge,
    output: Annotated[Path, typer.Option(help="Gets one folder of a run for each data set.")],
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Ask a model the questions of data sets, judge its answers where needed, and score them.

    The same as `predict run`, `judge run` and `score`, one after the other: no two models are in memory
    together. After a break, the same command goes on where it stopped.

    Example:

    \b
      lookcheck evaluate --model Qwen/Qwen2.5-VL-7B-Instruct \\
        --dataset vistaqa --dataset salart --judge Qwen/Qwen2.5-14B-Instruct \\
        --output runs
    """
    from lookcheck.scripts.predict.plan import chosen_protocol, open_data_set
    from lookcheck.scripts.predict.session import RunOptions

    if data.protocol and len(data.protocol) != len(data.dataset):
        raise InputError(
            f"{len(data.protocol)} --protocol for {len(data.dataset)} --dataset; give one for each, in "
            "their order, or none"
        )
    opened = [open_data_set(dataset) for dataset in data.dataset]
    for condition in data.condition or []:
        if not any(condition in item.folder.configs for item in opened):
            raise InputError(f"--condition {condition}: none of the data sets has it")
    names = [item.folder.name for item in opened]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two --dataset are {twice[0]}; evaluate each into an --output of its own")
    judged = [name for name, item in zip(names, opened, strict=True) if _is_judged(item)]
    if judged and judge.judge is None:
        raise InputError(f"answers to {judged[0]} are judged by a language model: name one with --judge")
    if not output.parent.is_dir():
        raise InputError(f"{output}: the folder {output.parent} does not exist")
    output.mkdir(exist_ok=True)
    # All that could be wrong with a later one is told before the first is asked.
    options = []
    for number, dataset in enumerate(data.dataset):
        own = [name for name in data.condition or [] if name in opened[number].folder.configs]
        asking = Asking(
            dataset=dataset,
            protocol=data.protocol[number] if data.protocol else None,
            condition=own or None,
            thinking=data.thinking,
            limit=data.limit,
        )
        chosen_protocol(opened[number], asking.protocol, None)
        options.append(RunOptions(asking, model, place, access, fields, finding, limits))
    for name, item in zip(names, options, strict=True):
        _ask(item, output / name, quiet=quiet)
    for name in judged:
        _judge(output / name, judge, place, access, quiet=quiet)
    score_runs([output / name for name in names])


def _is_judged(opened: Opened) -> bool:
    return "verdicts" in opened.data_set.scorer.beside


def _ask(options: RunOptions, output: Path, *, quiet: bool) -> None:
    """One run; its models leave the memory before this returns."""
    from lookcheck.scripts.predict.session import prepare
    from lookcheck.scripts.predict.telling import tell_run
    from lookcheck.scripts.predict.work import FAILURE

    session = prepare(options)
    if session.processes.many:
        raise InputError("evaluate is one process; start predict run and judge run by accelerate launch")
    lines = session.run(output, quiet=quiet)
    session.processes.close()
    tell_run(output, lines, as_json=False)
    if failed := sum(FAILURE in line for line in lines.values()):
        raise InputError(f"{output}: {failed:,} requests failed; the same command asks them again")


def _judge(run: Path, judge: Judge, place: Place, access: Access, *, quiet: bool) -> None:
    """As `lookcheck judge run RUN`."""
    reached = {} if judge.judge_base_url is None else {"base_url": judge.judge_base_url}
    judge_run(
        runs=[run],
        backend=judge.judge_backend,
        model=judge.judge,
        method=judge.judge_method,
        quiet=quiet,
        # The judge's weights are as its files have them.
        **vars(place.bare),
        **{**{field.name: getattr(access, field.name) for field in fields_of(Access)}, **reached},
    )
