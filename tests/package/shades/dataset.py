"""Shades as every command sees it: what importing takes no time for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import DataSet, Work
from lookcheck.dataset_builders.scores.scorer import Scorer
from lookcheck.dataset_builders.shades.scoring import SCORER

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker
    from lookcheck.dataset_builders.parquet.plan import FolderPlan


@dataclass(frozen=True)
class BuildOptions:
    """The fields are options of ``lookcheck build shades``."""

    source: Annotated[Literal["folder", "sample"], typer.Option(help="Where the pictures come from.")]
    folder: Annotated[Path | None, typer.Option(help="folder: holds COLOUR.png.")] = None


class Shades(DataSet):
    """What is its own; see `DataSet`."""

    name = "shades"
    title = "Shades"
    scorer: Scorer[Any] = SCORER
    build_options = BuildOptions

    def plan(self, options: BuildOptions, work: Work) -> FolderPlan:
        """Read the source that the options name, check all of it and plan the folder."""
        from lookcheck.dataset_builders.shades import plan

        if (options.folder is not None) != (options.source == "folder"):
            raise InputError("--folder DIR goes with --source folder")
        folder = options.folder or plan.draw_sample(work.folder)
        return plan.plan_source(plan.find_source(folder, options.source))

    def checker(self) -> Checker:
        """The rules of the rows of a built folder."""
        from lookcheck.dataset_builders.shades.plan import ShadesChecker

        return ShadesChecker()

    def view(self) -> View:
        """How rows are shown."""
        from lookcheck.dataset_builders.shades.view import VIEW

        return VIEW


DATASET = Shades()
