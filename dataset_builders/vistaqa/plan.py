"""VistaQA as a plan of Parquet files: shards for each task, shared by `default`."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any

import datasets

from lookcheck.dataset_builders.core.processes import Track, no_track
from lookcheck.dataset_builders.parquet.plan import CardPlan, ConfigFiles, EvalTask, FolderPlan, ShardGroup
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.dataset_builders.vistaqa.integrity import inspect_all
from lookcheck.dataset_builders.vistaqa.rows import RecordJob, make_rows
from lookcheck.dataset_builders.vistaqa.sources import VistaQASource


def features(*, overlays: bool = True) -> datasets.Features:
    """Columns of VistaQA.

    Masks stand there twice: as pictures (mode L, 0 or 255) to look at, and as COCO RLE to score
    with. Boxes are [x, y, width, height] in pixels. ``evidence_overlay`` is null without evidence.
    """
    columns: dict[str, Any] = {
        "id": datasets.Value("string"),
        "image": datasets.Image(),
        "question": datasets.Value("string"),
        "answer": datasets.Value("string"),
        "task": datasets.ClassLabel(names=list(constants.TASKS)),
        "domain": datasets.ClassLabel(names=list(constants.DOMAINS)),
        "task_raw": datasets.Value("string"),
        "domain_raw": datasets.Value("string"),
        "has_evidence": datasets.Value("bool"),
        "num_instances": datasets.Value("int32"),
        "masks": datasets.List(datasets.Image()),
        "masks_rle": datasets.List(
            {"size": datasets.List(datasets.Value("int32")), "counts": datasets.Value("string")}
        ),
        "boxes": datasets.List(datasets.List(datasets.Value("float64"))),
    }
    if overlays:
        columns["evidence_overlay"] = datasets.Image()
    return datasets.Features(columns)


def plan_source(
    source: VistaQASource,
    *,
    overlays: bool = True,
    allow_partial: bool = False,
    num_proc: int = 1,
    track: Track = no_track,
) -> FolderPlan:
    """Check a source of upstream records and plan its folder.

    Raises
    ------
    IntegrityError
        With every fault of every sample.
    """
    inspected = inspect_all(
        source.jobs, allow_partial=allow_partial, declared=source.declared, num_proc=num_proc, track=track
    )
    by_task: dict[str, list[RecordJob]] = defaultdict(list)
    for row, job in zip(inspected, source.jobs, strict=True):
        by_task[row.task].append(job)
    columns = features(overlays=overlays)
    make = partial(make_rows, overlays=overlays)
    # Tasks without a row get no file and no configuration.
    present = tuple(task for task in constants.TASKS if by_task[task])
    configs = [ConfigFiles("default", {constants.SPLIT: present}, default=True)]
    configs += [ConfigFiles(task, {constants.SPLIT: (task,)}) for task in present]
    sample = source.described.get("kind") == "sample"
    front_matter = {
        "pretty_name": "A sample in the form of VistaQA" if sample else constants.PRETTY_NAME,
        "license": "cc0-1.0" if sample else constants.LICENSE,
        "language": ["en"],
        "task_categories": ["visual-question-answering", "image-segmentation"],
        "tags": ["benchmark", "grounding", "evidence", "arxiv:2605.20676"],
    }
    context = {
        "repository": constants.REPOSITORY,
        "homepage": constants.HOMEPAGE,
        "citation": constants.CITATION,
        "description": constants.DESCRIPTION,
        "partial": len(source.jobs) != source.declared["rows"],
        "columns": list(columns),
        "credits": source.described.get("credits", ()),
    }
    return FolderPlan(
        constants.NAME,
        constants.VERSION,
        tuple(ShardGroup({task: columns}, tuple(by_task[task]), make) for task in present),
        tuple(configs),
        CardPlan("vistaqa.md.jinja", front_matter, context),
        constants.DESCRIPTION,
        tuple(EvalTask(config.name, config.name, constants.SPLIT) for config in configs),
        source.described,
        {"overlays": overlays, "pictures_written_anew": sum(row.anew for row in inspected)},
        source.declared,
    )
