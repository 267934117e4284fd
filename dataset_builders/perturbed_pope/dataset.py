"""Perturbed POPE as every command sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.dataset import Work
from lookcheck.dataset_builders.perturbed_pope import build, constants
from lookcheck.dataset_builders.perturbed_pope.scoring import SCORER
from lookcheck.dataset_builders.scores.scorer import Scorer

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker
    from lookcheck.dataset_builders.parquet.plan import FolderPlan
    from lookcheck.dataset_builders.parquet.reader import BuiltFolder, Choice
    from lookcheck.dataset_builders.scores.demonstration import Demonstration
    from lookcheck.dataset_builders.scores.report import Report


class PerturbedPOPESet:
    """See `lookcheck.dataset_builders.dataset.DataSet`."""

    name = constants.NAME
    title = constants.PRETTY_NAME
    scorer: Scorer[Any] = SCORER
    id_column: Mapping[str, str] = {"": "id"}
    build_options = build.BuildOptions

    def plan(self, options: build.BuildOptions, work: Work) -> FolderPlan:
        """Read the source that the options name, check all of it and plan the folder."""
        from lookcheck.dataset_builders.perturbed_pope.plan import plan_source

        source = build.find_source(options, work)
        return plan_source(source, options.condition or (), num_proc=work.num_proc, track=work.track)

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

    def questions(self, folder: BuiltFolder, choice: Choice) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place of each chosen row and its texts."""
        from lookcheck.dataset_builders.parquet.reader import read_questions

        return read_questions(folder, choice, {name: name for name in ("id", "question", "answer")})

    def demonstration(self) -> Demonstration | None:
        """How `demo` scores the sample."""
        return None

    def published(self) -> Report | None:
        """The score of published answers that ship with the data set."""
        return None

    def needs_rights(self, source: Mapping[str, Any]) -> str | None:
        """Why publishing rows of this source takes the rights of whoever does it."""
        return None


DATASET = PerturbedPOPESet()
