"""Build the samples, load them as anybody would, and score what needs no model through `evaluate`."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.core.processes import Track
from lookcheck.dataset_builders.dataset import DataSet, Work
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.scores.report import BASELINE, MODEL, Cell, Line, Table

if TYPE_CHECKING:
    from lookcheck.dataset_builders.scores.demonstration import Demonstration

Results = dict[str, dict[str, Any]]


def demonstrations() -> dict[str, Demonstration]:
    """The demonstrations of the data sets that have one, by name."""
    found = {name: data_set.demonstration() for name, data_set in DATASETS.items()}
    return {name: shown for name, shown in found.items() if shown is not None}


def run_samples(workspace: Path, track: Track) -> dict[str, Results]:
    """Build the samples below `workspace` and score the policies on them.

    Returns
    -------
    dict
        From data set to policy to the metric's result without its per-sample rows.
    """
    import datasets

    datasets.disable_progress_bars()
    shown = demonstrations()
    for name in shown:
        build_sample(DATASETS[name], workspace, track)
    step = track("scoring", len(shown))
    results = {}
    for name, demonstration in shown.items():
        results[name] = _score(demonstration, workspace / name, str(workspace / "cache"))
        step()
    return results


def build_sample(data_set: DataSet, workspace: Path, track: Track) -> None:
    """Build the sample of a data set as a folder of `workspace` that has its name."""
    from lookcheck.dataset_builders.parquet.writer import write_folder

    work = Work(workspace / f"{data_set.name}-source", track=track)
    work.folder.mkdir()
    plan = data_set.plan(data_set.build_options(source="sample"), work)
    write_folder(plan, workspace / data_set.name, track=track)


def metric(name: str) -> Any:
    """A metric as `evaluate` loads it: by its folder, here that of the installed package."""
    import evaluate

    from lookcheck import metrics

    return evaluate.load(str(Path(next(iter(metrics.__path__))) / name))


def _score(shown: Demonstration, folder: Path, cache: str) -> Results:
    import datasets

    data = datasets.load_dataset(str(folder), shown.config, split="test", cache_dir=cache)
    rows = data.select_columns(list(shown.columns)).to_list()
    labels = {name: kind for name, kind in data.features.items() if isinstance(kind, datasets.ClassLabel)}
    for row in rows:
        row.update({name: kind.int2str(row[name]) for name, kind in labels.items() if name in row})
    trial = shown.trial(rows)
    results = {}
    for name, policy in trial.policies.items():
        result = metric(shown.metric).compute(
            predictions=policy.predictions, references=trial.references, ids=trial.ids, **policy.options
        )
        results[name] = {key: value for key, value in result.items() if key != "per_sample"}
    return results


def table(name: str, shown: Demonstration, results: Results) -> Table:
    """The policies of a data set, the oracle first."""
    lines = [
        Line(
            BASELINE if number else MODEL,
            policy,
            [Cell(_figure(result, place)) for place in shown.figures.values()],
        )
        for number, (policy, result) in enumerate(results.items())
    ]
    headings = {place: heading for heading, place in shown.figures.items()}
    return Table(f"{DATASETS[name].title}'s sample, percent", headings, lines)


def _figure(result: Any, place: str) -> Any:
    return reduce(getitem, place.split("."), result)
