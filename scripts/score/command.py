"""One command for each scorer: its own options, and those that all share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.scores.scorer import Scorer
from lookcheck.scripts.option_objects import with_option_objects
from lookcheck.scripts.score.emit import KINDS, ROW_KINDS, emit, refuse_destruction


@dataclass(frozen=True)
class OutputOptions:
    """What all scoring commands write and print."""

    name: Annotated[
        list[str] | None, typer.Option(help="What to call the predictions. Default: the file's name.")
    ] = None
    output: Annotated[
        list[Path] | None, typer.Option(help=f"Write {', '.join(KINDS)}, by the name's ending; repeatable.")
    ] = None
    per_sample: Annotated[
        Path | None, typer.Option(help=f"Write the figures of each row: {' or '.join(ROW_KINDS)}.")
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False


def command_of(scorer: Scorer[Any], *, built: bool) -> Callable[..., None]:
    """The function of a command.

    Parameters
    ----------
    scorer : Scorer
    built : bool
        Whether ``lookcheck build`` makes folders that the scorer reads.
    """

    def command(
        predictions: list[Path],
        options: Any,
        outputs: OutputOptions,
        references: Path | None = None,
        dataset: Path | None = None,
    ) -> None:
        beside = {name: getattr(options, name) or [] for name in scorer.beside}
        inputs = [references, dataset, *predictions, *(path for paths in beside.values() for path in paths)]
        _check(outputs, [path for path in inputs if path is not None])
        names = _names(outputs.name or [], predictions)
        for name, paths in beside.items():
            if len(paths) not in (0, len(predictions)):
                raise InputError(
                    f"{len(paths)} --{name.replace('_', '-')} for {len(predictions)} --predictions; "
                    "give one for each, in their order, or none"
                )
        source = _source(references, dataset, built=built)
        found = scorer.read_references(source)
        reports = []
        for number, (path, name) in enumerate(zip(predictions, names, strict=True)):
            own = {option: [paths[number]] for option, paths in beside.items() if paths}
            reports.append(scorer.score(found, str(source), path, name, replace(options, **own)))
        emit(reports, outputs=outputs.output or [], per_sample=outputs.per_sample, as_json=outputs.json)

    command.__annotations__ = {
        "references": Annotated[
            Path | None, typer.Option(help=f"A file of references: {scorer.references_help}")
        ],
        "predictions": Annotated[
            list[Path], typer.Option(help=f"Repeatable, to compare: {scorer.predictions_help}")
        ],
        "options": scorer.options,
        "outputs": OutputOptions,
        "dataset": Annotated[
            Path | None,
            typer.Option(help="A folder of lookcheck build, in place of --references.", hidden=not built),
        ],
        "return": None,
    }
    command.__doc__ = f"""{scorer.summary}

    Files are JSON Lines, a JSON array, or either with gzip (.gz); - is standard input.

    Example:

    \b
      lookcheck score {scorer.command} --references references.jsonl \\
        --predictions predictions.jsonl
    """
    return with_option_objects(command)


def _check(outputs: OutputOptions, inputs: Sequence[Path]) -> None:
    """Refuse before the work what would fail, or destroy an input, after it."""
    refuse_destruction(outputs.output or [], outputs.per_sample, inputs)
    if inputs.count(Path("-")) > 1:
        raise InputError("standard input (-) can be read once, not for several files")


def _names(given: Sequence[str], predictions: Sequence[Path]) -> list[str]:
    if given and len(given) != len(predictions):
        raise InputError(
            f"{len(given)} --name for {len(predictions)} --predictions; give one for each, or none"
        )
    names = list(given) or ["-" if path == Path("-") else path.name.split(".")[0] for path in predictions]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"two --predictions are called {twice[0]!r}; tell them apart with --name")
    return names


def _source(references: Path | None, dataset: Path | None, *, built: bool) -> Path:
    if references is not None and dataset is None:
        if references.is_dir():
            raise InputError(f"{references}: is a folder; a built folder is given with --dataset")
        return references
    if dataset is not None and references is None:
        if not dataset.is_dir():
            what = "is a file; a file is given with --references" if dataset.is_file() else "no such folder"
            raise InputError(f"{dataset}: {what}")
        return dataset
    wanted = "--references FILE or --dataset FOLDER" if built else "--references FILE"
    raise InputError(f"give {wanted}" + (", not both" if references is not None else ""))
