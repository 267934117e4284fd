"""Perturbed POPE as a plan: each distinct picture made once, then a part for each condition and split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import datasets
from pycocotools import mask as coco

from lookcheck.dataset_builders.errors import InputError
from lookcheck.dataset_builders.folder.mapping import Track, no_track, ordered_map
from lookcheck.dataset_builders.folder.plan import CardPlan, ConfigFiles, EvalTask, FolderPlan, Part
from lookcheck.dataset_builders.folder.upright import upright
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.constants import BY_NAME, CONDITIONS, Condition
from lookcheck.dataset_builders.perturbed_pope.donors import Donor, choose_donor, gather_donors
from lookcheck.dataset_builders.perturbed_pope.perturbations import seed_of
from lookcheck.dataset_builders.perturbed_pope.questions import Question
from lookcheck.dataset_builders.perturbed_pope.render import PictureJob, Rendered, render
from lookcheck.dataset_builders.perturbed_pope.rows import RowJob, make_row
from lookcheck.dataset_builders.perturbed_pope.sources import Source


def features() -> datasets.Features:
    """Columns of every configuration."""
    text = datasets.Value("string")
    return datasets.Features(
        {
            "id": text,
            "parent_id": text,
            "split": text,
            "image": datasets.Image(),
            "question": text,
            "question_unknown_option": text,
            "question_open_ended": text,
            "answer": datasets.ClassLabel(names=list(constants.ANSWERS)),
            "entity": text,
            "condition": text,
            "strength": datasets.Value("float64"),
            "seed": datasets.Value("int64"),
            "mask_rle": {"size": datasets.List(datasets.Value("int32")), "counts": text},
            "masked_fraction": datasets.Value("float64"),
            "no_instance": datasets.Value("bool"),
            "tiny_entity": datasets.Value("bool"),
            "donor": text,
            "donor_box": datasets.List(datasets.Value("float64")),
            "image_id": datasets.Value("int64"),
            "license": text,
            "license_url": text,
            "source_url": text,
        }
    )


@dataclass(frozen=True)
class Picture:
    """A picture of the build: its file, and what is known of it."""

    path: Path | None
    seed: int | None = None
    rendered: Rendered = field(default_factory=Rendered)
    donor: str | None = None


def plan_source(source: Source, workspace: Path, *, num_proc: int = 1, track: Track = no_track) -> FolderPlan:
    """Make every distinct picture and plan the folder.

    Parameters
    ----------
    source : Source
    workspace : Path
        Holds the pictures until the folder is written.
    num_proc : int
        Processes that make pictures.
    track : callable
        Shows progress.

    Raises
    ------
    InputError
        If no donor is there to paste.
    """
    # By picture, so that neighbouring rows share it; within one, in the order of the questions.
    order = {name: number for number, name in enumerate(sorted({item.image for item in source.questions}))}
    questions = sorted(source.questions, key=lambda item: order[item.image])
    jobs, donors, left_out = _picture_jobs(source, questions, workspace)
    step = track("making pictures", len(jobs))
    made: dict[tuple[str, ...], Picture] = {}
    for (key, job), rendered in zip(
        jobs.items(), ordered_map(render, jobs.values(), min(num_proc, max(1, len(jobs)))), strict=True
    ):
        made[key] = Picture(job.target, job.seed, rendered, donors.get(key))
        step()
    if source.edited is not None:
        for (name, entity), edited in source.edited.items():
            made["entity_swap", name, entity] = Picture(edited.path, donor=edited.donor)
    splits = [split for split in constants.SPLITS if any(item.split == split for item in questions)]
    parts, configs = [], []
    for condition in CONDITIONS:
        used = {}
        for split in splits:
            rows = tuple(
                row
                for question in questions
                if question.split == split
                and (row := _row_job(source, question, condition, made)) is not None
            )
            if rows:
                stem = f"{condition.name}-{split}"
                parts.append(Part(stem, rows, make_row, features(), ("image",)))
                used[split] = (stem,)
        if used:
            configs.append(ConfigFiles(condition.name, used, default=condition.name == "original"))
    tasks = tuple(
        EvalTask(f"{config.name}_{split}", config.name, split)
        for config in configs
        for split in config.splits
    )
    return FolderPlan(
        constants.NAME,
        constants.VERSION,
        tuple(parts),
        tuple(configs),
        _card(source, questions, splits, left_out),
        constants.DESCRIPTION,
        tasks,
        source.described,
        {},
        {},
    )


def _picture_jobs(
    source: Source, questions: list[Question], workspace: Path
) -> tuple[dict[tuple[str, ...], PictureJob], dict[tuple[str, ...], str], dict[str, list[str]]]:
    """A job for each distinct picture, the donors' categories, and what is left out."""
    donors = gather_donors(source.instances)
    asked: dict[str, set[str]] = {}
    for question in questions:
        asked.setdefault(question.image, set()).add(question.entity)
    jobs: dict[tuple[str, ...], PictureJob] = {}
    names: dict[tuple[str, ...], str] = {}
    left_out: dict[str, list[str]] = {"no_instance": [], "no_donor": [], "not_edited": []}

    def target(number: int) -> Path:
        return workspace / f"{number:06d}.png"

    for question in questions:
        photo = source.instances.photos[question.image]
        path = source.images / question.image
        for condition in CONDITIONS:
            key: tuple[str, ...] = (condition.name, question.image)
            if condition.of_entity or condition.operator in ("original", "text_only") or key in jobs:
                continue
            seed = seed_of(photo.id, condition.name) if condition.operator == "noise" else None
            jobs[key] = PictureJob(condition.name, path, target(len(jobs)), seed)
        if question.label != "yes":
            continue
        masks = source.masks_of(question)
        if not masks:
            left_out["no_instance"].append(question.id)
            continue
        rles = tuple(dict(item.rle) for item in masks)
        for condition in CONDITIONS:
            key = (condition.name, question.image, question.entity)
            if not condition.of_entity or key in jobs:
                continue
            if condition.operator != "entity_swap":
                jobs[key] = PictureJob(condition.name, path, target(len(jobs)), None, rles)
                continue
            if source.edited is not None:
                continue
            donor = _donor(source, question, donors, asked[question.image])
            if donor is None:
                left_out["no_donor"].append(question.id)
                continue
            names[key] = donor.instance.category
            jobs[key] = PictureJob(
                condition.name,
                path,
                target(len(jobs)),
                None,
                # Whatever stands for the object, no instance of it may stay.
                tuple(dict(item.rle) for item in source.instances.of(photo.id, question.entity)) or rles,
                source.images / donor.photo.file_name,
                dict(donor.instance.rle),
            )
        if source.edited is not None and (question.image, question.entity) not in source.edited:
            left_out["not_edited"].append(question.id)
    return jobs, names, left_out


