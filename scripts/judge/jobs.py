"""What one call of `lookcheck judge run` judges: a file of answers, or the folders of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import VerdictRow
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.scripts.judge.samples import Sample, join, join_given, rows_of
from lookcheck.scripts.judge.settings import Questions
from lookcheck.scripts.judge.work import VERDICT_FILE
from lookcheck.scripts.models.store import RowFormat

_OF_A_RUN = replace(VERDICT_FILE, remedy="delete it to judge the run again")


@dataclass(frozen=True)
class Job:
    """Samples that are judged into one file.

    Attributes
    ----------
    samples : list of Sample
    dataset : str
        The data set's name, which is only good to know.
    output : Path
    form : RowFormat
        Of the file.
    """

    samples: list[Sample]
    dataset: str
    output: Path
    form: RowFormat[VerdictRow] = VERDICT_FILE


def job_of_files(questions: Questions, output: Path | None, thinking: str) -> Job:
    """A data set and a file of answers.

    Raises
    ------
    InputError
        If an option is missing, or a row can't be read.
    """
    dataset, answers = questions.dataset, questions.answers
    if dataset is None or answers is None or output is None:
        given = {"--dataset": dataset, "--answers": answers, "--output": output}
        missing = ", ".join(name for name, value in given.items() if value is None)
        raise InputError(f"{missing}: missing; give all three, or the folder of a run of lookcheck predict")
    rows = rows_of(
        dataset, config=questions.config, split=questions.split, revision=questions.dataset_revision
    )
    return Job(join(rows, answers, dataset, thinking), Path(dataset).name, output)


def jobs_of_runs(
    paths: Sequence[Path],
    questions: Questions,
    output: Path | None,
    thinking: str,
    *,
    partial: bool,
    say: Callable[[str], None],
) -> list[Job]:
    """Runs of `lookcheck predict`, or folders that hold such; each gets its verdicts in its own folder.

    Parameters
    ----------
    paths : sequence of Path
    questions : Questions
        What says which data set and which answers is not to be given: the run says it.
    output : Path or None
        Not to be given, either.
    thinking : {"strip", "keep"}
    partial : bool
        Judge what an unfinished run has answered so far.
    say : callable
        Is told which of several runs need no judge.

    Raises
    ------
    InputError
        If a run is unfinished, its data set has changed or is scored without a judge.
    """
    from lookcheck.scripts.predict.run_folder import VERDICTS, read_run
    from lookcheck.scripts.score.runs import answered_of, folder_of, runs_below

    for name in ("dataset", "answers", "config", "split", "dataset_revision"):
        if getattr(questions, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} is not for runs: {paths[0]} says what it was asked")
    if output is not None:
        raise InputError(f"--output is not for runs: the verdicts go into {paths[0] / VERDICTS}")
    jobs = []
    for path in runs_below(paths):
        run = read_run(path)
        dataset = str(run.told("dataset", "name"))
        if dataset not in DATASETS:
            raise InputError(f"{path}: the data set {dataset!r} is not known, only {', '.join(DATASETS)}")
        if "verdicts" not in DATASETS[dataset].scorer.beside:
            said = f"{path}: answers to {DATASETS[dataset].title} are scored without a judge"
            if path in paths:
                raise InputError(said)
            say(said)
            continue
        answers = {}
        for id, line in answered_of(run, run.lines(), partial=partial).items():
            answer = line.get("prediction", line.get("answer"))
            if not isinstance(answer, str):
                raise InputError(f"{run.predictions}: id {id!r} has the answer {answer!r}; expected a text")
            answers[id] = answer
        folder = str(folder_of(run))
        samples = join_given(rows_of(folder), answers, folder, run.predictions, thinking)
        jobs.append(Job(samples, Path(folder).name, path / VERDICTS, _OF_A_RUN))
    if not jobs:
        raise InputError(f"{paths[0]}: none of its runs needs a judge")
    return jobs
