"""Perturbed POPE as every command sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.dataset import DataSet, Work
from lookcheck.dataset_builders.perturbed_pope import build, constants
from lookcheck.dataset_builders.perturbed_pope.scoring import SCORER
from lookcheck.dataset_builders.scores.scorer import Scorer

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker
    from lookcheck.dataset_builders.parquet.plan import FolderPlan
    from lookcheck.dataset_builders.requests.task import Task


class PerturbedPOPESet(DataSet):
    """What is its own; see `DataSet`."""

    name = constants.NAME
    title = constants.PRETTY_NAME
    scorer: Scorer[Any] = SCORER
    build_options = build.BuildOptions

    def plan(self, options: build.BuildOptions, work: Work) -> FolderPlan:
        """Read the source that the options name, check all of it and plan the folder."""
        from lookcheck.dataset_builders.perturbed_pope.plan import plan_source

        source = build.find_source(options, work)
        return plan_source(
            source,
            options.condition or (),
            layout=options.layout,
            reuse=options.reuse,
            num_proc=work.num_proc,
            track=work.track,
        )

    def built(self, manifest: Mapping[str, Any]) -> Sequence[str]:
        """Lines that `build` prints below the counts."""
        return build.recognised(manifest)

    def checker(self) -> Checker:
        """The rules of the rows of a built folder."""
        from lookcheck.dataset_builders.perturbed_pope.checking import PerturbedPopeChecker

        return PerturbedPopeChecker()

    def view(self) -> View:
        """How rows are shown."""
        from lookcheck.dataset_builders.perturbed_pope.view import VIEW

        return VIEW

    def task(self) -> Task:
        """How rows are asked and replies read."""
        from lookcheck.dataset_builders.perturbed_pope.task import TASK

        return TASK


DATASET = PerturbedPOPESet()
