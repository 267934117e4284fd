"""What `lookcheck build salart-vqa` can be told, and the source that it names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import Work
from lookcheck.dataset_builders.salart_vqa import constants

if TYPE_CHECKING:
    from lookcheck.dataset_builders.salart_vqa.sources import SalArtSource


@dataclass(frozen=True)
class BuildOptions:
    """The fields are options of the command."""

    source: Annotated[Literal["hub", "folder", "sample"], typer.Option(help="Where the images come from.")]
    folder: Annotated[
        Path | None, typer.Option(help="folder: holds upstream's Parquet, or .jsonl + images.")
    ] = None
    repository: Annotated[str, typer.Option(help="hub: the data set.")] = constants.REPOSITORY
    revision: Annotated[str, typer.Option(help="hub: branch, tag or commit.")] = constants.REVISION
    mapping: Annotated[
        Path | None, typer.Option(help="JSON Lines: row_id with artifact_type, subset or pair_id.")
    ] = None
    allow_partial: Annotated[bool, typer.Option(help="Accept other counts than 950 images have.")] = False


def find_source(options: BuildOptions, work: Work) -> SalArtSource:
    """The source that the options name, with the mapping applied.

    Raises
    ------
    InputError
        If options contradict each other, or there is no such source.
    """
    from lookcheck.dataset_builders.salart_vqa.mapping import apply_mapping
    from lookcheck.dataset_builders.salart_vqa.sources import folder_source, hub_source

    if (options.folder is not None) != (options.source == "folder"):
        raise InputError("--folder DIR goes with --source folder, and --source folder needs it")
    if options.source == "hub":
        found = hub_source(options.repository, options.revision, work.folder)
    elif options.folder is not None:
        found = folder_source(options.folder, work.folder)
    else:
        from lookcheck.dataset_builders.salart_vqa.sample import sample_source

        found = sample_source(work.folder)
    if options.mapping is None:
        return found
    return apply_mapping(found, options.mapping, allow_partial=options.allow_partial)
