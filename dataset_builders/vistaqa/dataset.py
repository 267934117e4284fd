"""VistaQA as every command sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.dataset import DataSet, Work
from lookcheck.dataset_builders.scores.scorer import Scorer
from lookcheck.dataset_builders.vistaqa import build, constants
from lookcheck.dataset_builders.vistaqa.scoring import SCORER

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker
    from lookcheck.dataset_builders.parquet.plan import FolderPlan
    from lookcheck.dataset_builders.requests.task import Task
    from lookcheck.dataset_builders.scores.demonstration import Demonstration


class VistaQASet(DataSet):
    """What is its own; see `DataSet`."""

    name = constants.NAME
    title = constants.PRETTY_NAME
    scorer: Scorer[Any] = SCORER
    build_options = build.BuildOptions

    def plan(self, options: build.BuildOptions, work: Work) -> FolderPlan:
        """Read the source that the options name, check all of it and plan the folder."""
        from lookcheck.dataset_builders.vistaqa.plan import plan_source

        return plan_source(
            build.find_source(options, work),
            overlays=options.overlays,
            allow_partial=options.allow_partial,
            num_proc=work.num_proc,
            track=work.track,
        )

    def checker(self) -> Checker:
        """The rules of the rows of a built folder."""
        from lookcheck.dataset_builders.vistaqa.checking import VistaQAChecker

        return VistaQAChecker()

    def view(self) -> View:
        """How rows are shown."""
        from lookcheck.dataset_builders.vistaqa.view import VIEW

        return VIEW

    def task(self) -> Task:
        """How rows are asked and replies read."""
        from lookcheck.dataset_builders.vistaqa.task import TASK

        return TASK

    def demonstration(self) -> Demonstration | None:
        """How `demo` scores the sample."""
        from lookcheck.dataset_builders.vistaqa.demonstration import DEMONSTRATION

        return DEMONSTRATION

    def needs_rights(self, source: Mapping[str, Any]) -> str | None:
        """Why publishing rows of this source takes the rights of whoever does it."""
        if source.get("kind") == "sample":
            return None
        return "VistaQA states no licence"


DATASET = VistaQASet()
