"""SalArt-VQA as a plan of Parquet files: `images` and `questions`."""

from __future__ import annotations

import datasets

from lookcheck.dataset_builders.core.processes import Track, no_track
from lookcheck.dataset_builders.parquet.plan import CardPlan, ConfigFiles, EvalTask, FolderPlan, ShardGroup
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.integrity import inspect_all
from lookcheck.dataset_builders.salart_vqa.records import TRAITS
from lookcheck.dataset_builders.salart_vqa.rows import make_rows
from lookcheck.dataset_builders.salart_vqa.sources import SalArtSource


def _options() -> dict[str, datasets.Value]:
    return {letter: datasets.Value("string") for letter in constants.LETTERS}


def image_features() -> datasets.Features:
    """Columns of `images`: upstream's, and three that only some sources know."""
    text = datasets.Value("string")
    return datasets.Features(
        {
            "row_id": text,
            "image_role": datasets.ClassLabel(names=list(constants.ROLES)),
            "image": datasets.Image(),
            "q3_overlay_image": datasets.Image(),
            "q3_boxes": {
                letter: datasets.List(datasets.Value("float64")) for letter in constants.BOX_LETTERS
            },
            **{f"{question}_prompt": text for question in constants.QUESTIONS},
            "q2_options": _options(),
            "q4_options": _options(),
            **{f"{question}_answer": text for question in constants.QUESTIONS},
            "system_prompt": text,
            **dict.fromkeys(TRAITS, text),
        }
    )


def question_features() -> datasets.Features:
    """Columns of `questions`: a row is one request to a model."""
    text = datasets.Value("string")
    return datasets.Features(
        {
            "id": text,
            "row_id": text,
            "question_type": datasets.ClassLabel(names=list(constants.QUESTIONS)),
            "image_role": datasets.ClassLabel(names=list(constants.ROLES)),
            "image": datasets.Image(),
            "system_prompt": text,
            "prompt": text,
            "options": _options(),
            "answer": text,
            **dict.fromkeys(TRAITS, text),
        }
    )


def plan_source(
    source: SalArtSource,
    *,
    allow_partial: bool = False,
    num_proc: int = 1,
    track: Track = no_track,
) -> FolderPlan:
    """Check a source and plan its folder.

    Parameters
    ----------
    source : SalArtSource
    allow_partial : bool
        Accept other counts than the declared ones.
    num_proc : int
        Processes that look at the images.
    track : callable
        Shows progress.

    Raises
    ------
    IntegrityError
        With every fault of every image.
    """
    jobs = inspect_all(
        source.jobs, allow_partial=allow_partial, declared=source.declared, num_proc=num_proc, track=track
    )
    columns = {"images": image_features(), "questions": question_features()}
    sample = source.described["kind"] == "sample"
    front_matter = {
        "pretty_name": f"{constants.PRETTY_NAME}, the sample of lookcheck"
        if sample
        else constants.PRETTY_NAME,
        "license": constants.SAMPLE_LICENSE if sample else constants.LICENSE,
        "language": ["en"],
        "task_categories": ["visual-question-answering"],
        "tags": ["benchmark", "artifacts", "evidence", "arxiv:2606.12671"],
    }
    traits = {trait: sum(job.fields.get(trait) is not None for job in source.jobs) for trait in TRAITS}
    context = {
        "repository": constants.REPOSITORY,
        "homepage": constants.HOMEPAGE,
        "citation": constants.CITATION,
        "description": constants.DESCRIPTION,
        "partial": sum(len(job.record.asked) for job in jobs) != source.declared["rows"],
        "traits": traits,
        "credits": source.described.get("credits", ()),
        "drawn": sum(job.overlay is None for job in source.jobs),
    }
    return FolderPlan(
        constants.NAME,
        constants.VERSION,
        (ShardGroup(columns, jobs, make_rows, {"questions": ("image",)}),),
        tuple(ConfigFiles(name, {constants.SPLIT: (name,)}, default=name == "images") for name in columns),
        CardPlan("salart_vqa.md.jinja", front_matter, context),
        constants.DESCRIPTION,
        tuple(EvalTask(name, name, constants.SPLIT) for name in columns),
        source.described,
        {"pictures_written_anew": sum(job.anew for job in jobs)},
        source.declared,
    )
