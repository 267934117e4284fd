"""`lookcheck build perturbed-pope`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from lookcheck.dataset_builders.errors import InputError
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.scripts import console
from lookcheck.scripts.build.vistaqa import describe


class SourceKind(StrEnum):
    """Where questions and pictures come from."""

    pope = "pope"
    coco_like = "coco-like"
    sample = "sample"


class MaskRule(StrEnum):
    """Which masks stand for the asked object."""

    all_instances = "all_instances"
    largest_instance = "largest_instance"


def perturbed_pope(
    source: Annotated[SourceKind, typer.Option(help="Where questions and pictures come from.")],
    output: Annotated[Path, typer.Option(help="New folder to write.")],
    questions: Annotated[
        list[Path] | None, typer.Option(help="A question file; its name says the split. Repeatable.")
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of the photographs.")] = None,
    hub_images: Annotated[
        bool, typer.Option(help=f"pope: take the photographs from {constants.HUB_IMAGES}.")
    ] = False,
    hub_revision: Annotated[str, typer.Option(help="Branch, tag or commit of it.")] = constants.HUB_REVISION,
    instances: Annotated[Path | None, typer.Option(help="COCO instances (JSON).")] = None,
    repope: Annotated[
        list[Path] | None, typer.Option(help="RePOPE's corrected labels, a file for each split.")
    ] = None,
    repair: Annotated[list[str] | None, typer.Option(help="Mend a known slip by name: imange.")] = None,
    masks: Annotated[MaskRule, typer.Option(help="Masks of the asked object.")] = MaskRule.all_instances,
    detections: Annotated[
        Path | None, typer.Option(help="COCO results with scores: the top one is the mask, as in the paper.")
    ] = None,
    edited_images: Annotated[Path | None, typer.Option(help="entity_swap: edited pictures.")] = None,
    manifest: Annotated[Path | None, typer.Option(help="JSON Lines: image, entity, file, donor.")] = None,
    seed: Annotated[int, typer.Option(help="Of generated questions.")] = 0,
    num_proc: Annotated[int, typer.Option(min=1, help="Processes that make pictures.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print what was built as JSON.")] = False,
) -> None:
    """Build perturbed POPE: make every distinct picture once, then write all configurations."""
    # `datasets` takes seconds to import: not for --help.
    from lookcheck.dataset_builders.folder.writer import refuse_output, write_folder
    from lookcheck.dataset_builders.perturbed_pope.hub import hub_photographs
    from lookcheck.dataset_builders.perturbed_pope.plan import plan_source, refuse_empty
    from lookcheck.dataset_builders.perturbed_pope.sample import sample_source
    from lookcheck.dataset_builders.perturbed_pope.sources import pope_source
    from lookcheck.scripts.build.tracking import tracking

    refuse_output(output)
    for name in repair or []:
        if name not in constants.REPAIRS:
            raise InputError(f"--repair {name!r}: known are {', '.join(constants.REPAIRS)}")
    if (edited_images is None) != (manifest is None):
        raise InputError("--edited-images FOLDER and --manifest FILE go together")
    given = [images, instances, questions, repope, repair, detections, edited_images]
    if source is SourceKind.sample and (any(given) or hub_images):
        raise InputError("--source sample takes no files")
    with TemporaryDirectory(prefix="lookcheck-") as name, tracking(quiet=json) as track:
        workspace = Path(name)
        if source is SourceKind.sample:
            found = sample_source(workspace, track)
        else:
            if source is SourceKind.pope and not questions:
                raise InputError("--source pope needs --questions FILE, one for each split")
            if hub_images and images is None and source is SourceKind.pope:
                images = hub_photographs(constants.HUB_IMAGES, hub_revision, workspace)
            if images is None or instances is None:
                raise InputError(f"--source {source} needs --images DIR and --instances FILE")
            found = pope_source(
                questions or [],
                images,
                instances,
                kind=source.value,
                repope=repope or [],
                repairs=repair or [],
                mask_rule=masks.value,
                detections=detections,
                edited=None if edited_images is None or manifest is None else (edited_images, manifest),
                seed=seed,
                track=track,
            )
        pictures = workspace / "pictures"
        pictures.mkdir()
        plan = plan_source(found, pictures, num_proc=num_proc, track=track)
        refuse_empty(plan)
        manifest_made = write_folder(plan, output, num_proc=num_proc, track=track)
    print(console.to_json(manifest_made) if json else describe(manifest_made, output))