def _donor(source: Source, question: Question, donors: tuple[Donor, ...], asked: set[str]) -> Donor | None:
    photo = source.instances.photos[question.image]
    shown = {item.category for item in source.instances.by_image.get(photo.id, [])}
    largest = max(source.masks_of(question), key=lambda item: item.area)
    box = coco.toBbox({"size": list(largest.rle["size"]), "counts": largest.rle["counts"].encode()}).tolist()
    return choose_donor(
        donors,
        image_id=photo.id,
        entity=question.entity,
        box=(box[0], box[1], box[2], box[3]),
        supercategory=source.instances.supercategories.get(question.entity, ""),
        excluded=asked | shown,
    )


def _row_job(
    source: Source, question: Question, condition: Condition, made: Mapping[tuple[str, ...], Picture]
) -> RowJob | None:
    masks = source.masks_of(question)
    area = sum(item.area for item in masks)
    picture: Picture | None
    if condition.of_entity:
        if question.label != "yes" or not masks:
            return None
        picture = made.get((condition.name, question.image, question.entity))
        if picture is None:
            return None
    elif condition.operator == "original":
        picture = Picture(source.images / question.image)
    elif condition.operator == "text_only":
        picture = Picture(None)
    else:
        picture = made[condition.name, question.image]
    return RowJob(
        question,
        condition.name,
        picture.path,
        picture.seed,
        picture.rendered.mask,
        picture.rendered.fraction,
        question.label == "yes" and not masks,
        question.label == "yes" and 0 < area < constants.TINY_AREA,
        picture.donor,
        picture.rendered.box,
        source.instances.photos[question.image],
    )


def _card(
    source: Source, questions: list[Question], splits: list[str], left_out: Mapping[str, list[str]]
) -> CardPlan:
    names = sorted({question.image for question in questions})
    sizes = [len(upright((source.images / name).read_bytes(), whole=False)[0]) for name in names]
    licenses = Counter(source.instances.photos[name].license or "not stated" for name in names)
    front_matter = {
        "pretty_name": constants.PRETTY_NAME,
        "license": constants.LICENSE,
        "license_name": "several",
        "license_link": "https://cocodataset.org/#termsofuse",
        "language": ["en"],
        "task_categories": ["visual-question-answering"],
        "tags": ["benchmark", "hallucination", "evidence", "pope", "arxiv:2605.22903"],
    }
    context = {
        "homepage": constants.HOMEPAGE,
        "citation": constants.CITATION,
        "description": constants.DESCRIPTION,
        "conditions": BY_NAME,
        "splits": splits,
        "pictures": len(names),
        "picture_bytes": sum(sizes),
        "left_out": {name: sorted(ids) for name, ids in left_out.items()},
        "licenses": dict(sorted(licenses.items())),
        "open_ended": constants.OPEN_ENDED,
        "partial": False,
    }
    return CardPlan("perturbed_pope.md.jinja", front_matter, context)


def refuse_empty(plan: FolderPlan) -> None:
    """Refuse a plan in which a condition has no row at all.

    Raises
    ------
    InputError
    """
    missing = [
        condition.name for condition in CONDITIONS if condition.name not in {c.name for c in plan.configs}
    ]
    if missing:
        raise InputError(
            f"no row for {', '.join(missing)}: no asked object has a mask, or no unrelated thing is large "
            "and whole enough to be pasted"
        )
