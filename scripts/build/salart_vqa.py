"""`lookcheck build salart-vqa`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.scripts import console
from lookcheck.scripts.build.vistaqa import describe


class SourceKind(StrEnum):
    """Where the images come from."""

    hub = "hub"
    folder = "folder"
    sample = "sample"


def salart_vqa(
    source: Annotated[SourceKind, typer.Option(help="Where the images come from.")],
    output: Annotated[Path, typer.Option(help="New folder to write.")],
    folder: Annotated[
        Path | None, typer.Option(help="folder: holds upstream's Parquet, or .jsonl + images.")
    ] = None,
    repository: Annotated[str, typer.Option(help="hub: the data set.")] = constants.REPOSITORY,
    revision: Annotated[str, typer.Option(help="hub: branch, tag or commit.")] = constants.REVISION,
    mapping: Annotated[
        Path | None, typer.Option(help="JSON Lines: row_id with artifact_type, subset or pair_id.")
    ] = None,
    num_proc: Annotated[int, typer.Option(min=1, help="Processes that make rows.")] = 1,
    allow_partial: Annotated[bool, typer.Option(help="Accept other counts than 950 images have.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was built as JSON.")] = False,
) -> None:
    """Build SalArt-VQA: check every chain, then write Parquet, README.md and eval.yaml."""
    # `datasets` takes seconds to import: not for --help.
    from lookcheck.dataset_builders.parquet.writer import refuse_output, write_folder
    from lookcheck.dataset_builders.salart_vqa.mapping import apply_mapping
    from lookcheck.dataset_builders.salart_vqa.plan import plan_source
    from lookcheck.dataset_builders.salart_vqa.sample import sample_source
    from lookcheck.dataset_builders.salart_vqa.sources import folder_source, hub_source
    from lookcheck.scripts.build.tracking import tracking

    refuse_output(output)
    if (folder is not None) != (source is SourceKind.folder):
        raise InputError("--folder DIR goes with --source folder, and --source folder needs it")
    with TemporaryDirectory(prefix="lookcheck-") as workspace, tracking(quiet=json) as track:
        if source is SourceKind.hub:
            found = hub_source(repository, revision, Path(workspace))
        elif folder is not None:
            found = folder_source(folder, Path(workspace))
        else:
            found = sample_source(Path(workspace))
        if mapping is not None:
            found = apply_mapping(found, mapping, allow_partial=allow_partial)
        plan = plan_source(found, allow_partial=allow_partial, num_proc=num_proc, track=track)
        manifest = write_folder(plan, output, num_proc=num_proc, track=track)
    if json:
        print(console.to_json(manifest))
    else:
        print(describe(manifest, output))
