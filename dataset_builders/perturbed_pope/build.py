"""What `lookcheck build perturbed-pope` can be told, and the source that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import Work
from lookcheck.dataset_builders.perturbed_pope import constants

if TYPE_CHECKING:
    from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource


@dataclass(frozen=True)
class BuildOptions:
    """The fields are options of the command."""

    source: Annotated[
        Literal["pope", "coco-like", "sample"], typer.Option(help="Where questions and pictures come from.")
    ]
    questions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[SPLIT=]FILE",
            help="A question file; its name says the split otherwise. Repeatable. coco-like: generated "
            "if not given.",
        ),
    ] = None
    images: Annotated[Path | None, typer.Option(help="Folder of the photographs.")] = None
    hub_images: Annotated[
        bool,
        typer.Option(
            "--hub-images", help="pope: photographs, and questions if none are given, of the Hub's copy."
        ),
    ] = False
    repository: Annotated[str, typer.Option(help="--hub-images: the copy.")] = constants.HUB_IMAGES
    revision: Annotated[str, typer.Option(help="Its branch, tag or commit.")] = constants.HUB_REVISION
    instances: Annotated[Path | None, typer.Option(help="COCO instances (JSON).")] = None
    repope: Annotated[
        list[Path] | None, typer.Option(help="RePOPE's corrected labels, a file for each split.")
    ] = None
    repair: Annotated[
        list[str] | None, typer.Option(help=f"Mend a known slip: {', '.join(constants.REPAIRS)}.")
    ] = None
    masks: Annotated[
        Literal["all_instances", "largest_instance"], typer.Option(help="Masks of the asked object.")
    ] = "all_instances"
    detections: Annotated[
        Path | None, typer.Option(help="COCO results with scores: the top one is the mask, as in the paper.")
    ] = None
    edited_images: Annotated[Path | None, typer.Option(help="entity_swap: folder of edited pictures.")] = None
    manifest: Annotated[
        Path | None, typer.Option(help="Of --edited-images, JSON Lines: image, entity, file, donor.")
    ] = None
    export_swaps: Annotated[
        Path | None,
        typer.Option(
            help="New folder: pictures, masks, words and the manifest for an editor; read back with "
            "--edited-images FOLDER/edited --manifest FOLDER/manifest.jsonl."
        ),
    ] = None
    layout: Annotated[
        Literal["category", "splits"],
        typer.Option(help="category: one split, with a column category; splits: a split for each."),
    ] = "category"
    fill: Annotated[
        str | None,
        typer.Option(help="entity_swap: inpainting model of diffusers (folder or Hub name) that fills."),
    ] = None
    condition: Annotated[
        list[str] | None, typer.Option(help="Build original and this one only; repeatable.")
    ] = None
    reuse: Annotated[
        Path | None,
        typer.Option(
            help="An earlier build of the same files: its conditions are taken over, not made again."
        ),
    ] = None


def find_source(options: BuildOptions, work: Work) -> PopeSource:
    """The source that the options name; what an editor needs is written if they ask for it.

    Raises
    ------
    InputError, IntegrityError
        If options contradict each other, or the files are not as they should be.
    """
    if options.fill is not None and options.edited_images is not None:
        raise InputError("--fill and --edited-images: give one of them")
    source = _source(options, work)
    if options.fill is not None:
        from lookcheck.dataset_builders.perturbed_pope.fill_model import FillModel

        model = FillModel(options.fill, work.folder)
        source = replace(source, fill=model, described={**source.described, "fill": model.described})
    if options.export_swaps is not None:
        from lookcheck.dataset_builders.perturbed_pope.export import export_swaps

        export_swaps(source, options.export_swaps, num_proc=work.num_proc, track=work.track)
    return source


def _source(options: BuildOptions, work: Work) -> PopeSource:
    edited = _both(options.edited_images, options.manifest)
    files = [_split_and_file(text) for text in options.questions or []]
    described: dict[str, Any] = {"kind": options.source}
    images, instances = options.images, options.instances
    if options.source == "sample":
        _refuse_files(options)
        from lookcheck.dataset_builders.perturbed_pope.sample import sample_source

        return sample_source(work.folder, work.track)
    if options.source == "coco-like" and options.hub_images:
        raise InputError("--hub-images goes with --source pope")
    if images is not None and options.hub_images:
        raise InputError("--images and --hub-images: give one of them")
    missing = [] if images is not None or options.hub_images else ["--images DIR"]
    if instances is None:
        missing.append("--instances FILE")
    if options.source == "pope" and not files and not options.hub_images:
        missing.append("--questions FILE for each split")
    if options.hub_images and instances is not None:
        from lookcheck.dataset_builders.perturbed_pope.hub import hub_copy

        images, asked, commit = hub_copy(options.repository, options.revision, work.folder)
        files = files or list(asked)
        described |= {"repository": options.repository, "revision": commit}
    if missing or images is None or instances is None:
        raise InputError(f"--source {options.source} needs {' and '.join(missing)}")
    from lookcheck.dataset_builders.perturbed_pope.sources import pope_source

    return pope_source(
        files,
        images,
        instances,
        described=described,
        repope=options.repope or [],
        repairs=options.repair or [],
        mask_rule=options.masks,
        detections=options.detections,
        edited=edited,
        num_proc=work.num_proc,
        track=work.track,
    )


def _both(folder: Path | None, manifest: Path | None) -> tuple[Path, Path] | None:
    if folder is None and manifest is None:
        return None
    if folder is None or manifest is None:
        raise InputError("--edited-images FOLDER and --manifest FILE go together")
    return folder, manifest


def _split_and_file(text: str) -> tuple[str | None, Path]:
    split, sign, file = text.partition("=")
    return (split, Path(file)) if sign and split.isidentifier() else (None, Path(text))


def _refuse_files(options: BuildOptions) -> None:
    files = ("questions", "images", "hub_images", "instances", "repope", "repair", "detections")
    used = [name for name in (*files, "edited_images") if getattr(options, name)]
    if used:
        shown = ", ".join(sorted(f"--{name.replace('_', '-')}" for name in used))
        raise InputError(f"--source sample takes no files, but {shown} is given")


def recognised(built: Mapping[str, Any]) -> list[str]:
    """What the question files were taken for, and what was left out and why."""
    from lookcheck.dataset_builders.perturbed_pope.swap_rules import REASONS

    lines = []
    for split, file in built["source"]["questions"].items():
        mended = f", {file['repaired']:,} texts mended" if file["repaired"] else ""
        lines.append(f"  {split}: {file['layout']}, {file['rows']:,} questions{mended}")
        if file["asked_twice"]:
            lines.append(
                f"  {split}: {file['asked_twice']:,} ask what another one asks, under an id of their own"
            )
    if unknown := built["source"]["unknown_objects"]:
        names = ", ".join(list(unknown)[:5]) + (", …" if len(unknown) > 5 else "")
        rows = sum(unknown.values())
        lines.append(
            f"  {rows:,} questions about {len(unknown)} objects without a category in the instances: {names}"
        )
    if clipped := built["source"].get("detections_clipped"):
        lines.append(
            f"  {clipped:,} boxes of detections reached out of their picture, and were cut at its border"
        )
    for split, counts in built["source"].get("repope", {}).items():
        lines.append(f"  {split}: RePOPE changes {counts['changed']} labels, leaves out {counts['left_out']}")
    reasons = {
        "no_instance": "answered yes without a mask",
        **REASONS,
        "not_edited": "without an edited picture",
        "unchanged": "that their edited picture shows as they were",
    }
    lines += [
        f"  left out: {number:,} pictures and objects {reasons[reason]}"
        for reason, number in built["options"]["left_out"].items()
        if number
    ]
    return lines
