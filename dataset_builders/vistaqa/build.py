"""What `lookcheck build vistaqa` can be told, and the source that it names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import Work
from lookcheck.dataset_builders.vistaqa import constants

if TYPE_CHECKING:
    from lookcheck.dataset_builders.vistaqa.sources import VistaQASource


@dataclass(frozen=True)
class BuildOptions:
    """The fields are options of the command."""

    source: Annotated[Literal["hub", "folder", "sample"], typer.Option(help="Where the samples come from.")]
    annotations: Annotated[Path | None, typer.Option(help="folder: one JSON file per sample.")] = None
    images: Annotated[Path | None, typer.Option(help="folder: the pictures.")] = None
    repository: Annotated[str, typer.Option(help="hub: the data set.")] = constants.REPOSITORY
    revision: Annotated[str, typer.Option(help="hub: branch, tag or commit.")] = constants.REVISION
    overlays: Annotated[bool, typer.Option(help="Write the column evidence_overlay.")] = True
    allow_partial: Annotated[bool, typer.Option(help="Accept other counts than 1,157 samples have.")] = False


def find_source(options: BuildOptions, work: Work) -> VistaQASource:
    """The source that the options name.

    Raises
    ------
    InputError
        If options contradict each other, or there is no such source.
    """
    from lookcheck.dataset_builders.vistaqa.sources import folder_source

    annotations, images = options.annotations, options.images
    if options.source == "folder":
        if annotations is None or images is None:
            raise InputError("--source folder needs --annotations DIR and --images DIR")
        return folder_source(annotations, images)
    if annotations is not None or images is not None:
        raise InputError(f"--annotations and --images go with --source folder, not with {options.source}")
    if options.source == "hub":
        from lookcheck.dataset_builders.vistaqa.hub import hub_source

        return hub_source(options.repository, options.revision, work.folder)
    from lookcheck.dataset_builders.vistaqa.sample import sample_source

    return sample_source(work.folder)
