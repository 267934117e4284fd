"""`lookcheck score RUN …`: the folder of a run says what it was asked, and where the labels are."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.scores.report import Report, share
from lookcheck.scripts import console
from lookcheck.scripts.score.emit import KINDS, ROW_KINDS, emit, refuse_destruction

if TYPE_CHECKING:
    from lookcheck.scripts.predict.run_folder import Line, Run

_FAILURE, _PROBLEM = "failure", "problem"


@dataclass(frozen=True)
class Scored:
    """A run and its score.

    Attributes
    ----------
    run : Path
    dataset : str
        The data set's name.
    report : Report
    """

    run: Path
    dataset: str
    report: Report


def score_runs(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, or of several runs each.")],
    partial: Annotated[
        bool, typer.Option("--partial", help="Score the rows that have an answer, of an unfinished run, too.")
    ] = False,
    unjudged: Annotated[
        str | None,
        typer.Option(help="Of judged answers: as in the data set's own command. Default: missing."),
    ] = None,
    no_image: Annotated[
        Path | None, typer.Option(help="The run of the same model with --no-image, where that is a control.")
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="What to call the runs, in their order. Default: the folder's name."),
    ] = None,
    output: Annotated[
        list[Path] | None, typer.Option(help=f"Write {', '.join(KINDS)}, by the name's ending; repeatable.")
    ] = None,
    per_sample: Annotated[
        Path | None, typer.Option(help=f"Write the figures of each row: {' or '.join(ROW_KINDS)}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON.")] = False,
) -> None:
    """Score runs of lookcheck predict; each gets a file scores.json.

    Example:

    \b
      lookcheck score run
    """
    from lookcheck.scripts.predict.run_folder import PREDICTIONS, REPLIES, RUN, SCORES, TIMINGS, VERDICTS

    found = runs_below(runs)
    # What lookcheck predict and judge wrote stays; scores.json is this command's own.
    kept = [path / name for path in found for name in (RUN, REPLIES, PREDICTIONS, VERDICTS, SCORES, TIMINGS)]
    refuse_destruction(output or [], per_sample, kept)
    if name and len(name) != len(found):
        raise InputError(f"{len(name)} --name for {len(found)} runs; give one for each, or none")
    names = list(name) if name else [path.resolve().name for path in found]
    read: dict[Path, Any] = {}
    scored = [
        score_run(path, title, partial=partial, unjudged=unjudged, no_image=no_image, read=read)
        for path, title in zip(found, names, strict=True)
    ]
    groups: dict[str, list[Report]] = {}
    for item in scored:
        groups.setdefault(item.dataset, []).append(item.report)
    if len(groups) > 1 and (output or per_sample or as_json):
        raise InputError(f"the runs are of {', '.join(groups)}; write files of one data set at a time")
    for reports in groups.values():
        emit(reports, outputs=output or [], per_sample=per_sample, as_json=as_json)


def runs_below(paths: Sequence[Path]) -> list[Path]:
    """The runs themselves, and those right below a folder that is none.

    Raises
    ------
    InputError
        If there is none.
    """
    from lookcheck.scripts.predict.run_folder import is_run

    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise InputError(f"{path}: no such folder of a run, and no command of lookcheck score")
        below = [path] if is_run(path) else sorted(item for item in path.iterdir() if is_run(item))
        if not below:
            raise InputError(f"{path}: is no run of lookcheck predict, and holds none")
        found += below
    return list(dict.fromkeys(found))


def score_run(
    path: Path,
    name: str | None = None,
    *,
    partial: bool = False,
    unjudged: str | None = None,
    no_image: Path | None = None,
    read: dict[Path, Any] | None = None,
) -> Scored:
    """Score one run by what its folder says, and write its ``scores.json``.

    Parameters
    ----------
    path : Path
    name : str, optional
        What to call it; the folder's name if not given.
    partial : bool
        Also where rows are missing or failed: these are left out and counted.
    unjudged : str, optional
    no_image : Path, optional
        The control run of SalArt-VQA.
    read : dict, optional
        References by their folder: those of an earlier run are used again, new ones are added. A data set's
        files are hashed as they are read.

    Raises
    ------
    InputError
        If the run is unfinished, the data set has changed, or a verdict is missing.
    """
    from lookcheck.scripts.predict.run_folder import PREDICTIONS, SCORES, VERDICTS, read_run

    run = read_run(path)
    dataset = str(run.told("dataset", "name"))
    if dataset not in DATASETS:
        raise InputError(f"{path}: the data set {dataset!r} is not known, only {', '.join(DATASETS)}")
    scorer = DATASETS[dataset].scorer
    if "no_image" in scorer.beside and run.told("asked", "no_image"):
        raise InputError(
            f"{path}: is the control without the picture; score the run with pictures, and give this one by "
            "--no-image"
        )
    lines = run.lines()
    rows, total = int(run.told("dataset", "rows")), int(run.told("dataset", "of"))
    failed = [id for id, line in lines.items() if _FAILURE in line]
    answered = answered_of(run, lines, partial=partial)
    folder = folder_of(run)
    read = {} if read is None else read
    if folder not in read:
        read[folder] = scorer.read_references(folder)
    references = read[folder]
    kept = {id: record for id, record in references.items() if id in answered}
    if strangers := answered.keys() - kept.keys():
        raise InputError(f"{path / PREDICTIONS}: the id {min(strangers)!r} is not in {folder}")
    given: dict[str, Any] = dict(run.known("score") or {})
    if unjudged is not None:
        given["unjudged"] = unjudged
    if (path / VERDICTS).is_file():
        given["verdicts"] = [path / VERDICTS]
    elif "verdicts" in scorer.beside and not any("verdict" in line for line in answered.values()):
        raise InputError(f"{path}: has no {VERDICTS}; run lookcheck judge run {path} first")
    if no_image is not None:
        given["no_image"] = [no_image / PREDICTIONS if no_image.is_dir() else no_image]
    own = {field.name for field in fields(scorer.options)}
    if other := given.keys() - own:
        raise InputError(f"--{min(other).replace('_', '-')} is no option of {DATASETS[dataset].title}")
    with tempfile.TemporaryDirectory() as temporary:
        predictions = path / PREDICTIONS
        if len(answered) < len(lines):
            predictions = Path(temporary) / PREDICTIONS
            predictions.write_text("".join(json.dumps(line) + "\n" for line in answered.values()))
        report = scorer.score(
            kept, str(folder), predictions, name or path.resolve().name, replace(scorer.options(), **given)
        )
    signature = report.result["signature"] + _signed(run.header["deciding"], len(answered), total)
    report = replace(
        report,
        result={**report.result, "signature": signature},
        notes=[*report.notes, *_notes(answered, failed, rows, total)],
    )
    console.write_text(path / SCORES, console.to_json(report.result) + "\n")
    return Scored(path, dataset, report)


def answered_of(run: Run, lines: Mapping[str, Line], *, partial: bool) -> dict[str, Line]:
    """The lines of a run's rows that have an answer.

    Parameters
    ----------
    run : Run
    lines : mapping of str to Line
        All of its lines.
    partial : bool
        Take an unfinished run.

    Raises
    ------
    InputError
        If rows are missing or failed and `partial` is not set, or there is no answer at all.
    """
    rows = int(run.told("dataset", "rows"))
    answered = {id: line for id, line in lines.items() if _FAILURE not in line}
    if len(answered) < rows and not partial:
        raise InputError(
            f"{run.path}: is unfinished: of {rows:,} rows {rows - len(lines):,} are not there and "
            f"{len(lines) - len(answered):,} failed; start it again, or take the others with --partial"
        )
    if not answered:
        raise InputError(f"{run.predictions}: holds no answer")
    return answered


def folder_of(run: Run) -> Path:
    """The data set that was asked.

    Raises
    ------
    InputError
        If it is not there any more, or has changed.
    """
    from lookcheck.scripts.predict.plan import open_data_set

    dataset, revision = run.known("dataset"), run.known("dataset_revision")
    try:
        opened = open_data_set(str(dataset), None if revision is None else str(revision))
    except InputError as error:
        raise InputError(f"{run.path}: {error}") from None
    if opened.manifest != run.known("manifest"):
        raise InputError(f"{run.path}: the data set {dataset} has changed since it was asked")
    return opened.folder.path


def _signed(deciding: Mapping[str, Any], answered: int, total: int) -> str:
    protocol = deciding["protocol"]
    model = str(deciding["model"].get("model")).replace("|", "/")
    # Answers made elsewhere were not asked by our protocol, only read by it.
    if deciding["model"].get("imported"):
        model += f"|imported:{deciding['model']['format']}"
    evidence = deciding.get("evidence") or {}
    found = "".join(
        f"|{name}:{evidence[name]}"
        for name in ("segmenter", "merge_iou", "adapter")
        if evidence.get(name) is not None
    )
    return (
        f"{found}|rows:{answered} of {total}|protocol:{protocol['name']}:{protocol['version']}|model:{model}"
    )


def _notes(
    answered: Mapping[str, Mapping[str, Any]], failed: Sequence[str], rows: int, total: int
) -> list[str]:
    notes = []
    if rows < total:
        notes.append(f"{rows:,} of {total:,} rows were asked")
    if missing := rows - len(answered) - len(failed):
        notes.append(f"{share(missing, rows)} rows have not been asked yet: not scored")
    if failed:
        notes.append(f"{share(len(failed), rows)} requests failed: not scored (id {failed[0]!r})")
    problems: dict[str, int] = {}
    for line in answered.values():
        if _PROBLEM in line:
            problems[str(line[_PROBLEM])] = problems.get(str(line[_PROBLEM]), 0) + 1
    notes += [
        f"{share(count, len(answered))} replies can't be read: {reason}"
        for reason, count in sorted(problems.items(), key=lambda item: -item[1])
    ]
    return notes
