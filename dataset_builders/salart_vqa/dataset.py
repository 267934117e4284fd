"""SalArt-VQA as every command sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.dataset import DataSet, Work
from lookcheck.dataset_builders.salart_vqa import build, constants
from lookcheck.dataset_builders.salart_vqa.scoring import SCORER
from lookcheck.dataset_builders.scores.scorer import Scorer

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker
    from lookcheck.dataset_builders.parquet.plan import FolderPlan
    from lookcheck.dataset_builders.parquet.reader import BuiltFolder, Choice
    from lookcheck.dataset_builders.requests.task import Task
    from lookcheck.dataset_builders.scores.demonstration import Demonstration
    from lookcheck.dataset_builders.scores.report import Report


class SalArtVQASet(DataSet):
    """What is its own; see `DataSet`."""

    name = constants.NAME
    title = constants.PRETTY_NAME
    scorer: Scorer[Any] = SCORER
    id_column: Mapping[str, str] = {"images": "row_id"}
    build_options = build.BuildOptions

    def plan(self, options: build.BuildOptions, work: Work) -> FolderPlan:
        """Read the source that the options name, check all of it and plan the folder."""
        from lookcheck.dataset_builders.salart_vqa.plan import plan_source

        source = build.find_source(options, work)
        return plan_source(
            source, allow_partial=options.allow_partial, num_proc=work.num_proc, track=work.track
        )

    def checker(self) -> Checker:
        """The rules of the rows of a built folder."""
        from lookcheck.dataset_builders.salart_vqa.checking import SalArtVQAChecker

        return SalArtVQAChecker()

    def view(self) -> View:
        """How rows are shown."""
        from lookcheck.dataset_builders.salart_vqa.view import VIEW

        return VIEW

    def task(self) -> Task:
        """How rows are asked and replies read."""
        from lookcheck.dataset_builders.salart_vqa.task import TASK

        return TASK

    def questions(self, folder: BuiltFolder, choice: Choice) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place of each chosen row and its texts."""
        from lookcheck.dataset_builders.parquet.reader import read_questions

        chosen = replace(choice, config=choice.config or "questions")
        return read_questions(folder, chosen, {"id": "id", "question": "prompt", "answer": "answer"})

    def demonstration(self) -> Demonstration | None:
        """How `demo` scores the sample."""
        from lookcheck.dataset_builders.salart_vqa.demonstration import DEMONSTRATION

        return DEMONSTRATION

    def published(self) -> Report | None:
        """The score of published answers that ship with the data set."""
        from lookcheck.dataset_builders.salart_vqa.published import published_report

        return published_report()


DATASET = SalArtVQASet()
