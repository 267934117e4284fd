"""`lookcheck build perturbed-pope`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core.errors import InputError
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
        list[str] | None,
        typer.Option(
            metavar="[SPLIT=]FILE",
            help="A question file; its name says the split otherwise. Repeatable. coco-like: generated "
            "if not given.",
        ),
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of the photographs.")] = None,
    hub_images: Annotated[
        bool,
        typer.Option(
            "--hub-images", help="pope: photographs, and questions if none are given, of the Hub's copy."
        ),
    ] = False,
    repository: Annotated[str, typer.Option(help="--hub-images: the copy.")] = constants.HUB_IMAGES,
    revision: Annotated[str, typer.Option(help="Its branch, tag or commit.")] = constants.HUB_REVISION,
    instances: Annotated[Path | None, typer.Option(help="COCO instances (JSON).")] = None,
    repope: Annotated[
        list[Path] | None, typer.Option(help="RePOPE's corrected labels, a file for each split.")
    ] = None,
    repair: Annotated[
        list[str] | None, typer.Option(help=f"Mend a known slip: {', '.join(constants.REPAIRS)}.")
    ] = None,
    masks: Annotated[MaskRule, typer.Option(help="Masks of the asked object.")] = MaskRule.all_instances,
    detections: Annotated[
        Path | None, typer.Option(help="COCO results with scores: the top one is the mask, as in the paper.")
    ] = None,
    edited_images: Annotated[
        Path | None, typer.Option(help="entity_swap: folder of edited pictures.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="Of --edited-images, JSON Lines: image, entity, file, donor.")
    ] = None,
    condition: Annotated[
        list[str] | None, typer.Option(help="Build original and this one only; repeatable.")
    ] = None,
    num_proc: Annotated[int, typer.Option(min=1, help="Processes that make pictures.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print what was built as JSON.")] = False,
) -> None:
    """Build perturbed POPE: check everything, make every distinct picture once, write all configurations."""
    # `datasets` takes seconds to import: not for --help.
    from lookcheck.dataset_builders.parquet.writer import refuse_output, write_folder
    from lookcheck.dataset_builders.perturbed_pope.hub import hub_copy
    from lookcheck.dataset_builders.perturbed_pope.plan import plan_source
    from lookcheck.dataset_builders.perturbed_pope.sample import sample_source
    from lookcheck.dataset_builders.perturbed_pope.sources import pope_source
    from lookcheck.scripts.build.tracking import tracking

    refuse_output(output)
    edited = _both(edited_images, manifest)
    files = [_split_and_file(text) for text in questions or []]
    given: dict[str, Any] = {
        "--questions": questions,
        "--images": images,
        "--hub-images": hub_images,
        "--instances": instances,
        "--repope": repope,
        "--repair": repair,
        "--detections": detections,
        "--edited-images": edited,
    }
    _refuse_options(source, given)
    with TemporaryDirectory(prefix="lookcheck-") as name, tracking(quiet=json) as track:
        described: dict[str, Any] = {"kind": source.value}
        if source is SourceKind.sample:
            found = sample_source(Path(name), track)
        else:
            if hub_images:
                images, asked, commit = hub_copy(repository, revision, Path(name))
                files = files or list(asked)
                described |= {"repository": repository, "revision": commit}
            assert images is not None
            assert instances is not None
            found = pope_source(
                files,
                images,
                instances,
                described=described,
                repope=repope or [],
                repairs=repair or [],
                mask_rule=masks.value,
                detections=detections,
                edited=edited,
                num_proc=num_proc,
                track=track,
            )
        plan = plan_source(found, condition or (), num_proc=num_proc, track=track)
        built = write_folder(plan, output, num_proc=num_proc, track=track)
    if json:
        print(console.to_json(built))
    else:
        print("\n".join([describe(built, output), *_recognised(built)]))


def _both(folder: Path | None, manifest: Path | None) -> tuple[Path, Path] | None:
    if folder is None and manifest is None:
        return None
    if folder is None or manifest is None:
        raise InputError("--edited-images FOLDER and --manifest FILE go together")
    return folder, manifest


def _split_and_file(text: str) -> tuple[str | None, Path]:
    split, sign, file = text.partition("=")
    return (split, Path(file)) if sign and split.isidentifier() else (None, Path(text))


def _refuse_options(source: SourceKind, given: dict[str, Any]) -> None:
    used = {name for name, value in given.items() if value}
    if source is SourceKind.sample:
        if used:
            raise InputError(f"--source sample takes no files, but {', '.join(sorted(used))} is given")
        return
    if source is SourceKind.coco_like and "--hub-images" in used:
        raise InputError("--hub-images goes with --source pope")
    if {"--images", "--hub-images"} <= used:
        raise InputError("--images and --hub-images: give one of them")
    missing = [] if used & {"--images", "--hub-images"} else ["--images DIR"]
    missing += [] if "--instances" in used else ["--instances FILE"]
    if source is SourceKind.pope and not used & {"--questions", "--hub-images"}:
        missing.append("--questions FILE for each split")
    if missing:
        raise InputError(f"--source {source.value} needs {' and '.join(missing)}")


def _recognised(built: dict[str, Any]) -> list[str]:
    """What the question files were taken for, and what was left out and why."""
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
        "no_donor": "without anything unrelated to paste",
        "not_edited": "without an edited picture",
        "unchanged": "that their edited picture shows as they were",
    }
    lines += [
        f"  left out: {number:,} pictures and objects {reasons[reason]}"
        for reason, number in built["options"]["left_out"].items()
        if number
    ]
    return lines
