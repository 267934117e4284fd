"""`lookcheck build vistaqa`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.scripts import console


class SourceKind(StrEnum):
    """Where the samples come from."""

    hub = "hub"
    folder = "folder"
    sample = "sample"


def vistaqa(
    source: Annotated[SourceKind, typer.Option(help="Where the samples come from.")],
    output: Annotated[Path, typer.Option(help="New folder to write.")],
    annotations: Annotated[Path | None, typer.Option(help="folder: one JSON file per sample.")] = None,
    images: Annotated[Path | None, typer.Option(help="folder: the pictures.")] = None,
    repository: Annotated[str, typer.Option(help="hub: the data set.")] = constants.REPOSITORY,
    revision: Annotated[str, typer.Option(help="hub: branch, tag or commit.")] = constants.REVISION,
    num_proc: Annotated[int, typer.Option(min=1, help="Processes that make rows.")] = 1,
    overlays: Annotated[bool, typer.Option(help="Write the column evidence_overlay.")] = True,
    allow_partial: Annotated[bool, typer.Option(help="Accept other counts than 1,157 samples have.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print what was built as JSON.")] = False,
) -> None:
    """Build VistaQA: check every sample, then write Parquet, README.md and eval.yaml."""
    # `datasets` takes seconds to import: not for --help.
    from lookcheck.dataset_builders.parquet.writer import refuse_output, write_folder
    from lookcheck.dataset_builders.vistaqa.plan import plan_source
    from lookcheck.dataset_builders.vistaqa.sources import folder_source
    from lookcheck.scripts.build.tracking import tracking

    refuse_output(output)
    if source is not SourceKind.folder and (annotations is not None or images is not None):
        raise InputError(f"--annotations and --images go with --source folder, not with {source}")
    with TemporaryDirectory(prefix="lookcheck-") as workspace, tracking(quiet=json) as track:
        if source is SourceKind.hub:
            from lookcheck.dataset_builders.vistaqa.hub import hub_source

            found = hub_source(repository, revision, Path(workspace))
        elif source is SourceKind.sample:
            from lookcheck.dataset_builders.vistaqa.sample import sample_source

            found = sample_source(Path(workspace))
        else:
            if annotations is None or images is None:
                raise InputError("--source folder needs --annotations DIR and --images DIR")
            found = folder_source(annotations, images)
        plan = plan_source(
            found, overlays=overlays, allow_partial=allow_partial, num_proc=num_proc, track=track
        )
        manifest = write_folder(plan, output, num_proc=num_proc, track=track)
    if json:
        print(console.to_json(manifest))
    else:
        print(describe(manifest, output))


def describe(manifest: dict[str, Any], output: Path) -> str:
    """What was built, a line for each configuration."""
    lines = [f"{manifest['name']} {manifest['version']} in {output}"]
    for config, splits in manifest["built"].items():
        lines += [f"  {config} / {split}: {counted['rows']:,} rows" for split, counted in splits.items()]
    return "\n".join(lines)
